"""Whether an output or a returned value is the expected one, and how far it is from it.

Everything compared here comes out of a jail: it may be any bytes at all. Comparing is total, bounded in time
and memory, and executes nothing. What is wrong with the *expected* side is no label but an error that is
raised: InputError for a mode or an expected output that cannot be used, MalformedValue for an expected value.
"""

from __future__ import annotations

import math
import re

from scalebox.core.sample import Match
from scalebox.core.values import MalformedValue, decode, encode
from scalebox.judge.difference import EQUAL, Difference, differs
from scalebox.judge.options import check_expected, check_match
from scalebox.judge.registry import checker, modes
from scalebox.judge.trees import count_items

__all__ = ["Difference", "check_expected", "check_match", "judge_output", "judge_value", "output_modes", "value_modes"]

#: What begins a library value (`w`) or an opaque one (`x`): the name after the tag is shorter than 2**24 bytes, so
#: that the fourth byte of its length is 0.
_NAMED_VALUE = re.compile(rb"[wx].{3}\0", re.DOTALL)
_NAN = encode(math.nan)[1:]
#: From here on decoding costs less than the search.
_SEARCHED_BYTES = 4096
#: How much larger than the expected value an actual one may be and still be looked at.
_ITEMS_FACTOR, _ITEMS_FREE = 4, 1000
_DECODE_SECONDS = 2.0


def output_modes() -> tuple[str, ...]:
    """Return the match modes for outputs."""
    return modes("stdin")


def value_modes() -> tuple[str, ...]:
    """Return the match modes for values."""
    return modes("call")


def judge_output(expected: str, actual: bytes, match: Match) -> Difference:
    """Compare what a program printed with the expected output; mode "" is `tokens`.

    Raises InputError if the mode is unknown or `expected` cannot be used in it.
    """
    return checker("stdin", match.mode).compare(expected, actual, match)


def judge_value(expect: bytes, expect_json: bool, actual: bytes, match: Match) -> Difference:
    """Compare what a function returned with the expected value, both encoded by core.values; mode "" is `value`.

    `expect_json` says that the expected value was written as JSON, where a list may stand for a tuple. An
    actual value that is malformed, or far larger than the expected one, differs wholly. Raises
    InputError if the mode is unknown, MalformedValue if `expect` is malformed.
    """
    compare = checker("call", match.mode).compare
    if expect == actual and _equals_itself(expect):
        return EQUAL
    expected = decode(expect, max_items=len(expect))
    bound = _ITEMS_FACTOR * count_items(expected) + _ITEMS_FREE
    try:
        value = decode(actual, max_items=bound, seconds=_DECODE_SECONDS)
    except MalformedValue as error:
        return differs(1.0, f"no usable value: {error}")
    return compare(expected, value, match, expect_json)


def _equals_itself(data: bytes) -> bool:
    """Say whether a well-formed encoding holds only what equals itself; False also where that is not plain to see."""
    if _NAN in data:
        return False
    if b"w" not in data and b"x" not in data:
        return True
    return len(data) <= _SEARCHED_BYTES and not _NAMED_VALUE.search(data)
