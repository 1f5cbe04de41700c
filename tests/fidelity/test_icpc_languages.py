"""Contest submissions in compiled and other languages: right ones pass, wrong ones do not."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import kattis
from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong

from scalebox.languages.toolchain import Missing, toolchain

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

#: The data's names of languages → ours. Contest systems compile C++ for a newer standard than C++17.
LANGUAGES = {
    "c": "c", "cpp": "cpp20", "java": "java", "rust": "rust", "go": "go", "javascript": "javascript", "perl": "perl",
    "ruby": "ruby", "php": "php",
}  # fmt: skip


@pytest.fixture(scope="module", params=LANGUAGES)
def submissions(request: pytest.FixtureRequest, third_party: ThirdParty) -> list[kattis.Submission]:
    """Return the submissions in one language with a label to rely on; print by count what is left out."""
    name = str(request.param)
    try:
        toolchain(LANGUAGES[name])
    except Missing as missing:
        pytest.skip(f"{name}: {missing}")
    found: list[kattis.Submission] = []
    left_out: Counter[str] = Counter()
    for _, given in kattis.submissions(third_party("stdio/icpc.jsonl.zst"), {name: LANGUAGES[name]}):
        if isinstance(given, str):
            left_out[given] += 1
        else:
            found.append(given)
    print(f"{name} left out:", ", ".join(f"{count} ({reason})" for reason, count in left_out.items()))
    return found


def test_no_right_submission_is_rejected(verify: Verify, submissions: list[kattis.Submission]) -> None:
    chosen = [submission.sample for submission in submissions if submission.accepted]
    if not chosen:
        pytest.skip("no accepted submission in this language")
    results = verify(chosen)
    errors = [wrong(result, "passed") for result in results.values() if result.verdict != "passed"]
    check(errors, len(results), "accepted submissions")


def test_no_wrong_submission_passes(verify_to_first_failure: Verify, submissions: list[kattis.Submission]) -> None:
    chosen = [submission.sample for submission in submissions if not submission.accepted]
    if not chosen:
        pytest.skip("no rejected submission in this language")
    results = verify_to_first_failure(chosen)
    errors = [wrong(result, "a failure") for result in results.values() if result.verdict == "passed" or result.masked]
    check(errors, len(results), "rejected submissions")
