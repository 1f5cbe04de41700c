"""Items in two processes, over the real protocol: what the stub of the other tests cannot show."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., dict[str, Any]]

SOLUTION = """
import os, time
def f(x):
    return x + 1
def apply(function, x):
    try:
        return function(x)
    except Exception:
        return None
def passing(function, x):
    return function(x)
def leave():
    os._exit(0)
def hang():
    while True: pass
def fail(x):
    if x:
        raise Odd("odd", x)
    raise AssertionError("theirs")
class Odd(Exception):
    pass
class Account:
    def __init__(self):
        self.total = 0
    def add(self, x):
        self.total += x
class Swallow:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        return True
def lines():
    print(input() + "!")
async def later(x):
    return x
"""


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    driver = Path(__file__).with_name("driver.py")
    with subprocess.Popen(
        [sys.executable, str(driver)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def one(test: str, solution: str = SOLUTION, **job: Any) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"test": test, "solution": solution, **job}) + "\n")
            process.stdin.flush()
            report: dict[str, Any] = json.loads(process.stdout.readline())
            return report

        yield one
        process.stdin.close()


def statuses(report: dict[str, Any]) -> list[str]:
    return [case[1] for case in report["cases"]]


def test_asserts_and_classes(run: Run) -> None:
    test = """
import unittest
from solution import f as imported
import solution
assert f(1) == imported(1) == solution.f(1) == 2
a = Account()
a.add(3)
assert a.total == 3
assert a.total == 4
class T(unittest.TestCase):
    def setUp(self): self.a = Account()
    def test_a(self):
        self.a.add(1)
        self.assertEqual(self.a.total, 1)
    def test_b(self):
        with self.assertRaises(Odd) as info:
            fail(2)
        self.assertEqual(info.exception.args, ("odd", 2))
        with self.assertRaises(Odd):
            f(1)
"""
    report = run(test)
    assert report["reason"] == "done"
    assert statuses(report) == ["passed", "passed", "failed", "passed", "failed"]
    assert report["cases"][2][2] == "a.total == 4: left 3, right 4"
    assert report["shared"] == ""


def test_failures_of_both_sides_are_told_apart(run: Run) -> None:
    report = run("assert fail(0)\nassert fail(1)\nassert f(None)\nassert f(1)[0]\nassert f(1) == 3\n")
    assert [case[1:3] for case in report["cases"][:2]] == [
        ["error", "fail(0): the program raised AssertionError: theirs"],
        ["error", "fail(1): the program raised Odd: ('odd', 1)"],
    ]
    assert "the program raised TypeError" in report["cases"][2][2]
    assert report["cases"][3][2] == "f(1)[0]: TypeError: 'int' object is not subscriptable"
    assert report["cases"][4][1] == "failed"


def test_an_assert_that_the_solution_calls_cannot_be_swallowed(run: Run) -> None:
    test = "def back(x):\n    assert x > 1\n    return x\n"
    assert statuses(run(test + "assert apply(back, 0) is None\n")) == ["failed", "passed"]
    report = run(test + "assert passing(back, 0) is None\nassert f(1) == 2\n")
    assert statuses(report) == ["failed", "passed"]
    method = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        apply(back, {0})\n"
    assert statuses(run(test + method.format(0))) == ["failed"]
    assert statuses(run(test + method.format(2))) == ["passed"]
    report = run("with Swallow():\n    assert f(1) == 3\nassert f(1) == 2\n")
    assert statuses(report) == ["failed", "passed"]
    assert report["cases"][0][2] == "f(1) == 3: left 2, right 3"


@pytest.mark.parametrize(
    "test",
    [
        "assert f(1)\nassert leave() is None\nassert f(2)\n",
        "assert f(1)\ntry:\n    leave()\nexcept:\n    pass\n",
        "assert f(1)\nimport contextlib\nwith contextlib.suppress(BaseException):\n    leave()\n",
    ],
)
def test_a_solution_that_leaves_passes_nothing_more(run: Run, test: str) -> None:
    report = run(test)
    assert report["reason"] == "solution ended"
    assert statuses(report)[0] == "passed"
    assert "running" in statuses(report)


def test_a_run_cut_short_tells_what_was_running(run: Run) -> None:
    report = run("for i in range(500): assert f(i) == i + 1\nassert hang()\nassert f(2)\n", seconds=2)
    assert report["status"] is None
    assert statuses(report) == ["passed"] * 500 + ["running", "unreached"]
    assert report["cases"][500][3] == "assert hang()"


def test_names_streams_and_coroutines(run: Run) -> None:
    test = """
import asyncio, io, contextlib
from unittest import mock
out = io.StringIO()
with mock.patch("builtins.input", return_value="in"), contextlib.redirect_stdout(out):
    lines()
assert out.getvalue() == "in!\\n"
assert asyncio.run(later(3)) == 3
async def test_a():
    assert await later(1) == 1
    assert await later(1) == 2
assert eval("f(1)") == 2
assert os.path.join("a", "b") == "a/b"
"""
    report = run(test)
    assert statuses(report) == ["passed"] * 5 + ["failed"], report
    assert report["cases"][5][2] == "await later(1) == 2: left 1, right 2"


def test_what_is_patched_in_the_tests_module_is_patched_in_the_solution(run: Run) -> None:
    test = """
import sys
from unittest import mock
with mock.patch("__main__.helper", return_value=10):
    assert outer() == helper() + 1 == 11
assert outer() == helper() + 1 == 2
with mock.patch(f"{__name__}.helper", lambda: 20):
    assert outer() == 21
with mock.patch.object(sys.modules[__name__], "helper", lambda: 30):
    assert outer() == 31
assert outer() == 2
@mock.patch("__main__.helper", return_value=40)
def test_a(fake):
    assert outer() == 41
"""
    program = "def helper(): return 1\ndef outer(): return helper() + 1\n"
    report = run(test, program)
    assert statuses(report) == ["passed"] * 6, report
    unnamed = (
        "from unittest import mock\nwith mock.patch('__main__.helper', return_value=5):\n    assert outer() == 6\n"
    )
    assert statuses(run(unnamed, program)) == ["passed"]


def test_a_harness_over_the_wire(run: Run) -> None:
    test = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(1) == 3\n"
    report = run(test, item={"entry_points": ["g", "f"]})
    assert statuses(report) == ["passed", "failed"]
    assert run(test, item={"entry_points": ["g"]})["reason"] == "solution failed"
    assert run(test, "raise ValueError('x')")["detail"] == "raised: ValueError: x"
