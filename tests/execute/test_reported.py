"""From what tests left behind to the labels of their cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.limits import Limits
from scalebox.core.verdicts import Verdict
from scalebox.execute.reported import Labelled, labelled
from scalebox.execute.separate.frames import STATUSES, Case, Report
from scalebox.execute.tested import Run
from scalebox.sandbox.outcome import Outcome

LIMITS = Limits(cpu_s=1.0)


def of(
    *cases: Case, reason: str = "done", detail: str = "", end: Outcome | None = None, denied: tuple[str, ...] = (),
    assertions: int = 1, as_one: bool = False, refused: tuple[str, ...] = (),
) -> list[Labelled]:  # fmt: skip
    ends = {case.name: end for case in cases if case.status == "running" and end is not None}
    run = Run(Report(list(cases), reason, detail), ends, Outcome(denied=list(denied)), 1, refused=refused)
    return labelled(run, LIMITS, assertions=assertions, as_one=as_one)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("passed", Verdict.PASSED),
        ("failed", Verdict.ASSERT_FAIL),
        ("skipped", Verdict.ASSERT_FAIL),
        ("error", Verdict.RUNTIME_ERROR),
        ("refused", Verdict.RESOURCE_DENIED),
        ("memory", Verdict.MEMORY_EXCEED),
    ],
)
def test_each_status_has_its_verdict(status: str, verdict: Verdict) -> None:
    (case,) = of(Case("3", status, "why", "text", 0.5, 0.6))
    assert case == Labelled("3", verdict, "why", "text", 0.5, 0.6)


def test_a_case_that_passed_too_late_has_not() -> None:
    (case,) = of(Case("0", "passed", cpu_s=1.5))
    assert case.verdict == Verdict.TIME_OUT


@pytest.mark.parametrize(
    ("end", "verdict"),
    [
        (Outcome(cause="cpu"), Verdict.TIME_OUT),
        (Outcome(cause="wall", doubt="it waited 5.0 of 10.0 s for a CPU"), Verdict.UNKNOWN),
        (Outcome(cause="memory"), Verdict.MEMORY_EXCEED),
        (Outcome(cause="output"), Verdict.OUTPUT_EXCEED),
        (Outcome(cause="lost"), Verdict.INTERNAL_ERROR),
        (Outcome(signal=11), Verdict.RUNTIME_ERROR),
        (Outcome(exit_code=0), Verdict.RUNTIME_ERROR),
    ],
)
def test_the_case_that_was_running_is_labelled_by_the_end_and_those_behind_share_it(
    end: Outcome, verdict: Verdict
) -> None:
    cases = of(Case("0", "passed"), Case("1", "running"), Case("2", "unreached"), reason="", end=end)
    assert [case.verdict for case in cases] == [Verdict.PASSED, verdict, verdict]


def test_what_lies_behind_an_exception_shares_its_fate() -> None:
    cases = of(Case("0", "passed"), Case("1", "error", "KeyError"), Case("2", "unreached"), reason="stopped")
    assert [case.verdict for case in cases] == [Verdict.PASSED, Verdict.RUNTIME_ERROR, Verdict.RUNTIME_ERROR]
    assert cases[2].detail == "not reached: KeyError"


def test_a_program_that_did_not_load_fails_every_assertion() -> None:
    cases = of(reason="solution failed", detail="ValueError: x", assertions=3)
    assert [(case.name, case.verdict) for case in cases] == [(str(n), Verdict.RUNTIME_ERROR) for n in range(3)]
    assert of(reason="solution failed", detail="MemoryError", as_one=True) == [
        Labelled("", Verdict.MEMORY_EXCEED, "MemoryError")
    ]


@pytest.mark.parametrize(("reason", "verdict"), [("task", Verdict.INTERNAL_ERROR), ("toolchain", Verdict.UNKNOWN)])
def test_what_is_the_task_s_fault_labels_nobody(reason: str, verdict: Verdict) -> None:
    assert of(Case("0", "passed"), reason=reason, detail="why") == [Labelled("", verdict, "why")]


def test_what_was_denied_explains_failures_and_no_passes() -> None:
    cases = of(Case("0", "passed"), Case("1", "error"), Case("2", "memory"), denied=("network: socket(AF_INET)",))
    assert [case.verdict for case in cases] == [Verdict.PASSED, Verdict.RESOURCE_DENIED, Verdict.MEMORY_EXCEED]
    assert "socket" in cases[1].detail


def test_what_no_test_can_have_is_the_task_s_fault() -> None:
    refused = ("network: socket(AF_INET)",)
    passed, error = Case("0", "passed"), Case("1", "error", "PermissionError")
    (case,) = of(passed, error, refused=refused, denied=("process creation: clone",))
    assert case == Labelled(
        "", Verdict.INTERNAL_ERROR, "the sandbox does not let tests do this: network: socket(AF_INET)"
    )
    assert [case.verdict for case in of(passed, refused=refused)] == [Verdict.PASSED]
    (case,) = of(reason="solution failed", detail="NameError", refused=refused)
    assert case.verdict == Verdict.RUNTIME_ERROR


@pytest.mark.parametrize("reason", ["stopped", "solution failed", "solution ended", ""])
def test_what_did_not_come_to_its_end_has_not_passed(reason: str) -> None:
    cases = of(Case("0", "passed"), reason=reason, detail="why")
    assert [(case.name, case.verdict) for case in cases] == [("0", Verdict.PASSED), ("end", Verdict.RUNTIME_ERROR)]


def test_no_report_is_no_pass() -> None:
    assert [case.verdict for case in of(reason="done")] == [Verdict.RUNTIME_ERROR]


@given(
    st.lists(st.sampled_from([*STATUSES, "unreached"]), max_size=6),
    st.sampled_from(["done", "stopped", "solution ended", ""]),
)
def test_a_program_passes_only_where_all_that_was_checked_passed_and_the_end_was_reached(
    statuses: list[str], reason: str
) -> None:
    cases = [Case(str(number), status) for number, status in enumerate(statuses)]
    (one,) = of(*cases, reason=reason, as_one=True)
    assert (one.verdict == Verdict.PASSED) == (bool(statuses) and set(statuses) == {"passed"} and reason == "done")
