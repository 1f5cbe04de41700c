"""Objects below plain types, named tuples, items fetched ahead, and what goes with exceptions."""

from __future__ import annotations

import collections.abc
import dataclasses
import decimal
import enum
import itertools
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.execute.separate.pair import solution

SOURCE = """
import collections.abc, decimal, enum, dataclasses
from typing import NamedTuple

class Color(enum.IntEnum):
    RED = 1
    BLUE = 2
class Name(str, enum.Enum):
    RED = "red"
class Items(list): pass
class Words(dict): pass
class Metres(float): pass
class Bag(set): pass
class Text(str):
    def __str__(self): return "other"
class Liar(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
class Stack(list):
    kept = 3
    def push(self, item): self.append(item); return self
class Deeper(Stack): pass
class Sum(list):
    def __radd__(self, other): return "mine"
class Lookup(collections.abc.Mapping):
    def __getitem__(self, key): return key
    def __iter__(self): return iter([1])
    def __len__(self): return 1
class Amount(decimal.Decimal): pass
class Kind(type): pass
class Empty(list):
    def __len__(self): return 3
class Holes:
    def __len__(self): return 3
    def __iter__(self): return iter([1])
class Looped:
    def __init__(self): self.items = [1]
    def __len__(self): return 3
    def __getitem__(self, key): return self.items[key]
class Shrinking(list):
    def __init__(self): self.lengths = [0, 3]
    def __len__(self): return self.lengths.pop()
class Queue:
    def __init__(self, items): self.items = items
    def __len__(self): return len(self.items)
    def __iter__(self):
        while self.items: yield self.items.pop()
    def put(self, item): self.items.append(item)
class Grid:
    def __len__(self): return 2
    def __iter__(self): return iter([1, 2, 3, 4])
class Documented:
    def method(self, x): "Does it."
    @staticmethod
    def static(): "Stands."
    def silent(self): pass
class Shy(list):
    def __lt__(self, other): return True
class Yes(str):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = str.__hash__
def make(name, *args): return globals()[name](*args)
def red(): return Color.RED
def name(): return Name.RED

class Pair(NamedTuple):
    left: int
    right: int = 5
    @property
    def total(self): return self.left + self.right
    def swapped(self): return Pair(self.right, self.left)
def pair(): return Pair(2)

@dataclasses.dataclass
class Point:
    x: int
    tags: list = dataclasses.field(default_factory=list)
    inner: "Point" = None
def point(): return Point(1, ["a"], Point(2))

LOG = []
def count(n):
    for i in range(n):
        LOG.append(i)
        yield i
def log(): return len(LOG)
def breaks(n):
    yield from range(n)
    raise KeyError(n)
def naturals():
    n = 0
    while True:
        yield n
        n += 1
def asks(f, n):
    for i in range(n): yield f(i)
class Down:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        self.n -= 1
        if self.n < 0: raise StopIteration
        return [self.n]

class Oops(ValueError): pass
def caused():
    try: raise KeyError("inner")
    except KeyError as error: raise Oops("outer") from error
def in_context():
    try: raise KeyError("inner")
    except KeyError: raise ValueError("outer")
def from_none():
    try: raise KeyError("inner")
    except KeyError: raise ValueError("outer") from None
def noted():
    error = ValueError("x")
    error.__notes__ = ["first", "second"]
    raise error
def endless():
    a, b = ValueError("a"), ValueError("b")
    a.__cause__, b.__cause__ = b, a
    raise a
def deep():
    error = None
    for i in range(100):
        new = ValueError(i)
        new.__cause__ = error
        error = new
    raise error
"""


@pytest.fixture(scope="module")
def sol() -> Iterator[Any]:
    with solution(SOURCE) as made:
        yield made


def test_objects_below_plain_types_are_worth_their_content(sol: Any) -> None:
    red, make = sol.get("red")(), sol.get("make")
    assert red == 1
    assert [red] == [1]
    assert red != 2
    assert red < 2 <= 2 + red
    assert [red, 5] == [1, 5]
    assert (red + 1, 3 * red, -red) == (2, 3, -1)
    assert sum([red, red]) == 2
    assert red.name == "RED"
    assert sol.get("name")() == "red"
    assert sol.get("name")() + "dish" == "reddish"
    assert make("Items", [1, [2]]) == [1, [2]]
    assert make("Items", [1]) != [2]
    assert make("Words", {"a": 1}) == {"a": 1}
    assert make("Metres", 2.5) == 2.5
    assert abs(make("Metres", 2.5) - 2.4999999) < 1e-6
    assert make("Bag", [1, 2]) == {1, 2}
    assert make("Items", [3, 1]) in ([3, 1], [])
    assert make("Items", [make("Items", [1])]) == [[1]]


def test_what_a_class_says_of_itself_is_not_asked(sol: Any) -> None:
    make = sol.get("make")
    assert make("Text", "real") == "real"
    assert make("Text", "real") != "other"
    liar = make("Liar", 3)
    assert not liar == 3  # noqa: SIM201 - `==` itself
    assert not liar == 4  # noqa: SIM201 - `==` itself
    with pytest.raises(TypeError):
        liar + 1
    assert make("Shy", [1]) == [1]
    with pytest.raises(TypeError):
        bool(make("Shy", [1]) < [0])
    assert not make("Yes", "x") == "y"  # noqa: SIM201 - `==` itself
    assert make("Yes", "x") != "y"
    assert make("Items", [liar]) != [4]


def test_objects_are_of_the_kinds_that_their_classes_derive_from(sol: Any) -> None:
    make = sol.get("make")
    stack, deeper = make("Stack", [1]), make("Deeper", [1])
    assert isinstance(stack, list)
    assert isinstance(deeper, (list, dict))
    assert not isinstance(stack, (dict, tuple))
    assert isinstance(sol.get("red")(), int)
    assert isinstance(sol.get("red")(), enum.IntEnum)
    assert isinstance(sol.get("name")(), str)
    assert not isinstance(make("Liar", 1), int)  # its class says itself what it equals
    assert not isinstance(make("Yes", "x"), str)
    assert isinstance(make("Lookup"), collections.abc.Mapping)
    assert isinstance(make("Amount", "1.5"), decimal.Decimal)
    assert not isinstance(make("Documented"), list)
    Stack, Deeper = sol.get("Stack"), sol.get("Deeper")
    assert isinstance(deeper, Stack)
    assert not isinstance(stack, Deeper)
    assert type(stack) is Stack
    assert stack.__class__ == Stack == stack.__class__
    assert stack.__class__ is Stack([2]).__class__
    assert stack.__class__ != Deeper
    assert deeper.__class__ == Deeper != Stack
    assert {Stack: 1}[stack.__class__] == 1
    assert stack.__class__.__name__ == "Stack"
    beside: Any = stack.__class__
    assert beside([2]).push(3) == [2, 3]
    assert beside.kept == 3
    assert [kind.name for kind in sol.get("red")().__class__] == ["RED", "BLUE"]
    with pytest.raises(TypeError):
        json.dumps(stack)  # as before: what asks in C is not deceived


def test_an_object_gives_a_loop_what_it_says_it_has(sol: Any) -> None:
    make = sol.get("make")
    for name in ("Empty", "Holes", "Looped"):
        value = make(name)
        assert len(value) == 3
        with pytest.raises(TypeError, match="its length is 3"):
            all(a == b for a, b in zip(value, [1, 2, 3], strict=False))
    for name in ("Empty", "Holes"):
        value = make(name)
        assert [item for item in value if item > 1] == []
        with pytest.raises(TypeError, match="its length is 3"):
            len(value)
    value = make("Shrinking")
    assert len(value) == 3
    with pytest.raises(TypeError, match="its length was 3"):
        range(len(value))


def test_lengths_may_change_with_what_is_done_to_an_object(sol: Any) -> None:
    make = sol.get("make")
    queue = make("Queue", [1, 2])
    assert (len(queue), len(queue)) == (2, 2)
    queue.put(3)
    assert len(queue) == 3
    for _ in queue:
        break
    assert len(queue) == 2
    assert [item for item in queue] == [2, 1]  # noqa: C416 - a loop
    assert len(queue) == 0
    for _ in queue:
        queue.put(5)
        break
    grid = make("Grid")
    assert len(grid) == 2
    assert sum(item for item in grid) == 10
    assert len(grid) == 2
    holes = make("Holes")
    assert (len(holes), list(holes), len(holes)) == (3, [1], 3)
    with solution(SOURCE, value_classes=["Holes"]) as named:  # a class that the tests name, for objects that they make
        holes = named.get("Holes")()
        assert len(holes) == 3
        assert sum(item for item in holes) == 1
    expiring = make("Shrinking")
    assert len(expiring) == 3
    time.sleep(0.01)
    assert len(expiring) == 0


def test_plain_data_on_the_left_is_joined_with_content(sol: Any) -> None:
    make = sol.get("make")
    assert [0] + make("Stack", [1]) == [0, 1]  # noqa: RUF005 - it is the sum that is tried
    assert type([0] + make("Deeper", [1])) is list  # noqa: RUF005 - it is the sum that is tried
    assert "a" + sol.get("name")() == "ared"
    assert [0] + make("Shy", [1]) == [0, 1]  # noqa: RUF005 - it is the sum that is tried
    with pytest.raises(TypeError):
        (0,) + make("Stack", [1])  # noqa: RUF005 - it is the sum that is tried
    with pytest.raises(TypeError):
        [0] + make("Words", {})  # noqa: RUF005 - it is the sum that is tried
    with pytest.raises(TypeError):  # what the class says by itself is not asked
        [0] + make("Sum", [1])  # noqa: RUF005 - it is the sum that is tried
    total = [0]
    total += make("Stack", [1])
    assert total == [0, 1]


def test_methods_say_what_they_do(sol: Any) -> None:
    kind = sol.get("Documented")
    assert kind.method.__doc__ == kind().method.__doc__ == "Does it."
    assert kind.static.__doc__ == "Stands."
    assert kind.silent.__doc__ is None


def test_two_objects_of_the_solution_are_its_own_affair(sol: Any) -> None:
    make = sol.get("make")
    assert make("Liar", 3) == make("Liar", 4)
    assert make("Items", [1]) == make("Items", [1])


def test_named_tuples_have_defaults_and_properties(sol: Any) -> None:
    pair = sol.get("pair")()
    assert pair == (2, 5)
    assert (pair.total, pair.left) == (7, 2)
    assert pair.swapped() == (5, 2)
    assert pair._asdict() == {"left": 2, "right": 5}
    assert pair._replace(left=3) == (3, 5)
    assert pair._replace(left=3).total == 8
    assert type(pair)._fields == ("left", "right")
    assert type(pair)._field_defaults == {"right": 5}
    assert sol.get("Pair")(1) == (1, 5)
    assert sol.get("Pair")._make([1, 2]).total == 3
    with pytest.raises(AttributeError):
        pair.nothing  # noqa: B018


def test_helpers_of_dataclasses(sol: Any) -> None:
    point: Any = sol.get("point")()
    assert [field.name for field in dataclasses.fields(point)] == ["x", "tags", "inner"]
    assert dataclasses.is_dataclass(type(point))
    assert dataclasses.asdict(point.inner) == {"x": 2, "tags": [], "inner": None}
    assert dataclasses.asdict(point)["inner"] == {"x": 2, "tags": [], "inner": None}
    assert dataclasses.astuple(point.inner) == (2, [], None)
    other = dataclasses.replace(point, x=7)
    assert (other.x, other.tags, point.x) == (7, ["a"], 1)


def test_lists_of_generators_are_fetched_many_at_once(sol: Any) -> None:
    before = sol.requests
    assert list(sol.get("count")(10_000)) == list(range(10_000))
    assert tuple(sol.get("count")(3)) == (0, 1, 2)
    assert sorted(sol.get("Down")(5)) == [[0], [1], [2], [3], [4]]
    taken: list[int] = []
    taken.extend(sol.get("count")(4))
    assert taken == [0, 1, 2, 3]
    assert json.dumps([*sol.get("count")(2)]) == "[0, 1]"
    assert sol.requests - before < 100


def test_nothing_is_fetched_ahead_where_it_could_be_seen(sol: Any) -> None:
    log, count = sol.get("log"), sol.get("count")
    start = log()
    for item in count(10):
        if item == 2:
            break
    assert log() == start + 3
    assert list(itertools.islice(count(10), 2)) == [0, 1]
    assert log() == start + 5
    assert [next(count(5)) for _ in range(2)] == [0, 0]
    assert log() == start + 7
    assert list(zip("ab", sol.get("naturals")(), strict=False)) == [("a", 0), ("b", 1)]
    first, *_ = count(3)
    assert first == 0


def test_what_ends_an_iterator_comes_after_its_items(sol: Any) -> None:
    with pytest.raises(KeyError) as caught:
        list(sol.get("breaks")(3))
    assert caught.value.args == (3,)
    made = sol.get("breaks")(2)
    taken: list[int] = []
    with pytest.raises(KeyError):
        taken.extend(made)
    assert list(made) == []
    called: list[int] = []

    def ask(n: int) -> int:
        called.append(n)
        if n == 3:
            raise LookupError(n)
        return n

    with pytest.raises(LookupError):
        list(sol.get("asks")(ask, 9))
    assert called == [0, 1, 2, 3]


def test_what_goes_with_an_exception_comes_along(sol: Any) -> None:
    with pytest.raises(ValueError, match="outer") as caught:
        sol.get("caused")()
    assert type(caught.value.__cause__) is KeyError
    assert caught.value.__cause__.args == ("inner",)
    assert caught.value.__suppress_context__
    with pytest.raises(ValueError, match="outer") as caught:
        sol.get("in_context")()
    assert type(caught.value.__context__) is KeyError
    assert caught.value.__cause__ is None
    assert not caught.value.__suppress_context__
    with pytest.raises(ValueError, match="outer") as caught:
        sol.get("from_none")()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    with pytest.raises(ValueError, match="x") as caught:
        sol.get("noted")()
    assert caught.value.__notes__ == ["first", "second"]


def test_chains_of_exceptions_have_a_bound(sol: Any) -> None:
    for name in ("endless", "deep"):
        with pytest.raises(ValueError, match=r"a|99") as caught:
            sol.get(name)()
        error: BaseException | None = caught.value
        length = 0
        while error is not None:
            error, length = error.__cause__, length + 1
        assert 2 <= length <= 10
