"""Puts a program together from a prompt and what a model made of it, in other languages than Python.

Pure text, in linear time. Nothing is known of the language but what its lines of imports look like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_IMPORTS = re.compile(
    r"[ \t]*(?:#[ \t]*include\b|import\b|using\b|package\b|use\b|from\b|(?:const|let|var)\b.*\brequire\()"
)


def continued(prompt: str, code: str, stop: Sequence[str] = ()) -> str:
    """Return the program that `code` makes of `prompt`, both with newlines as line ends; "" where there is no code.

    Code that has the last line of the prompt again, the head of the function, is a program of its own: what it lacks of
    the prompt's imports comes before it. All else goes on where the prompt ends, up to the first text of `stop`.
    """
    if not code.strip():
        return ""
    lines = code.split("\n")
    had = {_plain(line) for line in lines}
    given = [line for line in prompt.split("\n") if line.strip()]
    if given and _plain(given[-1]) in had:
        lacking = [line for line in given if _IMPORTS.match(line) and _plain(line) not in had]
        return "\n".join([*lacking, *lines])
    places = [place for place in (code.find(end) for end in stop) if place >= 0]
    return prompt + (code[: min(places)] if places else code)


def _plain(line: str) -> str:
    """Return what a line says, without its blanks and the brace that may stand on the next one."""
    return re.sub(r"\s+", "", line).removesuffix("{")
