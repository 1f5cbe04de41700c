"""What is run of an item, in which order, and who is at fault when it ends early."""

from __future__ import annotations

import sys

import pytest
from tests.execute.separate.stub import SOLUTION, build, named, run, statuses

pytestmark = pytest.mark.usefixtures("runners")


# Who is at fault.


@pytest.mark.parametrize(
    ("test", "setup", "reason", "found"),
    [
        ("assert f(1) == 2", "import math\nx = math.pi", "done", ["passed"]),
        ("assert f(1) == 2", "x = f(1)\nassert x == 2", "done", ["passed"]),
        ("assert f(1) == 2", "x = 1 // 0", "task", []),
        ("assert f(1) == 2", "import no_such_module", "toolchain", []),
        ("assert f(1) == 2", "assert 1 == 2", "stopped", ["error", "unreached"]),
        ("assert f(1) == 2", "x = nothing()", "stopped", ["error", "unreached"]),
        ("assert f(1) == 2", "x = f(99)", "stopped", ["error", "unreached"]),
        ("assert f(1) == 2", "x = f(1)[0]", "stopped", ["error", "unreached"]),
        ("assert f(1) == 2", "x = LIMIT[0]", "stopped", ["error", "unreached"]),
        ("x = 1 // 0\nassert f(1) == 2", "", "task", []),
        ("assert f(1)\nimport no_such_module\nassert f(1) == 2", "", "toolchain", ["passed"]),
        ("assert f(1)\nx = 1 // 0\nassert f(1) == 2", "", "stopped", ["passed", "error", "unreached"]),
        ("open('no such file')\nassert f(1)", "", "stopped", ["error", "unreached"]),
        ("from solution import nothing\nassert f(1)", "", "stopped", ["error", "unreached"]),
        ("def check(c):\n    import no_such_module\n    assert c(1)\ncheck(f)", "", "toolchain", []),
        ("x = 1", "", "task", []),
        ("", "", "task", []),
        ("assert True, 'prints'", "", "task", []),
        ("import doctest\ndoctest.testmod()", "", "task", []),
        ("x = f(1)", "", "done", ["passed"]),
        ("f(99)", "", "stopped", ["error"]),
    ],
)
def test_how_an_item_ends(
    test: str, setup: str, reason: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "solution", type(sys)("solution"))
    report = run(test, SOLUTION, setup)
    assert (report.reason, [status.replace("failed", "error") for status in statuses(report)]) == (reason, found), (
        report
    )


def test_a_solution_that_does_not_run_fails() -> None:
    report = run("assert f(1)", "import sys\nsys.exit(0)")
    assert (report.reason, report.detail, report.cases) == ("solution failed", "SystemExit: 0", [])
    assert run("assert f(1)", "def f(:").reason == "solution failed"


def test_a_solution_that_is_lost_ends_the_item_whatever_the_test_catches() -> None:
    report = run("assert f(1)\nassert end() == 1\nassert f(1)", SOLUTION)
    assert report.reason == "solution ended"
    assert statuses(report) == ["passed", "running", "unreached"]
    report = run("try:\n    end()\nexcept:\n    pass\nassert True is not False\n", SOLUTION)
    assert report.reason == "solution ended"
    test = "import unittest\nclass A(unittest.TestCase):\n"
    test += "    def test_a(self):\n        end()\n    def test_b(self):\n        f(1)\n"
    report = run(test, SOLUTION)
    assert report.reason == "solution ended"
    assert named(report) == {"A.test_a": "running", "A.test_b": "unreached"}
    assert run(">>> end()\n1\n>>> f(1)\n2\n", SOLUTION).reason == "solution ended"
    assert run("def test_a():\n    end()\ndef test_b():\n    assert f(1)\n", SOLUTION).reason == "solution ended"


@pytest.mark.parametrize(
    ("leave", "reason", "found"),
    [
        ("sys.exit()", "done", ["passed", "unreached"]),
        ("sys.exit(0)", "done", ["passed", "unreached"]),
        ("sys.exit(1)", "stopped", ["passed", "error", "unreached"]),
        ("sys.exit('failed')", "stopped", ["passed", "error", "unreached"]),
        ("raise KeyboardInterrupt", "stopped", ["passed", "error", "unreached"]),
    ],
)
def test_a_test_that_ends_itself_leaves_what_it_did_not_reach(leave: str, reason: str, found: list[str]) -> None:
    helper = "import sys\ndef unused():\n    assert f(3)\n"
    report = run(f"{helper}assert f(1)\n{leave}\nassert f(2)\n", SOLUTION)
    assert report.reason == reason
    assert statuses(report) == found + (["unreached"] if reason == "stopped" else [])
    assert statuses(run(f"import sys\nassert f(1)\n{leave}\n", SOLUTION)) == found[:-1]


# Names.


def test_the_tests_own_names_come_first() -> None:
    solution = SOLUTION + "\ndef helper(x): return 'theirs'\ndef check(c): pass\ndef test_a(): pass\n"
    report = run("def helper(x): return 'ours'\nassert helper(1) == 'ours'\nassert f(1) == 2\n", solution)
    assert statuses(report) == ["passed", "passed"]
    report = run("assert f(1) == 3\n", solution, entry_points=["f"])
    assert statuses(report) == ["failed"]


def test_a_solution_gives_no_builtins_but_the_one_under_test() -> None:
    hostile = "def abs(x): return 0\ndef all(x): return True\ndef set(x): return 1\ndef f(x): return -5\n"
    for test in ("assert abs(f(1) - 2) < 1e-6", "assert all(f(i) == i for i in [1])", "assert set([f(1)]) == set([2])"):
        assert statuses(run(test, hostile)) == ["failed"]
        assert statuses(run(test, hostile, entry_points=["f"])) == ["failed"]
    assert statuses(run("assert sum(10, 15) == 6", "def sum(a, b): return 6\n")) == ["passed"]
    assert statuses(run("assert sum(10, 15) == 6", "def sum(a, b): return 6\ndef f(): pass\n")) == ["passed"]
    both = "def sum(a, b): return 5\ndef abs(x): return 0\n"
    assert statuses(run("assert abs(sum(10, 15) - 6) < 1", both)) == ["error"]
    assert statuses(run("assert abs(sum(10, 15) - 6) < 1", both, entry_points=["sum"])) == ["failed"]


def test_a_solution_gives_no_libraries_that_it_has_made_itself() -> None:
    test = "assert math.isclose(f(1), 2)\nassert np.allclose(f(1), 2)\n"
    made = "class math:\n    isclose = lambda *a: True\nclass np:\n    allclose = lambda *a: True\ndef f(x): return 7\n"
    report = run(test, made)
    assert [case.detail for case in report.cases] == [
        "math.isclose(f(1), 2): the program defines no 'math'",
        "np.allclose(f(1), 2): the program defines no 'np'",
    ]
    assert statuses(run("assert math.isclose(f(1), 2)", "import math\n" + SOLUTION)) == ["passed"]
    assert statuses(run("assert datetime(1, 2, 3).day == 3", "from datetime import datetime")) == ["passed"]
    assert statuses(run("assert copy(2) == 3", "def copy(x): return x + 1", entry_points=["copy"])) == ["passed"]


def test_main_is_the_test() -> None:
    test = "import __main__, sys\nassert __main__.f(1) == 2 and sys.modules[__name__].g() == 1\ndef g(): return 1\n"
    assert statuses(run("def g(): return 1\n" + test, SOLUTION)) == ["passed"]
    assert "__main__" in sys.modules
    assert not hasattr(sys.modules["__main__"], "g")


# Harnesses.

HARNESS = (
    "METADATA = {'author': 'x'}\ndef check(candidate):\n    for i in range(3):\n        assert candidate(i) == i + 1\n"
)


@pytest.mark.parametrize(
    ("entries", "reason", "detail"),
    [
        (["f"], "done", ""),
        (["nothing", "f"], "done", ""),
        (["nothing", "none"], "solution failed", "the program defines no 'nothing'"),
        ([], "task", "the test checks nothing: no assert ran, and the program was not used"),
    ],
)
def test_check_is_called_with_the_candidate(entries: list[str], reason: str, detail: str) -> None:
    report = run(HARNESS, SOLUTION, entry_points=entries)
    assert (report.reason, report.detail) == (reason, detail)
    assert statuses(report) == (["passed"] * 3 if reason == "done" else [])


@pytest.mark.parametrize("solution", [SOLUTION, "def f(x):\n    return 7\n"])
@pytest.mark.parametrize(
    ("test", "entries", "detail"),
    [
        ("f(1) == 2", [], "no assert before f(1) == 2"),
        ("def check(candidate):\n    candidate(1) == 2\n", ["f"], "no assert before candidate(1) == 2"),
        ("def check(candidate):\n    for x in []:\n        assert candidate(x)\n", ["f"], "the program was not used"),
    ],
)
def test_who_forgot_the_assert_is_told(solution: str, test: str, entries: list[str], detail: str) -> None:
    report = run(test, solution, entry_points=entries)
    assert report.reason == "task"
    assert report.detail.startswith("the test checks nothing: ")
    assert report.detail.endswith(detail)
    assert statuses(report) == []


def test_a_dropped_comparison_beside_checks_does_nothing() -> None:
    assert statuses(run("f(1) == 2\nassert f(1) == 2", SOLUTION)) == ["passed"]
    assert statuses(run("f(1)", SOLUTION)) == ["passed"]
    assert statuses(run("f(1) == 3", SOLUTION, kind="program")) == ["passed"]


def test_a_harness_that_calls_check_runs_once() -> None:
    assert statuses(run(HARNESS + "check(f)\n", SOLUTION, entry_points=["f"])) == ["passed"] * 3
    assert statuses(run(HARNESS + "check(nothing)\n", SOLUTION, entry_points=["f"])) == ["error", "unreached"]


@pytest.mark.parametrize("entry", ["Solution().twice", "Solution.twice"])
def test_a_candidate_may_be_a_method(entry: str) -> None:
    test = "def check(candidate):\n    assert candidate(2) == 4\n"
    report = run(test, SOLUTION.replace("def twice(self, x)", "@staticmethod\n    def twice(x)"), entry_points=[entry])
    assert statuses(report) == ["passed"]


def test_check_may_be_asynchronous_and_may_raise() -> None:
    assert statuses(run("async def check(c):\n    assert c(1) == 2\n", SOLUTION, entry_points=["f"])) == ["passed"]
    report = run("def check(c):\n    assert c(1) == 2\n    c(99)\n    assert c(2)\n", SOLUTION, entry_points=["f"])
    assert (report.reason, statuses(report)) == ("stopped", ["passed", "error", "unreached"])
    report = run("def check(c):\n    assert c(1) == 3\n    assert c(2) == 3\n", SOLUTION, entry_points=["f"])
    assert (report.reason, statuses(report)) == ("done", ["failed", "passed"])
    assert statuses(run("def check(c):\n    c(1)\n", SOLUTION, entry_points=["f"])) == ["passed"]


# Interactive sessions.


def test_each_example_of_a_session_is_a_case() -> None:
    session = """
Use it so:

>>> f(1)
2
>>> x = f(2)
>>> x
4
>>> print("a\\n\\nb")
a
<BLANKLINE>
b
>>> f(99)
Traceback (most recent call last):
    ...
ValueError: no
>>> f(99)
>>> nothing
"""
    report = run(session, SOLUTION, "import math")
    assert statuses(report) == ["passed", "passed", "failed", "passed", "passed", "error", "error"]
    assert report.cases[2] == report.cases[2]._replace(detail="expected '4\\n', got '3\\n'", text="x")
    assert report.cases[6].detail == "the program defines no 'nothing'"
    assert statuses(run(f'"""{session}"""', SOLUTION))[:3] == ["passed", "passed", "failed"]
    assert run(">>> f(1)\n2\n  bad\n>>> 1\n", SOLUTION).reason == "done"
    assert run(">>> f(\n...1)\n", SOLUTION).reason == "task"
    assert build(">>> import json, os\n>>> from math import pi\n>>> f(1)\n")["imports"] == ["json", "math"]
