"""Outputs judged by a program of the task's author, and whose fault it is where that does not answer."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import NamedTuple

import msgspec

from scalebox.core.judging import JudgeEnd, Runner
from scalebox.core.sample import Protocol
from scalebox.core.verdicts import Verdict
from scalebox.judge import special
from scalebox.judge.answer import Answer, Question, text_of


class Judged(NamedTuple):
    """What became of one output. `difference` is 0 where it is accepted in full, else in (0, 1]."""

    verdict: Verdict
    detail: str = ""
    difference: float = 1.0
    score: float | None = None


def judge_by_program(runner: Runner, protocol: Protocol, questions: Sequence[Question]) -> list[Judged]:
    """Have outputs judged, each in a run of its own.

    A judge that fails on an output is asked about the jury's own: if it does not accept that, the task is at fault,
    else the output is.
    """
    answers = _ask(runner, protocol, questions)
    faults = [at for at, answer in enumerate(answers) if isinstance(answer, Answer) and answer.kind == "fault"]
    jury = [msgspec.structs.replace(questions[at], output=questions[at].answer) for at in faults]
    controls = dict(zip(faults, _ask(runner, protocol, jury) if jury else [], strict=True))
    return [
        answer if isinstance(answer, Judged) else judged(answer, controls.get(at)) for at, answer in enumerate(answers)
    ]


def _ask(runner: Runner, protocol: Protocol, questions: Sequence[Question]) -> list[Answer | Judged]:
    """Return what the judge says of each, or a verdict where it is in doubt whether it was the judge that failed."""
    module = module_of(protocol)
    ends = runner.run([module.ask(question) for question in questions])
    found: list[Answer | Judged] = []
    for question, end in zip(questions, ends, strict=True):
        if end.doubt is not None:
            found.append(Judged(end.doubt, f"the judge: {end.fault}"))
        else:
            found.append(fault_of(end) if end.fault else module.read(end, question))
    return found


def fault_of(end: JudgeEnd) -> Answer:
    """Return the answer of a judge that did not end by itself: none."""
    said = text_of(end.stderr[-1000:])
    return Answer("fault", f"{end.fault}: {said}" if said else end.fault)


def judged(answer: Answer, control: Answer | Judged | None = None) -> Judged:
    """Return what an answer makes of an output; `control` is what became of the jury's own, where that was asked."""
    if answer.kind == "accepted":
        score = 1.0 if answer.score is None else answer.score
        if score == 1.0:
            return Judged(Verdict.PASSED, answer.detail, 0.0, answer.score)
        return Judged(Verdict.OUTPUT_MISMATCH, answer.detail or f"score {score:g}", 1.0 - score, score)
    if answer.kind == "rejected":
        return Judged(Verdict.OUTPUT_MISMATCH, answer.detail or "the judge rejects it", score=answer.score)
    if isinstance(control, Judged):
        return control
    if control is not None and control.kind == "accepted":
        detail = f"the judge failed on this output, and accepts the jury's own ({answer.detail})"
        return Judged(Verdict.OUTPUT_MISMATCH, detail)
    what = "rejects" if control is not None and control.kind == "rejected" else "fails on"
    detail = f"the task's judge failed ({answer.detail}), and {what} the jury's own output, too"
    return Judged(Verdict.INTERNAL_ERROR, detail)


@cache
def module_of(protocol: Protocol) -> ModuleType:
    """Return the module of `special` that knows this protocol."""
    return importlib.import_module(f"{special.__name__}.{protocol}")
