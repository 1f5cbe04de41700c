"""Submissions to interactive contest problems: right ones pass, wrong ones fail in the way they are known to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import kattis
from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong

from scalebox.languages.toolchain import Missing, toolchain

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(3600)]

LANGUAGES = {"c": "c", "cpp": "cpp20", "java": "java", "python": "python"}
VERDICTS = {"AC": "passed", "WA": "output_mismatch", "TLE": "time_out", "RTE": "runtime_error"}
#: The packages have no limit of time, or one for a faster machine; those that hang do it for ever.
ACCEPTED_LIMITS = {"cpu_s": 20.0, "wall_s": 120.0, "memory_mb": 1024, "build_s": 60.0}
REJECTED_LIMITS = {**ACCEPTED_LIMITS, "cpu_s": 2.0, "wall_s": 30.0}


@pytest.fixture(scope="module")
def submissions(third_party: ThirdParty) -> list[tuple[dict[str, Any], str]]:
    """Return the submissions as samples, each with the verdict that is known of it, "" where none is confirmed."""
    found = []
    for record in third_party("stdio/icpc_interactive_scored.jsonl.zst"):
        checker = record["checker"]
        tests = [{"id": test["name"], "stdin": test["input"], "stdout": test["output"]} for test in record["tests"]]
        for given in record["submissions"]:
            sample = {
                "id": f"{record['id']}/{given['name']}", "language": LANGUAGES[given["language"]],
                "code": given["code"], "tests": tests,
                "interactor": kattis.checker_for(checker["files"], checker["args"] or ()),
                "limits": ACCEPTED_LIMITS if given["expected"] == "AC" else REJECTED_LIMITS,
            }  # fmt: skip
            confirmed = given["expected"] == "AC" or record["tests_complete"]
            found.append((sample, VERDICTS[given["expected"]] if confirmed else ""))
    for language in {sample["language"] for sample, _ in found} - {"python"}:
        try:
            toolchain(language)
        except Missing as missing:
            pytest.skip(f"{language}: {missing}")
    return found


def test_no_right_submission_is_rejected(verify: Verify, submissions: list[tuple[dict[str, Any], str]]) -> None:
    results = verify([sample for sample, verdict in submissions if verdict == "passed"])
    errors = [wrong(result, "passed") for result in results.values() if result.verdict != "passed"]
    check(errors, len(results), "accepted submissions")


def test_every_wrong_submission_fails_as_it_is_known_to(
    verify_to_first_failure: Verify, submissions: list[tuple[dict[str, Any], str]]
) -> None:
    """One whose label the tests at hand need not show must at least be judged: the interactor never fails."""
    known = {sample["id"]: verdict for sample, verdict in submissions if verdict != "passed"}
    results = verify_to_first_failure([sample for sample, _ in submissions if sample["id"] in known])
    errors = [
        wrong(results[name], verdict or "a verdict")
        for name, verdict in known.items()
        if results[name].masked or (verdict and results[name].verdict != verdict)
    ]
    unconfirmed = Counter(str(results[name].verdict) for name, verdict in known.items() if not verdict)
    print("not confirmed:", ", ".join(f"{count} {verdict}" for verdict, count in unconfirmed.items()))
    check(errors, len(known), "rejected submissions")
