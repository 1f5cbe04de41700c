"""Packages in the layout of DMOJ: what is read, and what is refused, with the line."""

from __future__ import annotations

from typing import Any

import pytest
from tests.packages.conftest import DMOJ, Write
from tests.packages.test_files import zip_of

from scalebox import Settings
from scalebox.core.errors import InputError
from scalebox.core.verdicts import Verdict
from scalebox.packages import Expectation, load_package
from scalebox.packages.expected import ANY, one_of

SUBMISSION = {"tests/a/test.yml": "{source: a.py}", "tests/a/a.py": "print(1)"}
STANDARD = {"mode": "tokens", "by_line": True}


def test_files_beside_it_and_in_an_archive(write: Write) -> None:
    init = (
        "archive: data.zip\ntest_cases:\n- {in: 1.in, out: 1.out, points: 10}\n"
        "- points: 20\n  batched:\n  - {in: d/2.in, out: d/2.out}\n  - {out: d/2.out, checker: identical}\n"
    )
    archive = zip_of(("d/2.in", b"3\r\n4\r5"), ("d/2.out", b"6\n"), ("1.in", b"not this one"))
    package = load_package(write({"init.yml": init, "data.zip": archive}, DMOJ))
    assert (package.name, package.layout) == ("twice", "dmoj")
    assert [(case.stdin, case.stdout) for case in package.cases] == [("1\n", "2\n"), ("3\n4\n5\n", "6\n"), ("", "6\n")]
    assert [case.judging["match"] for case in package.cases] == [STANDARD, STANDARD, {"mode": "exact"}]
    assert package.scoring is not None
    passed, failed = Verdict.PASSED, Verdict.TIME_OUT
    for verdicts, points in (
        ((passed, passed, passed), 30),
        ((failed, passed, passed), 20),
        ((passed, failed, passed), 10),
        ((failed, failed, failed), 0),
        ((passed, Verdict.UNKNOWN, passed), None),
        ((passed, Verdict.UNKNOWN, failed), 10),
    ):
        assert package.scoring.points(dict(zip("123", verdicts, strict=True))) == points


@pytest.mark.parametrize(
    ("checker", "match"),
    [
        ("standard", STANDARD),
        ("{name: sorted, args: {split_on: whitespace}}", {"mode": "tokens_unordered"}),
        ("floats", {"abs": 1e-6, "rel": 1e-6}),
        ("{name: floats, args: {precision: 4}}", {"abs": 1e-4, "rel": 1e-4}),
        ("{name: floats, args: {precision: 4.9}}", {"abs": 1e-4, "rel": 1e-4}),
        ("{name: floats, args: {error_mode: relative}}", {"abs": 0.0, "rel": 1e-6}),
        ("floatsabs", {"abs": 1e-6, "rel": 0.0}),
    ],
)
def test_checkers_that_a_mode_judges_as(write: Write, checker: str, match: dict[str, Any]) -> None:
    package = load_package(write({"init.yml": f"checker: {checker}\n{DMOJ['init.yml']}", **SUBMISSION}, DMOJ))
    near = {} if "mode" in match else {"mode": "float", "by_line": True, "near_integers": True}
    assert package.cases[0].judging["match"] == match | near
    assert package.samples(package.submissions[0], Settings(), time_limit_s=1)


@pytest.mark.parametrize(
    ("head", "role"),
    [
        ("checker: {name: bridged, args: {files: c.cpp, lang: CPP17, type: testlib}}", "checker"),
        ("interactive: {files: [c.cpp], type: testlib}", "interactor"),
    ],
)
def test_programs_by_testlib(write: Write, head: str, role: str) -> None:
    files = {"init.yml": f"{head}\n{DMOJ['init.yml']}", "c.cpp": "int main() {}", "testlib.h": "// its text"}
    record = load_package(write(files, DMOJ)).cases[0].judging[role]
    assert (record["protocol"], record["language"], list(record["files"])) == ("testlib", "cpp20", ["testlib.h"])


def test_submissions_of_its_test_suite(write: Write) -> None:
    files = {
        "tests/slow/test.yml": "{language: PY3, source: s.py, expect: [TLE, MLE], time: 2, memory: 65536}",
        "tests/slow/s.py": "while 1: pass\n",
        "tests/odd/test.yml": "{source: o.zzz, expect: AC}",
        "tests/odd/o.zzz": "",
    }
    package = load_package(write(files, DMOJ))
    odd, slow = package.submissions
    assert (odd.name, odd.source, odd.problem[:14]) == ("odd", None, "is in no langu")
    [sample] = package.samples(slow, Settings(), time_limit_s=9)
    assert (sample.limits.cpu_s, sample.limits.memory_mb, str(slow.expected)) == (2.0, 64, "MLE|TLE")


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("", Expectation(permitted=frozenset({"AC"}))),
        ("expect: WA", Expectation(permitted=frozenset({"WA"}))),
        ("expect: [AC, IR]", Expectation(permitted=frozenset({"AC", "RTE"}))),
        ("expect: [WA, SC]", one_of("WA")),
        ("expect: '*'", Expectation(permitted=ANY)),
    ],
)
def test_what_is_expected(write: Write, test: str, expected: Expectation) -> None:
    files = {**SUBMISSION, "tests/a/test.yml": f"source: a.py\n{test}\n"}
    [found] = load_package(write(files, DMOJ)).submissions
    assert found.expected == expected


def test_what_cannot_be_expected_here_and_what_is_skipped(write: Write) -> None:
    files = {
        **SUBMISSION,
        "tests/b/test.yml": "{source: [b.py, c.py]}", "tests/b/b.py": "print(1)", "tests/b/c.py": "print(2)",
        "tests/c/test.yml": "{source: c.py, skip: true}",
        "tests/d/test.yml": "{source: d.py, expect: IE}", "tests/d/d.py": "print(1)",
        "tests/e/test.yml": "{source: e.py, cases: {1: WA}}", "tests/e/e.py": "print(1)",
    }  # fmt: skip
    found = {given.name: given.problem[:34] for given in load_package(write(files, DMOJ)).submissions}
    assert found == {
        "a": "", "b/b.py": "", "b/c.py": "",
        "d": "expects an outcome that is not kno", "e": "expects something of single cases,",
    }  # fmt: skip


def test_pretests_come_first_and_are_worth_nothing(write: Write) -> None:
    package = load_package(
        write({"init.yml": f"pretest_test_cases:\n- {{in: 1.out, out: 1.in}}\n{DMOJ['init.yml']}"}, DMOJ)
    )
    assert [(case.name, case.stdin) for case in package.cases] == [("1", "2\n"), ("2", "1\n")]
    passed, failed = Verdict.PASSED, Verdict.OUTPUT_MISMATCH
    assert package.scoring is not None
    assert [package.scoring.points({"1": first, "2": passed}) for first in (passed, failed)] == [5, 0]


def test_the_limit_of_output_and_the_end_of_the_last_line(write: Write) -> None:
    files = {"init.yml": f"output_limit_length: 1048576\n{DMOJ['init.yml']}", "1.in": "1", "1.out": ""}
    package = load_package(write(files, DMOJ))
    assert package.limits["output_mb"] == 1
    assert [(case.stdin, case.stdout) for case in package.cases] == [("1\n", "")]


def test_a_checker_gives_points_out_of_those_of_the_case(write: Write) -> None:
    checker = "checker: {name: bridged, args: {files: c.cpp, type: testlib}}\n"
    files = {"init.yml": f"{checker}{DMOJ['init.yml']}", "c.cpp": "int main() {}", **SUBMISSION}
    package = load_package(write(files, DMOJ))
    [sample] = package.samples(package.submissions[0], Settings(), time_limit_s=1)
    assert [test.weight for test in sample.tests] == [5]


@pytest.mark.parametrize(
    ("init", "problem"),
    [
        ("archive: none.zip\n", "none.zip: no such file in the package"),
        ("points: 1\n", "init.yml:1: has no list of test_cases"),
        ("test_cases: {input_format: 'x'}\n", "init.yml:1: test_cases: has no list of test_cases"),
        ("test_cases: []\n", "init.yml:1: test_cases: holds no tests"),
        ("test_cases:\n- {in: 1.in}\n", "init.yml:2: test_cases[0]: has no out"),
        ("test_cases:\n- {in: 9.in, out: 1.out}\n", "init.yml:2: test_cases[0].in: no such file: '9.in'"),
        ("test_cases:\n- {in: ../1.in, out: 1.out}\n", "no such file: '../1.in'"),
        ("test_cases:\n- batched:\n  - batched: []\n", ":3: test_cases[0].batched[0]: is a batch within a batch"),
        ("test_cases:\n- {in: 1.in, out: 1.out, generator: g}\n", "init.yml:2: test_cases[0].generator: is not known"),
        ("custom_judge: j.py\ntest_cases: []\n", "init.yml:1: custom_judge: is not known"),
        ("checker: c.py\n", "init.yml:1: checker: the checker 'c.py' has no match mode that judges alike"),
        ("checker: easy\n", "the checker 'easy' has no match mode"),
        ("checker: sorted\n", "no match mode compares lines in any order, token by token"),
        ("checker: {name: bridged, args: {files: c.cpp}}\n", "the type 'default' of a judge is not supported"),
        ("checker: {name: floats, args: {precision: x}}\n", "checker.args.precision: must be a number"),
        ("checker: {name: standard, args: {a: 1}}\n", "checker.args.a: is not supported for this checker"),
        ("interactive: {type: testlib}\n", "interactive: has no files"),
        ("interactive: {type: testlib, files: c.cpp, flags: [-DX]}\n", "interactive.flags: is not known"),
        ("checker: {name: bridged, args: {files: c.cpp, type: testlib, args_format_string: '{answer_file}'}}\n",
         "checker.args.args_format_string: is not known"),
        ("test_cases:\n- {in: 1.in, out: 1.out, output_limit_length: 9}\n", "output_limit_length: is not known"),
    ],
)  # fmt: skip
def test_what_is_unusable_is_told_with_its_line(write: Write, init: str, problem: str) -> None:
    whole = init if "test_cases" in init or "points" in init else f"{init}{DMOJ['init.yml']}"
    with pytest.raises(InputError) as caught:
        load_package(write({"init.yml": whole}, DMOJ))
    assert problem in str(caught.value)
