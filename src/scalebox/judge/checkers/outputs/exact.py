"""Byte for byte."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference
from scalebox.judge.text import compare_lines, lines, to_bytes

OPTIONS: tuple[str, ...] = ()


def compare(expected: str, actual: bytes, _match: Match) -> Difference:
    """Compare byte for byte, the last newline included."""
    wanted = to_bytes(expected)
    return EQUAL if wanted == actual else compare_lines(wanted, actual, lines)
