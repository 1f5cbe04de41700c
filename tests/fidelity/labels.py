"""How a suite says which labels were wrong."""

from __future__ import annotations

from collections.abc import Iterable

from scalebox import CaseResult, VerificationResult

_SHOWN = 20


def wrong(result: VerificationResult, expected: str, cases: Iterable[CaseResult] = ()) -> str:
    """Return one line on a wrong label: whose, what it had to be, what it is, and the engine's reason."""
    named = list(cases) or [case for case in result.cases if case.verdict != "passed"]
    detail = "; ".join(f"case {case.id} {case.verdict}: {case.detail}" for case in named[:3])
    return f"{result.id}: expected {expected}, got {result.verdict} at {result.stage} ({detail or result.message})"[
        :600
    ]


def check(errors: Iterable[str], judged: int, what: str) -> None:
    """Print how many were judged; fail with the wrong labels where there are any, or where nothing was judged."""
    found = list(errors)
    print(f"{what}: {judged} judged, {len(found)} wrong")
    assert judged, f"{what}: nothing to judge"
    assert not found, f"{len(found)} of {judged} {what} are wrong:\n" + "\n".join(found[:_SHOWN])
