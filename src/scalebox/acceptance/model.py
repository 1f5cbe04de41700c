"""What a check is, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict

State = Literal["passed", "failed", "skipped"]


class Failed(Exception):
    """The check did not hold; the text is the evidence."""


class Skipped(Exception):
    """The check says nothing here; the text is the reason."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One check: `why` it matters, what was seen (`detail`), and the `mend` where it failed."""

    name: str
    state: State
    why: str
    mend: str
    detail: str


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """Something to prove. `judge` looks at the result of `sample` and returns what it saw, or raises Failed.

    `verdicts` are those that the documentation gives a hostile sample; an honest one has none.
    """

    name: str
    why: str
    mend: str
    sample: dict[str, Any]
    judge: Callable[[VerificationResult], str]
    verdicts: frozenset[Verdict] = frozenset()


def find(name: str, why: str, mend: str, look: Callable[[], str]) -> Finding:
    """Return what became of a check whose evidence `look` returns, or raises."""
    state: State = "passed"
    try:
        detail = look()
    except Failed as failed:
        state, detail = "failed", str(failed)
    except Skipped as skipped:
        state, detail = "skipped", str(skipped)
    return Finding(name=name, state=state, why=why, mend=mend, detail=detail)
