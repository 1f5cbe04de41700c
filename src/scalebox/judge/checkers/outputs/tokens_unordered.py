"""The same tokens in any order."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference
from scalebox.judge.text import compare_counts, to_bytes, tokens

OPTIONS: tuple[str, ...] = ()


def compare(expected: str, actual: bytes, _match: Match) -> Difference:
    """Compare tokens as a multiset."""
    wanted = to_bytes(expected)
    return EQUAL if wanted == actual else compare_counts(tokens(wanted), tokens(actual), "token")
