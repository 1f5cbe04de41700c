"""Token by token: what white space separates."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference
from scalebox.judge.text import compare_tokens, compare_tokens_by_line, to_bytes

OPTIONS = ("by_line",)


def compare(expected: str, actual: bytes, match: Match) -> Difference:
    """Compare token by token, as bytes, in order and number; with `by_line`, line by line too."""
    wanted = to_bytes(expected)
    if wanted.strip() == actual.strip():
        return EQUAL
    return (compare_tokens_by_line if match.by_line else compare_tokens)(wanted, actual)
