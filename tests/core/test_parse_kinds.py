"""Records with tests that are source, and with a prompt: what each field becomes, and every refusal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scalebox.core.errors import InputError
from scalebox.core.sample import STOP, AssertTest, HarnessTest, ProgramTest, PytestTest, Sample
from scalebox.core.settings import Settings
from scalebox.parse import parse_sample

STDIN = {"stdin": "", "stdout": "3\n"}
CALL = {"call": "f", "args": [1], "expect": 2}
ASSERT = {"assert": "assert f(1) == 2"}
HARNESS = {"harness": "def check(candidate):\n    assert candidate(1) == 2\n"}
PROGRAM = {"suffix": "\nassert f(1) == 2\n"}
PYTEST: dict[str, Any] = {"files": {"tests/test_x.py": "def test_a(): ..."}, "required": ["tests/test_x.py::test_a"]}
SOURCES: dict[str, dict[str, Any]] = {"assert": ASSERT, "harness": HARNESS, "program": PROGRAM, "pytest": PYTEST}


def _sample(test: dict[str, Any], **fields: Any) -> dict[str, Any]:
    raw = {"id": "s-1", "code": "pass", "tests": [test], "entry_point": "f"} | fields
    return {name: value for name, value in raw.items() if value is not ...}


def _parse(raw: dict[str, Any]) -> Sample:
    return parse_sample(raw, settings=Settings())


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (ASSERT, AssertTest(id="0", source="assert f(1) == 2")),
        (HARNESS, HarnessTest(id="0", source=HARNESS["harness"])),
        (PROGRAM, ProgramTest(id="0", suffix="\nassert f(1) == 2\n")),
        ({"prefix": "import m\n", "suffix": "m.x()"}, ProgramTest(id="0", prefix="import m\n", suffix="m.x()")),
        (PYTEST, PytestTest(id="0", files=PYTEST["files"], required=("tests/test_x.py::test_a",))),
        (
            PYTEST | {"mutant_control": True, "hidden": False, "weight": 3, "id": "p"},
            PytestTest(
                id="p", files={"tests/test_x.py": "def test_a(): ..."}, required=("tests/test_x.py::test_a",),
                mutant_control=True, hidden=False, weight=3.0,
            ),
        ),
    ],
)  # fmt: skip
def test_tests_that_are_source(test: dict[str, Any], expected: object) -> None:
    assert _parse(_sample(test)).tests == (expected,)


def test_what_a_sample_says_about_its_program() -> None:
    sample = _parse(
        _sample(
            ASSERT,
            prompt="def f(x):\n",
            stop=["\n\n\n"],
            entry_point=["f", "Solution().f", "f"],
            setup="import math",
            solution_files={"pkg/util.py": "", "conftest.py": "x", "a.pth": "y"},
            main="pkg/core.py",
        )
    )
    assert (sample.prompt, sample.stop) == ("def f(x):\n", ("\n\n\n",))
    assert sample.entry_points == ("f", "Solution().f")
    assert (sample.setup, sample.main) == ("import math", "pkg/core.py")
    assert sorted(sample.solution_files) == ["a.pth", "conftest.py", "pkg/util.py"]


def test_what_a_sample_leaves_out() -> None:
    sample = _parse(_sample(ASSERT, entry_point=...))
    assert (sample.prompt, sample.stop, sample.entry_points, sample.setup) == ("", STOP, (), "")
    assert (sample.solution_files, sample.main) == ({}, "solution.py")


def test_no_stop_at_all() -> None:
    assert _parse(_sample(ASSERT, prompt="def f(x):\n", stop=[])).stop == ()


@pytest.mark.parametrize("test", [STDIN, CALL], ids=["stdin", "call"])
def test_a_prompt_goes_with_every_kind(test: dict[str, Any]) -> None:
    assert _parse(_sample(test, prompt="def f(x):\n", entry_point=...)).prompt == "def f(x):\n"


@pytest.mark.parametrize("call", ["check(f)", "if True:\n    pass\ncheck (f)  # as written"])
def test_a_harness_that_calls_check_needs_no_entry_point(call: str) -> None:
    harness = {"harness": HARNESS["harness"] + "\n" + call}
    assert _parse(_sample(harness, entry_point=...)).entry_points == ()


@pytest.mark.parametrize(
    "required",
    ["t.py::test_a[1]", "t.py::test_a[x::y z]", "t.py::TestC::test_b", "t.py::TestC::TestD::test_b[é]"],
)
def test_ids_of_tests(required: str) -> None:
    raw = _sample({"files": {"t.py": ""}, "required": [required]})
    (test,) = _parse(raw).tests
    assert isinstance(test, PytestTest)
    assert test.required == (required,)


BAD: list[tuple[dict[str, Any], str, str, str]] = [
    # record, field, part of the problem, part of the mend
    (_sample({"assert": 3}), "tests[0].assert", "must be a string, not a number", "assert f(1) == 2"),
    (_sample({"assert": " \n"}), "tests[0].assert", "is empty", "assert f(1) == 2"),
    (_sample({"assert": ["assert f(1)"]}), "tests[0].assert", "must be a string, not an array", ""),
    (_sample({"assert": "\ud800"}), "tests[0].assert", "lone surrogate", ""),
    (_sample(ASSERT | {"files": {}}), "tests[0].files", "an assert test has no files", "leave it out"),
    (_sample(ASSERT | {"stdin": ""}), "tests[0]", "different kinds of test", "one kind"),
    (_sample(ASSERT, tests=[ASSERT, PROGRAM]), "tests[1]", "a program test, tests[0] an assert test", "of its own"),
    (_sample({"asserts": "assert f(1)"}), "tests[0].asserts", "no such field", "assert"),
    (_sample({"harness": ""}), "tests[0].harness", "is empty", "check(candidate)"),
    (_sample({"harness": "assert f(1) == 2"}), "tests[0].harness", "does not define check", "check(candidate)"),
    (_sample(HARNESS, entry_point=...), "entry_point", "tests[0] does not call check by itself", "name the function"),
    (_sample({"prefix": "", "suffix": "\n"}), "tests[0].suffix", "nothing to test", "fails"),
    (_sample({"prefix": 3}), "tests[0].prefix", "must be a string", ""),
    (_sample(PROGRAM | {"files": {"a": ""}}), "tests[0].files", "a program test has no files", "leave it out"),
    (_sample({"required": ["t.py::a"]}), "tests[0].files", "missing", "test modules"),
    (_sample({"files": PYTEST["files"]}), "tests[0]", "nothing to test", "files and required"),
    (_sample(PYTEST | {"required": "t.py::a"}), "tests[0].required", "must be an array, not a string", "test_x.py::"),
    (_sample(PYTEST | {"required": []}), "tests[0].required", "never passed", "test_x.py::"),
    (_sample(PYTEST | {"required": [3]}), "tests[0].required[0]", "must be a string", "test_x.py::"),
    (_sample(PYTEST | {"required": ["tests/test_x.py"]}), "tests[0].required[0]", "no id of a test", "test_x.py::"),
    (_sample(PYTEST | {"required": ["tests/test_x.py::"]}), "tests[0].required[0]", "no id of a test", ""),
    (_sample(PYTEST | {"required": ["other.py::a"]}), "tests[0].required[0]", "other.py is none of the files", "among"),
    (_sample(PYTEST | {"required": ["tests/test_x.py::a"] * 2}), "tests[0].required[1]", "required[0]", "once"),
    (_sample(PYTEST | {"files": {"../t.py": ""}}), "tests[0].files.../t.py", "no name for a file", ""),
    (_sample(PYTEST | {"files": []}), "tests[0].files", "must be an object", ""),
    (_sample(PYTEST | {"mutant_control": 1}), "tests[0].mutant_control", "must be true or false", ""),
    (_sample(ASSERT | {"mutant_control": True}), "tests[0]", "different kinds of test", "one kind"),
    *((_sample(test, setup="x = 1"), "setup", f"{kind} tests have no set-up", mend) for kind, test, mend in (
        ("stdin", STDIN, "leave it out"), ("call", CALL, "leave it out"), ("program", PROGRAM, "into the test"),
        ("pytest", PYTEST, "into the test"),
    )),
    (_sample(ASSERT, setup=" "), "setup", "is empty", "leave it out"),
    (_sample(ASSERT, setup=3), "setup", "must be a string", ""),
    (_sample(ASSERT, entry_point=3), "entry_point", "must be an array, not a number", "a name"),
    (_sample(ASSERT, entry_point=[]), "entry_point", "has 0 names", "1 to 64"),
    (_sample(ASSERT, entry_point=["f"] * 65), "entry_point", "has 65 names", "1 to 64"),
    (_sample(ASSERT, entry_point=["f", 3]), "entry_point[1]", "must be a string", ""),
    (_sample(ASSERT, entry_point=["f", "g("]), "entry_point[1]", "names no function", "Solution.f"),
    (_sample(ASSERT, entry_point="Solution()"), "entry_point", "names no function", "Solution.f"),
    (_sample(ASSERT, prompt=3), "prompt", "must be a string", ""),
    (_sample(ASSERT, prompt="\ud800"), "prompt", "lone surrogate", ""),
    (_sample(ASSERT, stop=["x"]), "stop", "nothing is continued", "prompt"),
    (_sample(ASSERT, prompt="x", stop="\n"), "stop", "must be an array, not a string", "[] for none"),
    (_sample(ASSERT, prompt="x", stop=["a", ""]), "stop[1]", "is empty", "leave it out"),
    (_sample(ASSERT, prompt="x", stop=[3]), "stop[0]", "must be a string", ""),
    (_sample(ASSERT, prompt="x", stop=["x"] * 65), "stop", "has 65 texts", "at most 64"),
    *((_sample(test, **{name: value}), name, "not supported by this version for", "leave it out")
      for test in (CALL,) for name, value in (("solution_files", {"a.py": ""}), ("main", "a.py"))),
    (_sample(ASSERT, solution_files=["a.py"]), "solution_files", "must be an object", ""),
    (_sample(ASSERT, solution_files={"/a.py": ""}), "solution_files./a.py", "no name for a file", ""),
    (_sample(ASSERT, solution_files={"solution.py": ""}), "solution_files.solution.py", "own file", "main"),
    (_sample(ASSERT, solution_files={"a.py": ""}, main="a.py"), "solution_files.a.py", "own file", "main"),
    (_sample(ASSERT, main="a"), "main", "no file of a module", "solution.py"),
    (_sample(ASSERT, main="a-b.py"), "main", "no file of a module", "solution.py"),
    (_sample(ASSERT, main="../a.py"), "main", "no name for a file", ""),
    (_sample(ASSERT, main=3), "main", "must be a string", ""),
    *((_sample(test, match={"mode": "float"}), "match", f"{kind} tests compare by themselves", "leave it out")
      for kind, test in SOURCES.items()),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "field", "problem", "mend"), BAD, ids=range(len(BAD)))
def test_bad_records(raw: dict[str, Any], field: str, problem: str, mend: str) -> None:
    with pytest.raises(InputError) as caught:
        _parse(raw)
    assert caught.value.field == field
    assert problem in caught.value.problem
    assert mend in caught.value.mend
    assert str(caught.value).isprintable()


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "getting-started.md"
EXAMPLES = [
    json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
]


@pytest.mark.parametrize("raw", EXAMPLES, ids=lambda raw: raw["id"])
def test_examples_of_the_guide_are_samples(raw: dict[str, Any]) -> None:
    assert _parse(raw).id == raw["id"]
