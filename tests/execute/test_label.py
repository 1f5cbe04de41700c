"""From what was observed of a run to its label: every cause, and evidence before appearance."""

from __future__ import annotations

import errno
import signal

import pytest

from scalebox.core.limits import Limits
from scalebox.core.verdicts import Verdict
from scalebox.execute.label import label
from scalebox.sandbox.outcome import Fault, Outcome

LIMITS = Limits()


def failed(builtin: str, number: int = 0, file: str = "") -> Outcome:
    return Outcome(exit_code=1, fault=Fault(kind=builtin, builtin=builtin, errno=number, file=file))


@pytest.mark.parametrize(
    ("outcome", "verdict", "says"),
    [
        (Outcome(cause="cpu"), Verdict.TIME_OUT, "CPU time"),
        (Outcome(cause="wall"), Verdict.TIME_OUT, "longer than 10 s"),
        (
            Outcome(cause="cpu", doubt="the machine was busy"),
            Verdict.UNKNOWN,
            "2 s of CPU time, but the machine was busy",
        ),
        (Outcome(cause="wall", doubt="it waited"), Verdict.UNKNOWN, "10 s, but it waited"),
        (Outcome(exit_code=1, doubt="the machine was busy"), Verdict.RUNTIME_ERROR, "exit code 1"),
        (Outcome(cause="memory", signal=signal.SIGKILL), Verdict.MEMORY_EXCEED, "512 MB"),
        (Outcome(cause="output", exit_code=0), Verdict.OUTPUT_EXCEED, "output limit"),
        (Outcome(cause="lost"), Verdict.INTERNAL_ERROR, "lost"),
        (Outcome(signal=signal.SIGSEGV), Verdict.RUNTIME_ERROR, "SIGSEGV"),
        (Outcome(signal=signal.SIGKILL), Verdict.RUNTIME_ERROR, "SIGKILL"),
        (Outcome(signal=signal.SIGXCPU), Verdict.TIME_OUT, "CPU limit"),
        (Outcome(signal=signal.SIGSYS), Verdict.RESOURCE_DENIED, "system call"),
        (Outcome(signal=64), Verdict.RUNTIME_ERROR, "killed by"),
        (Outcome(exit_code=3), Verdict.RUNTIME_ERROR, "exit code 3"),
        (failed("ValueError"), Verdict.RUNTIME_ERROR, "ValueError"),
        (failed("MemoryError"), Verdict.MEMORY_EXCEED, "MemoryError"),
        (failed("FileNotFoundError", errno.ENOENT, "/x"), Verdict.RUNTIME_ERROR, "FileNotFoundError"),
        (failed("PermissionError", errno.EACCES, "/etc/x"), Verdict.RESOURCE_DENIED, "EACCES /etc/x"),
        (failed("OSError", errno.EROFS, "/usr/x"), Verdict.RESOURCE_DENIED, "EROFS /usr/x"),
        (failed("PermissionError"), Verdict.RUNTIME_ERROR, "PermissionError"),
        (failed("OSError", errno.ENOSPC), Verdict.RESOURCE_DENIED, "100 MB"),
        (Outcome(exit_code=1, denied=["ptrace", "ptrace"]), Verdict.RESOURCE_DENIED, "denied: ptrace"),
    ],
)
def test_what_was_observed_labels(outcome: Outcome, verdict: Verdict, says: str) -> None:
    labelled, detail = label(outcome, LIMITS)
    assert labelled == verdict
    assert says in detail


def test_a_clean_end_is_for_the_judge_even_where_something_was_denied() -> None:
    assert label(Outcome(exit_code=0, denied=["network: socket(AF_INET)"]), LIMITS) == (None, "")


def test_a_clean_exit_past_a_limit_is_not_clean() -> None:
    assert label(Outcome(cause="output", exit_code=0), LIMITS)[0] == Verdict.OUTPUT_EXCEED
