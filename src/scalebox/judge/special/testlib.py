"""Checkers that use testlib: `checker input output answer`, an exit code, a message on standard error."""

from __future__ import annotations

import re

from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.judge.answer import Answer, Question, scored, text_of

_OK, _FAIL, _POINTS = 0, 3, 7
#: Wrong answer, wrong format, extra text, unexpected end.
_REJECTED = frozenset({1, 2, 4, 8})
_POINTS_LINE = re.compile(rb"^points (\S+)", re.MULTILINE)
_PARTIAL_LINE = re.compile(rb"^partially correct \(", re.MULTILINE)


def ask(question: Question) -> JudgeRun:
    """Return the run: the three texts as files, in this order, then the author's own words."""
    files = {"input": question.input, "output": question.output, "answer": question.answer}
    return JudgeRun(argv=(*files, *question.args), files=files)


def read(end: JudgeEnd, question: Question) -> Answer:
    """Return what the exit code says; of "partially correct", for which it may be any, only that it is not correct."""
    said = text_of(end.stderr)
    if _PARTIAL_LINE.search(end.stderr):
        return Answer("rejected", said)
    if end.exit_code == _OK:
        return Answer("accepted", said)
    if end.exit_code in _REJECTED:
        return Answer("rejected", said)
    if end.exit_code == _POINTS:
        found = _POINTS_LINE.findall(end.stderr)
        if len(found) != 1:
            return Answer("fault", f"gave points, and not one line that tells how many: {said}")
        return scored(found[0], question.weight, said)
    if end.exit_code == _FAIL:
        return Answer("fault", f"failed: {said}")
    return Answer("fault", f"ended with exit code {end.exit_code}: {said}")
