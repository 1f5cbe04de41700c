"""Nested values compared item by item, with the share that differs and the first place.

The expected value is ours and the actual one is hostile, though both are plain data by now. So the walk
follows the expected one: keys and elements of the actual one are looked up, never put into a table anew,
and what the actual one has beyond the expected is counted and not looked at.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from scalebox.core.values import Opaque, Wrapped
from scalebox.judge.difference import EQUAL, Difference, differs, show_value
from scalebox.judge.forms import form_of
from scalebox.judge.numbers import numbers_equal

_MAPPINGS = frozenset({dict, Counter, OrderedDict, defaultdict})
_SETS = frozenset({set, frozenset})
_SEQUENCES = frozenset({list, tuple, deque})
_CONTAINERS = _MAPPINGS | _SETS | _SEQUENCES
NUMBERS = (int, float, complex, Decimal, Fraction)
#: Types whose `==` is cheap and right, so that whole lists of them are compared at once.
_SCALARS = frozenset({type(None), bool, int, float, str, bytes})
#: How much of the way to a deep place is told.
_PLACE_KEYS = 8


class Rules(NamedTuple):
    """How values are compared.

    `same` decides on a pair of values that are no containers; `from_json` lets an expected list take a
    tuple or an array; `typed` demands the same type at every level.
    """

    same: Callable[[Any, Any], bool]
    from_json: bool
    typed: bool = False


def same_value(expected: Any, actual: Any) -> bool:
    """Say whether two values that are no containers are equal by Python's `==`; objects of unknown types never are."""
    if isinstance(expected, NUMBERS) and isinstance(actual, NUMBERS):
        return numbers_equal(expected, actual)
    if isinstance(actual, (Opaque, Wrapped)):
        return False
    return bool(expected == actual)


def compare_trees(expected: Any, actual: Any, rules: Rules) -> Difference:
    """Compare two decoded values by `rules`."""
    walk = _Walk(rules)
    degree = walk.visit(expected, actual)
    return EQUAL if walk.detail is None else differs(degree, walk.detail)


def count_items(value: Any) -> int:
    """Return the number of values in `value`, itself included."""
    kind = type(value)
    if kind is Wrapped:
        return 1 + count_items(value.content)
    if kind in _MAPPINGS:
        return 1 + sum(count_items(key) + count_items(value[key]) for key in value)
    if kind not in _CONTAINERS:
        return 1
    return 1 + len(value) if _SCALARS.issuperset(map(type, value)) else 1 + sum(map(count_items, value))


def items_of(expected: Any, actual: Any, *, from_json: bool) -> tuple[Sequence[Any], Sequence[Any]] | None:
    """Return the items of both if they are sequences that may be equal, else None."""
    kind, other = type(expected), type(actual)
    if kind is Wrapped:
        return items_of(expected.content, actual.content, from_json=False) if _are_arrays(expected, actual) else None
    if kind is list and from_json and _are_arrays(actual):
        actual, other = actual.content, type(actual.content)
    if kind not in _SEQUENCES or (kind is not other and not (from_json and kind is list and other is tuple)):
        return None
    return expected, actual


def _are_arrays(*values: Any) -> bool:
    return all(type(value) is Wrapped and value.type_name == "ndarray" for value in values)


class _Walk:
    """One comparison; `detail` is None until the first difference is met."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.path: list[Any] = []
        self.detail: str | None = None

    def visit(self, expected: Any, actual: Any) -> float:
        """Return the degree of difference of two values, 0 if they are equal."""
        kind, other = type(expected), type(actual)
        if self.rules.typed and kind is not other:
            return self.differ(expected, actual, f"{kind.__name__} ", f"{other.__name__} ")
        if kind in _SEQUENCES or kind is Wrapped:
            items = items_of(expected, actual, from_json=self.rules.from_json)
            return self.differ(expected, actual) if items is None else self.visit_items(*items)
        if kind in _MAPPINGS and other in _MAPPINGS:
            return self.visit_mapping(expected, actual)
        if kind in _SETS and other in _SETS:
            return self.visit_set(expected, actual)
        if kind in _CONTAINERS or other in _CONTAINERS or not self.rules.same(expected, actual):
            return self.differ(expected, actual)
        return 0.0

    def visit_items(self, expected: Sequence[Any], actual: Sequence[Any]) -> float:
        longest = max(len(expected), len(actual))
        if not longest or self.equal_at_once(expected, actual):
            return 0.0
        total = 0.0
        for index, (wanted, got) in enumerate(zip(expected, actual, strict=False)):
            self.path.append(index)
            total += self.visit(wanted, got)
            self.path.pop()
        if len(expected) != len(actual):
            total += abs(len(expected) - len(actual))
            self.note(f"expected {len(expected)} items, got {len(actual)}")
        return total / longest

    def visit_mapping(self, expected: Mapping[Any, Any], actual: Mapping[Any, Any]) -> float:
        values = {self.name(key): actual[key] for key in actual} if self.rules.typed else actual
        total, beyond = 0.0, len(actual)
        for key in expected:
            self.path.append(key)
            # A lookup alone would not do: a Counter answers 0 for a key that it does not have.
            if self.name(key) in values:
                beyond -= 1
                total += self.visit(expected[key], values[self.name(key)])
            else:
                total += 1
                self.note("no such key")
            self.path.pop()
        if beyond:
            self.note(f"expected {len(expected)} keys, got {len(actual)}")
        return (total + beyond) / max(1, len(expected) + beyond)

    def visit_set(self, expected: Collection[Any], actual: Collection[Any]) -> float:
        names = {self.name(item) for item in actual} if self.rules.typed else actual
        missing = [item for item in expected if self.name(item) not in names]
        beyond = len(actual) - (len(expected) - len(missing))
        if missing:
            self.note(f"{show_value(missing[0])} is missing from {show_value(actual)}")
        elif beyond:
            self.note(f"expected {len(expected)} elements, got {len(actual)}")
        return (len(missing) + beyond) / max(1, len(expected) + beyond)

    def name(self, key: Any) -> Any:
        """Return what a key or an element is looked up by: itself, with its types where they count."""
        return form_of(key, typed=True) if self.rules.typed else key

    def equal_at_once(self, expected: Sequence[Any], actual: Sequence[Any]) -> bool:
        """Say whether two sequences of scalars are equal; False also where that cannot be told at once."""
        if len(expected) != len(actual):
            return False
        kinds, others = list(map(type, expected)), list(map(type, actual))
        if self.rules.typed and kinds != others:
            return False
        return _SCALARS.issuperset(kinds) and _SCALARS.issuperset(others) and list(expected) == list(actual)

    def differ(self, expected: Any, actual: Any, before_expected: str = "", before_actual: str = "") -> float:
        """Keep what differs if nothing did before; return the degree of a whole difference."""
        if self.detail is None:
            self.note(f"expected {before_expected}{show_value(expected)}, got {before_actual}{show_value(actual)}")
        return 1.0

    def note(self, text: str) -> None:
        """Keep `text`, with its place, if nothing differed before."""
        if self.detail is None:
            place = "".join(f"[{show_value(key)}]" for key in self.path[:_PLACE_KEYS])
            place += "…" if len(self.path) > _PLACE_KEYS else ""
            self.detail = f"at {place}: {text}" if place else text
