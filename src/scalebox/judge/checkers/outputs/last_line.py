"""The last line that is not blank, token by token."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import Difference
from scalebox.judge.text import compare_tokens, to_bytes

OPTIONS: tuple[str, ...] = ()


def compare(expected: str, actual: bytes, _match: Match) -> Difference:
    """Compare the last lines that are not blank, token by token."""
    return compare_tokens(_last_line(to_bytes(expected)), _last_line(actual))


def _last_line(data: bytes) -> bytes:
    data = data.rstrip()
    return data[data.rfind(b"\n") + 1 :]
