"""What shapings know of a sample."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import DOUBTFUL, Verdict

#: How code may have been found in a response; "code" is source given as it is, without a response.
EXTRACTED = ("fenced", "incomplete_fenced", "bare", "code", "empty")

_PASSING = frozenset({Verdict.PASSED})
#: Verdicts of a case that do not show that there was something to run.
_NOTHING_SAID = DOUBTFUL | {Verdict.NOT_RUN, Verdict.COMPILE_ERROR}


class Facts(msgspec.Struct, frozen=True):
    """A sample without doubts: its doubtful cases have been taken as failed, or as passed, beforehand.

    `pass_rate` is the weight of passed cases ÷ the weight of all, and `score` the same where a case that a judge has
    given a part counts for that part; `compiled` says that there was something to
    run; `extracted` is one of EXTRACTED.
    """

    pass_rate: float
    score: float
    all_passed: bool
    compiled: bool
    extracted: str


def facts_of(result: VerificationResult, weights: Mapping[str, float], extracted: str, *, doubts_pass: bool) -> Facts:
    """Return the facts of `result`, its doubtful cases taken as passed or as failed.

    A case that was not run counts as failed. Where the sample's own verdict is a doubt, nothing but the doubt
    explains why it was not run, so that it is doubtful too. Raises InputError for an unknown `extracted`.
    """
    if extracted not in EXTRACTED:
        raise InputError(f"no such way of extraction: {extracted!r}", mend=f"one of {', '.join(EXTRACTED)}")
    in_doubt = result.verdict in DOUBTFUL
    passing = _PASSING | DOUBTFUL if doubts_pass else _PASSING
    if doubts_pass and in_doubt:
        passing |= {Verdict.NOT_RUN}
    cases = result.cases or [_stand_in(result.verdict)]
    ran = any(case.verdict not in _NOTHING_SAID for case in cases)
    pass_rate = _share(cases, weights, passing)
    return Facts(
        pass_rate=pass_rate,
        score=_share(cases, weights, passing, parts=True) if any(case.score for case in cases) else pass_rate,
        all_passed=all(case.verdict in passing for case in cases),
        compiled=ran or (doubts_pass if in_doubt else result.verdict is not Verdict.COMPILE_ERROR),
        extracted=extracted,
    )


def may_be_in_doubt(result: VerificationResult) -> bool:
    """Return whether the facts may depend on how doubts are taken."""
    return not result.cases or result.verdict in DOUBTFUL or any(case.verdict in DOUBTFUL for case in result.cases)


def pass_rate_of(cases: Sequence[CaseResult], weights: Mapping[str, float]) -> float:
    """Return the weight of passed cases ÷ the weight of all, in [0, 1]; 0 where there are none.

    `weights` gives the weight of a test by its id, 1 where it has none. Each case of a test weighs that much.
    """
    return _share(cases, weights, _PASSING)


def _share(
    cases: Sequence[CaseResult], weights: Mapping[str, float], passing: Collection[Verdict], *, parts: bool = False
) -> float:
    """Return the share of the weight that passes; with `parts`, a case that does not has the part of its score."""
    each = [weights.get(case.test_id, 1.0) for case in cases]
    whole = math.fsum(each)
    earned = math.fsum(
        weight if case.verdict in passing else weight * _part(case) if parts else 0.0
        for case, weight in zip(cases, each, strict=True)
    )
    return earned / whole if whole > 0 else 0.0


def _part(case: CaseResult) -> float:
    """Return what a judge gave an output that it did not reject outright."""
    return case.score or 0.0 if case.verdict == Verdict.OUTPUT_MISMATCH else 0.0


def _stand_in(verdict: Verdict) -> CaseResult:
    """Stand for the cases of a result that has none: a sample without tests is in doubt, never passed."""
    return CaseResult(id="", verdict=Verdict.UNKNOWN if verdict is Verdict.PASSED else verdict)
