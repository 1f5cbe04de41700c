"""Text from hostile programs on a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scalebox.cli.text import duration, excerpt, printable, size


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    shown = printable(text)
    assert all(char in "\t\n" or ord(char) >= 32 for char in shown)
    assert not set(shown) & set("\x1b\x7f\x9b\u202e\u2066\ufeff")
    assert shown.encode().decode() == shown


def test_escapes_are_shown_and_plain_text_is_left_alone() -> None:
    assert printable("\x1b[2J\r\u202eé\tß\n") == "\\x1b[2J\\r\\u202eé\tß\n"


def test_excerpt_says_what_is_left_out() -> None:
    assert excerpt("abc", 3) == "abc"
    assert excerpt("abcdef", 3) == "abc… (3 more characters)"


def test_units() -> None:
    assert (duration(0.0123), duration(2.5)) == ("12.3 ms", "2.50 s")
    assert (size(2048), size(9_437_184)) == ("2 KiB", "9.0 MiB")
