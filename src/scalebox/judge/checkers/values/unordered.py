"""As `value`, the items of the outermost list in any order."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference, differs, show_value
from scalebox.judge.forms import form_of
from scalebox.judge.trees import Rules, compare_trees, items_of, same_value

OPTIONS: tuple[str, ...] = ()


def compare(expected: Any, actual: Any, _match: Match, from_json: bool) -> Difference:
    """Compare the items of the outermost list or tuple as a multiset, each as `value` does; all else as `value`."""
    items = items_of(expected, actual, from_json=from_json)
    if items is None:
        return compare_trees(expected, actual, Rules(same_value, from_json))
    wanted, got = items
    # Only what is expected is put into the table: items made to collide would cost quadratic time there.
    left = Counter(form_of(item, from_json=from_json) for item in wanted)
    strangers = []
    for index, item in enumerate(got):
        form = form_of(item, from_json=from_json)
        if left[form] > 0:
            left[form] -= 1
        else:
            strangers.append(index)
    longest = max(len(wanted), len(got))
    matched = len(got) - len(strangers)
    if matched == longest:
        return EQUAL
    if strangers:
        detail = f"at [{strangers[0]}]: {show_value(got[strangers[0]])} is not expected, or not so often"
    else:
        detail = f"expected {len(wanted)} items, got {len(got)}"
    return differs(1 - matched / longest, detail)
