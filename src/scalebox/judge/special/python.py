"""Judges that are a Python function: `check(input, output, answer)` returns a bool, or a score from 0 to 1."""

from __future__ import annotations

from scalebox.core import values
from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.judge.answer import ROUNDING, Answer, Question, bounded

_MOST_ITEMS = 100


def ask(question: Question) -> JudgeRun:
    """Return the call: three texts, then the author's own words. Bytes that are no UTF-8 become U+FFFD."""
    texts = (part.decode("utf-8", "replace") for part in (question.input, question.output, question.answer))
    return JudgeRun(arguments=values.encode(((*texts, *question.args), {})))


def read(end: JudgeEnd, question: Question) -> Answer:  # noqa: ARG001 - the protocol's form
    """Return what the value says; one that is neither a bool nor a number from 0 to 1 says nothing."""
    if end.value is None:
        return Answer("fault", "ended without returning a value")
    try:
        value = values.decode(end.value, _MOST_ITEMS)
    except values.MalformedValue:
        return Answer("fault", "returned neither a bool nor a number")
    if isinstance(value, bool):
        return Answer("accepted" if value else "rejected")
    if not isinstance(value, (int, float)) or not -ROUNDING <= value <= 1 + ROUNDING:
        shown = f"{value!r:.100}" if isinstance(value, (int, float)) else f"a {type(value).__name__}"
        return Answer("fault", f"returned {shown}, neither a bool nor a number from 0 to 1")
    return bounded(float(value), 1.0, "") if value > 0 else Answer("rejected", "", 0.0)
