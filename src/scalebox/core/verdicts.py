"""Verdicts, and how the verdicts of cases become the verdict of a sample."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What became of a case or a sample; the meaning of each is in docs/reference/verdicts.md."""

    PASSED = "passed"
    COMPILE_ERROR = "compile_error"
    RESOURCE_DENIED = "resource_denied"
    RUNTIME_ERROR = "runtime_error"
    TIME_OUT = "time_out"
    MEMORY_EXCEED = "memory_exceed"
    OUTPUT_EXCEED = "output_exceed"
    ASSERT_FAIL = "assert_fail"
    OUTPUT_MISMATCH = "output_mismatch"
    NOT_RUN = "not_run"
    UNKNOWN = "unknown"
    INTERNAL_ERROR = "internal_error"


#: Worst first. A certain failure beats a doubt, so `unknown` and `internal_error` come last.
SEVERITY: tuple[Verdict, ...] = (
    Verdict.COMPILE_ERROR,
    Verdict.RESOURCE_DENIED,
    Verdict.RUNTIME_ERROR,
    Verdict.TIME_OUT,
    Verdict.MEMORY_EXCEED,
    Verdict.OUTPUT_EXCEED,
    Verdict.ASSERT_FAIL,
    Verdict.OUTPUT_MISMATCH,
    Verdict.UNKNOWN,
    Verdict.INTERNAL_ERROR,
)

#: Verdicts that say nothing about the sample: a reward that rests on one is masked.
DOUBTFUL = frozenset({Verdict.UNKNOWN, Verdict.INTERNAL_ERROR})

_RANK = {verdict: rank for rank, verdict in enumerate(SEVERITY)}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the sample's verdict: `passed` if every case passed, else the worst one.

    `not_run` counts for nothing as long as another case explains it; a sample of which nothing
    ran at all is `unknown`, as is an empty one (no tests is never `passed`).
    """
    seen = set(verdicts)
    if seen == {Verdict.PASSED}:
        return Verdict.PASSED
    failures = seen & _RANK.keys()
    return min(failures, key=_RANK.__getitem__, default=Verdict.UNKNOWN)
