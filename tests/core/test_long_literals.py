"""Long literals, which are read token by token: what the interpreter reads, and other threads run meanwhile."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.test_literals import PLAIN

from scalebox.core.literals import LONG, MOST_ODD, _parsed, parse_literal
from scalebox.core.long_literals import Odd, read_long

TOKENS = [
    *"[](){},:", "1", "-1", "0x1f", "1.5", ".5e1", "01", "1e5", "1_0", "True", "None", "inf", "-inf", "1+2j", "'a'",
    '"b"', "b'c'", r"r'\d'", r"'\n'", r"'\''", "''", "set()", "frozenset(", "float('inf')", "set(", "# x", "*", " ",
    "'é'", "'''a'''", "\n", "\xa0", "\uff49\uff4e\uff46", "-", "u'a'", "rb'a'", "ub'a'",
    "...", "\f", "1 2", ", ", "[[", "- ", "-float('inf')",
]  # fmt: skip
TEXTS = st.one_of(
    PLAIN.map(repr),
    st.text(alphabet="01.+-jeE()[]{},:'\"infasetrozb \\\n*", max_size=30),
    st.lists(st.sampled_from(TOKENS), max_size=9).map("".join),
    st.lists(st.sampled_from(TOKENS), max_size=7).map(lambda tokens: f"[{','.join(tokens)}]"),
)


def outcome(read: Callable[[str], Any], text: str) -> str:
    """Return the value that a text is read as, with its types, "" where it is refused."""
    try:
        return repr(read(text))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return ""


def token_by_token(text: str) -> Any:
    return read_long(text, _parsed)


@settings(max_examples=600)
@given(TEXTS)
def test_a_long_literal_is_what_the_interpreter_says(text: str) -> None:
    text = text.strip()
    try:
        seen = outcome(token_by_token, text)
    except Odd:
        return
    assert seen == outcome(_parsed, text)


@given(PLAIN)
def test_what_repr_writes_is_never_odd(value: Any) -> None:
    assert outcome(token_by_token, repr(value)) == outcome(_parsed, repr(value)) != ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (repr([list(range(30_000))]), [list(range(30_000))]),
        (repr([(n, str(n), {n: {n}}) for n in range(3000)]), [(n, str(n), {n: {n}}) for n in range(3000)]),
        ("[\n" + "    'a\\n', # why\n" * 2000 + "]", ["a\n"] * 2000),
        ("'" + "é" * LONG + "'", "é" * LONG),
        ("0x" + "f" * LONG, 16**LONG - 1),
        ("[" + "set(), frozenset({1}), -inf, 1+2j, " * 1000 + "]", [set(), frozenset({1}), -math.inf, 1 + 2j] * 1000),
    ],
    ids=["numbers", "containers", "comments", "text", "hexadecimal", "calls"],
)
def test_long_values(text: str, value: Any) -> None:
    assert len(text) > LONG
    assert parse_literal(f" {text}\n") == value


@pytest.mark.parametrize(
    "text",
    [
        "[" + "1, " * LONG, "[" + "1 2, " * LONG + "]", "[" + "f(), " * LONG + "]", "{" + "[], " * LONG + "}",
        "[" * 300 + "1, " * LONG + "]" * 300, "[" + "1" * 5000 + ", 1" * LONG + "]", "['\ud800'" + ", 1" * LONG + "]",
        "['\0'" + ", 1" * LONG + "]", "[1" + "+1" * MOST_ODD + "]", "['a'" + " 'a'" * MOST_ODD + "]",
        "['" + "a" * LONG + "]", "{1: 2, 3" + ", 1" * LONG + "}", "(" + "," * LONG + ")",
    ],
    ids=range(13),
)  # fmt: skip
def test_long_texts_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_literal(text)


def test_a_long_literal_lets_other_threads_run() -> None:
    """The interpreter's parser takes seconds for a megabyte, in which a server would answer nobody."""
    longest, over = 0.0, threading.Event()

    def watch() -> None:
        nonlocal longest
        seen = time.perf_counter()
        while not over.wait(0.001):
            now = time.perf_counter()
            longest, seen = max(longest, now - seen), now

    watching = threading.Thread(target=watch)
    watching.start()
    begun = time.perf_counter()
    parse_literal(f"[{'1, ' * 500_000}]")
    took = time.perf_counter() - begun
    over.set()
    watching.join()
    assert longest < max(0.5, took / 2)
