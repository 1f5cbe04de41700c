"""One process for solution and tests: no result but by the tests' end."""

from __future__ import annotations

import os

import pytest
from tests.execute.separate.apart import Run, run

from scalebox.execute.separate import together

RIGHT = "def f(x):\n    return x + 1\n"
WRONG = "def f(x):\n    return x\n"
TESTS = "assert f(1) == 2\nassert f(2) == 3\n"


def together_with(solution: str, tests: str = TESTS) -> Run:
    return run("together", solution=solution, tests=tests)


def script(source: str) -> Run:
    return run("script", solution=source)


def test_a_right_solution_passes() -> None:
    done = together_with(RIGHT)
    assert done.passed
    assert [(case.name, case.text) for case in done.cases] == [("0", "assert f(1) == 2"), ("1", "assert f(2) == 3")]


def test_a_wrong_one_fails() -> None:
    done = together_with(WRONG)
    assert done.given
    assert done.statuses == ["failed", "failed"]


@pytest.mark.parametrize(
    "source", ["raise SystemExit(0)", "import sys; sys.exit()", "1 / 0", "raise KeyboardInterrupt"]
)
def test_a_module_that_ends_is_a_failed_solution(source: str) -> None:
    done = together_with(source)
    assert (done.given, done.reason, done.cases) == (True, "solution failed", [])


def test_a_test_may_look_into_the_solution() -> None:
    tests = "class Sub(Base):\n    pass\nassert Sub().get() == 1\nassert f.__code__.co_argcount == 1\n"
    assert together_with(RIGHT + "class Base:\n    def get(self): return 1\n", tests).passed


def test_what_is_patched_in_the_tests_module_is_patched_in_the_solution() -> None:
    tests = """
from unittest import mock
assert f.__code__ is not None
with mock.patch("__main__.helper", lambda: 10):
    assert f(1) == 11
assert f(1) == 2
"""
    assert together_with("def helper(): return 1\ndef f(x): return x + helper()\n", tests).passed


EARLY = [
    "import os; os._exit(0)",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "import atexit, os; atexit.register(os._exit, 0)\ndef f(x): os._exit(0)",
    "class D:\n    def __del__(self):\n        import os; os._exit(0)\ndef f(x):\n    D()\n    return x + 1",
    "import os, threading\nthreading.Thread(target=os._exit, args=(0,)).start()\nwhile True: pass",
    "import os\nclass E:\n    def __eq__(self, other): os._exit(0)\ndef f(x): return E()",
    "def f(x):\n    import os\n    for fd in range(3, 64):\n        try: os.write(fd, b'{\"passed\": true}' * 9)\n"
    "        except OSError: pass\n    os._exit(0)",
    "def f(x):\n    import os\n    for fd in range(3, 64):\n        try: os.close(fd)\n"
    "        except OSError: pass\n    return x + 1",
    "print('2 passed')\nimport os, sys\nsys.stdout.flush()\nos._exit(0)",
    "import os; os.abort()",
    "import os\nif os.fork():\n    os._exit(0)\nos._exit(0)",
]


@pytest.mark.parametrize("source", EARLY)
def test_an_end_before_the_last_test_has_no_result(source: str) -> None:
    done = together_with(source)
    assert not done.passed
    assert not done.given
    assert done.reason == ""
    assert "passed" not in done.statuses


ALTERED = [
    "import builtins\nbuiltins.isinstance = lambda *a: True\n",
    "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
    "import unittest\nunittest.TestCase.assertEqual.__code__ = (lambda self, a, b, msg=None: None).__code__\n",
    "import sys\nsys.exit = lambda *a: None\n",
    "import math\nmath.isclose = lambda *a, **k: True\n",
    "import unittest\ndel unittest.TestCase.fail\n",
]
FAKE = "import sys, types\nsys.modules['math'] = types.SimpleNamespace(isclose=lambda *a: True)\n"
CHECKS = """
import unittest, math
t = unittest.TestCase()
assert t.assertEqual(f(1), 2) is None
assert math.isclose(f(1), 2)
assert isinstance(f(1), str) or f(1) == 2
assert hasattr(t, 'fail')
"""


def test_checks_pass_and_fail_as_they_should() -> None:
    assert together_with(RIGHT, CHECKS).passed
    assert together_with(WRONG, CHECKS).statuses == ["failed", "failed", "failed", "passed"]


@pytest.mark.parametrize("source", [*ALTERED, FAKE])
def test_what_judges_is_put_back_before_the_tests(source: str) -> None:
    assert together_with(source + WRONG, CHECKS).statuses == ["failed", "failed", "failed", "passed"]


@pytest.mark.parametrize("source", ALTERED)
def test_what_a_call_alters_voids_the_tests(source: str) -> None:
    inner = "".join(f"    {line}\n" for line in source.splitlines())
    done = together_with(f"def f(x):\n{inner}    return x + 1\n", CHECKS)
    assert not done.passed
    assert done.reason == "stopped"
    assert "the program altered" in done.detail


def test_what_judges_may_be_altered_by_its_name_in_the_tests() -> None:
    tests = "import builtins\nbuiltins.input = lambda: '1'\nassert f(1) == 2\nsetattr(builtins, 'print', len)\n"
    assert together_with(RIGHT, tests).passed


def test_a_tracer_of_the_solution_does_not_see_the_tests() -> None:
    watch = "import sys\nseen = []\ndef see(*a): seen.append(1)\nsys.settrace(see)\nsys.setprofile(see)\n"
    assert together_with(watch + RIGHT, "seen.clear()\nassert f(1) == 2\nassert not seen\n").passed


SUITE = {
    "files": {"test_f.py": "from solution import f\n\ndef test_f():\n    assert f(1) == 2\n"},
    "required": ["test_f.py::test_f"],
    "modules": ["solution"],
}
NEUTRAL = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n"


def test_a_suite_runs_in_one_process_too() -> None:
    assert run("pytest", solution=RIGHT, item=SUITE).passed
    assert run("pytest", solution=WRONG, item=SUITE).statuses == ["failed"]
    assert run("pytest", solution=NEUTRAL + WRONG, item=SUITE).statuses == ["failed"]
    assert not run("pytest", solution="import os\ndef f(x): os._exit(0)\n", item=SUITE).passed


def test_a_script_passes_by_its_end_alone() -> None:
    assert script(RIGHT + TESTS).passed
    assert script("print(1)").passed
    assert script(WRONG + TESTS).statuses == ["failed"]


@pytest.mark.parametrize("source", [*EARLY[:2], "import sys; sys.exit(0)", "raise SystemExit", "1 / 0"])
def test_a_script_that_ends_early_fails(source: str) -> None:
    assert not script(f"{source}\n{WRONG}{TESTS}").passed


def test_only_the_number_from_the_socket_opens_the_gate() -> None:
    for asked in (b"\0" * 16, b"done", b""):
        frames_fd = os.memfd_create("frames")
        ours, theirs = together.open_gate()
        os.write(theirs, asked)
        os.close(theirs)
        assert not together.keep_gate(ours, frames_fd)
        os.close(frames_fd)
