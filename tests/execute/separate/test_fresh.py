"""Calls that each go to a copy of the solution that nobody has called yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from tests.execute.separate import pair

from scalebox.execute.separate.fresh import FreshSolution
from scalebox.execute.separate.remote import SolutionEnded

COUNTS = "seen = []\ndef f(n):\n    seen.append(n)\n    return len(seen)\n"


@contextmanager
def copies(*sources: str) -> Iterator[FreshSolution]:
    with ExitStack() as stack:
        made = FreshSolution([stack.enter_context(pair.process(source))[0] for source in sources], [__name__], [])
        stack.callback(made.close)
        made._spent = -60.0  # interpreters take their time to start
        made.start()
        yield made


def test_each_call_goes_to_a_copy_of_its_own_and_the_rest_to_the_last() -> None:
    with copies(COUNTS, COUNTS, COUNTS) as solution:
        f = solution.get("f")
        assert solution.get("f") is f
        assert [f(7) for _ in range(5)] == [1, 1, 1, 2, 3]
        assert f.__name__ == "f"
        assert solution.requests >= 5


def test_a_call_without_arguments_stays_where_it_is() -> None:
    with copies("n = 0\ndef f():\n    global n\n    n += 1\n    return n\n", COUNTS) as solution:
        f = solution.get("f")
        assert [f(), f()] == [1, 2]


def test_no_copy_is_left_while_something_of_it_is_in_use() -> None:
    source = (
        "class A:\n    def __init__(self, n): self.n = n\n"
        "made = []\ndef f(n):\n    made.append(n)\n    return A(len(made))\n"
    )
    with copies(source, source) as solution:
        f = solution.get("f")
        first, second = f(1), f(2)
        assert (first.n, second.n) == (1, 2)
        del first, second
        assert f(3).n == 1


def test_a_call_back_goes_to_the_copy_that_asks() -> None:
    source = "seen = []\ndef f(n, g=None):\n    seen.append(n)\n    return g(n) if g else len(seen)\n"
    with copies(source, source) as solution:
        f = solution.get("f")
        assert f(1, lambda n: f(n + 1)) == 2


def test_a_value_that_a_name_stands_for_is_that_value() -> None:
    with copies("N = [1]\n" + COUNTS) as solution:
        assert solution.get("N") == [1]
        with pytest.raises(KeyError):
            solution.get("g")


def test_methods_are_asked_of_an_object_of_the_copy() -> None:
    source = "seen = []\nclass S:\n    def f(self, n):\n        seen.append(n)\n        return len(seen)\n"
    with copies(source, source, source) as solution:
        f = solution.through(lambda: solution.get("S")().f)
        assert [f(1), f(2)] == [1, 1]
    with copies(source, source, source) as solution:
        make = solution.get("S")
        assert [make().f(1), make().f(2), make().f(3)] == [1, 1, 1]


@pytest.mark.parametrize("source", ["1 / 0", "import os\nos._exit(0)", "g = 1"])
def test_a_copy_that_does_not_start_is_the_end(source: str) -> None:
    with copies(COUNTS, source) as solution:
        f = solution.get("f")
        assert f(1) == 1
        for _ in range(2):
            with pytest.raises(SolutionEnded):
                f(2)
        assert solution.lost


def test_a_module_that_takes_long_is_not_run_again() -> None:
    with copies(COUNTS, COUNTS) as solution:
        solution._spent = 0.4
        solution._last = 0.2
        f = solution.get("f")
        assert [f(1), f(2)] == [1, 2]


def test_what_is_to_be_asked_before_a_call_is_asked_of_every_copy() -> None:
    class No(BaseException):
        pass

    def check() -> None:
        if refuse:
            raise No

    refuse = False
    with copies(COUNTS, COUNTS) as solution:
        f = solution.get("f")
        solution.guard(check)
        assert [f(1), f(2)] == [1, 1]
        refuse = True
        with pytest.raises(No):
            f(3)
        refuse = False
        assert f(4) == 2


def test_what_stands_for_a_class_is_one() -> None:
    source = """
import dataclasses, enum
@dataclasses.dataclass
class P:
    x: int
    @classmethod
    def origin(cls): return cls(0)
class C(enum.Enum):
    A = 1
    B = 2
"""
    with copies(source, source) as solution:
        kind: Any = solution.get("P")
        colour = solution.get("C")
        looks: Any = dataclasses.is_dataclass
        is_one: Any = isinstance
        for number in (1, 2):
            made = kind(number)
            assert looks(kind)
            assert [field.name for field in dataclasses.fields(kind)] == ["x"]
            assert dataclasses.asdict(made) == {"x": number}
            assert is_one(kind, type)
            assert isinstance(made, kind)
            assert not isinstance(number, kind)
            assert issubclass(type(made), kind)
            assert issubclass(kind, kind)
            assert type(made) == kind  # noqa: E721 - `is` cannot be
            assert hash(type(made)) == hash(kind)
            assert kind.__name__ == "P"
            assert kind.origin() == kind(0)
            del made
        assert [each.name for each in colour] == ["A", "B"]
        assert len(colour) == 2
        assert colour["A"] in colour
        assert colour
        assert "B" in dir(colour)


def test_a_class_in_the_place_of_a_function_cannot_count_either() -> None:
    source = "class f:\n    n = iter([1, 2])\n    def __new__(cls, x): return next(cls.n)\n"
    with copies(source, source) as solution:
        f = solution.get("f")
        assert [f(1), f(2)] == [1, 1]
