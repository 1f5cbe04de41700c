"""Numbers within a tolerance, exactly: no number is ever rounded to a float.

What is a number in an output is a strict grammar over ASCII: an optional sign, decimal digits with at
most one point, an optional exponent; or `inf`, `infinity`, `nan`, in any case. `1_000`, `0x10` and digits
of other scripts are text, and so is a number with an exponent beyond nine digits.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?0*[0-9]{1,9})?")
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_SPECIAL = re.compile(rb"[+-]?(?:inf(?:inity)?|nan(?:\([0-9a-z_]*\))?)", re.IGNORECASE)
#: Integers above this many bits never equal, and are never near, a number of another type: turning
#: one into a decimal takes quadratic time.
HUGE_BITS = 1 << 14


class Tolerance(NamedTuple):
    """Numbers match if they are at most `absolute`, or at most `relative` times the expected one, apart."""

    absolute: Decimal
    relative: Decimal


@lru_cache(maxsize=64)
def tolerance_of(absolute: float, relative: float) -> Tolerance:
    """Return the tolerance as it was written: 1e-6 is a millionth, not the float next to it."""
    return Tolerance(Decimal(repr(absolute)), Decimal(repr(relative)))


def parse_number(token: bytes) -> Decimal | None:
    """Return the number that `token` is by the grammar of numbers, infinities and NaN included; None for text."""
    if _NUMBER.fullmatch(token):
        return Decimal(token.decode("ascii"))
    if _SPECIAL.fullmatch(token):
        text = token.lower().lstrip(b"+-")
        return Decimal("nan") if text.startswith(b"nan") else Decimal("-inf" if token.startswith(b"-") else "inf")
    return None


def tokens_near(expected: bytes, actual: bytes, tolerance: Tolerance, *, integers: bool = False) -> bool:
    """Say whether two tokens are the same text or near numbers. NaN is near nothing.

    Two integers are held to the absolute tolerance alone, which by default means that they are
    equal: a relative one would take 1000000008 for 1000000007. With `integers` they are held to both.
    """
    first, second = parse_number(expected), parse_number(actual)
    if first is None or second is None:
        return expected == actual
    if not integers and _INTEGER.fullmatch(expected) and _INTEGER.fullmatch(actual):
        tolerance = tolerance._replace(relative=Decimal(0))
    return _near(first, second, tolerance, len(expected))


def is_nan(token: bytes) -> bool:
    """Say whether `token` is NaN by the grammar of numbers."""
    number = parse_number(token)
    return number is not None and number.is_nan()


def values_near(expected: Any, actual: Any, tolerance: Tolerance) -> bool:
    """Say whether two numbers of Python's types are near; complex ones part by part, two integers as in outputs."""
    if isinstance(expected, complex) or isinstance(actual, complex):
        return values_near(expected.real, actual.real, tolerance) and values_near(expected.imag, actual.imag, tolerance)
    if isinstance(expected, int) and isinstance(actual, int):
        return abs(expected - actual) <= int(tolerance.absolute)
    first, second = _decimal(expected), _decimal(actual)
    if first is None or second is None:
        return False
    return _near(first, second, tolerance, len(str(first)))


def numbers_equal(expected: Any, actual: Any) -> bool:
    """Say whether two numbers are equal by Python's `==`, at a bounded cost and without its traps on NaN."""
    if Decimal in (type(expected), type(actual)) and not (_plain(expected) and _plain(actual)):
        return False
    return bool(expected == actual)


def _plain(number: Any) -> bool:
    """Say whether a number compares with a decimal in little time and without a trap."""
    if isinstance(number, Decimal):
        return not number.is_nan()
    return not isinstance(number, (int, Fraction)) or _small(number.numerator, number.denominator)


def _small(*numbers: int) -> bool:
    return all(number.bit_length() <= HUGE_BITS for number in numbers)


def _decimal(number: Any) -> Decimal | None:
    """Return a number as a decimal; None for one too large to be near a number of another type."""
    if isinstance(number, Fraction):
        if not _small(number.numerator, number.denominator):
            return None
        return Context(prec=60).divide(Decimal(number.numerator), Decimal(number.denominator))
    return None if isinstance(number, int) and not _small(number) else Decimal(number)


def _near(expected: Decimal, actual: Decimal, tolerance: Tolerance, digits: int) -> bool:
    """Compare exactly; `digits` is at least the number of digits of `expected`.

    The gap is rounded up to more digits than either bound has. A gap above a bound stays above it and
    one below does not pass it, so the answer is that of exact arithmetic, at a bounded cost.
    """
    if not (expected.is_finite() and actual.is_finite()):
        return not expected.is_nan() and not actual.is_nan() and expected == actual
    context = Context(prec=digits + 24, rounding=ROUND_UP, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    gap = context.subtract(expected, actual).copy_abs()
    return gap <= tolerance.absolute or gap <= context.multiply(tolerance.relative, expected.copy_abs())
