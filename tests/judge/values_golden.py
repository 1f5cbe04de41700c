"""Golden cases of the match modes of values: (expected, from JSON?, actual, options, equal?)."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from scalebox.core.values import Wrapped

Golden = tuple[Any, bool, Any, dict[str, Any], bool]

NAN = math.nan
_BIG = 10**5000


def array(content: Any) -> Wrapped:
    """Return what a numpy array is once it is outside the jail."""
    return Wrapped("ndarray", content)


class Sly:
    """Claims to equal everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


VALUES: dict[str, list[Golden]] = {
    "value": [
        (1, True, 1.0, {}, True),
        (1, True, True, {}, True),
        (0, True, False, {}, True),
        (0.0, False, -0.0, {}, True),
        (None, True, None, {}, True),
        (None, True, 0, {}, False),
        (None, True, False, {}, False),
        ("1", True, 1, {}, False),
        ("a", False, b"a", {}, False),
        (b"a", False, bytearray(b"a"), {}, True),
        ([1, 2], True, (1, 2), {}, True),
        ([[1], [2, [3]]], True, ((1,), (2, (3,))), {}, True),
        ({"a": [1]}, True, {"a": (1,)}, {}, True),
        ([1, 2], False, (1, 2), {}, False),
        ((1, 2), False, [1, 2], {}, False),
        ((1, 2), False, (1, 2), {}, True),
        ([1, 2], True, [2, 1], {}, False),
        ([1, 2], True, {1, 2}, {}, False),
        ([1, 2], True, deque([1, 2]), {}, False),
        (deque([1, 2]), False, deque([1, 2]), {}, True),
        ([0, 1], True, range(2), {}, False),
        (range(2), False, range(2), {}, True),
        ({"a": 1, "b": 2}, True, {"b": 2, "a": 1}, {}, True),
        ({"1": 2}, True, {1: 2}, {}, False),
        ({1: 2}, False, {True: 2.0}, {}, True),
        ({"a": 1}, True, Counter("a"), {}, True),
        ({"a": 0}, True, Counter(), {}, False),
        ({}, True, Counter(a=0), {}, False),
        ({"a": [1]}, True, defaultdict(list, a=[1]), {}, True),
        (OrderedDict(a=1, b=2), False, OrderedDict(b=2, a=1), {}, True),
        ({"a": 1}, True, {"a": 1, "b": 2}, {}, False),
        ({"a": 1, "b": 2}, True, {"a": 1}, {}, False),
        ({1, 2}, False, {2, 1.0}, {}, True),
        ({1, 2}, False, frozenset({1, 2}), {}, True),
        ({1, 2}, False, {1}, {}, False),
        ({1}, False, {1, 2}, {}, False),
        ({(1, 2)}, False, {(1, 2)}, {}, True),
        (NAN, False, NAN, {}, False),
        ([1.0, NAN], False, [1.0, NAN], {}, False),
        ({"a": NAN}, False, {"a": NAN}, {}, False),
        ({NAN}, False, {NAN}, {}, False),
        (complex(0, NAN), False, complex(0, NAN), {}, False),
        (math.inf, False, math.inf, {}, True),
        (math.inf, False, _BIG, {}, False),
        (1000000007, True, 1000000008, {}, False),
        (2**53, True, float(2**53), {}, True),
        (2**53 + 1, True, float(2**53), {}, False),
        (_BIG, True, _BIG, {}, True),
        (_BIG, True, _BIG + 1, {}, False),
        (1, False, Decimal("1.0"), {}, True),
        (0.5, False, Fraction(1, 2), {}, True),
        (Decimal("0.1"), False, 0.1, {}, False),
        (Decimal("NaN"), False, Decimal("NaN"), {}, False),
        (Decimal("sNaN"), False, Decimal("sNaN"), {}, False),
        (1, False, Decimal("sNaN"), {}, False),
        (Decimal(1), False, 1 << (1 << 18), {}, False),
        (Fraction(1, 3), False, Decimal("1e999999999"), {}, False),
        (1 + 0j, False, 1, {}, True),
        (date(2024, 1, 2), False, date(2024, 1, 2), {}, True),
        (datetime(2024, 1, 2, tzinfo=UTC), False, datetime(2024, 1, 2, tzinfo=UTC).replace(tzinfo=None), {}, False),
        ("\ud800", False, "\ud800", {}, True),
        ("x" * 10, True, "x" * 10, {}, True),
        ([1, [2]], True, array([1, [2]]), {}, True),
        ([1.0], True, [array([1])], {}, False),
        ([[1.0]], True, [array([1])], {}, True),
        ([1], False, array([1]), {}, False),
        ([1], True, Wrapped("matrix", [1]), {}, False),
        (1, True, array(1), {}, False),
        (array([1]), False, array([1]), {}, True),
        (array([NAN]), False, array([NAN]), {}, False),
        (1, True, Sly(), {}, False),
        ([1], True, [Sly()], {}, False),
        (Sly(), False, Sly(), {}, False),
        ([object], False, [object], {}, False),
    ],
    "strict_types": [
        (1, True, 1, {}, True),
        (1, True, 1.0, {}, False),
        (1, True, True, {}, False),
        ([1, 2, 3, 4], True, [1, 2, 3, True], {}, False),
        ([1, 2, 3, 4], True, [1, 2, 3, 4.0], {}, False),
        ([1, 2], True, (1, 2), {}, False),
        ((1, [2]), False, (1, [2]), {}, True),
        ({1}, False, {1}, {}, True),
        ({1}, False, {True}, {}, False),
        ({(1, 2)}, False, {(1, 2.0)}, {}, False),
        ({1}, False, frozenset({1}), {}, False),
        ({1: "a"}, False, {1: "a"}, {}, True),
        ({1: "a"}, False, {True: "a"}, {}, False),
        ({"a": {"b": 1}}, True, {"a": {"b": 1.0}}, {}, False),
        ({"a": 1}, True, Counter("a"), {}, False),
        (0.0, False, -0.0, {}, True),
        (Decimal("1.0"), False, Decimal("1.00"), {}, True),
        (NAN, False, NAN, {}, False),
        ({NAN}, False, {NAN}, {}, False),
        ([1], True, array([1]), {}, False),
        (Sly(), False, Sly(), {}, False),
    ],
    "float": [
        (0.1 + 0.2, True, 0.3, {}, True),
        ([1.0, {"a": 2.0}], True, (1.0000001, {"a": 2}), {}, True),
        (1.0, True, 1.1, {}, False),
        (1.0, True, 1.1, {"abs": 0.2}, True),
        (100.0, True, 109.0, {"rel": 0.1}, True),
        (1000000007, True, 1000000008, {}, False),
        (1000000007, True, 1000000008, {"rel": 0.5}, False),
        (10, True, 11, {"abs": 1}, True),
        (_BIG, True, _BIG + 1, {}, False),
        (3, True, 3.0000001, {}, True),
        (1e300, True, _BIG, {"abs": 1e300}, False),
        (NAN, False, NAN, {}, False),
        (math.inf, False, math.inf, {}, True),
        (math.inf, False, 1e308, {"rel": 0.99}, False),
        (1 + 1j, False, 1.0000001 + 1j, {}, True),
        (1 + 1j, False, 1 + 2j, {}, False),
        (Fraction(1, 3), False, 0.3333333, {}, True),
        (Decimal("1.0000001"), False, 1, {}, True),
        (Decimal(1), False, Decimal("1e999999999999"), {}, False),
        (1.0, True, "1.0", {}, False),
        (1.0, True, None, {}, False),
        ([1.0], True, array([1.0000001]), {}, True),
        ("a", True, "a", {}, True),
        ([1.0, 2.0], True, [1.0], {}, False),
    ],
    "unordered": [
        ([1, 2, 2], True, [2, 1, 2], {}, True),
        ([1, 2, 2], True, [1, 1, 2], {}, False),
        ([[1, 2], [3]], True, [(3,), (1, 2)], {}, True),
        ([[1, 2], [3]], True, [[3], [2, 1]], {}, False),
        ([1, True, 1.0], True, [1, 1, 1], {}, True),
        ([{"a": [1]}, {"b": 2}], True, [{"b": 2.0}, {"a": (1,)}], {}, True),
        ([1, 2], False, (2, 1), {}, False),
        ((1, 2), False, (2, 1), {}, True),
        ([1, 2], True, [1, 2, 3], {}, False),
        ([1, 2], True, [2], {}, False),
        ([], True, (), {}, True),
        ([1], True, 1, {}, False),
        (1, True, 1.0, {}, True),
        ({"a": [1, 2]}, True, {"a": [2, 1]}, {}, False),
        ([{1, 2}, {3}], False, [{3}, {2, 1}], {}, True),
        ([NAN], False, [NAN], {}, False),
        ([1, 2], True, array([2, 1]), {}, True),
        ([[1], [2]], True, array([[2], [1]]), {}, True),
        ([bytearray(b"a")], False, [b"a"], {}, True),
        ([_BIG, 1], True, [1, _BIG], {}, True),
        ([Sly()], False, [Sly()], {}, False),
        ([Decimal("sNaN")], False, [Decimal("sNaN")], {}, False),
    ],
}
