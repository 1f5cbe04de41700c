"""Token by token, without case."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference
from scalebox.judge.text import compare_tokens, fold_case, to_bytes

OPTIONS: tuple[str, ...] = ()


def compare(expected: str, actual: bytes, _match: Match) -> Difference:
    """Compare token by token, in order and number, case folded by Unicode's rules."""
    wanted = to_bytes(expected)
    return EQUAL if wanted == actual else compare_tokens(fold_case(wanted), fold_case(actual))
