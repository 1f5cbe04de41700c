"""Solutions that lie about the content of their objects, about items fetched ahead, and about what goes with errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.execute.separate.pair import solution

from scalebox.execute.separate import operations
from scalebox.execute.separate.remote import Solution, SolutionEnded

#: The server of the solution is in its own process: it may replace what it likes there.
LIES = """
import enum, sys
class Yes:
    def __eq__(self, o): SEEN.append(o); return True
    def __ne__(self, o): return False
    __hash__ = None
SEEN, ANSWERS = [], []
class Number(int): pass
class Many(list):
    def __iter__(self): return iter([7, 8])
    def __len__(self): return 2
    def __getitem__(self, at): return 7
    def __contains__(self, x): return True
    def append(self, x): pass
class Table(dict):
    def __getitem__(self, k): return 3
    def __contains__(self, k): return True
    def keys(self): return ["a"]
    def items(self): return [("a", 3)]
    def copy(self): return {"a": 3}
class Word(str):
    def __str__(self): return "right"
    def __format__(self, spec): return "right"
    def __hash__(self): return hash("right")
    def lower(self): return "right"
class Claims(int):
    __class__ = property(lambda self: float)
class Nothing(int):
    __eq__ = None
class Late(int): pass
class Meta(type):
    def __getattribute__(cls, name): return (lambda *a: True) if name == "__eq__" else type.__getattribute__(cls, name)
class Behind(int, metaclass=Meta): pass
class Colour(enum.IntEnum):
    RED = 1
Colour.RED._value_ = 5
class Tower(int): pass
for _ in range(50): Tower = type("Tower", (Tower,), {})
def make(name, *a): return globals()[name](*a)
def colour(): return Colour.RED
def learn(): Late.__eq__ = lambda self, o: True
def seen(): return len(SEEN)
def serve_content(how):
    module = sys.modules["scalebox.execute.separate.serve_content"]
    def content(value):
        if how == "object": return Yes()
        if how == "list of objects": return [Yes()]
        if how == "turns": ANSWERS.append(0); return len(ANSWERS)
        if how == "class": return Yes
        if how == "none": return None
        if how == "bool": return True
        if how == "raise": raise AssertionError("of the tests?")
        if how == "exit": raise SystemExit(0)
        if how == "other": return [1]
    module.content = content
def serve_drain(how):
    module = sys.modules["scalebox.execute.separate.serve_content"]
    def drain(iterator):
        if how == "nothing": return [], None
        if how == "number": return 3
        if how == "tuple": return (1, 2), None
        if how == "no error": return [1], 5
        if how == "assertion": return [], AssertionError("of the tests?")
        if how == "exit": return [1], SystemExit(0)
        if how == "objects": return [Yes(), Yes()], StopIteration()
    module.drain = drain
def count(n):
    yield from range(n)
def serve_description(numbers):
    module = sys.modules["scalebox.execute.separate.serve_content"]
    module.inherited = lambda mro: numbers
class Fresh(int): pass
"""


@pytest.fixture
def lies() -> Iterator[Solution]:
    with solution(LIES) as made:
        yield made


def _wrong(value: Any, *expected: Any) -> None:
    for right in expected:
        assert not value == right  # noqa: SIM201 - `==` itself
        assert not right == value  # noqa: SIM201 - `==` itself
        assert value != right
        assert [value] != [right]


def test_what_is_compared_is_the_content_whatever_methods_say(lies: Solution) -> None:
    make = lies.get("make")
    assert make("Many", [1]) == [1]
    _wrong(make("Many", [1]), [7, 8], [7])
    assert make("Table", {"b": 2}) == {"b": 2}
    _wrong(make("Table", {"b": 2}), {"a": 3}, {})
    assert make("Word", "wrong") == "wrong"
    _wrong(make("Word", "wrong"), "right")
    assert {make("Word", "wrong"): 1}.get("right") is None
    assert lies.get("colour")() == 1
    _wrong(lies.get("colour")(), 5)


def test_a_class_that_says_what_it_equals_is_not_asked(lies: Solution) -> None:
    make = lies.get("make")
    _wrong(make("Nothing", 3), 3, 4)
    late = make("Late", 3)
    assert late == 3
    lies.get("learn")()
    _wrong(late, 4)
    _wrong(make("Behind", 3), 4)
    assert not isinstance(make("Claims", 3), float)
    _wrong(make("Claims", 3), 4)
    assert make("Tower", 3) == 3


@pytest.mark.parametrize("how", ["object", "class", "none", "bool", "raise", "exit"])
def test_content_that_is_no_plain_data_equals_nothing(lies: Solution, how: str) -> None:
    value = lies.get("make")("Number", 3)
    lies.get("serve_content")(how)
    for expected in (3, True, [1], "x"):
        with pytest.raises(BaseException) as caught:  # noqa: PT011
            value == expected  # noqa: B015
        assert type(caught.value) is TypeError or getattr(caught.value, "scalebox_remote", False)
    assert lies.get("seen")() == 0


def test_content_is_judged_by_the_tests_alone(lies: Solution) -> None:
    value = lies.get("make")("Number", 3)
    lies.get("serve_content")("list of objects")
    _wrong(value, 3, [3], [1])
    lies.get("serve_content")("other")
    _wrong(value, 3, [3])
    lies.get("serve_content")("turns")
    assert [value == 2 for _ in range(4)] == [False, True, False, False]  # it counts, and knows no more
    assert lies.get("seen")() == 0


@pytest.mark.parametrize("numbers", [(999,), ("__eq__",), (None,), 5, ([],)])
def test_a_description_of_a_wrong_shape_is_the_end(lies: Solution, numbers: Any) -> None:
    lies.get("serve_description")(numbers)
    with pytest.raises(SolutionEnded):
        lies.get("make")("Fresh", 3)


def test_no_other_operation_is_done_to_content(lies: Solution) -> None:
    lies.get("serve_description")((operations.NUMBERS["__call__"],))
    with pytest.raises(SolutionEnded):
        lies.get("make")("Fresh", 3)


@pytest.mark.parametrize("how", ["nothing", "number", "tuple", "no error", "assertion", "exit"])
def test_items_of_a_wrong_shape_come_to_an_end(lies: Solution, how: str) -> None:
    made = lies.get("count")(3)
    lies.get("serve_drain")(how)
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        list(made)
    if how in ("assertion", "exit"):
        assert caught.value.scalebox_remote  # type: ignore[attr-defined]


def test_items_fetched_ahead_judge_nothing(lies: Solution) -> None:
    lies.get("serve_drain")("objects")
    found = list(lies.get("count")(3))
    _wrong(found, [1, 2], [0, 1])
    assert lies.get("seen")() == 0
