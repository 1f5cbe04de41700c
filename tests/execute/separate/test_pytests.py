"""pytest suites: which tests pass, and that nothing but solving the problem makes them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.execute.separate.suites import IDS, RIGHT, TEST, WRONG, suite

from scalebox.execute.separate import pytests
from scalebox.execute.separate.sabotage import KINDS
from scalebox.execute.separate.suite import Suite, SuiteError, normal
from scalebox.languages import python

MANY = """
import asyncio, sys, unittest
import pytest
from helper import TWO
from solution import f

@pytest.mark.parametrize("x", ["a b", "[/./x]"])
def test_parametrized(x, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("helper.TWO", 3)
    print("hey")
    assert capsys.readouterr().out == "hey\\n"
    (tmp_path / "x").write_text("1")

def test_plain():
    assert f(1) == TWO

def test_wrong():
    assert f(1) == 3, "should be three"

def test_raises():
    with pytest.raises(ValueError, match="neg"):
        f(-1)

def test_does_not_raise():
    with pytest.raises(ValueError):
        f(1)

def test_prints(capsys):
    f(7)
    assert capsys.readouterr().out == "f 7\\n"

def test_error():
    f(None)

def test_fail():
    pytest.fail("as told")

@pytest.mark.skip("no")
def test_skip():
    pass

def test_skip_inside():
    pytest.skip("later")

@pytest.mark.xfail(reason="known")
def test_xfail():
    assert False

@pytest.mark.xfail
def test_xpass():
    pass

@pytest.mark.xfail(strict=True)
def test_xpass_strict():
    pass

@pytest.fixture
def broken():
    raise RuntimeError("set-up")

@pytest.fixture
def late():
    yield
    raise RuntimeError("tear-down")

def test_setup(broken):
    pass

def test_teardown(late):
    pass

def test_exit():
    sys.exit(0)

def test_wrong_arguments():
    f()

async def test_async(tmp_path):
    await asyncio.sleep(0)
    assert f(1) == 2

class TestClass:
    def test_method(self):
        assert f(2) == 3

class TestUnit(unittest.TestCase):
    def setUp(self):
        self.two = 2

    def test_good(self):
        self.assertEqual(f(1), self.two)
        with self.assertRaises(ValueError):
            f(-1)

    def test_bad(self):
        self.assertEqual(f(1), 1)

    def test_skipped(self):
        self.skipTest("why not")

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertEqual(i, 1)

def test_not_required():
    raise SystemExit("never run")
"""
OUTCOMES = {
    "test_parametrized[a b]": ("passed", ""),
    "test_parametrized[[/./x]]": ("passed", ""),
    "test_plain": ("passed", ""),
    "test_wrong": ("failed", "should be three"),
    "test_raises": ("passed", ""),
    "test_does_not_raise": ("failed", "DID NOT RAISE"),
    "test_prints": ("passed", ""),
    "test_error": ("error", "TypeError"),
    "test_fail": ("failed", "as told"),
    "test_skip": ("skipped", "no"),
    "test_skip_inside": ("skipped", "later"),
    "test_xfail": ("skipped", "known"),
    "test_xpass": ("failed", "marked as failing"),
    "test_xpass_strict": ("failed", "XPASS"),
    "test_setup": ("error", "set-up"),
    "test_teardown": ("error", "tear-down"),
    "test_exit": ("error", "SystemExit"),
    "test_wrong_arguments": ("error", "TypeError"),
    "test_async": ("passed", ""),
    "TestClass::test_method": ("passed", ""),
    "TestUnit::test_good": ("passed", ""),
    "TestUnit::test_bad": ("failed", "2 != 1"),
    "TestUnit::test_skipped": ("skipped", "why not"),
    "TestUnit::test_expected": ("skipped", "expected to fail"),
    "TestUnit::test_unexpected": ("failed", ""),
    "TestUnit::test_parts": ("failed", "0 != 1"),
}


def test_every_way_in_which_a_test_can_end() -> None:
    files = {"tests/test_many.py": MANY, "tests/helper.py": "TWO = 2\n", "tests/conftest.py": "import helper\n"}
    ids = [f"./tests/test_many.py::{name}" for name in OUTCOMES]
    done = suite(RIGHT, files, ids)
    assert (done.reason, done.status) == ("done", 0), done
    assert {case.name for case in done.cases} == set(ids)
    for case in done.cases:
        status, said = OUTCOMES[case.name.partition("::")[2]]
        assert (case.status, said in case.detail) == (status, True), case
    wrong = next(case for case in done.cases if case.name.endswith("test_wrong"))
    assert wrong.text == 'assert f(1) == 3, "should be three"'
    assert wrong.detail.startswith("tests/test_many.py:18: should be three")
    assert "2 == 3" in wrong.detail


def test_right_and_wrong_solutions() -> None:
    assert suite(RIGHT, TEST, IDS).passed
    assert suite(WRONG, TEST, IDS).statuses == ["failed", "failed"]


def test_the_values_that_differ_are_shown_but_not_compared_at_length() -> None:
    long = "def f(x):\n    return 'ab' * 1_000_000\n"
    done = suite(long, "from solution import f\ndef test_f():\n    assert f(1) == 'ba' * 1_000_000\n", IDS[:1])
    assert done.statuses == ["failed"]
    assert len(done.cases[0].detail) < 2100


def test_tests_that_are_not_required_have_no_say() -> None:
    both = TEST.replace("f(2) == 3", "f(2) == 4") + "def test_h():\n    import os\n    os._exit(3)\n"
    done = suite(RIGHT, both, IDS[:1])
    assert done.passed
    assert [case.name for case in done.cases] == IDS[:1]


LAYOUT = {
    "tests/__init__.py": "",
    "tests/unit/__init__.py": "",
    "tests/unit/test_a.py": "import json\nfrom pathlib import Path\nfrom solution import f\n"
    "from tests.tools import add\n"
    "from . import near\n\ndef test_a(two):\n"
    "    data = json.loads((Path(__file__).parent / 'data' / 'a.json').read_text())\n"
    "    assert f(1) == two == add(1, 1) == data['two'] == near.TWO\n",
    "tests/unit/near.py": "TWO = 2\n",
    "tests/unit/data/a.json": '{"two": 2}',
    "tests/tools.py": "def add(a, b):\n    return a + b\n",
    "conftest.py": "import pytest\n\n@pytest.fixture\ndef two():\n    return 2\n",
}


@pytest.mark.parametrize(
    "path", ["tests/unit/test_a.py", "test_a.py", "/testbed/tests/unit/test_a.py", "unit\\test_a.py"]
)
def test_packages_data_and_conftest_of_the_suite_work(path: str) -> None:
    done = suite(RIGHT, LAYOUT, [f"{path}::test_a"])
    assert done.passed, done
    assert [case.name for case in done.cases] == [f"{path}::test_a"]


def test_a_module_of_any_name_can_be_the_solutions() -> None:
    test = (
        "from programs.adding import f\nimport programs.adding as other\ndef test_f():\n"
        "    assert f(1) == other.f(1) == 2\n"
    )
    assert suite(RIGHT, test, IDS[:1], modules=["programs.adding"]).passed


def test_a_path_under_tmp_path_can_be_handed_to_the_solution() -> None:
    solution = "def f(path):\n    with open(path, 'w') as file:\n        file.write('2')\n"
    test = (
        "from solution import f\ndef test_f(tmp_path):\n    f(str(tmp_path / 'a'))\n"
        "    assert (tmp_path / 'a').read_text() == '2'\n"
    )
    assert suite(solution, test, IDS[:1]).passed


# -- whose fault ---------------------------------------------------------------------------------------------------

TASKS = {
    "no such file": ({"test_f.py": TEST}, ["test_x.py::test_f"]),
    "no test in the id": ({"test_f.py": TEST}, ["test_f.py"]),
    "no such test": ({"test_f.py": TEST}, ["test_f.py::test_nothing"]),
    "a file out of the folder": ({"test_f.py": TEST, "../x.py": ""}, IDS),
    "no Python": ({"test_f.py": TEST + "def test_h(:\n"}, IDS),
    "no Python in a helper": ({"test_f.py": "import helper\n" + TEST, "helper.py": "x = = 1\n"}, IDS),
    "no such module": ({"test_f.py": "import not_there\n" + TEST}, IDS),
    "no such module in conftest": ({"test_f.py": TEST, "conftest.py": "import not_there\n"}, IDS),
    "a conftest that fails": ({"test_f.py": TEST, "conftest.py": "1 / 0\n"}, IDS),
    "options that do not exist": ({"test_f.py": TEST, "pytest.ini": "[pytest]\naddopts = --not-there\n"}, IDS),
    "no such fixture": ({"test_f.py": TEST.replace("test_f()", "test_f(mocker)")}, IDS),
    "a test of nothing": ({"test_f.py": "def test_f():\n    assert True\n"}, IDS[:1]),
}


@pytest.mark.parametrize("case", TASKS.values(), ids=TASKS)
def test_a_suite_that_cannot_judge_anybody_is_the_tasks_fault(case: tuple[dict[str, str], list[str]]) -> None:
    files, required = case
    for solution in (RIGHT, WRONG):
        done = suite(solution, files, required)
        assert done.reason == "task", done
        assert done.detail


SOLUTIONS = {
    "lacks a name": ("def g(x): return x\n", TEST),
    "fails at import of the tests": (WRONG, "from solution import f\nVALUE = f(1)\nassert VALUE == 2\n" + TEST),
    "raises an import error": (
        "def f(x): raise ModuleNotFoundError('x', name='x')\n",
        "import solution\nsolution.f(1)\n" + TEST,
    ),
    "gives text that is no Python": (
        "def f(x):\n    return 'x = = 1'\n",
        "import solution\nexec(solution.f(1))\n" + TEST,
    ),
    "raises a syntax error": ("def f(x): raise SyntaxError('x')\n", "import solution\nsolution.f(1)\n" + TEST),
    "leaves at import of the tests": ("def f(x): raise SystemExit(0)\n", "import solution\nsolution.f(1)\n" + TEST),
    "gives odd parameters": (
        "f = abs\nCASES = [object(), 1]\n",
        "import pytest, solution\nfrom solution import f\n@pytest.mark.parametrize('x', solution.CASES)\n"
        "def test_f(x):\n    assert f(1) == 2\ndef test_g():\n    assert f(1) == 2\n",
    ),
}


@pytest.mark.parametrize("case", SOLUTIONS.values(), ids=SOLUTIONS)
def test_what_the_solution_brings_about_is_its_own_fault(case: tuple[str, str]) -> None:
    done = suite(case[0], case[1], IDS)
    assert "passed" not in done.statuses
    assert done.reason in ("done", "solution failed"), done


def test_what_the_jail_refuses_and_memory_are_told_apart() -> None:
    source = "def f(x):\n    if x == 1:\n        raise PermissionError(13, 'no')\n    raise MemoryError\n"
    assert suite(source, TEST, IDS).statuses == ["refused", "memory"]


def test_a_conftest_that_cannot_import_from_the_solution_is_the_solutions_fault() -> None:
    files = {"test_f.py": TEST, "conftest.py": "from solution import CONSTANT\n"}
    assert suite(RIGHT, files, IDS).statuses == ["error", "error"]
    assert suite(RIGHT, files, IDS).reason == "done"
    assert suite(RIGHT + "CONSTANT = 1\n", files, IDS).passed


def test_deselected_skipped_and_doubled_tests_have_not_passed() -> None:
    deselects = {"test_f.py": TEST, "conftest.py": "def pytest_collection_modifyitems(items):\n    del items[0]\n"}
    done = suite(RIGHT, deselects, IDS)
    assert {case.name: case.status for case in done.cases} == dict(zip(IDS, ["skipped", "passed"], strict=True))
    skips = "import pytest\nfrom solution import f\npytest.skip('not here', allow_module_level=True)\n" + TEST
    done = suite(RIGHT, skips, IDS)
    assert done.statuses == ["skipped", "skipped"]
    assert "not here" in done.cases[0].detail
    doubles = {"test_f.py": TEST, "conftest.py": "def pytest_collection_modifyitems(items):\n    items += items[:1]\n"}
    assert "failed" not in suite(RIGHT, doubles, IDS).statuses


# -- mutant control ------------------------------------------------------------------------------------------------

VOID = {
    "raise": "from solution import f\ndef test_f():\n    try:\n        assert f(1) == 2\n"
    "    except Exception:\n        pass\n",
    "none": "from solution import f\ndef test_f():\n    f(1)\n",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_suite_that_tests_something_rejects_sabotaged_copies(kind: str) -> None:
    done = suite(RIGHT, TEST, IDS, sabotage=kind)
    assert "passed" not in done.statuses
    assert done.reason == "done"


@pytest.mark.parametrize("kind", KINDS)
def test_a_suite_that_tests_nothing_passes_on_a_sabotaged_copy(kind: str) -> None:
    for solution in (RIGHT, WRONG):
        assert suite(solution, VOID[kind], IDS[:1]).passed
        assert suite(solution, VOID[kind], IDS[:1], sabotage=kind).passed


# -- the parts -----------------------------------------------------------------------------------------------------


def test_ids_as_pytest_writes_them() -> None:
    assert normal("./a/../b\\test_c.py::T::test_d[./x\\y]") == "b/test_c.py::T::test_d[./x\\y]"
    assert normal(" /b/test_c.py::test_d") == "b/test_c.py::test_d"


def test_a_suite_is_read_only_and_notices_changes(tmp_path: Path) -> None:
    suite = Suite(str(tmp_path), {"a/test_a.py": "pass\n", "data": "\ud800"}, ["a/test_a.py::test_x"])
    suite.write()
    assert suite.intact()
    written = tmp_path / "suite" / "a" / "test_a.py"
    assert written.stat().st_mode & 0o777 == 0o444
    assert (tmp_path / "suite" / "a").stat().st_mode & 0o777 == 0o555
    assert suite.line("a/test_a.py", 1) == "pass"
    assert suite.line("a/test_a.py", 2) == suite.line("b.py", 1) == ""
    written.chmod(0o644)
    assert not suite.intact()


@pytest.mark.parametrize("name", ["../x.py", "/x.py", ".", "", "a/../../x.py", "..", "a\0.py"])
def test_a_suite_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(SuiteError):
        Suite(str(tmp_path), {name: "", "test_a.py": ""}, ["test_a.py::test_x"])


def test_building_a_suite() -> None:
    built = pytests.build(
        {"tests/test_a.py": "import json, near, numpy\nfrom solution import f\n", "near.py": ""}, ["solution"]
    )
    assert {name: built[name] for name in ("ok", "imports", "threads", "shared", "value_classes")} == {
        "ok": True,
        "imports": ["json", "numpy"],
        "threads": False,
        "shared": "",
        "value_classes": [],
    }
    assert not pytests.build({"test_a.py": "x = = 1\n", "a.txt": "= ="}, ["solution"])["ok"]
    assert pytests.build({"test_a.py": "pass\n", "broken.py": "x = = 1\n"}, ["solution"])["ok"]
    conftest = "import pytest, helper\ndef pytest_configure(config):\n    pytest.slow = True\n    helper.FLAG = 1\n"
    assert pytests.build({"conftest.py": conftest, "helper.py": ""}, ["solution"])["shared"] == ""
    derives = "from solution import Base\n\nclass Mine(Base):\n    pass\n"
    assert "derives Mine" in pytests.build({"test_a.py": derives}, ["solution"])["shared"]


def test_whether_the_interpreter_has_a_pytest(tmp_path: Path) -> None:
    own = python.interpreter()
    assert python.has_pytest(own)
    assert not python.has_pytest(msgspec.structs.replace(own, path=(str(tmp_path), "")))


_REPLACES = """
import solution
from solution import K, f

def test_a(monkeypatch):
    monkeypatch.setattr(solution, "LIMIT", 3)
    monkeypatch.setattr(K, "limit", 3)
    monkeypatch.setattr("solution.g", lambda: 7)
    assert (f(9), K().f(9), K.limit) == (10, 3, 3)

def test_b():
    assert (solution.LIMIT, K.limit) == (5, 5)
    assert (f(9), K().f(9)) == (6, 5)
    assert vars(solution)["LIMIT"] == 5
"""
_LIMITS = (
    "LIMIT = 5\ndef g(): return 1\ndef f(x): return min(x, LIMIT) + g()\nclass K:\n limit = 5\n"
    " def f(self, x): return min(x, self.limit)"
)


def test_what_monkeypatch_replaces_is_put_back() -> None:
    done = suite(_LIMITS, _REPLACES, ["test_f.py::test_a", "test_f.py::test_b"])
    assert done.passed, done
