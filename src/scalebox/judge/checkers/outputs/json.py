"""One JSON value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from scalebox.core.errors import InputError
from scalebox.core.sample import Match
from scalebox.core.values import MAX_DEPTH
from scalebox.judge.difference import Difference, differs
from scalebox.judge.numbers import parse_number
from scalebox.judge.trees import Rules, compare_trees, same_value

OPTIONS: tuple[str, ...] = ()

_EXACT_DIGITS = 18


def problem(expected: str) -> str:
    """Say why `expected` cannot be compared with; "" if it can."""
    try:
        _read(expected)
    except (ValueError, RecursionError) as error:
        return f"the expected output is no JSON value: {error}"
    return ""


def compare(expected: str, actual: bytes, _match: Match) -> Difference:
    """Compare as JSON values: numbers by value and exactly, true and 1 apart, objects without order."""
    fault = problem(expected)
    if fault:
        raise InputError(fault, field="stdout")
    try:
        value = _read(actual.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return differs(1.0, f"no JSON value: {error}")
    return compare_trees(_read(expected), value, Rules(same_value, from_json=False, typed=True))


def _read(text: str) -> Any:
    value = json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refuse)
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return value
    raise ValueError("nested too deeply")


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _number(text: str) -> int | Decimal:
    """Return a number such that equal ones have one type: an int where it is whole and not too large."""
    number = parse_number(text.encode("ascii"))
    if number is None:
        raise ValueError("a number has too large an exponent")
    if number.adjusted() < _EXACT_DIGITS and number == number.to_integral_value():
        return int(number)
    return number


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
