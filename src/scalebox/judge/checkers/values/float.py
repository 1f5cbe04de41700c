"""As `value`, numbers within a tolerance."""

from __future__ import annotations

from typing import Any

from scalebox.core.sample import Match
from scalebox.judge.difference import Difference
from scalebox.judge.numbers import tolerance_of, values_near
from scalebox.judge.trees import NUMBERS, Rules, compare_trees, same_value

OPTIONS = ("abs", "rel")


def compare(expected: Any, actual: Any, match: Match, from_json: bool) -> Difference:
    """Compare as `value` does, but numbers within `abs` or `rel`, and two integers by `abs` alone."""
    tolerance = tolerance_of(match.abs, match.rel)

    def same(first: Any, second: Any) -> bool:
        if same_value(first, second):
            return True
        return isinstance(first, NUMBERS) and isinstance(second, NUMBERS) and values_near(first, second, tolerance)

    return compare_trees(expected, actual, Rules(same, from_json))
