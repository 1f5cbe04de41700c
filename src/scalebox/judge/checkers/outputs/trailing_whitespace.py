"""Line by line, without white space at the ends of lines or blank lines at the end."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference
from scalebox.judge.text import bare_lines, compare_lines, to_bytes

OPTIONS: tuple[str, ...] = ()


def compare(expected: str, actual: bytes, _match: Match) -> Difference:
    """Compare line by line, in order, each without the white space at its end."""
    wanted = to_bytes(expected)
    return EQUAL if wanted == actual else compare_lines(wanted, actual, bare_lines)
