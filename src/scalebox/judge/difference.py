"""What a comparison found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

import msgspec

from scalebox.core.values import Opaque, Wrapped

_DETAIL_CHARACTERS = 200
_SHOWN_CHARACTERS = 40
_SHOWN_ITEMS = 4
_SHOWN_INT_BITS = 256
_BRACKETS = {"list": ("[", "]"), "tuple": ("(", ")"), "set": ("{", "}"), "dict": ("{", "}")}
#: A difference is never reported as none, however small its share of a large output.
_LEAST_DEGREE = 1e-9


class Difference(msgspec.Struct, frozen=True):
    """How far an output or a value is from the expected one.

    `degree` is 0 where they are equal, else in (0, 1], 1 for nothing alike; `detail` says in at most
    200 printable characters where the first difference is.
    """

    equal: bool
    degree: float
    detail: str


EQUAL = Difference(equal=True, degree=0.0, detail="")


def differs(degree: float, detail: str) -> Difference:
    """Return a difference of `degree`, forced into (0, 1], with `detail` cut at its bound."""
    if len(detail) > _DETAIL_CHARACTERS:
        detail = detail[: _DETAIL_CHARACTERS - 1] + "…"
    return Difference(equal=False, degree=min(1.0, max(_LEAST_DEGREE, degree)), detail=detail)


def show_text(data: bytes) -> str:
    """Return the beginning of `data` quoted, printable and short, whatever bytes it holds."""
    text = data[: 4 * _SHOWN_CHARACTERS].decode("utf-8", "backslashreplace")
    return _cut(repr(text[:_SHOWN_CHARACTERS]), max(len(text), len(data) // 4) > _SHOWN_CHARACTERS)


def show_value(value: Any, depth: int = 2) -> str:
    """Return `value` as short text. Total and cheap: never writes out a huge or a deep one."""
    if isinstance(value, (str, bytes, bytearray)):
        return _cut(repr(value[:_SHOWN_CHARACTERS]), len(value) > _SHOWN_CHARACTERS)
    if isinstance(value, int) and value.bit_length() > _SHOWN_INT_BITS:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, Opaque):
        return f"an object of type {value.type_name[:_SHOWN_CHARACTERS]!r}"
    if isinstance(value, Wrapped):
        return f"{value.type_name[:_SHOWN_CHARACTERS]!r} of {show_value(value.content, depth)}"
    if isinstance(value, Fraction):
        return f"Fraction({show_value(value.numerator)}, {show_value(value.denominator)})"
    if isinstance(value, range):
        return f"range({show_value(value.start)}, {show_value(value.stop)}, {show_value(value.step)})"
    if isinstance(value, Mapping):
        return _show_items(value, ((key, value[key]) for key in value), depth)
    if isinstance(value, Collection):
        return _show_items(value, ((item,) for item in value), depth)
    text = repr(value)
    return _cut(text[: 2 * _SHOWN_CHARACTERS], len(text) > 2 * _SHOWN_CHARACTERS)


def _show_items(value: Collection[Any], items: Iterator[tuple[Any, ...]], depth: int) -> str:
    name = type(value).__name__
    if not depth:
        return f"{name} of {len(value)}"
    opening, closing = _BRACKETS.get(name, (f"{name}(", ")"))
    shown = [": ".join(show_value(part, depth - 1) for part in item) for item in islice(items, _SHOWN_ITEMS)]
    if len(value) > _SHOWN_ITEMS:
        shown.append("…")
    return opening + ", ".join(shown) + closing


def _cut(text: str, is_cut: bool) -> str:
    return text + "…" if is_cut else text
