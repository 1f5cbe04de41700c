"""A program that is only run, not judged: as a sample, and what its result says of the run."""

from __future__ import annotations

from typing import Any

from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import Verdict


def to_run(code: str, stdin: str = "") -> dict[str, Any]:
    """Return the record of a sample that runs `code` once, on `stdin`."""
    # With nothing expected, output is a mismatch: to a program that is only run, both are an end in good order.
    return {"id": "run", "code": code, "tests": [{"id": "0", "stdin": stdin, "stdout": ""}]}


def finished(verdict: Verdict) -> bool:
    """Return whether the program came to an end in good order, whatever it printed."""
    return verdict in (Verdict.PASSED, Verdict.OUTPUT_MISMATCH)


def case_of(result: VerificationResult) -> CaseResult:
    """Return the one run of the program, also where there was none."""
    return result.cases[0] if result.cases else CaseResult(id="0", verdict=result.verdict)


def message_of(result: VerificationResult) -> str:
    """Return why the program did not end in good order, "" where it did."""
    return "" if finished(result.verdict) else result.message.removeprefix("case 0: ")


def outcome(result: VerificationResult) -> dict[str, Any]:
    """Return what became of the program, times in seconds, as one plain object."""
    case = case_of(result)
    return {
        "verdict": "passed" if finished(result.verdict) else result.verdict.value,
        "exit_code": case.exit_code,
        "signal": case.signal,
        "cpu_s": case.cpu_s,
        "wall_s": case.wall_s,
        "memory_bytes": case.memory_bytes,
        "tier": result.tier,
        "message": message_of(result),
        "denied": result.denied,
        "stdout": case.stdout,
        "stderr": case.stderr,
    }
