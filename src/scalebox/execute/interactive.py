"""Runs of a sample's program against an interactor: two programs that talk, each in a jail of its own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.core.limits import Limits
from scalebox.core.sample import StdinTest
from scalebox.core.verdicts import Verdict
from scalebox.execute.judges import Judge
from scalebox.execute.label import label
from scalebox.execute.runs import Program
from scalebox.sandbox.interaction import Interacted, interact


class Talk(NamedTuple):
    """One run: what became of both, and how often it was run. `end` is how the interactor ended."""

    found: Interacted
    end: JudgeEnd
    attempts: int


def talk(
    program: Program, judge: Judge, test: StdinTest, run: JudgeRun, *, accepts: Callable[[JudgeEnd], bool],
    keep_bytes: int,
) -> Talk:  # fmt: skip
    """Have a program and an interactor talk, who is given what `run` says.

    `accepts` tells of an interactor that has ended first whether the solution may go on. A run that was lost is made
    once more. Raises `Lost`.
    """

    def once() -> Talk:
        program.make_ready()
        judge.make_ready()
        judge.collected.take()  # what is left there by one that was called off
        found = interact(
            (program.jail, program._stdin_case(test)),
            (judge.jail, judge.case(0, run)),
            decides=lambda outcome: not accepts(judge.end(outcome, {})),
            keep_bytes=keep_bytes,
        )
        program._mark(found.solution)
        judge._mark(found.interactor)
        return Talk(found, judge.end(found.interactor, judge.collected.take().get(0, {})), 1)

    first = once()
    ends = (first.found.solution, first.found.interactor)
    if not any(outcome.cause == "lost" for outcome in ends):
        return first
    for side, outcome in zip((program, judge), ends, strict=True):
        if outcome.cause == "lost":
            side.jail.stop()
    return once()._replace(attempts=2)


def labelled(found: Interacted, limits: Limits) -> tuple[Verdict | None, str]:
    """Return the label that the solution has earned by itself, and why; None where the interactor is to be asked.

    Who rejects before the solution fails is first, whatever the solution does then.
    """
    solution = found.solution
    stopped = solution.cause == "exited" and solution.exit_code is None and solution.signal is None
    if stopped:
        return None, ""
    verdict, why = label(solution, limits)
    return verdict, f"{why}{_waiting(found)}" if solution.cause == "wall" else why


def _waiting(found: Interacted) -> str:
    """Say who waited for what when the time was over."""
    by_solution, _ = found.unread
    if found.interactor.exit_code is not None:
        return ": the interactor had accepted and ended"
    if by_solution:
        return f": it has not read {by_solution} bytes that the interactor wrote"
    if found.solution.cpu_s < found.solution.wall_s / 2:
        return ": both wait for the other to write (is all output flushed?)"
    return ""


def transcript(found: Interacted) -> str:
    """Return what was said as text, a line behind the name of who wrote it, and a mark where it was cut."""
    lines: list[str] = []
    for who, parts in groupby(found.spoken, itemgetter(0)):
        text = b"".join(said for _, said in parts).decode("utf-8", "replace")
        lines += [f"{who}: {line}" for line in text.removesuffix("\n").split("\n")]
    if found.cut:
        lines.append(f"[cut: {found.cut} more bytes]")
    return "\n".join(lines)
