"""Tests that are source, in every tier: which cases they come to, and what becomes of each."""

# ruff: noqa: E501 - a row to two lines

from __future__ import annotations

import subprocess

import pytest
from tests.golden.table import Row, check_table

from scalebox import ScaleBoxClient, Settings

_SQUARE = "def f(n):\n    return n * n\n"
_LOOPS_AT_3 = "def f(n):\n    while n == 3: pass\n    return n * n\n"
_DIES_AT_3 = "import os\ndef f(n):\n    if n == 3: os._exit(0)\n    return n * n\n"
_TWO = "assert f(3) == 9\nassert f(4) == 16\n"
_SUITE = {
    "files": {"test_f.py": "from solution import f\n\ndef test_a():\n    assert f(3) == 9\n\ndef test_b():\n    assert f(4) == 17\n"},
    "required": ["test_f.py::test_a", "test_f.py::test_b"],
}  # fmt: skip
_PASSED, _FALSE, _ERROR, _TIME = "passed", "assert_fail", "runtime_error", "time_out"


def _harness(*lines: str) -> tuple[dict[str, str], ...]:
    return ({"harness": "def check(candidate):\n" + "".join(f"    {line}\n" for line in lines)},)


def _assert(text: str) -> tuple[dict[str, str], ...]:
    return ({"assert": text},)


ASSERTIONS = (
    Row("each assert is a case", "a false one does not end the others", _SQUARE,
        _assert("assert f(3) == 9\nassert f(3) == 10\nassert f(4) == 16"), _FALSE, cases=(_PASSED, _FALSE, _PASSED)),
    Row("items are apart", "each has a fresh program", "seen = []\ndef f(n):\n    seen.append(n)\n    return len(seen)\n",
        (*_assert("assert f(3) == 1\nassert f(3) == 2"), *_assert("assert f(4) == 1")), cases=(_PASSED,) * 3),
    Row("a loop is as many cases as it has rounds", "they are counted as they run", _SQUARE,
        _assert("for n in range(4):\n    assert f(n) == n + n"), _FALSE, cases=(_PASSED, _FALSE, _PASSED, _FALSE)),
    Row("an error in one case", "the others are judged", "def f(n):\n    return 9 // (n - 4)\n",
        _assert("assert f(4) == 9\nassert f(5) == 9"), _ERROR, cases=(_ERROR, _PASSED)),
    Row("a loop without end in one case", "the others are judged", _LOOPS_AT_3,
        _assert(_TWO + "assert f(5) == 26"), _TIME, {"cpu_s": 0.5}, cases=(_TIME, _PASSED, _FALSE)),
    Row("a loop in the first case of a harness", "the others are judged", _LOOPS_AT_3,
        _assert("def check(g):\n    assert g(3) == 9\n    assert g(4) == 16\n    assert g(5) == 26\ncheck(f)"), _TIME,
        {"cpu_s": 0.5}, cases=(_TIME, _PASSED, _FALSE)),
    Row("an end in one case", "the others are judged", _DIES_AT_3,
        _assert(_TWO + "assert f(5) == 26"), _ERROR, cases=(_ERROR, _PASSED, _FALSE)),
    Row("a program that ends at its import", "no case has passed", "import sys\nsys.exit(0)\n", _assert(_TWO), _ERROR,
        cases=(_ERROR, _ERROR)),
    Row("a program without the name", "it is the program's fault", "def g(n):\n    return n\n", _assert("assert f(3) == 9"), _ERROR),
    Row("tests that are no Python", "it is the task's fault", _SQUARE, _assert("assert f(3) = 9"), "internal_error"),
    Row("tests that check nothing", "it is the task's fault", _SQUARE, _assert("x = 1"), "internal_error"),
    Row("what was to be raised", "it is raised as such", "def f(n):\n    raise ValueError(n)\n",
        _assert("try:\n    f(3)\nexcept ValueError as error:\n    assert error.args == (3,)\nelse:\n    assert False")),
    Row("what was to be raised is not", "the case has failed", _SQUARE,
        _assert("try:\n    f(3)\n    raise AssertionError('nothing raised')\nexcept ValueError:\n    pass"), _FALSE),
    Row("arguments changed in place", "the tests see it", "def f(xs):\n    xs.sort()\n", _assert("x = [3, 1]\nf(x)\nassert x == [1, 3]")),
    Row("an answer that agrees with all", "it may not judge", "class A:\n    def __eq__(s, o): return True\ndef f(n):\n    return A()\n",
        _assert(_TWO), _FALSE, cases=(_FALSE, _FALSE)),
    Row("names of the tests' own", "the program's do not replace them", f"{_SQUARE}def abs(n):\n    return 0\n",
        _assert("assert abs(f(3) - 10) < 1e-6"), _FALSE),
    Row("unittest", "each method is a case", _SQUARE,
        _assert("import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(3), 9)\n    def test_b(self):\n        self.assertEqual(f(4), 17)\n"),
        _FALSE, cases=(_PASSED, _FALSE)),
    Row("doctest", "each example is a case", _SQUARE, _assert(">>> f(3)\n9\n>>> f(4)\n17\n"), _FALSE, cases=(_PASSED, _FALSE)),
    Row("docstrings of a text that imports doctest", "their examples are run", _SQUARE,
        _assert('"""\n>>> f(3)\n9\n"""\nimport doctest\nif __name__ == "__main__":\n    doctest.testmod()\n'), cases=(_PASSED,)),
    Row("docstrings of what a text defines", "not what it makes of a runner's answer is believed", _SQUARE,
        _assert('def test():\n    """\n    >>> f(3)\n    9\n    >>> f(4)\n    17\n    """\nimport doctest\nassert doctest.testmod().failed == 0\n'), _FALSE, cases=(_PASSED, _PASSED, _PASSED, _FALSE)),
    Row("program", "it is one case", _SQUARE, ({"suffix": f"\n{_TWO}"},)),
    Row("program with a false assertion", "one is enough", _SQUARE, ({"suffix": "\nassert f(3) == 9\nassert f(4) == 17\n"},), _FALSE),
    Row("program that ends early", "its tests have not run", f"{_SQUARE}import sys\nsys.exit(0)\n", ({"suffix": f"\n{_TWO}"},), _ERROR),
    Row("harness", "the engine calls it", _SQUARE, _harness("assert candidate(3) == 9", "assert candidate(4) == 17"), _FALSE,
        cases=(_PASSED, _FALSE), fields={"entry_point": "f"}),
    Row("harness, one of several names", "the first that there is", _SQUARE, _harness("assert candidate(3) == 9"),
        fields={"entry_point": ["g", "f", "check"]}),
    Row("harness, a method", "of an object made for it", "class Solution:\n    def f(self, n):\n        return n * n\n",
        _harness("assert candidate(3) == 9"), fields={"entry_point": "Solution().f"}),
    Row("harness, none of the names", "it is the program's fault", _SQUARE, _harness("assert candidate(3) == 9"), _ERROR,
        fields={"entry_point": "g"}),
    Row("set-up", "it runs before each item", _SQUARE, (*_assert("assert f(N) == 9"), *_assert("N += 1\nassert f(N) == 16")),
        fields={"setup": "N = 3\n"}),
)  # fmt: skip


SUITES = (
    Row("pytest", "each required test is a case", _SQUARE, (_SUITE,), _FALSE, cases=(_PASSED, _FALSE)),
    Row("pytest without the test", "what is missing has not passed", _SQUARE,
        ({**_SUITE, "required": ["test_f.py::test_a", "test_f.py::test_c"]},), "internal_error"),
    Row("pytest that tests nothing, controlled", "a sabotaged program passes it as well", _SQUARE,
        ({"files": {"test_f.py": "from solution import f\n\ndef test_a():\n    assert f\n"}, "required": ["test_f.py::test_a"], "mutant_control": True},),
        "internal_error"),
    Row("pytest that tests, controlled", "a sabotaged program does not pass it", _SQUARE,
        ({"files": {"test_f.py": "from solution import f\n\ndef test_a():\n    assert f(3) == 9\n"}, "required": ["test_f.py::test_a"], "mutant_control": True},)),
)  # fmt: skip


def test_assertions(client: ScaleBoxClient) -> None:
    check_table(client, ASSERTIONS)


def test_suites(client: ScaleBoxClient, settings: Settings) -> None:
    if subprocess.run([settings.interpreter, "-I", "-c", "import pytest"], capture_output=True, check=False).returncode:
        pytest.skip("the interpreter that this tier can run has no pytest")
    check_table(client, SUITES)
