"""What a jail's processes answer: bytes that a parser of hostile source may have been made to write.

Total: what is no answer is a ValueError, or a build that was lost; what has been read is plain and bounded.
"""

from __future__ import annotations

import json
from typing import Any

from scalebox.sandbox.outcome import Build

_MESSAGE_CHARACTERS = 2000
_WHY_CHARACTERS = 200
_MOST_LINES = 1 << 31


def read_answer(data: bytes) -> dict[str, Any]:
    """Return the fields of an answer; raises ValueError."""
    try:
        answer = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(answer, dict):
        raise ValueError("not an object")  # noqa: TRY004 - one kind of error for all bad data
    return answer


def read_build(data: bytes) -> Build:
    """Return what a compile process says of its build; what it cannot have said is a build that was lost."""
    try:
        answer = read_answer(data)
        return Build(
            ok=answer["ok"] is True,
            message=text(answer.get("message"), _MESSAGE_CHARACTERS),
            line=count(answer.get("line"), _MOST_LINES),
            column=count(answer.get("column"), _MOST_LINES),
            stateless=answer.get("stateless") is True,
            why=text(answer.get("why"), _WHY_CHARACTERS),
            facts=answer,
        )
    except (ValueError, KeyError):
        return Build(ok=False, message="the compile process answered nonsense", lost=True)


def text(value: object, most: int) -> str:
    """Return a text cut at so many characters; "" for what is none."""
    return value[:most] if isinstance(value, str) else ""


def count(value: object, most: int) -> int:
    """Return a number from 0 to `most`; 0 for what is none."""
    return value if type(value) is int and 0 <= value <= most else 0
