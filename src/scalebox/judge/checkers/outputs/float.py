"""Token by token, numbers within a tolerance."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference
from scalebox.judge.numbers import is_nan, tokens_near, tolerance_of
from scalebox.judge.text import compare_tokens, compare_tokens_by_line, fold_case, to_bytes

OPTIONS = ("abs", "rel", "ignore_case", "near_integers", "by_line")


def compare(expected: str, actual: bytes, match: Match) -> Difference:
    """Compare token by token: numbers within `abs` or `rel`, other tokens as text.

    Two integers are held to `abs` alone, unless `near_integers` says otherwise.
    """
    wanted = to_bytes(expected)
    may_have_nan = b"nan" in wanted.lower()
    if wanted == actual and not may_have_nan:
        return EQUAL
    tolerance = tolerance_of(match.abs, match.rel)

    def differ(first: bytes | None, second: bytes | None) -> bool:
        if first is None or second is None:
            return True
        if first == second:
            return may_have_nan and is_nan(first)
        return not tokens_near(first, second, tolerance, integers=match.near_integers)

    if match.ignore_case:
        wanted, actual = fold_case(wanted), fold_case(actual)
    return (compare_tokens_by_line if match.by_line else compare_tokens)(wanted, actual, differ)
