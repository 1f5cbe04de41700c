"""Equal values of the same types at every level."""

from __future__ import annotations

from typing import Any

from scalebox.core.sample import Match
from scalebox.judge.difference import Difference
from scalebox.judge.trees import Rules, compare_trees, same_value

OPTIONS: tuple[str, ...] = ()


def compare(expected: Any, actual: Any, _match: Match, _from_json: bool) -> Difference:
    """Compare by `==` and by type, at every level; an expected list takes a list alone."""
    return compare_trees(expected, actual, Rules(same_value, from_json=False, typed=True))
