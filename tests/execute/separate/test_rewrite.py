"""The build step of tests: what it says of a text, what it leaves as written, and what cannot be split."""

from __future__ import annotations

from types import CodeType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.execute.separate.stub import build, run, statuses

SOLUTION = "def f(x):\n    return x + 1\n"


def kinds(test: str) -> list[str]:
    return [site[0] for site in build(test)["sites"]]


def test_says_what_it_found() -> None:
    built = build("import json, solution\nassert f(1) == 2\n\ndef g():\n    assert h.x\n", "import math\nassert True\n")
    assert built["ok"]
    assert isinstance(built["code"], CodeType)
    assert isinstance(built["setup"], CodeType)
    assert built["cases"] == 2
    assert built["imports"] == ["json", "math"]
    assert {"f", "h", "x"} <= set(built["names"])
    assert "g" in built["own"]
    assert not {name for name in built["names"] if name.startswith("@")}
    assert built["shared"] == ""
    assert not built["calls_check"]
    assert not built["unittest"]


@pytest.mark.parametrize(
    ("test", "setup", "message", "line"),
    [
        ("assert f(1) ==\n", "", "line 1, column 15: invalid syntax", 1),
        ("x = 1\n  y = 2\n", "", "line 2", 2),
        ("assert f(1)\n", "def g(:\n", "set-up: ", 1),
        ("assert f('\ud800') == \0\n", "", "", 0),
    ],
)
def test_a_text_that_is_no_python_is_told_with_its_place(test: str, setup: str, message: str, line: int) -> None:
    built = build(test, setup)
    assert not built["ok"]
    assert message in built["message"]
    assert not line or built["line"] == line


@given(st.text(max_size=40))
def test_never_raises(text: str) -> None:
    assert build(text)["ok"] in (True, False)
    assert build("assert f(1)", text)["ok"] in (True, False)


def test_text_nested_too_deeply_is_refused() -> None:
    assert not build("assert " + "(" * 5000 + "1" + ")" * 5000)["ok"]
    assert not build("assert " + "-" * 200_000 + "1")["ok"]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("assert f(1) == 2", ["assert"]),
        ("assert True, 'prints'", []),
        ("assert 1", []),
        ("assert False, 'not reached'", ["never"]),
        ("def g():\n    assert f(1)", ["assert"]),
        ("class A:\n    def g(self):\n        assert f(1)", ["assert"]),
        ("try:\n    assert f(1)\nexcept ValueError:\n    pass", ["check", "assert"]),
        ("try:\n    assert f(1)\nexcept AssertionError:\n    pass", ["check"]),
        ("try:\n    assert f(1)\nexcept:\n    assert f(2)", ["check", "assert"]),
        ("try:\n    assert f(1)\nfinally:\n    pass", ["check", "assert"]),
        ("def g():\n    try:\n        assert f(1)\n    finally:\n        return 1", []),
        ("with open('x') as file:\n    assert f(1)", ["assert"]),
        ("with manager():\n    assert f(1)", ["check", "assert"]),
        ("def g():\n    with manager():\n        assert f(1)", ["assert"]),
        ("with suppress(Exception):\n    assert f(1)", ["check"]),
        ("import pytest\nwith pytest.raises(AssertionError):\n    assert f(1)", ["check"]),
        ("try:\n    import numpy\nexcept ImportError:\n    numpy = None", []),
        ("if f(1) != 2:\n    raise ValueError", ["check"]),
        ("for i in range(3):\n    if f(i) != i:\n        raise ValueError", ["check", "check"]),
        ("x = f(1)\nf(2)\ns.push(3)", []),
        ("def equal(a, b):\n    if a != b:\n        raise ValueError\nequal(f(1), 2)", ["check"]),
        ("def check(c):\n    assert c(1)\ncheck(f)", ["check", "assert"]),
        ("def show(x):\n    print(x)\nshow(f(1))", []),
        ("check_it(f(1))\nverify(f)", []),
        ("from helpers import check_it\ncheck_it(f(1))", ["check"]),
        ("import numpy as np\nnp.testing.assert_allclose(f(1), 2)", ["check"]),
    ],
)
def test_what_can_be_a_case(statement: str, found: list[str]) -> None:
    assert sorted(kinds(statement)) == sorted(found)


@pytest.mark.parametrize(
    ("handler", "plain"),
    [
        ("ValueError", False), ("(KeyError, ValueError)", False), ("", True), ("Exception", True),
        ("BaseException", True), ("(ValueError, AssertionError)", True), ("Own", True), ("Apart", False),
        ("Theirs", False), ("alias", True), ("solution.Error", False), ("json.JSONDecodeError", True),
        ("Imported", False), ("make()", True),
    ],
)  # fmt: skip
def test_an_assert_is_left_alone_where_a_handler_may_catch_it(handler: str, plain: bool) -> None:
    head = (
        "import json, solution\nfrom solution import Imported\nalias = Exception\n"
        "class Own(AssertionError): pass\nclass Apart(ValueError): pass\n"
    )
    found = kinds(head + f"try:\n    assert f(1)\nexcept {handler}:\n    pass\n")
    assert ("assert" in found) is not plain


def test_a_solution_cannot_have_a_failed_assertion_caught_as_its_own_error() -> None:
    test = "try:\n    f(-1)\n    assert False, 'no error'\nexcept Invalid:\n    pass\n"
    honest = "class Invalid(Exception): pass\ndef f(x):\n    raise Invalid\n"
    report = run(test, honest.replace("raise Invalid", "raise ValueError") + "Invalid = ValueError\n")
    assert statuses(report) == ["passed"]
    report = run(test, "Invalid = Exception\ndef f(x): pass\n")
    assert statuses(report) == ["failed"]


def test_names_and_scopes_are_as_written() -> None:
    test = """
def g():
    a = f(1)
    assert sorted(locals()) == ["a"], locals()
    class C:
        b = f(2)
        assert sorted(k for k in locals() if k[:2] != "__") == ["b"], locals()
        assert [i for i in range(b)] == [0, 1, 2]
    def h():
        nonlocal a
        assert (a := f(4)) == 5
        global total
        assert (total := a) == 5
    h()
    assert a == 5 == total
g()
assert __name__ == "__main__" and __debug__
assert not [name for name in globals() if not name.isidentifier()]
assert total == 5
"""
    report = run(test, SOLUTION)
    assert statuses(report) == ["passed"] * 9, report


def test_lines_in_tracebacks_are_those_of_the_text() -> None:
    test = """
import traceback
def g():
    assert (
        f(1) ==
        1 // 0
    )
try:
    g()
except ValueError:
    pass
except ZeroDivisionError as error:
    assert f(1)
    lines = [part.lineno for part in traceback.extract_tb(error.__traceback__) if part.filename == "tests.py"]
assert lines == [9, 6], lines
"""
    assert statuses(run(test, SOLUTION)) == ["passed", "passed"]


def test_operands_are_evaluated_once_in_order_and_as_far_as_needed() -> None:
    test = """
order = []
def o(x):
    order.append(x)
    return x
def run():
    assert o(1) < o(2) < o(3)
    assert not (o(4) == o(5)), o(99)
    assert o(0) or o(6)
    assert not (o(0) and o(99))
    assert o(7) in [o(7)] and f(o(8)) == o(9)
    assert abs(o(1) - o(2)) <= max(o(3), *[o(4)], key=lambda v: v)
run()
"""
    report = run(test + "assert order == [1, 2, 3, 4, 5, 0, 6, 0, 7, 7, 8, 9, 1, 2, 3, 4], order\n", SOLUTION)
    assert set(statuses(report)) == {"passed"}, report


def test_truth_is_asked_for_once() -> None:
    test = """
class T:
    asked = 0
    def __bool__(self):
        T.asked += 1
        return True
    def __eq__(self, other):
        return T()
assert T()
assert T() == f(1)
assert T.asked == 2, T.asked
"""
    assert statuses(run(test, SOLUTION)) == ["passed"] * 3


def test_futures_and_docstrings_stay_first() -> None:
    test = '''"""text"""
from __future__ import annotations
def g(x: nowhere) -> None:
    """doc"""
    assert f(x)
g(1)
def test_a():
    "doc"
    assert f(1)
assert __doc__ == "text" and g.__doc__ == "doc" == test_a.__doc__
'''
    assert set(statuses(run(test, SOLUTION))) == {"passed"}


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("class A(Base):\n    pass\n", "line 1 derives A from the program's Base"),
        ("from solution import Base\nclass A(Base):\n    pass\n", "line 2 derives"),
        ("import solution\nclass A(solution.Base, int):\n    pass\n", "line 2 derives"),
        ("@register\nclass A:\n    pass\n", "line 2 decorates A"),
        ("import inspect\nassert 'for' in inspect.getsource(f)\n", "line 2 calls inspect.getsource"),
        ("from inspect import getsource\nassert getsource(f)\n", "line 2 calls inspect.getsource"),
        ("assert f.__code__.co_argcount == 1\n", "line 1 reads __code__"),
        (
            "import os\nfrom unittest.mock import patch\nwith patch.dict(os.environ, A='1'):\n    f(1)\n",
            "line 3 changes os",
        ),
        (
            "from unittest.mock import patch\n@patch.dict('os.environ', A='1')\ndef test_a(): f(1)\n",
            "line 3 changes os",
        ),
        ("import inspect\nassert inspect.isgeneratorfunction(f)\n", "line 2 calls inspect.isgeneratorfunction"),
        ("import inspect\nassert inspect.isabstract(Shape)\n", "line 2 calls inspect.isabstract"),
        ("assert 'area' in Shape.__abstractmethods__\n", "line 1 reads __abstractmethods__"),
        ("from types import GeneratorType\nassert isinstance(f(1), GeneratorType)\n", "line 2 asks for types.Gen"),
        ("import os\nos.environ['A'] = 'b'\n", "line 2 changes os.environ"),
        ("import os\nos.environ.update(A='b')\n", "line 2 changes os.environ"),
        ("import os\nos.chdir('/tmp')\n", "line 2 changes the working directory"),
        ("from decimal import getcontext\ngetcontext().prec = 3\n", "line 2 changes the decimal context"),
        ("import time\ntime.sleep = print\n", "line 2 replaces time.sleep"),
        ("import sys\nsys.modules['requests'] = None\n", "line 2 changes sys.modules"),
        ("import pytest\nwith pytest.warns(UserWarning):\n    f(1)\n", "line 2 watches warnings"),
        ("import warnings\nwith warnings.catch_warnings(record=True) as w:\n    f(1)\n", "line 2 watches warnings"),
    ],
)
def test_what_cannot_be_split(test: str, reason: str) -> None:
    assert build(test)["shared"].startswith(reason), build(test)["shared"]


@pytest.mark.parametrize(
    "test",
    [
        "import unittest\nclass A(unittest.TestCase):\n    pass\n",
        "class A: pass\nclass B(A, Exception): pass\n",
        "from collections import UserDict\nclass A(UserDict): pass\n",
        "from unittest.mock import patch\nwith patch('builtins.input', return_value='1'):\n    f(1)\n",
        "from unittest.mock import patch\nimport io\nwith patch('sys.stdout', new=io.StringIO()) as out:\n    f(1)\n",
        "from unittest.mock import patch\nwith patch('time.sleep') as s:\n    f(1)\n",
        "from unittest.mock import patch\nwith patch('solution.g') as g, patch.object(A, 'm') as m:\n    f(1)\n",
        "import solution\nfrom unittest import mock\nwith mock.patch.object(solution, 'g'):\n    f(1)\n",
        "import sys, io\nsys.stdin = io.StringIO('1')\n",
        "import random\nrandom.seed(1)\n",
        "import os, sys\nos.environ.get('A')\nsys.setrecursionlimit(10000)\nassert 'solution' in sys.modules\n",
        "x = f(1)\nx.value = 3\nself = x\nself.modules = 4\n",
        "import warnings\nwarnings.filterwarnings('ignore')\n",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n",
        "assert f.__name__ == 'f' and f.__doc__ is None\n",
    ],
)
def test_what_can_be_split(test: str) -> None:
    assert build(test)["shared"] == ""


@pytest.mark.parametrize(
    ("test", "names"),
    [
        ("assert f(1)", True),
        ("assert eval('f(1)')", False),
        ("assert globals()['f'](1)", False),
        ("import sys\nassert sys.modules['__main__'].f", False),
    ],
)
def test_code_that_may_reach_any_name_is_known(test: str, names: bool) -> None:
    assert (build(test)["names"] is not None) is names
    assert statuses(run(test, SOLUTION)) == ["passed"]


@pytest.mark.parametrize(
    ("test", "calls"),
    [
        ("def check(c): pass\ncheck(f)", True),
        ("def check(c): pass\nif __name__ == '__main__':\n    check(f)", True),
        ("def check(c): pass\ndef main():\n    check(f)", False),
        ("def check(c): pass", False),
    ],
)
def test_a_harness_that_calls_itself_is_known(test: str, calls: bool) -> None:
    assert build(test)["calls_check"] is calls


def test_a_large_literal_costs_little_more_than_its_compilation() -> None:
    data: Any = list(range(60_000))
    built = build(f"assert f(1) == {data}\nfor i in {data}: assert f(i) == i + 1\n")
    assert built["ok"]
    assert len(built["slots"]) < 10
