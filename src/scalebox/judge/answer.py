"""What a judge program is asked, and what it answers."""

from __future__ import annotations

import math
import re
from typing import Literal, NamedTuple

import msgspec

_SHOWN = 1000
#: A number as programs print one: no spaces, no infinity, no underscores.
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_MOST_DIGITS = 400
#: What a score may miss its bounds by for having been printed, or added up.
ROUNDING = 1e-9


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One output to judge: what was read, what was printed, the jury's own output, what the test weighs.

    `args` are the words that the task's author wants on the judge's command line.
    """

    input: bytes
    output: bytes
    answer: bytes
    weight: float = 1.0
    args: tuple[str, ...] = ()


class Answer(NamedTuple):
    """What a judge says of an output; `fault` is that it says nothing. `score` is in [0, 1], None for none."""

    kind: Literal["accepted", "rejected", "fault"]
    detail: str = ""
    score: float | None = None


def text_of(data: bytes) -> str:
    """Return a judge's words as text, without white space around them, cut at a bound."""
    return data[: 4 * _SHOWN].decode("utf-8", "replace").strip()[:_SHOWN]


def scored(number: bytes, weight: float, detail: str) -> Answer:
    """Return an acceptance with a score, which the judge gives out of the weight of the test.

    What is no such number is a fault: it would have to be guessed what it means.
    """
    number = number.strip()
    if len(number) > _MOST_DIGITS or not _NUMBER.fullmatch(number):
        return Answer("fault", f"gave no number as its score: {text_of(number[:100])!r}")
    return bounded(float(number), weight, detail)


def bounded(points: float, weight: float, detail: str) -> Answer:
    """Return an acceptance with so many points out of `weight`, or the fault that they are not within it."""
    if not -ROUNDING * weight <= points <= weight * (1 + ROUNDING):  # NaN is not, either
        return Answer("fault", f"gave {points:g} points for a test of weight {weight:g}")
    score = points / weight
    return Answer("accepted", detail, 1.0 if math.isclose(score, 1.0, rel_tol=ROUNDING) else max(0.0, score))
