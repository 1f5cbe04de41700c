"""The `match` object of a sample: what is taken, and how what is wrong is told."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from scalebox.core.errors import InputError
from scalebox.core.sample import Match
from scalebox.judge import check_expected, check_match


@pytest.mark.parametrize(
    ("raw", "kind", "match"),
    [
        ({}, "stdin", Match(mode="tokens")),
        ({}, "call", Match(mode="value")),
        ({"mode": "exact"}, "stdin", Match(mode="exact")),
        ({"mode": "float"}, "stdin", Match(mode="float")),
        (
            {"mode": "float", "abs": 1, "rel": 0, "ignore_case": True},
            "stdin",
            Match(mode="float", abs=1.0, rel=0.0, ignore_case=True),
        ),
        ({"mode": "float", "abs": 1e-3}, "call", Match(mode="float", abs=1e-3)),
        ({"mode": "after_marker", "marker": "A:"}, "stdin", Match(mode="after_marker", marker="A:")),
        (
            {"mode": "debug_tolerant", "ignore_prefixes": ["#"]},
            "stdin",
            Match(mode="debug_tolerant", ignore_prefixes=("#",)),
        ),
    ],
)
def test_a_match_object_is_read(raw: dict[str, Any], kind: Literal["stdin", "call"], match: Match) -> None:
    assert check_match(raw, kind, "match") == match


@pytest.mark.parametrize(
    ("raw", "kind", "field", "text"),
    [
        ("tokens", "stdin", "m", "must be an object"),
        ({"mode": "fuzzy"}, "stdin", "m.mode", "no such mode"),
        ({"mode": 3}, "stdin", "m.mode", "no such mode"),
        ({"mode": ["exact"]}, "stdin", "m.mode", "no such mode"),
        ({"mode": None}, "call", "m.mode", "no such mode"),
        ({"mode": "value"}, "stdin", "m.mode", "compares returned values"),
        ({"mode": "tokens"}, "call", "m.mode", "compares outputs"),
        ({"mode": "float", "tolerance": 1}, "stdin", "m.tolerance", "no such option"),
        ({"mode": "tokens", "abs": 1e-3}, "stdin", "m.abs", "has no meaning in mode 'tokens'"),
        ({"abs": 1e-3}, "call", "m.abs", "a mode that has it: float"),
        ({"mode": "float", "ignore_case": True}, "call", "m.ignore_case", "leave it out"),
        ({"mode": "float", "abs": "1"}, "stdin", "m.abs", "must be a number"),
        ({"mode": "float", "abs": True}, "stdin", "m.abs", "must be a number"),
        ({"mode": "float", "abs": -1}, "stdin", "m.abs", "makes no sense"),
        ({"mode": "float", "abs": float("nan")}, "stdin", "m.abs", "makes no sense"),
        ({"mode": "float", "rel": float("inf")}, "stdin", "m.rel", "makes no sense"),
        ({"mode": "float", "abs": 10**400}, "stdin", "m.abs", "makes no sense"),
        ({"mode": "float", "abs": 10**5000}, "stdin", "m.abs", "makes no sense"),
        ({"mode": "float", "rel": 1}, "stdin", "m.rel", "less than 1"),
        ({"mode": "float", "near_integers": 1}, "stdin", "m.near_integers", "true or false"),
        ({"mode": "float", "near_integers": True}, "call", "m.near_integers", "leave it out"),
        ({"mode": "exact", "by_line": True}, "stdin", "m.by_line", "a mode that has it: float, tokens"),
        ({"mode": "float", "ignore_case": 1}, "stdin", "m.ignore_case", "true or false"),
        ({"mode": "after_marker"}, "stdin", "m", "needs a marker"),
        ({"mode": "after_marker", "marker": ""}, "stdin", "m.marker", "must not be blank"),
        ({"mode": "after_marker", "marker": 1}, "stdin", "m.marker", "must be a text"),
        ({"mode": "debug_tolerant", "ignore_prefixes": "#"}, "stdin", "m.ignore_prefixes", "must be a list"),
        (
            {"mode": "debug_tolerant", "ignore_prefixes": ["#", ""]},
            "stdin",
            "m.ignore_prefixes[1]",
            "must not be blank",
        ),
    ],
)
def test_a_bad_match_object_is_told_with_its_field(
    raw: Any, kind: Literal["stdin", "call"], field: str, text: str
) -> None:
    with pytest.raises(InputError) as caught:
        check_match(raw, kind, "m")
    assert caught.value.field == field
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("regex", "("), ("regex", "a**"), ("json", "{"), ("json", "NaN"), ("json", "[" * 300 + "]" * 300)],
)
def test_an_expected_output_that_cannot_be_used_is_told(mode: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        check_expected(expected, Match(mode=mode), "tests[3].stdout")
    assert caught.value.field == "tests[3].stdout"


@pytest.mark.parametrize("mode", ["", "tokens", "exact"])
def test_any_expected_output_can_be_used_in_other_modes(mode: str) -> None:
    check_expected("(", Match(mode=mode), "tests[3].stdout")
