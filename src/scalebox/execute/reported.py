"""From what the tests of a solution reported to the labels of their cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scalebox.core.limits import Limits
from scalebox.core.verdicts import Verdict
from scalebox.execute.label import denied_text, label
from scalebox.execute.separate.frames import Case
from scalebox.execute.separate.program import fold
from scalebox.execute.tested import Run

_BY_STATUS = {
    "passed": Verdict.PASSED,
    "failed": Verdict.ASSERT_FAIL,
    "skipped": Verdict.ASSERT_FAIL,
    "error": Verdict.RUNTIME_ERROR,
    "refused": Verdict.RESOURCE_DENIED,
    "memory": Verdict.MEMORY_EXCEED,
    "over": Verdict.RUNTIME_ERROR,
}
#: Ends that say nothing about the solution.
_DOUBTS = {"task": Verdict.INTERNAL_ERROR, "toolchain": Verdict.UNKNOWN}
#: Verdicts that a refused call explains better.
_EXPLAINED = frozenset({Verdict.ASSERT_FAIL, Verdict.RUNTIME_ERROR})


class Labelled(NamedTuple):
    """One case and its verdict. `name` is "" where the case is all of its test."""

    name: str
    verdict: Verdict
    detail: str = ""
    text: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0


def labelled(run: Run, limits: Limits, *, assertions: int, as_one: bool) -> list[Labelled]:
    """Return the cases of one test, at least one.

    `assertions` says how many there would have been if nothing ran; `as_one` makes one case of them all.
    """
    reason, detail = run.report.reason, run.report.detail
    if reason in _DOUBTS:
        return [Labelled("", _DOUBTS[reason], detail)]
    if reason == "solution failed" and not run.report.cases:
        verdict = Verdict.MEMORY_EXCEED if detail.startswith("MemoryError") else Verdict.RUNTIME_ERROR
        cases = [Labelled("" if as_one else str(number), verdict, detail) for number in range(assertions)]
        return [_explained(case, run) for case in (cases[:1] if as_one else cases)]
    cases = [_explained(case, run) for case in _each(run, limits)]
    if run.refused and any(case.verdict != Verdict.PASSED for case in cases):
        return [Labelled("", Verdict.INTERNAL_ERROR, f"the sandbox does not let tests do this: {run.refused[0]}")]
    if not cases:
        return [Labelled("", Verdict.RUNTIME_ERROR, detail or "the tests reported nothing")]
    if as_one:
        return [_folded(cases, run)]
    if reason != "done" and all(case.verdict == Verdict.PASSED for case in cases):
        # What did not come to its end has not passed, whatever it came to before.
        cases.append(Labelled("end", Verdict.RUNTIME_ERROR, detail or "the tests did not come to their end"))
    return cases


def _each(run: Run, limits: Limits) -> Iterator[Labelled]:
    fate = (Verdict.RUNTIME_ERROR, "")
    for case in run.report.cases:
        if case.status == "running":
            verdict, detail = fate = _cut_off(run, case, limits)
        elif case.status == "unreached":
            verdict, detail = fate[0], "not reached: " + (fate[1] or run.report.detail)
        else:
            verdict, detail = _BY_STATUS[case.status], case.detail
            if verdict != Verdict.PASSED:
                fate = verdict, detail
            elif case.cpu_s > max(limits.cpu_s, run.allowed_cpu_s):
                verdict, detail = Verdict.TIME_OUT, f"used more than {limits.cpu_s:g} s of CPU time"
        yield Labelled(case.name, verdict, detail, case.text, case.cpu_s, case.wall_s)


def _cut_off(run: Run, case: Case, limits: Limits) -> tuple[Verdict, str]:
    """Return the label of a case that was under way when the run ended."""
    verdict, detail = label(run.ends[case.name], limits)
    if verdict is None:
        return Verdict.RUNTIME_ERROR, "the program ended before the tests did (exit code 0)"
    return verdict, detail


def _explained(case: Labelled, run: Run) -> Labelled:
    if run.solution.denied and case.verdict in _EXPLAINED:
        return case._replace(verdict=Verdict.RESOURCE_DENIED, detail=denied_text(run.solution))
    return case


def _folded(cases: list[Labelled], run: Run) -> Labelled:
    """Return the one case that a program is: passed if its tests ran to their end and none of them failed."""
    bad = next((case for case in cases if case.verdict != Verdict.PASSED), None)
    status, detail = fold([], run.report.reason, run.report.detail)
    cpu, wall = sum(case.cpu_s for case in cases), sum(case.wall_s for case in cases)
    if bad is not None:
        return bad._replace(name="", cpu_s=cpu, wall_s=wall)
    return Labelled("", _BY_STATUS[status], detail, cpu_s=cpu, wall_s=wall)
