"""A package's submissions on an engine: which run first, at what limit, and what is said of them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from tests.packages.conftest import DMOJ, KATTIS, Write

from scalebox import AsyncScaleBoxClient, Settings
from scalebox.core.errors import InputError
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.verdicts import Verdict, worst
from scalebox.packages import load_package
from scalebox.packages.checking import MEASURING_S, Checking, Outcome

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "packages" / "largest-gap")
CHECKER = """\
import sys
wanted = float(open(sys.argv[1]).read())
said = sys.stdin.read().split()
close = len(said) == 1 and abs(float(said[0]) ** 2 - wanted) <= float(sys.argv[4])
sys.exit(42 if close else 43)
"""


class FakeClient:
    """A client for which a program's code says what becomes of its cases: verdict and CPU seconds, in turn."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._batches: list[Sequence[Sample]] = []

    async def submit_batch(self, samples: Sequence[Sample]) -> str:
        self.samples += samples
        self._batches.append(samples)
        return str(len(self._batches) - 1)

    async def stream(self, batch_id: str) -> AsyncIterator[VerificationResult]:
        for sample in reversed(self._batches[int(batch_id)]):
            verdicts = (sample.code or "").split("#")[0].split()
            cases = [
                CaseResult(id=test.id, verdict=Verdict(verdicts[at % len(verdicts)]), cpu_s=0.5)
                for at, test in enumerate(sample.tests)
            ]
            yield VerificationResult(id=sample.id, verdict=worst(case.verdict for case in cases), cases=cases)


def check(path: str, **options: Any) -> tuple[dict[str, Outcome], FakeClient, float | None]:
    package, client, found = load_package(path), FakeClient(), dict[str, Outcome]()
    checking = Checking(package, Settings(), **options)

    def done(outcome: Outcome) -> None:
        assert outcome.submission.name not in found
        found[outcome.submission.name] = outcome

    asyncio.run(checking.run(cast(AsyncScaleBoxClient, client), package.submissions, done))
    return found, client, checking.limit_s


SUBMISSIONS = {
    "submissions/accepted/a.py": "passed",
    "submissions/accepted/b.c": "passed#int main() {}",
    "submissions/accepted/late.py": "time_out",
    "submissions/wrong_answer/w.py": "output_mismatch",
    "submissions/time_limit_exceeded/t.py": "output_mismatch",
    "submissions/rejected/r.py": "unknown",
    "submissions/accepted/strange.xyz": "",
    "submissions/none/n.py": "runtime_error",
}


def test_the_limit_follows_from_the_accepted_ones_that_run_first(write: Write) -> None:
    found, client, limit_s = check(write(SUBMISSIONS))
    assert {name: (outcome.verdict.value, outcome.met) for name, outcome in found.items()} == {
        "accepted/a.py": ("passed", True),
        "accepted/b.c": ("passed", True),
        "accepted/late.py": ("time_out", False),
        "accepted/strange.xyz": ("not_run", None),
        "wrong_answer/w.py": ("output_mismatch", True),
        "time_limit_exceeded/t.py": ("output_mismatch", False),
        "rejected/r.py": ("unknown", None),
        "none/n.py": ("runtime_error", None),
    }
    assert limit_s == 3.0  # 5 times 0.5 s, rounded up
    limits = {sample.id: sample.limits.cpu_s for sample in client.samples}
    assert {limits.pop(f"accepted/{name}#0") for name in ("a.py", "b.c", "late.py")} == {MEASURING_S}
    assert set(limits.values()) == {3.0}
    stops = {sample.id for sample in client.samples if sample.early_stop}
    assert stops == {"wrong_answer/w.py#0", "time_limit_exceeded/t.py#0"}


def test_python_may_have_more(write: Write) -> None:
    _, client, limit_s = check(write(SUBMISSIONS | {"submissions/accepted/b.c": None}), python_factor=4.0)
    assert limit_s == 1.0  # 5 times 0.5 s ÷ 4
    assert {sample.limits.cpu_s for sample in client.samples} == {MEASURING_S * 4, 4.0}


def test_a_limit_that_is_given_holds_for_all(write: Write) -> None:
    files = SUBMISSIONS | {"problem.yaml": "limits: {time_limit: 2}\n"}
    assert {sample.limits.cpu_s for sample in check(write(files))[1].samples} == {2.0}
    assert {sample.limits.cpu_s for sample in check(write(files), time_limit_s=7.0)[1].samples} == {7.0}


def test_without_a_limit_nothing_is_guessed(write: Write) -> None:
    with pytest.raises(InputError, match="no time limit is given, and no accepted submission passes"):
        check(write({"submissions/accepted/a.py": "output_mismatch"}))


def test_submissions_with_limits_of_their_own_need_no_other(write: Write) -> None:
    files = {
        "tests/a/test.yml": "{source: a.py, time: 20}", "tests/a/a.py": "passed",
        "tests/b/test.yml": "{source: b.py, time: 1}", "tests/b/b.py": "passed",
    }  # fmt: skip
    for options in ({}, {"time_limit_s": 2.0}):
        found, client, limit_s = check(write(files, DMOJ), **options)
        assert [outcome.met for outcome in found.values()] == [True, True]
        assert limit_s == options.get("time_limit_s")
        limits = {sample.id: (sample.limits.cpu_s, sample.limits.wall_s) for sample in client.samples}
        assert limits == {"a#0": (20.0, 70.0), "b#0": (1.0, 13.0)}
    with pytest.raises(InputError, match="no time limit is given"):
        check(write({**files, "tests/b/test.yml": "{source: b.py}"}, DMOJ))


def test_what_is_judged_in_several_ways_is_one_submission(write: Write) -> None:
    files = {
        "submissions/accepted/a.py": "passed output_mismatch",
        "data/secret/g/testdata.yaml": "output_validator_flags: case_sensitive\n",
        "data/secret/g/2.in": "", "data/secret/g/2.ans": "", "data/secret/3.in": "", "data/secret/3.ans": "",
    }  # fmt: skip
    outcome = check(write(files), time_limit_s=1.0)[0]["accepted/a.py"]
    assert [(case.id, case.verdict.value) for case in outcome.cases] == [
        ("secret/1", "passed"), ("secret/3", "output_mismatch"), ("secret/g/2", "passed"),
    ]  # fmt: skip
    assert (len(outcome.results), outcome.met, outcome.message) == (2, False, "case secret/3: ")


def test_points_are_counted(write: Write) -> None:
    files = {"problem.yaml": "type: scoring\n", "data/testdata.yaml": "on_reject: continue\naccept_score: 7\n"}
    assert check(write(files | {"submissions/accepted/a.py": "passed"}))[0]["accepted/a.py"].points == 7


def _run(*arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "scalebox.cli", "verify", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def _rows(text: str) -> dict[str, tuple[str | None, bool | None]]:
    return {row["name"]: (row["verdict"], row["as_expected"]) for row in json.loads(text)["submissions"]}


def test_the_example_comes_out_as_expected() -> None:
    code, out, err = _run("--package", EXAMPLE)
    assert (code, out) == (0, "")
    assert "6 of 6 as expected" in err
    assert "largest-gap: 4 cases, time limit" in err
    table = [line.split() for line in err.splitlines()]
    assert "…" not in err
    assert max(map(len, err.splitlines())) <= 80
    assert ["time_limit_exceeded/", "python", "TLE", "time_out", "yes"] in [row[:5] for row in table]
    assert "walk.py" in [row[0] for row in table if row]


def test_a_zip_with_submissions_that_are_not_what_they_say(write: Write, tmp_path: Path) -> None:
    path = write(
        {
            "submissions/wrong_answer/right.py": "print(2 * int(input()))\n",
            "submissions/accepted/strange.xyz": "",
            "submissions/run_time_error/crash.py": "raise SystemExit(3)\n",
        },
        zipped=True,
    )
    code, out, _ = _run("--package", path, "--json", "-o", str(tmp_path / "out.jsonl"))
    assert code == 1
    assert _rows(out) == {
        "accepted/a.py": ("passed", True),
        "accepted/strange.xyz": (None, None),
        "run_time_error/crash.py": ("runtime_error", True),
        "wrong_answer/right.py": ("passed", False),
    }
    ids = {json.loads(line)["id"] for line in (tmp_path / "out.jsonl").read_text().splitlines()}
    assert ids == {"accepted/a.py#0", "run_time_error/crash.py#0", "wrong_answer/right.py#0"}


def test_a_package_with_a_checker_and_programs_of_ones_own(write: Write, tmp_path: Path) -> None:
    path = write(
        {
            "problem.yaml": "validation: custom\nvalidator_flags: 1e-6\n",
            "output_validators/root.py": CHECKER,
            "data/secret/1.in": "2\n", "data/secret/1.ans": "1.41421356\n",
            "data/secret/rough/testdata.yaml": "output_validator_flags: '1'\n",
            "data/secret/rough/2.in": "9\n", "data/secret/rough/2.ans": "3\n",
            "submissions/accepted/a.py": "print(-float(input()) ** .5)\n",
            "submissions/wrong_answer/w.py": "print(1.4)\n",
        }
    )  # fmt: skip
    mine = tmp_path / "mine.py"
    mine.write_text("print(float(input()) ** .5)\n")
    code, out, err = _run("--package", path, "--json", "--time-limit", "5")
    assert (code, _rows(out)) == (
        0,
        {"accepted/a.py": ("passed", True), "wrong_answer/w.py": ("output_mismatch", True)},
    ), err
    code, out, _ = _run(
        "--package", path, str(mine), f"{path}/submissions/wrong_answer/w.py", "--json", "--time-limit", "5"
    )
    assert (code, list(_rows(out).values())) == (1, [("passed", True), ("output_mismatch", False)])


@pytest.mark.parametrize(
    ("base", "arguments", "message"),
    [
        (KATTIS | {"problem.yaml": "type: [\n"}, (), "problem.yaml:2: no YAML"),
        (KATTIS | {"submissions/accepted/a.py": "print(0)"}, (), "no time limit is given"),
        (KATTIS, ("nowhere.py",), "nowhere.py: cannot be read"),
        (DMOJ, (), "has no submissions (name the files of some to verify)"),
        (KATTIS, ("--explain", "x"), "--explain is for samples"),
    ],
)
def test_what_is_unusable_ends_with_2(
    write: Write, base: dict[str, str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = _run("--package", write({}, base), *arguments)
    assert (code, out) == (2, "")
    assert message in err.replace("\n", " ")


def test_options_of_packages_are_for_packages() -> None:
    assert "--time-limit is for --package" in _run("--time-limit", "3", "x.jsonl")[2]
    assert "--python-factor is for --package" in _run("--python-factor", "3", "x.jsonl")[2]
    assert "Missing argument" in _run()[2]
