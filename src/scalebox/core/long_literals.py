"""Long literals, token by token: the interpreter's own parser lets no other thread run until it is through.

A megabyte of numbers takes it seconds, in which a server answers nobody. What is here understands what `repr` writes
and people do, and is given up where something is out of the ordinary.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

#: Deeper is no plain data, and the interpreter's parser refuses it.
_DEEPEST = 200
_NAMES = {"True": True, "False": False, "None": None}
_SPACE = r"[ \t\f\r\n]*"
_TOKEN = re.compile(
    rf"{_SPACE}(?:"
    r"(?P<text>[bBrRuU]{0,2}(?!'''|\"\"\")"
    r"(?:'[^'\\\r\n]*(?:\\[^\r\n][^'\\\r\n]*)*'|\"[^\"\\\r\n]*(?:\\[^\r\n][^\"\\\r\n]*)*\"))"
    rf"|(?P<call>set|frozenset|float){_SPACE}\("
    r"|(?P<mark>[\[\](){},:])"
    r"|(?P<atom>[^\s\[\](){},:\"'#\\]+)"
    rf"){_SPACE}"
)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,999})")
_FLOAT = re.compile(r"-?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)")
#: Integers beyond what the interpreter reads as decimal are written so; of anything else, no part is as long as this.
_HEXADECIMAL = re.compile(r"-?0[xX][0-9a-fA-F_]+")
_LONGEST_ATOM = 8192
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_NOTHING: Any = object()


class Odd(Exception):
    """The text is not read here: it is no literal, or one that is written in a way that nobody writes a long one."""


class _Open:
    """A container, or a call, that is not closed yet."""

    def __init__(self, closing: str, call: str = "") -> None:
        self.closing, self.call = closing, call
        self.items: list[Any] = []
        self.keys: list[Any] = []
        self.key: Any = _NOTHING
        self.commas = 0

    def set_key(self, key: Any) -> None:
        if self.closing != "}" or self.key is not _NOTHING or len(self.keys) != len(self.items):
            raise Odd
        self.key = key

    def add(self, value: Any) -> None:
        if self.key is not _NOTHING:
            self.keys.append(self.key)
            self.key = _NOTHING
        elif self.keys:
            raise Odd
        self.items.append(value)

    def value(self) -> Any:
        """Return what it is, now that it is closed; raises TypeError for what cannot be an item of a set, or a key."""
        if self.key is not _NOTHING:
            raise Odd
        if self.call:
            return _called(self.call, self.items)
        if self.closing == "]":
            return self.items
        if self.closing == ")":
            return self.items[0] if len(self.items) == 1 and not self.commas else tuple(self.items)
        return dict(zip(self.keys, self.items, strict=True)) if self.keys or not self.items else set(self.items)


def read_long(text: str, short: Callable[[str], Any]) -> Any:
    """Return the value of a literal; `short` reads a part of it that is out of the ordinary.

    Raises Odd, ValueError, and TypeError for what cannot be an item of a set.
    """
    if not text or (text[0] not in _CLOSING and not {"\n", "\r"}.isdisjoint(text)):
        raise Odd  # lines go on within brackets alone
    opened: list[_Open] = []
    value: Any = _NOTHING
    end = 0
    while (found := _TOKEN.match(text, end)) is not None:
        end, kind = found.end(), found.lastgroup
        if kind == "mark":
            value = _marked(found["mark"], opened, value)
        elif value is not _NOTHING:
            raise Odd
        elif kind == "call":
            _push(opened, _Open(")", found["call"]))
        else:
            value = _part(found[kind or ""], short)
    if end != len(text) or opened or value is _NOTHING:
        raise Odd
    return value


def _push(opened: list[_Open], one: _Open) -> None:
    if len(opened) >= _DEEPEST:
        raise ValueError("nested too deeply")
    opened.append(one)


def _marked(mark: str, opened: list[_Open], value: Any) -> Any:
    """Take a mark between values; return the value that is complete behind it."""
    if mark in _CLOSING:
        if value is not _NOTHING:
            raise Odd
        _push(opened, _Open(_CLOSING[mark]))
        return _NOTHING
    if not opened:
        raise Odd
    if mark in ",:":
        if value is _NOTHING:
            raise Odd
        if mark == ":":
            opened[-1].set_key(value)
        else:
            opened[-1].add(value)
            opened[-1].commas += 1
        return _NOTHING
    one = opened.pop()
    if mark != one.closing:
        raise Odd
    if value is not _NOTHING:
        one.add(value)
    return one.value()


def _part(token: str, short: Callable[[str], Any]) -> Any:
    """Return the value of a text, a number or a name."""
    if token[0] in "'\"" and "\\" not in token:
        return token[1:-1]
    if _INTEGER.fullmatch(token):
        return int(token)
    if _FLOAT.fullmatch(token):
        return float(token)
    if token in _NAMES:
        return _NAMES[token]
    if len(token) > _LONGEST_ATOM and token[-1] not in "'\"" and not _HEXADECIMAL.fullmatch(token):
        raise Odd
    try:
        return short(token)
    except (SyntaxError, ValueError):
        raise Odd from None  # only a part of what it is, such as the minus in "- 1"


def _called(name: str, items: list[Any]) -> Any:
    content: Any = items[0] if items else ()
    if name == "set" and not items:
        return set()
    if name == "frozenset" and len(items) <= 1 and type(content) in (list, tuple, set, frozenset):
        return frozenset(content)
    special = isinstance(content, str) and content.strip("+-").lower() in ("inf", "infinity", "nan")
    if name == "float" and len(items) == 1 and special:
        return float(content)
    raise Odd
