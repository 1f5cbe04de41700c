"""Tests that depend on what two processes do not have in common by themselves: as plain Python, in every tier."""

from __future__ import annotations

from typing import Any

import pytest
from tests.golden.table import Row, check_table

from scalebox import ScaleBoxClient

P, F = "passed", "assert_fail"


def asserts(source: str) -> list[dict[str, Any]]:
    return [{"assert": source}]


_CTOR = asserts("xs = [1, 2]\nb = Box(xs)\nxs[0] = 9\nassert b.total() == 3")
_GET = asserts("b = Box([1])\nb.get().append(2)\nassert b.total() == 1")
_DEEP = asserts("b = Box([[1]])\nb.get()[0].append(2)\nassert b.get() == [[1]]")
_LOG = asserts("log = []\nl = Log(log)\nl.say('a')\nassert log == ['a']\nlog.clear()\nassert l.count() == 0")
_EACH = asserts("assert [p for p in paths(2)] == [[0], [0, 1]]")
_CALL = asserts("found = []\nemit(2, found.append)\nassert found == [[0], [0, 1]]")
_ROWS = asserts("t = table(2)\nt[0].append(1)\nassert table(2) == [[0, 0], [0, 0]]")


def box(kept: str, given: str) -> str:
    return (
        f"class Box:\n def __init__(self, xs): self.xs = {kept}\n def get(self): return {given}\n"
        " def total(self): return sum(self.xs)"
    )


def log(kept: str) -> str:
    return (
        f"class Log:\n def __init__(self, out): self.out = {kept}\n def say(self, s): self.out.append(s)\n"
        " def count(self): return len(self.out)"
    )


def paths(given: str) -> str:
    return (
        f"def paths(n):\n path = []\n for i in range(n):\n  path.append(i)\n  yield {given}\n"
        "def emit(n, to):\n"
        f" path = []\n for i in range(n):\n  path.append(i)\n  to({given})"
    )


def table(before: str) -> str:
    return f"import functools\n{before}\ndef table(n): return [[0] * n for _ in range(n)]"


SHARED = [
    Row("given", "it took a copy", box("list(xs)", "self.xs"), _CTOR, P),
    Row("given, kept", "it is the tests' own list", box("xs", "self.xs"), _CTOR, F),
    Row("result", "a copy", box("xs", "self.xs[:]"), _GET, P),
    Row("result, kept", "a part of the state", box("xs", "self.xs"), _GET, F),
    Row("inner", "copies all the way", box("xs", "[x[:] for x in self.xs]"), _DEEP, P),
    Row("inner, kept", "the list is a copy, and its items are none", box("xs", "self.xs[:]"), _DEEP, F),
    Row("log", "both write into one list", log("out"), _LOG, P),
    Row("log, copied", "the tests' list stays empty", log("list(out)"), _LOG, F),
    Row("yields", "a list each time", paths("path[:]"), _EACH, P),
    Row("yields the same", "one list again and again", paths("path"), _EACH, F),
    Row("calls back", "with a list each time", paths("path[:]"), _CALL, P),
    Row("calls back, the same", "with one list again and again", paths("path"), _CALL, F),
    Row("rows", "made anew", table(""), _ROWS, P),
    Row("rows, cached", "what the test does to a result is in the next", table("@functools.cache"), _ROWS, F),
]

_MONEY = (
    "class Money:\n def __init__(s, x): s.x = x\n def __mul__(s, k): return Money(s.x * k)\n"
    " def __eq__(s, o): return s.x == o.x"
)
_POINT = "from dataclasses import dataclass\n@dataclass\nclass Point:\n x: int\n y: int = 0"
LOOKS = [
    Row(
        "values",
        "made and computed with: a class of values, though no attribute shows it",
        _MONEY,
        asserts("a, b = Money(1), Money(2)\nassert a * 2 == b\nassert a * 3 == Money(3)"),
        cases=(P, P),
    ),
    Row(
        "class",
        "handed to functions that look at it",
        _POINT,
        [
            {
                "harness": "from dataclasses import asdict, is_dataclass\ndef check(k):\n    assert is_dataclass(k)\n"
                "    p = k(1)\n    assert isinstance(p, k)\n    assert asdict(p) == {'x': 1, 'y': 0}\n"
                "    assert asdict(k(2, 3)) == {'x': 2, 'y': 3}\n"
            }
        ],
        cases=(P,) * 4,
        fields={"entry_point": "Point"},
    ),
    Row(
        "slots",
        "an object without a dictionary",
        "class S:\n __slots__ = 'x'\nclass D: pass",
        asserts("assert not hasattr(S(), '__dict__')\nassert vars(D()) == {}"),
        cases=(P, P),
    ),
    Row(
        "session",
        "an exception's class is told without a module",
        "class Bad(Exception): pass\nclass solution(Exception): pass\ndef f(x): raise {1: Bad, 2: solution}[x]('no')\n"
        "def g(): print('solution.Bad: no')",
        asserts(
            ">>> f(1)\nTraceback (most recent call last):\nBad: no\n"
            ">>> f(1)\nTraceback (most recent call last):\nsolution.Bad: no\n"
            ">>> f(2)\nTraceback (most recent call last):\nBad: no\n>>> g()\nBad: no\n"
        ),
        F,
        cases=(P, P, F, F),
    ),
]


@pytest.mark.parametrize("rows", [SHARED, LOOKS], ids=["shared", "looks"])
def test_labels(client: ScaleBoxClient, rows: list[Row]) -> None:
    check_table(client, rows)
