"""The expected output is a pattern."""

from __future__ import annotations

import atexit
from functools import cache

from scalebox.core.errors import InputError
from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference, differs, show_text
from scalebox.judge.regex import CPU_SECONDS, Matcher, pattern_problem

OPTIONS: tuple[str, ...] = ()


def problem(expected: str) -> str:
    """Say why `expected` is no pattern; "" if it is one."""
    return pattern_problem(_pattern(expected))


def compare(expected: str, actual: bytes, _match: Match) -> Difference:
    """Match the whole output, with or without the white space at its end; the degree is 0 or 1."""
    fault = problem(expected)
    if fault:
        raise InputError(fault, field="stdout")
    answer = _matcher().match(_pattern(expected), actual)
    if answer == "match":
        return EQUAL
    if answer == "no match":
        return differs(1.0, f"the output does not match the pattern: {show_text(actual)}")
    return differs(1.0, f"matching ran {answer} (the bound is {CPU_SECONDS:g} s of CPU and 1 GiB)")


def _pattern(expected: str) -> str:
    """Leave out the newline that ends an expected output but is no part of the pattern."""
    return expected.rstrip("\r\n")


@cache
def _matcher() -> Matcher:
    matcher = Matcher()
    atexit.register(matcher.close)
    return matcher
