"""Laws that comparing keeps for any input at all."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalebox.core.sample import Match
from scalebox.core.values import encode
from scalebox.judge import Difference, judge_output, judge_value, output_modes, value_modes
from scalebox.judge.numbers import Tolerance, tokens_near

#: The same examples on every run, however slow the machine.
repeatable = settings(derandomize=True, max_examples=80)

#: `regex` and `json` do not take every expected text; they are tested with those that they take.
TEXT_MODES = tuple(mode for mode in output_modes() if mode not in ("regex", "json"))
OPTIONS: dict[str, dict[str, Any]] = {"after_marker": {"marker": "="}, "debug_tolerant": {"ignore_prefixes": ("#",)}}

words = st.sampled_from(
    ["1", "2", "-0", "1.0", "1e400", "inf", "Yes", "yes", "#", "=", "\u00e9", "\ud800", "\x00", "7" * 400]
)
spaces = st.sampled_from([" ", "\n", "\t", "\r\n", "  ", "\u00a0"])
texts = st.lists(st.tuples(words, spaces)).map(lambda pairs: "".join(map("".join, pairs))) | st.text(max_size=20)
outputs = st.binary(max_size=40) | texts.map(lambda text: text.encode("utf-8", "surrogatepass"))

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text(max_size=4)
    | st.binary(max_size=4)
    | st.fractions(max_denominator=9)
    | st.decimals(allow_nan=False, places=2)
)
keys = (
    st.booleans() | st.integers(-2, 2) | st.floats(-2, 2, width=16) | st.text(max_size=2) | st.tuples(st.integers(0, 1))
)
plain = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(deque)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=3).map(OrderedDict)
        | st.lists(keys, max_size=4).map(Counter)
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
    ),
    max_leaves=12,
)


def match_of(mode: str, **options: Any) -> Match:
    return Match(mode=mode, **OPTIONS.get(mode, {}), **options)


def check_bounds(found: Difference) -> None:
    assert 0 <= found.degree <= 1
    assert found.equal == (found.degree == 0)
    assert len(found.detail) <= 200
    found.detail.encode("utf-8")


@pytest.mark.parametrize("mode", TEXT_MODES)
@repeatable
@given(expected=texts, actual=outputs)
def test_outputs_are_judged_whatever_they_are(mode: str, expected: str, actual: bytes) -> None:
    check_bounds(judge_output(expected, actual, match_of(mode)))


@repeatable
@given(pattern=st.sampled_from([r"\d+", "(a|b)*", r".*", r"[^\x00]", ""]), actual=outputs)
def test_regex_is_total(pattern: str, actual: bytes) -> None:
    check_bounds(judge_output(pattern, actual, Match(mode="regex")))


@repeatable
@given(
    expected=st.sampled_from(["1", "[1, {}]", '{"a": "\\ud800"}', "1e5"]),
    actual=outputs | st.text('[]{}",:1e.-', max_size=9).map(str.encode),
)
def test_json_is_total(expected: str, actual: bytes) -> None:
    check_bounds(judge_output(expected, actual, Match(mode="json")))


@pytest.mark.parametrize("mode", TEXT_MODES)
@repeatable
@given(text=texts)
def test_an_output_equals_itself(mode: str, text: str) -> None:
    output = text if mode != "after_marker" else "=" + text
    assert judge_output(text, output.encode("utf-8", "surrogatepass"), match_of(mode)).equal


@pytest.mark.parametrize("mode", [mode for mode in TEXT_MODES if mode not in ("float", "after_marker")])
@repeatable
@given(first=texts, second=texts)
def test_comparing_outputs_is_symmetric(mode: str, first: str, second: str) -> None:
    match = match_of(mode)
    there = judge_output(first, second.encode("utf-8", "surrogatepass"), match)
    back = judge_output(second, first.encode("utf-8", "surrogatepass"), match)
    assert there.equal is back.equal
    assert there.degree == pytest.approx(back.degree)


@pytest.mark.parametrize(
    "looser", ["trailing_whitespace", "tokens", "tokens_ignore_case", "lines_unordered", "tokens_unordered"]
)
@repeatable
@given(expected=texts, actual=outputs)
def test_what_is_exact_passes_every_looser_mode(looser: str, expected: str, actual: bytes) -> None:
    if judge_output(expected, actual, Match(mode="trailing_whitespace")).equal:
        assert judge_output(expected, actual, Match(mode=looser)).equal


numbers = (
    st.decimals(allow_nan=False, allow_infinity=False).map(str)
    | st.integers().map(str)
    | st.floats(allow_nan=False).map(repr)
)
tolerances = st.floats(0, 0.99) | st.sampled_from([0.0, 1e-9, 1e-6, 0.1])


@repeatable
@given(expected=numbers, actual=numbers, abs_=tolerances, rel=tolerances, more=tolerances)
def test_a_wider_tolerance_never_rejects_more(expected: str, actual: str, abs_: float, rel: float, more: float) -> None:
    if judge_output(expected, actual.encode(), Match(mode="float", abs=abs_, rel=rel)).equal:
        assert judge_output(expected, actual.encode(), Match(mode="float", abs=abs_ + more, rel=max(rel, more))).equal


@repeatable
@given(base=st.integers(-1000, 1000), abs_=st.integers(0, 50), rel=st.integers(0, 9), offset=st.integers(-200, 200))
def test_tolerance_is_exact_to_the_last_digit(base: int, abs_: int, rel: int, offset: int) -> None:
    expected, actual = Fraction(base, 10), Fraction(base, 10) + Fraction(offset, 100)
    tolerance = Tolerance(Decimal(abs_) / 100, Decimal(rel) / 10)
    near = abs(expected - actual) <= max(Fraction(abs_, 100), Fraction(rel, 10) * abs(expected))
    found = tokens_near(f"{base}e-1".encode(), f"{base * 10 + offset}E-2".encode(), tolerance)
    assert found is near


@repeatable
@given(value=st.integers().filter(bool), other=st.integers())
def test_integers_are_never_rounded(value: int, other: int) -> None:
    for mode in ("tokens", "float"):
        assert judge_output(str(value), str(other).encode(), Match(mode=mode)).equal is (value == other)
    for mode in ("value", "float"):
        assert judge_value(encode(value), True, encode(other), Match(mode=mode)).equal is (value == other)


@pytest.mark.parametrize("mode", value_modes())
@repeatable
@given(value=plain)
def test_a_value_equals_itself(mode: str, value: Any) -> None:
    data = encode(value)
    assert judge_value(data, False, data, Match(mode=mode)).equal
    assert judge_value(encode([value]), False, encode([value]), Match(mode=mode)).equal


@pytest.mark.parametrize("mode", value_modes())
@repeatable
@given(value=plain, place=st.integers(0, 5))
def test_nothing_that_holds_nan_equals_itself(mode: str, value: Any, place: int) -> None:
    holder = [value] * place + [math.nan]
    data = encode({"k": (holder,)})
    assert not judge_value(data, False, data, Match(mode=mode)).equal


@pytest.mark.parametrize("mode", value_modes())
@repeatable
@given(expected=plain, actual=plain, from_json=st.booleans())
def test_values_are_judged_within_bounds(mode: str, expected: Any, actual: Any, from_json: bool) -> None:
    check_bounds(judge_value(encode(expected), from_json, encode(actual), Match(mode=mode)))


@pytest.mark.parametrize("mode", ["value", "strict_types", "unordered"])
@repeatable
@given(first=plain, second=plain)
def test_comparing_values_is_symmetric(mode: str, first: Any, second: Any) -> None:
    there = judge_value(encode(first), False, encode(second), Match(mode=mode))
    back = judge_value(encode(second), False, encode(first), Match(mode=mode))
    assert there.equal is back.equal
    assert there.degree == pytest.approx(back.degree)


def as_python(value: Any) -> Any:
    """Give mappings the plain content that they are compared by."""
    if isinstance(value, dict):
        return {key: as_python(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, deque)):
        return type(value)(map(as_python, value))
    return value


@repeatable
@given(first=plain, second=plain)
def test_value_is_the_equality_of_python(first: Any, second: Any) -> None:
    found = judge_value(encode(first), False, encode(second), Match()).equal
    assert found is bool(as_python(first) == as_python(second))


@repeatable
@given(value=plain, data=st.data())
def test_unordered_takes_any_order_of_the_outermost_list(value: Any, data: st.DataObject) -> None:
    items = [*data.draw(st.lists(plain, max_size=4)), value]
    shuffled = data.draw(st.permutations(items))
    assert judge_value(encode(items), False, encode(shuffled), Match(mode="unordered")).equal


@pytest.mark.parametrize("mode", ["strict_types", "value", "float", "unordered"])
@repeatable
@given(value=plain)
def test_strict_types_is_the_strictest(mode: str, value: Any) -> None:
    other = encode([value, 1])
    if judge_value(encode([value, True]), True, other, Match(mode="strict_types")).equal:
        pytest.fail("True is not 1")
    assert judge_value(encode([value, True]), True, other, Match(mode=mode)).equal is (mode != "strict_types")


@pytest.mark.parametrize("mode", value_modes())
@repeatable
@given(expected=plain, actual=plain, cut=st.integers(0, 60), noise=st.binary(max_size=6))
def test_broken_encodings_are_differences(mode: str, expected: Any, actual: Any, cut: int, noise: bytes) -> None:
    data = encode(actual)
    for hostile in (noise, data[:cut], data + noise, data[:cut] + noise + data[cut + len(noise) :]):
        check_bounds(judge_value(encode(expected), True, hostile, Match(mode=mode)))
