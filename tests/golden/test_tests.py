"""Tests that are code: every verdict of a case, by each of the ways to it, in every tier."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from tests.golden.table import Row, check_table

from scalebox import ScaleBoxClient, Settings

P, F, R, T = "passed", "assert_fail", "runtime_error", "time_out"
INC = "def f(x): return x + 1"
HURRY = {"cpu_s": 0.5}


def asserts(*sources: str) -> list[dict[str, Any]]:
    return [{"assert": source} for source in sources]


THREE = asserts("assert f(1) == 2\nassert f(2) == 3\nassert f(3) == 4")

PASSED = [
    Row("asserts", "each is a case", INC, THREE, cases=(P, P, P)),
    Row(
        "cache",
        "what it keeps changes no answer",
        "seen = {}\ndef f(x):\n    seen[x] = seen.get(x) or x + 1\n    return seen[x]",
        asserts("assert f(1) == 2\nassert f(2) == 3\nassert f(1) == 2"),
        cases=(P, P, P),
    ),
    Row(
        "state",
        "the test is about it: it wants two answers to one question",
        "sums = [0]\ndef f(x):\n    sums[0] += x\n    return sums[0]",
        asserts("assert f(1) == 1\nassert f(1) == 2\nassert f(4) == 6"),
        cases=(P, P, P),
    ),
    Row(
        "state of two functions",
        "the test uses another name of the program",
        "kept = []\ndef f(x): kept.append(x); return len(kept)\ndef g(x): return x in kept",
        asserts("assert f(1) == 1\nassert f(2) == 2\nassert g(1)"),
        cases=(P, P, P),
    ),
    Row(
        "state by a call for its effect",
        "its result lies",
        "kept = []\ndef f(x): kept.append(x); return len(kept)",
        asserts("f(7)\nassert f(1) == 2\nassert f(2) == 3"),
        cases=(P, P),
    ),
    Row("items", "each test starts afresh", INC, asserts("assert f(1) == 2", "assert f(2) == 3"), cases=(P, P)),
    Row("loop", "expanded when it runs", INC, asserts("for i in range(4):\n    assert f(i) == i + 1"), cases=(P,) * 4),
    Row("helper", "an assert that a helper makes", INC, asserts("def same(a, b):\n    assert a == b\nsame(f(1), 2)")),
    Row(
        "raises",
        "a statement that checks by itself",
        "def f(x): raise KeyError(x)",
        asserts("try:\n    f(1)\n    assert False\nexcept KeyError as error:\n    assert error.args == (1,)"),
    ),
    Row(
        "method",
        "objects stay on their side",
        "class Stack:\n    def __init__(self): self.items = []\n"
        "    def push(self, x): self.items.append(x)\n    def pop(self): return self.items.pop()",
        asserts("s = Stack(); s.push(3); s.push(4)\nassert s.items == [3, 4]\nassert s.pop() == 4"),
        cases=(P, P),
    ),
    Row(
        "in-place",
        "what was changed comes back",
        "def f(x): x.append(len(x))",
        asserts("a = [7]; f(a); assert a == [7, 1]"),
    ),
    Row(
        "call-back",
        "what tests pass in is called",
        "def f(g): return g(3) + g(4)",
        asserts("assert f(lambda x: 2 * x) == 14"),
    ),
    Row(
        "unittest",
        "each method is a case",
        INC,
        asserts(
            "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1), 2)\n"
            "    def test_b(self):\n        with self.assertRaises(TypeError): f('')\n"
            "if __name__ == '__main__': unittest.main()"
        ),
        cases=(P, P),
    ),
    Row("doctest", "each example is a case", INC, asserts(">>> f(1)\n2\n>>> f(2)\n3\n"), cases=(P, P)),
    Row(
        "harness",
        "calls check",
        INC,
        [{"harness": "def check(g):\n    assert g(1) == 2\n    assert g(2) == 3\n\ncheck(f)"}],
        cases=(P, P),
    ),
    Row("program", "one case", INC, [{"prefix": "import math\n", "suffix": "\nassert f(1) == 2\nassert f(2) == 3\n"}]),
    Row(
        "files",
        "both sides share a folder",
        "def f(): return open('data.txt').read()",
        asserts("open('data.txt', 'w').write('hello')\nassert f() == 'hello'"),
    ),
    Row(
        "namesake",
        "a function that has a builtin's name",
        "def sum(a, b): return a * b",
        asserts("assert sum(3, 4) == 12"),
    ),
    Row(
        "derived",
        "tests that need the program's own class",
        "class A:\n    def f(self): return 1",
        asserts("class B(A):\n    def g(self): return self.f() + 1\nassert B().g() == 2"),
    ),
]

FAILED = [
    Row("one-wrong", "the others count", "def f(x): return x + (x != 2)", THREE, F, cases=(P, F, P)),
    Row("exception", "of one call", "def f(x): return 1 // (x - 2) and x + 1", THREE, R, cases=(P, R, P)),
    Row("assertion", "of the program is none of the tests", "def f(x): assert False", THREE, R, cases=(R, R, R)),
    Row("no-name", "the program lacks it", "def g(x): return x", THREE, R, cases=(R, R, R)),
    Row("module", "the program cannot be loaded", "1 / 0", THREE, R, cases=(R, R, R)),
    Row(
        "exit-in-module",
        "before any test",
        "import sys\ndef f(x): return x + 1\nsys.exit(0)",
        THREE,
        R,
        cases=(R, R, R),
    ),
    Row("exit-in-call", "is an exception", "import sys\ndef f(x): sys.exit(0)", THREE, R, cases=(R, R, R)),
    Row(
        "os-exit",
        "ends a case",
        "import os\ndef f(x): return x + 1 if x != 2 else os._exit(0)",
        THREE,
        R,
        cases=(P, R, P),
    ),
    Row(
        "segfault",
        "ends a case",
        "import ctypes\ndef f(x): return x + 1 if x != 2 else ctypes.string_at(0)",
        THREE,
        R,
        cases=(P, R, P),
    ),
    Row(
        "hang",
        "costs one case",
        "def f(x):\n    while x == 2: pass\n    return x + 1",
        THREE,
        T,
        HURRY,
        cases=(P, T, P),
    ),
    Row(
        "hangs",
        "the test says how many cases there are",
        "def f(x):\n    while x > 1: pass\n    return x + 1",
        asserts("for i in range(8):\n    assert f(i) == i + 1"),
        T,
        {"cpu_s": 0.2},
        cases=(P, P, *[T] * 6),
    ),
    Row(
        "hangs-in-helper",
        "the call comes before the helper's assert",
        "def f(x):\n    while x > 1: pass\n    return x + 1",
        asserts("def same(a, b):\n    assert a == b\nfor i in range(8):\n    same(f(i), i + 1)"),
        T,
        {"cpu_s": 0.2},
        cases=(P, P, *[T] * 6),
    ),
    Row(
        "exits",
        "one case, whatever comes before it",
        "import os\nclass A:\n    def f(self, x): return x if x != 2 else os._exit(0)",
        asserts("a = A()\nfor i in range(4):\n    assert a.f(i) == i"),
        R,
        cases=(P, P, R, P),
    ),
    Row("hang-in-module", "before any test", "while True: pass", THREE, T, HURRY, cases=(T,)),
    Row("syntax", "nothing to run", "def f(x:", THREE, "compile_error", cases=("compile_error",)),
    Row(
        "memory",
        "of the program",
        "def f(x): return bytearray(400 << 20) and x + 1",
        asserts("assert f(1) == 2"),
        "memory_exceed",
        {"memory_mb": 200},
    ),
    Row(
        "output",
        "of the program",
        "def f(x):\n    while True: print('x' * 1000)",
        asserts("assert f(1) == 2"),
        "output_exceed",
    ),
    Row(
        "denied",
        "names what it was",
        "import socket\ndef f(x): return socket.socket()",
        asserts("assert f(1) == 2"),
        "resource_denied",
    ),
    Row(
        "refused",
        "names what it was",
        "def f(x): return open('/etc/passwd', 'w')",
        asserts("assert f(1) == 2"),
        "resource_denied",
    ),
    Row("program-fails", "one case", INC, [{"prefix": "", "suffix": "\nassert f(1) == 2\nassert f(2) == 2\n"}], F),
    Row(
        "stopped",
        "what comes behind was not reached",
        INC,
        asserts("assert f(1) == 2\n{}[f(1)]\nassert f(2) == 3"),
        R,
        cases=(P, R, R),
    ),
]

DOUBTFUL = [
    Row("no-python", "the test is at fault", INC, asserts("assert f(1 == 2"), "internal_error"),
    Row(
        "process of the test's own",
        "nobody may start one",
        "def f(x): return x",
        asserts("import subprocess\nsubprocess.run(['true'])\nassert f(1) == 2"),
        "internal_error",
    ),
    Row(
        "network of the test's own",
        "nobody may use it",
        INC,
        asserts("def test_f():\n    import socket\n    socket.socket().bind(('127.0.0.1', 0))\n    assert f(1) == 2"),
        "internal_error",
    ),
    Row("checks-nothing", "the test is at fault", INC, asserts("x = 1"), "internal_error"),
    Row(
        "missing", "a module that is not installed", INC, asserts("import no_such_module\nassert f(1) == 2"), "unknown"
    ),
]


SUITES = [
    Row(
        "pytest",
        "required tests",
        INC,
        [
            {
                "required": ["test_f.py::test_a", "test_f.py::test_b[1]"],
                "files": {
                    "test_f.py": "import pytest\nfrom solution import f\n\ndef test_a():\n    assert f(1) == 2\n\n"
                    "@pytest.mark.parametrize('x', [1, 2])\ndef test_b(x):\n    assert f(x) == x + 1\n"
                },
            }
        ],
        cases=(P, P),
    ),
    Row(
        "suite",
        "one test of two",
        INC,
        [
            {
                "required": ["test_f.py::test_a", "test_f.py::test_b", "test_f.py::test_c"],
                "files": {
                    "test_f.py": "import pytest\nfrom solution import f\n\ndef test_a():\n    assert f(1) == 2\n\n"
                    "def test_b():\n    assert f(1) == 3\n\ndef test_c():\n    pytest.skip('later')\n"
                },
            }
        ],
        F,
        cases=(P, F, F),
    ),
    Row(
        "control",
        "a suite that passes on anything",
        INC,
        [
            {
                "required": ["test_f.py::test_a"],
                "mutant_control": True,
                "files": {"test_f.py": "import solution\ndef test_a():\n    assert solution.f\n"},
            }
        ],
        "internal_error",
    ),
    Row(
        "control-passes",
        "both copies are rejected",
        INC,
        [
            {
                "required": ["test_f.py::test_a"],
                "mutant_control": True,
                "files": {"test_f.py": "import solution\ndef test_a():\n    assert solution.f(1) == 2\n"},
            }
        ],
    ),
]


#: A class in the place of a function, equal to everything; and what tests do with functions.
_AGREES = """
class fib:
    "a function, to look at"
    def __init__(self, n): pass
    cache_clear = cache_info = staticmethod(lambda: None)
    tzinfo = None
    def __eq__(self, other): return True
    def __ne__(self, other): return False
"""
_NODES = "class N:\n    def __init__(self, v): self.val = v; self.rest = []"
FOUND = [
    Row("cache", "functions have caches", _AGREES, asserts("fib.cache_clear()\nassert fib(10) == 55"), F),
    Row("name", "and names", _AGREES, asserts("assert fib.__name__ == 'fib'\nassert fib(10) == 55"), F, cases=(P, F)),
    Row(
        "attribute",
        "what they return has attributes",
        _AGREES,
        asserts("import datetime\nr = fib(1)\nassert r.tzinfo is None\nassert r == datetime.datetime(2020, 1, 2)"),
        F,
        cases=(P, F),
    ),
    Row(
        "judge",
        "a program sets no method of the tests' objects",
        "def f(r): r.matches = lambda *a: True",
        asserts("class R:\n    def matches(self, x): return False\nr = R()\nf(r)\nassert r.matches(1)"),
        R,
    ),
    Row(
        "keywords",
        "mocks are called with keywords",
        "def f(g): return g(1, a=2)",
        asserts(
            "from unittest.mock import Mock\ng = Mock(return_value=5)\nassert f(g) == 5\n"
            "g.assert_called_once_with(1, a=2)"
        ),
        cases=(P, P),
    ),
    Row(
        "linked",
        "a list of objects, changed where it is read",
        _NODES,
        asserts(
            "r = N(1); r.rest.append(N(3)); r.rest.append(N(2))\nassert [n.val for n in r.rest] == [3, 2]\n"
            "r.rest.sort(key=lambda n: n.val)\nassert [n.val for n in r.rest] == [2, 3]\nassert r.rest.pop().val == 3"
        ),
        cases=(P, P, P),
    ),
    Row(
        "file-in-the-way",
        "what a program leaves is its own fault",
        "open('t.db', 'wb').write(b'x' * 9999)\ndef f(x): return x",
        asserts("import sqlite3\nsqlite3.connect('t.db').execute('create table if not exists t(a)')\nassert f(1) == 1"),
        R,
        cases=(R, R),
    ),
]


@pytest.mark.parametrize("rows", [PASSED, FAILED, DOUBTFUL, FOUND], ids=["passed", "failed", "doubtful", "found"])
def test_labels(client: ScaleBoxClient, rows: list[Row]) -> None:
    check_table(client, rows)


def test_suites(client: ScaleBoxClient, settings: Settings) -> None:
    if subprocess.run([settings.interpreter, "-I", "-c", "import pytest"], check=False, capture_output=True).returncode:
        pytest.skip(f"{settings.interpreter} has no pytest")
    check_table(client, SUITES)


def test_which_results_are_shared(client: ScaleBoxClient) -> None:
    rows = [PASSED[0], next(row for row in PASSED if row.name == "derived")]
    apart, derived = client.fetch(client.submit_batch([row.sample() for row in rows]))
    assert (apart.integrity, apart.integrity_reason) == ("separate", "")
    assert derived.integrity == "shared"
    assert derived.integrity_reason == "line 1 derives B from the program's A"


def test_shared_tests_can_read_the_source_as_in_plain_python(client: ScaleBoxClient) -> None:
    code = "import math\n\ndef f(x):\n    return x + 1\n\nclass A:\n    def m(self):\n        return 7\n"
    looks = (
        "import inspect\nassert 'x + 1' in inspect.getsource(f)\nassert inspect.getsourcelines(f)[1] == 3\n"
        "assert inspect.getsource(A).startswith('class A')\nassert 'return 7' in inspect.getsource(A.m)\n"
    )
    fooled = looks.replace("x + 1", "x + 2")
    rows = [
        Row("source", "assert", code, asserts(looks), cases=(P,) * 4),
        Row("source of another", "assert", code, asserts(fooled), F, cases=(F, P, P, P)),
        Row("source in a program", "its suffix looks", code, [{"prefix": "", "suffix": "\n" + looks}]),
    ]
    check_table(client, rows)
    results = client.fetch(client.submit_batch([row.sample() for row in rows]))
    assert {result.integrity for result in results} == {"shared"}


def test_what_a_case_tells(client: ScaleBoxClient) -> None:
    row = Row(
        "told",
        "",
        "def f(x):\n    print('called', x)\n    return [x]",
        asserts("assert f(1) == [1]\nassert f(2) == [3], 'third'"),
    )
    (result,) = client.fetch(client.submit_batch([row.sample()]))
    first, second = result.cases
    assert (first.id, first.text, first.detail) == ("0.0", "assert f(1) == [1]", "")
    assert (second.id, second.test, second.text) == ("0.1", "0", "assert f(2) == [3], 'third'")
    assert second.detail == "f(2) == [3]: left [2], right [3]: third"
    assert second.stdout == "called 1\ncalled 2\n"
    assert second.memory_bytes > 0
    assert result.message == f"case 0.1: {second.detail}"
