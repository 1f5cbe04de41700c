"""Text from hostile programs, made fit for a terminal."""

from __future__ import annotations

import re

# Control characters, and those that turn the direction of writing or hide text.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Return `text` with every control character but tab and newline escaped."""
    return _UNPRINTABLE.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def excerpt(text: str, limit: int = 400) -> str:
    """Return the printable beginning of `text`, and how much was left out."""
    if len(text) <= limit:
        return printable(text)
    return f"{printable(text[:limit])}… ({len(text) - limit} more characters)"


def duration(seconds: float) -> str:
    """Return seconds as people read them."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def size(count: int) -> str:
    """Return bytes as people read them."""
    return f"{count / 1024:.0f} KiB" if count < 1024 * 1024 else f"{count / 1024 / 1024:.1f} MiB"
