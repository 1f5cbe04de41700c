"""From what was observed of a run to the label of a case, as far as no judge is needed."""

from __future__ import annotations

import errno
import signal

from scalebox.core.limits import Limits
from scalebox.core.verdicts import Verdict
from scalebox.sandbox.outcome import Build, Outcome

_REFUSED = frozenset({errno.EPERM, errno.EACCES, errno.EROFS})
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def label_build(build: Build) -> Verdict:
    """Return the verdict on a sample that could not be built."""
    if build.lost:
        return Verdict.INTERNAL_ERROR
    return Verdict.UNKNOWN if build.starved else Verdict.COMPILE_ERROR


def label(outcome: Outcome, limits: Limits) -> tuple[Verdict | None, str]:
    """Return the verdict and its reason, or (None, "") for a clean end, which is for the judge to decide.

    A limit on time that was met on a busy machine labels nobody.
    """
    match outcome.cause:
        case "cpu" | "wall" if outcome.doubt:
            return Verdict.UNKNOWN, f"{_over(outcome, limits)}, but {outcome.doubt}"
        case "cpu" | "wall":
            return Verdict.TIME_OUT, _over(outcome, limits)
        case "memory":
            return Verdict.MEMORY_EXCEED, f"needed more than {limits.memory_mb} MB of memory"
        case "output":
            return Verdict.OUTPUT_EXCEED, "wrote more than the output limit"
        case "lost":
            return Verdict.INTERNAL_ERROR, "the sandbox was lost"
    if outcome.clean:
        return None, ""
    if outcome.signal is not None:
        return _of_signal(outcome)
    return _of_exit(outcome, limits)


def _over(outcome: Outcome, limits: Limits) -> str:
    if outcome.cause == "cpu":
        return f"used more than {limits.cpu_s:g} s of CPU time"
    return f"ran longer than {limits.wall_s:g} s"


def _of_signal(outcome: Outcome) -> tuple[Verdict, str]:
    name = signal.Signals(outcome.signal).name if outcome.signal in set(signal.Signals) else str(outcome.signal)
    if outcome.signal == signal.SIGSYS:
        return Verdict.RESOURCE_DENIED, "a system call that no program may make"
    if outcome.denied:
        return Verdict.RESOURCE_DENIED, denied_text(outcome)
    if outcome.signal == signal.SIGXCPU:
        return Verdict.TIME_OUT, "stopped at its CPU limit"
    return Verdict.RUNTIME_ERROR, f"killed by {name}"


def _of_exit(outcome: Outcome, limits: Limits) -> tuple[Verdict, str]:
    fault = outcome.fault
    if fault.builtin == "MemoryError":
        return Verdict.MEMORY_EXCEED, "an allocation failed (MemoryError)"
    if fault.errno in _NO_SPACE:
        return Verdict.RESOURCE_DENIED, f"disk: more than {limits.disk_mb} MB"
    if outcome.denied:
        return Verdict.RESOURCE_DENIED, denied_text(outcome)
    if fault.errno in _REFUSED:
        where = f" {fault.file}" if fault.file else ""
        return Verdict.RESOURCE_DENIED, f"{errno.errorcode[fault.errno]}{where} ({fault.kind})"
    what = f": {fault.kind}" if fault.kind else ""
    return Verdict.RUNTIME_ERROR, f"exit code {outcome.exit_code}{what}"


def denied_text(outcome: Outcome) -> str:
    """Name what the kernel refused, each thing once."""
    return "denied: " + ", ".join(dict.fromkeys(outcome.denied))
