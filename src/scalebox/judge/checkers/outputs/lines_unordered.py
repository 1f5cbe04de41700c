"""The same lines in any order."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference
from scalebox.judge.text import bare_lines, compare_counts, to_bytes

OPTIONS: tuple[str, ...] = ()


def compare(expected: str, actual: bytes, _match: Match) -> Difference:
    """Compare lines as a multiset, without white space at their ends and without blank ones."""
    wanted = to_bytes(expected)
    if wanted == actual:
        return EQUAL
    return compare_counts(filter(None, bare_lines(wanted)), filter(None, bare_lines(actual)), "line")
