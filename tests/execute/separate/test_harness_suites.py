"""Which classes and functions of an item are run as its tests, as unittest and pytest find them."""

from __future__ import annotations

import sys

import pytest
from tests.execute.separate.stub import SOLUTION, named, run, statuses

from scalebox.execute.separate import stand_in

pytestmark = pytest.mark.usefixtures("runners")

# unittest.

CLASSES = """
import unittest
class Base(unittest.TestCase):
    def setUp(self):
        self.x = f(1)
    def helper(self):
        assert self.x == 2
class TestA(Base):
    def test_passes(self):
        self.helper()
        self.assertEqual(f(2), 3)
    def test_fails(self):
        self.assertEqual(f(2), 4, "why")
    def test_asserts(self):
        assert f(2) == 4
    def test_raises(self):
        f(99)
    def test_expects(self):
        with self.assertRaises(ValueError):
            f(99)
    def test_sub(self):
        for i in range(3):
            with self.subTest(i):
                self.assertEqual(f(i), 2)
    def test_skips(self):
        self.skipTest("later")
    def test_skipped_by_the_program(self):
        skip()
    @unittest.skip("no")
    def test_skipped(self):
        pass
    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(f(1), 3)
    @unittest.expectedFailure
    def test_unexpected(self):
        pass
    def not_a_test(self):
        raise RuntimeError
if __name__ == "__main__":
    unittest.main()
"""


def test_each_method_of_a_test_case_is_a_case() -> None:
    report = run(CLASSES, SOLUTION)
    assert report.reason == "done"
    assert named(report) == {
        "TestA.test_passes": "passed", "TestA.test_fails": "failed", "TestA.test_asserts": "failed",
        "TestA.test_raises": "error", "TestA.test_expects": "passed", "TestA.test_sub": "failed",
        "TestA.test_skips": "skipped", "TestA.test_skipped_by_the_program": "error", "TestA.test_skipped": "skipped",
        "TestA.test_expected": "skipped", "TestA.test_unexpected": "failed",
    }  # fmt: skip
    details = {case.name: (case.detail, case.text) for case in report.cases}
    assert details["TestA.test_fails"] == ("AssertionError: 3 != 4 : why", 'self.assertEqual(f(2), 4, "why")')
    assert details["TestA.test_asserts"] == ("f(2) == 4: left 3, right 4", "assert f(2) == 4")
    assert details["TestA.test_raises"] == ("the program raised ValueError: no", "f(99)")


def test_test_cases_run_whatever_the_text_does_with_them() -> None:
    runs = [
        "unittest.main()", "unittest.main(argv=['x'], exit=False, verbosity=2)", "",
        "from unittest import main\nmain()",
        "import sys\nsys.exit(not unittest.main(exit=False).result.wasSuccessful())",
        "suite = unittest.TestLoader().loadTestsFromTestCase(A)\nunittest.TextTestRunner().run(suite)",
    ]  # fmt: skip
    for text in runs:
        test = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        assert f(1) == 3\n" + text
        assert named(run(test, SOLUTION)) == {"A.test_a": "failed"}, text


def test_fixtures_of_classes_and_modules() -> None:
    test = """
import unittest
log = []
def setUpModule(): log.append("module")
class A(unittest.TestCase):
    @classmethod
    def setUpClass(cls): log.append("class")
    def test_a(self): assert log == ["module", "class"]
    @classmethod
    def tearDownClass(cls): f(99)
class B(unittest.TestCase):
    @classmethod
    def setUpClass(cls): f(99)
    def test_b(self): pass
class C(unittest.IsolatedAsyncioTestCase):
    async def test_c(self): self.assertEqual(f(1), 2)
"""
    assert named(run(test, SOLUTION)) == {
        "A.test_a": "passed", "A.tearDownClass": "error", "B.setUpClass": "error", "B.test_b": "unreached",
        "C.test_c": "passed",
    }  # fmt: skip


def test_asserts_and_test_cases_mix() -> None:
    test = "assert f(1) == 2\n" + CLASSES.partition("    def test_fails")[0] + "assert f(2) == 4\n"
    assert named(run(test, SOLUTION)) == {"0": "passed", "1": "failed", "TestA.test_passes": "passed"}


# Test functions.


def test_functions_that_the_text_does_not_call_are_run() -> None:
    test = """
import pytest
def test_a():
    assert f(1) == 2
    assert f(1) == 3
    assert f(2) == 3
def test_b():
    f(99)
    assert f(1) == 2
def test_c():
    with pytest.raises(ValueError, match="no"):
        f(99)
async def test_d():
    assert f(1) == 2
def test_e(x=3):
    f(x)
def helper():
    assert f(1) == 2
@pytest.mark.skip
def test_f(): pass
@pytest.mark.xfail(reason="known")
def test_g(): pass
class TestH:
    def setup_method(self): self.x = 1
    def test_i(self): assert f(self.x) == 2
    def helper(self): assert False
class Helper:
    def test_j(self): assert False
"""
    report = run(test, SOLUTION)
    assert statuses(report) == [
        "passed", "failed", "passed", "error", "passed", "passed", "passed", "skipped", "skipped", "passed",
        "unreached", "unreached",
    ]  # fmt: skip
    assert report.cases[3].text == "f(99)"


def test_functions_that_the_text_calls_are_not_run_again() -> None:
    test = "def test_a():\n    assert f(1) == 2\n"
    assert statuses(run(test + "test_a()\n", SOLUTION)) == ["passed"]
    assert statuses(run(test + "for t in [test_a]: t()\n", SOLUTION)) == ["passed"]
    assert statuses(run(test + "for n, t in list(globals().items()):\n    if n[:4] == 'test': t()\n", SOLUTION)) == [
        "passed"
    ]
    assert statuses(run(test + "import pytest, sys\nsys.exit(pytest.main([__file__]))\n", SOLUTION)) == ["passed"]


def test_parametrized_functions_run_once_for_each_set() -> None:
    test = """
import pytest
@pytest.mark.parametrize("a,b", [(1, 2), (2, 4), pytest.param(3, 4)])
@pytest.mark.parametrize("c", [0, 1])
def test_a(a, b, c):
    assert f(a) == b + 0 * c
class TestB:
    @pytest.mark.parametrize(["x"], [(1,), (2,)])
    def test_b(self, x): assert f(x) == 2
"""
    found = ["passed", "passed", "failed", "failed", "passed", "passed", "passed", "failed"]
    assert sorted(statuses(run(test, SOLUTION))) == sorted(found)


def test_every_test_that_pytest_would_find_runs() -> None:
    test = """
import pytest
seen = []
def setup_module(): seen.append("module")
def setup_function(function): seen.append(function.__name__)
class Base:
    @classmethod
    def setup_class(cls): cls.x = 1
    def test_inherited(self): assert f(self.x) == 3
class TestDerived(Base):
    def test_own(self): assert f(self.x) == 3
class TestForms:
    def setup_class(cls): cls.y = 1
    @staticmethod
    def test_static(): assert f(1) == 3
    @classmethod
    def test_class(cls): assert f(cls.y) == 3
    class TestInner:
        def test_inner(self): assert f(1) == 3
@pytest.mark.parametrize("x", [1, 2])
class TestEach:
    def test_each(self, x): assert f(x) == 3
def test_set_up(): assert seen == ["module", "test_set_up"] and f(1) == 2
"""
    report = run(test, SOLUTION)
    assert statuses(report) == [*["failed"] * 6, "passed", "passed"], report
    assert len(report.cases) == 8


def test_what_mock_gives_a_test_is_no_fixture() -> None:
    test = """
import pytest
from unittest import mock
@mock.patch("os.getcwd", return_value="/a")
@mock.patch("os.getpid", new=lambda: 7)
@mock.patch.dict("os.environ", {})
@pytest.mark.parametrize("x", [1, 2])
def test_a(getcwd, x):
    assert getcwd() == "/a" and f(x) == x + 1
@mock.patch("os.getcwd")
class TestB:
    def test_b(self, getcwd):
        assert f(1) == 2
"""
    assert statuses(run(test, SOLUTION)) == ["passed"] * 3
    report = run("from unittest import mock\n@mock.patch('os.getcwd')\ndef test_a(x, y): pass\n", SOLUTION)
    assert report.detail.startswith("test_a takes y:")


def test_fixtures_are_the_tasks_fault_here() -> None:
    report = run("def test_a(tmp_path):\n    assert f(1)\n", SOLUTION)
    assert (report.reason, report.cases) == ("task", [])
    assert report.detail == "test_a takes tmp_path: fixtures need a test of the pytest kind"


def test_the_stand_in_for_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytest", stand_in._pytest())
    test = """
import pytest
from pytest import approx
assert f(0.1 + 0.2) == approx(1.3)
assert [f(0.1), f(1)] == approx([1.1, 2.0000001]) and {"a": 1.1} == approx({"a": 1.1000000001})
assert f(1) != approx(2.1) and 1 == approx(1.05, abs=0.1) and 100 == approx(101, rel=0.02)
assert float("nan") != approx(float("nan")) and float("nan") == approx(float("nan"), nan_ok=True)
assert float("inf") == approx(float("inf")) and 1e300 != approx(float("inf")) and "a" != approx(1)
with pytest.raises(ValueError) as info:
    f(99)
assert str(info.value) == "no" and info.type is ValueError and info.match("n.")
with pytest.raises((KeyError, ValueError), match="^no$"): f(99)
with pytest.raises(ValueError): f(1)
with pytest.raises(ValueError, match="other"): f(99)
pytest.raises(ValueError, f, 99)
def test_a(): pytest.fail("here")
def test_b(): pytest.skip("here")
@pytest.mark.parametrize("x", [1, 2])
def test_c(x): assert f(x) == 2
@pytest.mark.slow
def test_d(): assert f(1)
@pytest.mark.skipif(True, reason="x")
def test_e(): pass
"""
    report = run(test, SOLUTION)
    assert statuses(report) == [
        *["passed"] * 5, "passed", "passed", "passed", "failed", "failed",
        "failed", "skipped", "passed", "failed", "passed", "skipped",
    ], report  # fmt: skip
