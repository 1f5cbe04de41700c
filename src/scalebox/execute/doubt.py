"""Cases in doubt: failures that may be the fault of a busy machine, and what their second run, alone, makes of them."""

from __future__ import annotations

import msgspec

from scalebox.core.result import CaseResult
from scalebox.core.sample import Sample
from scalebox.core.verdicts import Verdict
from scalebox.core.wire import Again


class Doubts:
    """What of a sample is in doubt. With `again` it is run for the second time, and what that says counts."""

    def __init__(self, sample: Sample, again: Again | None = None) -> None:
        self.again = again
        #: Places of tests.
        self.places: set[int] = set()
        self._first: dict[int, list[CaseResult]] = {}
        for case in again.result.cases if again is not None else ():
            self._first.setdefault(_place(sample, case), []).append(case)

    def certain(self) -> dict[int, list[CaseResult]]:
        """Return the cases that the first run settled, by the place of their test."""
        left = set(self.again.doubtful) if self.again is not None else set()
        return {
            place: cases
            for place, cases in self._first.items()
            if place not in left and all(case.verdict != Verdict.NOT_RUN for case in cases)
        }

    def settled(self, place: int, cases: list[CaseResult], doubt: str) -> list[CaseResult]:
        """Return the cases of a test as they go into the result; `doubt` says why a failure is none for certain."""
        if self.again is not None:
            return [self._explained(place, case) for case in cases]
        if not doubt or all(case.verdict == Verdict.PASSED for case in cases):
            return cases
        self.places.add(place)
        return [_doubted(case, doubt) for case in cases]

    def _explained(self, place: int, case: CaseResult) -> CaseResult:
        """Say that there was a first run, and what it came to."""
        first = self._first.get(place, [])
        before = next((one for one in first if one.id == case.id), first[0] if first else None)
        if before is None or before.verdict == Verdict.NOT_RUN:
            return case
        alone = "; alone no quiet time could be had either" if case.verdict == Verdict.UNKNOWN else ""
        said = f"{case.detail} " if case.detail else ""
        detail = f"{said}(run again alone{alone}; at first: {before.detail})"
        return msgspec.structs.replace(case, attempts=case.attempts + before.attempts, detail=detail)


def _doubted(case: CaseResult, doubt: str) -> CaseResult:
    if case.verdict == Verdict.PASSED:
        return case
    # What met a limit on time says so itself.
    detail = case.detail if case.verdict == Verdict.UNKNOWN else f"{case.verdict.value}: {case.detail}, but {doubt}"
    return msgspec.structs.replace(case, verdict=Verdict.UNKNOWN, detail=detail)


def _place(sample: Sample, case: CaseResult) -> int:
    return next((place for place, test in enumerate(sample.tests) if test.id == case.test_id), -1)
