"""Objects below plain types, named tuples, items fetched ahead, and what goes with exceptions."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.execute.separate.pair import solution

SOURCE = """
import enum, dataclasses
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
    assert not liar == 3  # noqa: SIM201
    assert not liar == 4  # noqa: SIM201
    with pytest.raises(TypeError):
        liar + 1
    assert make("Shy", [1]) == [1]
    with pytest.raises(TypeError):
        bool(make("Shy", [1]) < [0])
    assert not make("Yes", "x") == "y"  # noqa: SIM201
    assert make("Yes", "x") != "y"
    assert make("Items", [liar]) != [4]


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
