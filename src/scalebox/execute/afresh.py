"""What a test finds of a program, and again of fresh copies, which cannot count their calls, and of sabotaged ones."""

from __future__ import annotations

from scalebox.core.limits import Limits
from scalebox.core.sample import ProgramTest
from scalebox.core.verdicts import Verdict
from scalebox.execute.reported import Labelled, labelled
from scalebox.execute.tested import Part, Run, Tested


def has_failed(case: Labelled) -> bool:
    """Return whether a case is anything but passed."""
    return case.verdict != Verdict.PASSED


def found_of(tested: Tested, number: int, part: Part, limits: Limits) -> tuple[Run, list[Labelled]]:
    """Run a test, and once more with fresh copies of a solution that may have passed by counting its calls."""
    count, as_one = tested.count_of(number), isinstance(part.test, ProgramTest)
    run = tested.run(number)
    found = labelled(run, limits, assertions=count, as_one=as_one)
    if any(map(has_failed, found)) or not tested.may_count_calls(number):
        return run, found
    afresh = tested.run_afresh(number)
    again = labelled(afresh, limits, assertions=count, as_one=as_one)
    if not afresh.whole:
        again = _alone(tested, number, found, [case.name for case in run.report.cases], limits)
    if not any(map(has_failed, again)):
        return run, found
    said = "where each call is the first that the program gets: "
    return afresh, [case._replace(detail=said + case.detail) if has_failed(case) else case for case in again]


def _alone(tested: Tested, number: int, found: list[Labelled], names: list[str], limits: Limits) -> list[Labelled]:
    """Return the cases, two of them from runs of their own: for a program that leaves files for its next copy."""
    if not all(map(str.isdigit, names)):
        return found
    failed = {}
    for name in dict.fromkeys([*names[1:2], *names[2:][-1:]]):
        run = tested.run_alone(number, name, [other for other in names if other != name])
        if run is not None:
            again = labelled(run, limits, assertions=1, as_one=len(found) < len(names))
            failed.update({case.name: case for case in again if has_failed(case)})
    return [failed.get(case.name, case) for case in found]


def controlled(tested: Tested, number: int, found: list[Labelled]) -> list[Labelled]:
    """Return the cases as they are if the tests reject sabotaged copies of the program; else nobody has passed."""
    kind = tested.passes_sabotaged(number)
    detail = f"the tests also pass on a copy of the program in which every function is sabotaged ({kind})"
    return [case._replace(verdict=Verdict.INTERNAL_ERROR, detail=detail) for case in found] if kind else found
