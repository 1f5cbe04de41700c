"""Calls in languages that no driver is for: a program that makes one call and prints its value, judged as output.

The program holds the arguments alone. What it prints itself, beside the value, makes it fail.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scalebox.core.errors import InputError

#: How what is printed is compared: a text is not the number that it looks like.
_TEXT = {"mode": "trailing_whitespace"}
_NUMBER = {"mode": "float", "rel": 1e-9, "abs": 1e-9, "by_line": True}
#: Lists in lists, that are written.
_MOST_DEPTH = 50


class Printing(NamedTuple):
    """How a language writes values, and a program that prints that of a call; `as_json` says that it prints JSON."""

    call: Callable[[str, Sequence[str]], str]
    as_json: bool
    true: str = "true"
    false: str = "false"
    null: str = ""
    #: What stands before a list's items, between and behind them; none where lists cannot be written.
    items: tuple[str, str, str] | None = None
    text: Callable[[str], str] = json.dumps
    #: A program that prints the value of a call that is to be true or false, where that is another one.
    truth: Callable[[str, Sequence[str]], str] | None = None


def _quoted(text: str) -> str:
    """Return a text as a shell, and Perl, take it as it is."""
    return "'" + text.replace("'", "'\\''") + "'"


def _escaped(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _without_dollars(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("$", "\\$")


def _in_bytes(text: str) -> str:
    """Return a text as Lua takes it, which knows none of JSON's `\\u`."""
    plain = (chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:03}" for byte in text.encode())
    return f'"{"".join(plain)}"'


def _called(before: str, after: str) -> Callable[[str, Sequence[str]], str]:
    return lambda name, words: f"{before}{name}({', '.join(words)}){after}\n"


#: Values are printed with all of their digits: with the usual 7 of R and 14 of Lua, other numbers would look the same,
#: and great integers like none. In Lua, the brackets take the first of several values.
_LUA = _called(
    "do local value = (", ") if math.type(value) == 'float' then value = ('%.17g'):format(value) end print(value) end"
)
_R = _called("local({value <- ", "; options(digits = 17); cat(value); cat('\\n')})")

_PRINTING = {
    "bash": Printing(lambda name, words: f"{' '.join([name, *words])}\n", False, "true", "false", text=_quoted),
    "perl": Printing(
        _called("print ", ";"), False, "1", "0", "undef", text=_escaped,
        # What Perl's own comparisons give where they do not hold is both "" and 0.
        truth=_called("print map { defined($_) && $_ eq '' ? 0 : $_ } ", ";"),
    ),
    "lua": Printing(_LUA, False, null="nil", text=_in_bytes),
    "julia": Printing(_called("println(", ")"), False, null="nothing", text=_without_dollars),
    "r": Printing(_R, False, "TRUE", "FALSE", "NULL"),
    "ruby": Printing(
        _called("require 'json'\nputs JSON.generate(", ")"), True, null="nil", items=("[", ", ", "]"), text=_escaped
    ),
    "php": Printing(_called("echo json_encode(", ");"), True, null="null", items=("[", ", ", "]"), text=_escaped),
    "racket": Printing(
        lambda name, words: f"(require json)\n(write-json ({' '.join([name, *words])}))\n",
        True, "#t", "#f", "(json-null)", ("(list ", " ", ")"),
    ),
}  # fmt: skip


def can_print(language: str) -> bool:
    """Return whether calls can be made in a language in this way."""
    return language in _PRINTING


def record_of(language: str, code: str, name: str, arguments: Sequence[Any], expected: Any) -> dict[str, Any]:
    """Return the fields of a record that makes one call. Raises InputError for values that it cannot write."""
    printing = _PRINTING[language]
    if language == "php":
        code = code if "<?" in code else f"<?php {code}"
        code = code.rstrip().removesuffix("?>")
    match: dict[str, Any] = {"mode": "json"}
    written = printing.truth if printing.truth and isinstance(expected, bool) else printing.call
    call = written(name, [_literal(value, printing) for value in arguments])
    if printing.as_json:
        output = json.dumps(expected)
    else:
        output, match = _printed(expected, printing), _TEXT if isinstance(expected, str) else _NUMBER
    return {
        "language": language, "code": f"{code}\n{call}", "match": match, "tests": [{"stdin": "", "stdout": output}],
    }  # fmt: skip


def _literal(value: Any, printing: Printing, depth: int = 0) -> str:
    if isinstance(value, bool):
        return printing.true if value else printing.false
    if value is None and printing.null:
        return printing.null
    if isinstance(value, int | float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str):
        return printing.text(value)
    if isinstance(value, list) and printing.items is not None and depth < _MOST_DEPTH:
        first, between, last = printing.items
        return first + between.join(_literal(item, printing, depth + 1) for item in value) + last
    raise InputError(f"a {type(value).__name__} cannot be written in this language", field="config.provided_data")


def _printed(value: Any, printing: Printing) -> str:
    """Return what a value looks like that is printed as it is."""
    if isinstance(value, bool):
        return printing.true if value else printing.false
    if isinstance(value, int | float | str):
        return str(value)
    raise InputError(f"a {type(value).__name__} cannot be compared in this language", field="config.provided_data")
