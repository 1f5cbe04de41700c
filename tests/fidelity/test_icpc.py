"""Contest submissions: right ones pass, wrong ones fail at the test they are known to fail."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import kattis
from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong

from scalebox import VerificationResult

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def submissions(third_party: ThirdParty) -> list[kattis.Submission]:
    """Return the Python submissions with a label to rely on; print by count what is left out."""
    found: list[kattis.Submission] = []
    left_out: Counter[str] = Counter()
    for _, given in kattis.submissions(third_party("stdio/icpc.jsonl.zst")):
        if isinstance(given, str):
            left_out[given] += 1
        else:
            found.append(given)
    print("left out:", ", ".join(f"{count} ({reason})" for reason, count in left_out.items()))
    return found


def test_no_right_submission_is_rejected(verify: Verify, submissions: list[kattis.Submission]) -> None:
    results = verify([submission.sample for submission in submissions if submission.accepted])
    errors = [wrong(result, "passed") for result in results.values() if result.verdict != "passed"]
    check(errors, len(results), "accepted submissions")


def test_every_wrong_submission_fails_as_it_is_known_to(
    verify_to_first_failure: Verify, submissions: list[kattis.Submission]
) -> None:
    rejected = [submission for submission in submissions if not submission.accepted]
    results = verify_to_first_failure([submission.sample for submission in rejected])
    errors = [error for submission in rejected if (error := _error(submission, results[submission.id]))]
    check(errors, len(rejected), "rejected submissions")


def _error(submission: kattis.Submission, result: VerificationResult) -> str:
    first = result.cases[0]
    if result.verdict == "passed" or result.masked:
        return wrong(result, "a failure")
    # How slow is too slow depends on the machine: one that is faster than the data's fails at a later test.
    if submission.label not in ("", "time_out", first.verdict):
        return wrong(result, f"{submission.label} at {submission.at}", [first])
    return ""
