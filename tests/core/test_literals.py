"""Python literals as text: the same value as Python's own, nothing evaluated, total on any text."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core import values
from scalebox.core.literals import MAX_CHARACTERS, MAX_ITEMS, check_plain, parse_literal

NUMBERS = st.integers() | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | st.binary(max_size=8)
HASHABLE = st.recursive(SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5)
PLAIN = st.recursive(
    SCALARS | st.sets(HASHABLE, max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(HASHABLE, inner, max_size=3),
    max_leaves=12,
)


@given(PLAIN)
def test_repr_comes_back(value: Any) -> None:
    back = parse_literal(repr(value))
    assert values.encode(back) == values.encode(value) or back == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(1,)", (1,)),
        ("-1.5", -1.5),
        ("+2", 2),
        ("1+2j", 1 + 2j),
        ("(-0-1j)", 0 - 1j),
        ("set()", set()),
        ("frozenset()", frozenset()),
        ("frozenset({1, (2,)})", frozenset({1, (2,)})),
        ("[inf, -inf]", [math.inf, -math.inf]),
        ("float('-inf')", -math.inf),
        ("float('Infinity')", math.inf),
        ("b'\\x00\\xff'", b"\x00\xff"),
        ("'a' 'b'", "ab"),
        ("  {'k': [None, True]}\n", {"k": [None, True]}),
        ("1e400", math.inf),
    ],
)
def test_what_is_understood(text: str, expected: Any) -> None:
    value = parse_literal(text)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize("text", ["nan", "-nan", "float('nan')"])
def test_nan(text: str) -> None:
    assert math.isnan(parse_literal(text))


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "...", "f'{1}'", "open('x')", "__import__('os')", "1 if 1 else 2", "[i for i in ()]", "10**5", "1+2",
        "1j+2", "'a'+'b'", "-'a'", "-True", "*a", "{**{}}", "lambda: 0", "set([1])", "frozenset(1)", "frozenset(*a)",
        "frozenset({1}, {2})", "float('1')", "float(1)", "{[]}", "{[]: 1}", "(1,", "1 2", "x := 1", "\x00", "\ud800",
        "('*1000", "-" * 100_000 + "1", "[" * 1000, "1" * 5000, "9" * 400 + "+1j", " " * (MAX_CHARACTERS + 1),
    ],
)  # fmt: skip
def test_what_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_literal(text)


@given(st.text(alphabet="01.+-jeE()[]{},:'\"infasetrozb \\\n*", max_size=30))
def test_any_text_is_a_value_or_a_value_error(text: str) -> None:
    try:
        check_plain(parse_literal(text))
    except ValueError as error:
        assert str(error)  # noqa: PT017 (either outcome is right)


@given(PLAIN)
def test_plain_values_are_plain(value: Any) -> None:
    check_plain(value)
    assert b"too deep" not in values.encode(value)


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_what_the_codec_would_lose_is_not_plain() -> None:
    cyclic: list[Any] = []
    cyclic += [cyclic, cyclic]
    for value in (object(), [object()], {"k": {1: range(3)}}, _nested(300), cyclic, [0] * (MAX_ITEMS + 1)):
        with pytest.raises(ValueError, match=r"plain data|deep|items"):
            check_plain(value)


def test_the_deepest_plain_value_is_carried_whole() -> None:
    deepest = max(depth for depth in range(250) if _is_plain(_nested(depth)))
    assert values.decode(values.encode(_nested(deepest))) == _nested(deepest)


def _is_plain(value: Any) -> bool:
    try:
        check_plain(value)
    except ValueError:
        return False
    return True


def test_threads_do_not_get_in_each_others_way() -> None:
    text = repr([[number, [number]] for number in range(2000)])
    with ThreadPoolExecutor(4) as pool:
        assert all(len(value) == 2000 for value in pool.map(parse_literal, [text] * 40))
