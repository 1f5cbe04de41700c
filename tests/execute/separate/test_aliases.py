"""Names that the solution has for builtin exceptions: they catch what it raises, and nothing of the tests' own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.execute.separate.pair import solution

from scalebox.execute.separate.remote import Solution

SOURCE = """
Some = Exception
Every = BaseException
Failed = AssertionError
Value = ValueError
Several = (ValueError, Exception)
def fail(name): raise globals()[name]("no")
class Policy:
    errors = (Exception,)
"""


@pytest.fixture(scope="module")
def made() -> Iterator[Solution]:
    with solution(SOURCE) as found:
        yield found


@pytest.mark.parametrize("name", ["Some", "Every", "Failed", "Several"])
def test_a_failure_of_the_tests_is_not_caught(made: Solution, name: str) -> None:
    caught: Any = made.get(name)

    def check() -> None:
        with contextlib.suppress(caught):
            raise AssertionError("the tests' own")
        try:
            raise AssertionError("the tests' own")
        except caught:
            pass

    with pytest.raises(AssertionError, match="the tests' own"):
        check()


@pytest.mark.parametrize("name", ["Some", "Every", "Failed", "Value"])
def test_what_the_solution_raises_is_caught_by_all_its_names(made: Solution, name: str) -> None:
    kind: Any = made.get(name)
    fail = made.get("fail")
    with pytest.raises(kind, match="no") as caught:
        fail(name)
    assert type(caught.value).__name__ == kind.__name__
    builtin = {"Some": Exception, "Every": BaseException, "Failed": AssertionError, "Value": ValueError}[name]
    with pytest.raises(builtin, match="no"):
        fail(name)


def test_as_data_they_are_what_they_are(made: Solution) -> None:
    assert made.get("Value") is ValueError
    assert made.get("Some") == Exception  # noqa: E721 - the point
    assert {made.get("Some"): 1}[Exception] == 1
    assert made.get("Several") == (ValueError, Exception)
    assert made.get("Policy").errors == (Exception,)
    assert issubclass(made.get("Failed"), AssertionError)
