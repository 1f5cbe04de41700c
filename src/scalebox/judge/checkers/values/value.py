"""Python's `==` between exact builtin types."""

from __future__ import annotations

from typing import Any

from scalebox.core.sample import Match
from scalebox.judge.difference import Difference
from scalebox.judge.trees import Rules, compare_trees, same_value

OPTIONS: tuple[str, ...] = ()


def compare(expected: Any, actual: Any, _match: Match, from_json: bool) -> Difference:
    """Compare by `==`, item by item; an expected list that was JSON takes a tuple or an array too."""
    return compare_trees(expected, actual, Rules(same_value, from_json))
