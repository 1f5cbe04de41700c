"""Judges written by others: testlib's own runs of its checkers, and problems whose outputs a program must judge."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong

from scalebox import Settings
from scalebox.core.judging import JudgeRun
from scalebox.core.sample import JudgeProgram
from scalebox.execute.judges import Judges
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.worker import Verifier

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module", autouse=True)
def compiler() -> None:
    """Skip all where nothing can be compiled."""
    try:
        toolchain("cpp")
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    verifier = Verifier(Settings(), sorted(os.sched_getaffinity(0))[:1])
    yield verifier._judges
    verifier.close()


@pytest.fixture(scope="module")
def testlib(third_party: ThirdParty) -> dict[str, str]:
    """Return the texts of testlib.h and of its standard checkers, by name."""
    records = [record for record in third_party("stdio/testlib_checkers.jsonl.zst") if "checkers" in record]
    (record,) = records
    return {**record["checkers"], "testlib.h": record["testlib.h"]}


def _checker(code: str, testlib: dict[str, str], files: dict[str, str] | None = None) -> JudgeProgram:
    beside = {"testlib.h": testlib["testlib.h"], **(files or {})}
    return JudgeProgram(language="cpp", code=code, protocol="testlib", files=beside)


def test_every_recorded_run_of_a_checker_ends_as_recorded(
    third_party: ThirdParty, testlib: dict[str, str], judges: Judges
) -> None:
    count = 0
    for record in third_party("stdio/testlib_checkers.jsonl.zst"):
        for name in dict.fromkeys(run["program"] for run in record.get("runs", ())):
            judge, build = judges.get(_checker(record["programs"][f"{name}.cpp"], testlib), None)
            assert build.ok, build.message
            runs = [run for run in record["runs"] if run["program"] == name]
            for run, end in zip(runs, judge.run([_run(run) for run in runs]), strict=True):
                assert (end.exit_code, end.stderr.decode()) == (run["expected_exit"], run["expected_stderr"])
                count += 1
    assert count >= 9


def _run(given: dict[str, Any]) -> JudgeRun:
    files = {name: text.encode() for name, text in given["files"].items()}
    return JudgeRun(argv=tuple(given["args"]), files=files, stdin=(given["stdin"] or "").encode())


#: An input, an output that the checker accepts and the jury's, an output that it rejects.
PAIRS = {
    "wcmp.cpp": ("", "a b\n c", "a b c\n", "a b"),
    "ncmp.cpp": ("", "1 2 3", "1\n2\n3", "1 2 4"),
    "yesno.cpp": ("", "yes", "YES", "no"),
    "rcmp6.cpp": ("", "0.3333333", "0.33333333", "0.3334"),
    "lcmp.cpp": ("", "a  b\nc", "a b\nc", "a b c"),
}


@pytest.mark.parametrize("name", PAIRS)
def test_standard_checkers_tell_right_from_wrong(verify: Verify, testlib: dict[str, str], name: str) -> None:
    stdin, right, jury, bad = PAIRS[name]
    checker = {
        "language": "cpp", "code": testlib[name], "protocol": "testlib", "files": {"testlib.h": testlib["testlib.h"]}
    }  # fmt: skip
    results = verify([
        {
            "id": output, "code": f"print({output!r}, end='')", "checker": checker,
            "tests": [{"stdin": stdin, "stdout": jury}],
        }
        for output in (right, bad)
    ])  # fmt: skip
    assert [results[output].verdict for output in (right, bad)] == ["passed", "output_mismatch"]


def test_labels_of_library_checker(third_party: ThirdParty, verify: Verify, testlib: dict[str, str]) -> None:
    samples: dict[str, tuple[str, dict[str, Any]]] = {}
    for record in third_party("stdio/library_checker.jsonl.zst"):
        files = {**record["checker"]["files"], "testlib.h": testlib["testlib.h"]}
        code = files.pop("checker.cpp")
        for given in record["submissions"]:
            if given["expected"] != "AC" and given["verified"] == "not-run":
                continue  # the tests that would show it may be among those left out
            name = f"{record['id']}/{given['name']}"
            samples[name] = given["expected"], {
                "id": name, "language": "cpp", "code": given["code"],
                "checker": {"language": "cpp", "code": code, "protocol": "testlib", "files": files},
                "limits": {"cpu_s": 15.0, "wall_s": 120.0, "memory_mb": 1024, "build_s": 60.0},
                "tests": [
                    {"id": test["name"], "stdin": test["input"], "stdout": test["output"]} for test in record["tests"]
                ],
            }  # fmt: skip
    results = verify([sample for _, sample in samples.values()])
    errors = [
        wrong(results[name], label)
        for name, (label, _) in samples.items()
        if results[name].masked or (results[name].verdict == "passed") != (label == "AC")
    ]
    check(errors, len(samples), "submissions")
