"""A hashable form of any decoded value, such that two forms are equal exactly where the values are.

With it, values that cannot be hashed (lists of lists) are counted in a table: comparing without order
takes linear time.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from typing import Any

from scalebox.core.values import Opaque, Wrapped
from scalebox.judge.numbers import HUGE_BITS

_MAPPINGS = frozenset({dict, Counter, OrderedDict, defaultdict})
_SETS = frozenset({set, frozenset})


def form_of(value: Any, *, from_json: bool = False, typed: bool = False) -> Any:
    """Return the form of `value`.

    `from_json` gives tuples and arrays the form of lists; `typed` gives values of different types
    different forms. NaN and objects of unknown types have a form that equals no other.
    """

    def form(item: Any) -> Any:
        return form_of(item, from_json=from_json, typed=typed)

    kind = type(value)
    if kind is Wrapped and value.type_name == "ndarray" and type(value.content) is list:
        return form(value.content) if from_json else ("ndarray", form(value.content))
    if kind in (Opaque, Wrapped) or (kind is Decimal and value.is_nan()):
        return object()
    if kind is int and value.bit_length() > HUGE_BITS:
        return ("int", value)
    name = kind.__name__ if typed else ""
    if kind in (list, tuple, deque):
        return (name or ("list" if from_json and kind is tuple else kind.__name__), tuple(map(form, value)))
    if kind in _MAPPINGS:
        return (name or "dict", frozenset((form(key), form(value[key])) for key in value))
    if kind in _SETS:
        return (name or "set", frozenset(map(form, value)))
    if kind is bytearray:
        return (name, bytes(value)) if typed else bytes(value)
    return (name, value) if typed else value
