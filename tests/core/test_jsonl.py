"""One line of JSON Lines: what is taken, and the place of what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.errors import InputError
from scalebox.core.jsonl import decode_object

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=5), st.booleans())
def test_objects_come_back(value: dict[str, Any], ascii_only: bool) -> None:
    line = json.dumps(value, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    assert decode_object(line) == value


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'\xef\xbb\xbf{"a": 1}\r\n', {"a": 1}),
        (b'{"a": "\\ud800"}', {"a": "\ud800"}),
        (b'{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a": ' + b"7" * 4300 + b"}", {"a": int("7" * 4300)}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_what_is_taken(line: bytes, expected: dict[str, Any]) -> None:
    assert decode_object(line) == expected


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"a": 1,}', "broken JSON at column 9"),
        (b'{"a": "x', "broken JSON at column 7: Unterminated string"),
        (b'{"a": 1} {}', "broken JSON at column 10"),
        (b'{"a": \r\n', "broken JSON at column 7: Expecting value"),
        (b"", "broken JSON at column 1"),
        (b"[1]", "must be a JSON object, not an array"),
        (b"null", "must be a JSON object, not null"),
        (b'"x"', "must be a JSON object, not a string"),
        (b"1.5", "must be a JSON object, not a number"),
        (b"true", "must be a JSON object, not a boolean"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": -Infinity}', "-Infinity is not JSON"),
        (b'{"a": 1e999}', "1e999 is too large"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 8"),
        (b'{"a": ' + b"7" * 4301 + b"}", "more than 4300 digits"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_refused(line: bytes, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        decode_object(line)
    assert problem in caught.value.problem


@given(st.binary(max_size=40) | st.text(alphabet='{}[]":,0aeE+-.\\u ', max_size=30).map(str.encode))
def test_any_bytes_are_an_object_or_an_input_error(line: bytes) -> None:
    try:
        assert isinstance(decode_object(line), dict)
    except InputError as error:
        assert error.problem  # noqa: PT017 (either outcome is right)
