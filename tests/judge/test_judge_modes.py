"""Every match mode: golden cases, and the contract that each file of the folders keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from tests.judge.outputs_golden import OUTPUTS
from tests.judge.values_golden import VALUES

from scalebox.core import values
from scalebox.core.errors import InputError
from scalebox.core.sample import Match, OutputMode, ValueMode
from scalebox.core.values import Wrapped
from scalebox.judge import Difference, check_expected, check_match, judge_output, judge_value, output_modes, value_modes

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "match-modes.md"


def encode(value: Any) -> bytes:
    """Encode as the jail does; arrays of a library that need not be installed are put in by hand."""
    if isinstance(value, Wrapped):
        return b"w" + values._text(value.type_name) + encode(value.content)
    if type(value) is list and any(isinstance(item, Wrapped) for item in value):
        return b"l" + len(value).to_bytes(4, "little") + b"".join(map(encode, value))
    return values.encode(value)


def check_shape(found: Difference, equal: bool) -> None:
    assert found.equal is equal, found
    assert (found.degree == 0) is equal
    assert 0 <= found.degree <= 1
    assert bool(found.detail) is not equal
    assert len(found.detail) <= 200
    assert found.detail.isprintable()


@pytest.mark.parametrize(("mode", "index"), [(mode, index) for mode in OUTPUTS for index in range(len(OUTPUTS[mode]))])
def test_output(mode: str, index: int) -> None:
    expected, actual, options, equal = OUTPUTS[mode][index]
    match = check_match({"mode": mode, **options}, "stdin", "match")
    check_expected(expected, match, "tests[0].stdout")
    check_shape(judge_output(expected, actual, match), equal)


@pytest.mark.parametrize(("mode", "index"), [(mode, index) for mode in VALUES for index in range(len(VALUES[mode]))])
def test_value(mode: str, index: int) -> None:
    expected, from_json, actual, options, equal = VALUES[mode][index]
    match = check_match({"mode": mode, **options}, "call", "match")
    check_shape(judge_value(encode(expected), from_json, encode(actual), match), equal)


def test_modes_are_those_of_the_formats() -> None:
    assert set(output_modes()) == set(get_args(OutputMode))
    assert set(value_modes()) == set(get_args(ValueMode))


@pytest.mark.parametrize("mode", output_modes())
def test_every_output_mode_has_golden_cases_of_both_kinds(mode: str) -> None:
    assert {golden[-1] for golden in OUTPUTS[mode]} == {True, False}


@pytest.mark.parametrize("mode", value_modes())
def test_every_value_mode_has_golden_cases_of_both_kinds(mode: str) -> None:
    assert {golden[-1] for golden in VALUES[mode]} == {True, False}


def test_every_mode_is_documented() -> None:
    outputs, of_values = DOCS.read_text("utf-8").split("## Modes for values")
    for modes, text in ((output_modes(), outputs), (value_modes(), of_values)):
        headings = {line.strip("# `") for line in text.splitlines() if line.startswith("### ")}
        assert headings == set(modes)


def test_the_defaults_are_tokens_and_value() -> None:
    assert judge_output("1 2", b"1\n2\n", Match()).equal
    assert not judge_output("1.0", b"1", Match()).equal
    assert judge_value(encode([1]), True, encode((1.0,)), Match()).equal


def test_an_unknown_mode_is_no_label() -> None:
    with pytest.raises(InputError, match="no match mode"):
        judge_output("1", b"1", Match(mode="value"))
    with pytest.raises(InputError, match="no match mode"):
        judge_value(encode(1), True, encode(1), Match(mode="tokens"))


def test_an_unusable_expected_side_is_no_label() -> None:
    with pytest.raises(InputError, match="regular expression"):
        judge_output("(", b"(", Match(mode="regex"))
    with pytest.raises(InputError, match="JSON"):
        judge_output("{", b"{", Match(mode="json"))
    with pytest.raises(values.MalformedValue):
        judge_value(b"?", True, encode(1), Match())


@pytest.mark.parametrize(
    ("expected", "actual", "detail"),
    [
        ("1\n2\n3 7\n", b"1\n2\n3 8\n", "line 3, token 2: expected '7', got '8'"),
        ("1\n2\n3", b"1", "line 2, token 1: expected '2', got the end"),
        ("1\n", b"1\n\n 2", "line 3, token 1: expected the end, got '2'"),
        ("a" * 50 + "b", b"a" * 50 + b"c", "expected 'aaaaaaaaaab', got 'aaaaaaaaaac' from column 41 on"),
    ],
)
def test_the_first_difference_in_an_output_is_told(expected: str, actual: bytes, detail: str) -> None:
    assert detail in judge_output(expected, actual, Match()).detail


@pytest.mark.parametrize(
    ("expected", "actual", "detail"),
    [
        ([1, 2], [1, 3], "at [1]: expected 2, got 3"),
        ({"a": [0, {"b": 1}]}, {"a": [0, {"b": 2}]}, "at ['a'][1]['b']: expected 1, got 2"),
        ([1, 2], [1], "expected 2 items, got 1"),
        ({"a": 1}, {}, "at ['a']: no such key"),
        ({"a": 1}, {"a": 1, "b": 2}, "expected 1 keys, got 2"),
        (1, object(), "expected 1, got an object of type 'object'"),
        (1, "\ud800\n", r"expected 1, got '\ud800\n'"),
        (1, 1 << 9999, "expected 1, got an integer of 10000 bits"),
    ],
)
def test_the_first_difference_in_a_value_is_told(expected: Any, actual: Any, detail: str) -> None:
    assert judge_value(encode(expected), True, encode(actual), Match()).detail == detail


def test_the_degree_is_the_share_that_differs() -> None:
    assert judge_output("1 2 3 4", b"1 2 3 5", Match()).degree == 0.25
    assert judge_output("1 2 3 4", b"1 2", Match()).degree == 0.5
    assert judge_output("1", b"2", Match()).degree == 1
    assert judge_output("1 2", b"2 3", Match(mode="tokens_unordered")).degree == 0.5
    assert judge_value(encode([1, 2, [3, 4]]), True, encode([1, 2, [3, 5]]), Match()).degree == pytest.approx(1 / 6)
    assert judge_value(encode([1, 2]), True, encode("12"), Match()).degree == 1
    assert judge_value(encode({1, 2}), False, encode({2, 3}), Match()).degree == pytest.approx(2 / 3)


def test_a_lone_difference_in_a_large_output_is_still_one() -> None:
    expected = "1 " * 300_000
    found = judge_output(expected, expected.encode() + b"2", Match())
    assert found.detail == "line 1, token 300001: expected the end, got '2'"
    assert 0 < found.degree < 1e-5
