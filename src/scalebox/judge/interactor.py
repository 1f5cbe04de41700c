"""Interactors: how one is started, and what its end says. They have the protocols of the programs that judge outputs.

Where those find the output in a file, an interactor may leave one of that name, as testlib's do.
"""

from __future__ import annotations

import msgspec

from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.core.sample import Protocol
from scalebox.judge.answer import Answer, Question
from scalebox.judge.by_program import fault_of, module_of

#: Which file of a judge's run is the output, which there is none of.
_OUTPUTS = {"testlib": "output", "exit_code": "answer.txt"}


def ask(protocol: Protocol, question: Question) -> JudgeRun:
    """Return the run of an interactor on a test; the output in `question` is none."""
    run: JudgeRun = module_of(protocol).ask(question)
    output = _OUTPUTS.get(protocol)
    return msgspec.structs.replace(run, files={name: data for name, data in run.files.items() if name != output})


def answer_of(protocol: Protocol, end: JudgeEnd, question: Question) -> Answer:
    """Return what the end of an interactor says."""
    if end.fault:
        return fault_of(end)
    answer: Answer = module_of(protocol).read(end, question)
    return answer
