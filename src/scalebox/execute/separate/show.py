"""Values and exceptions as short texts: what a failed case shows.

Runs inside the jail, on the tests' side: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

from typing import Any, Callable

_DEPTH = 6
_DIGITS_BITS = 4000  # integers longer than this are described: their decimal form takes the square of their length
_LARGE = 10_000  # containers of other types that are longer than this are described
_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}


class _Full(Exception):
    """The text has reached its limit."""


class _Text:
    __slots__ = ("left", "parts")

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.parts: list[str] = []

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.left -= len(text)
        if self.left < 0:
            raise _Full


def shown(value: object, limit: int = 200) -> str:
    """Return the `repr` of `value`, cut to `limit` characters; its cost does not grow with the size of plain data.

    An exception that `repr` raises is shown in its place; one that is no `Exception` passes through.
    """
    text = _Text(limit)
    try:
        _show(value, text, 0)
    except _Full:
        return "".join(text.parts)[: limit - 1] + "…"
    return "".join(text.parts)


def _show(value: Any, text: _Text, depth: int) -> None:
    kind = type(value)
    if kind is str or kind is bytes:
        text.add(repr(value[: text.left + 1]))
    elif kind is int and value.bit_length() > _DIGITS_BITS:
        text.add("<int of %d bits>" % value.bit_length())
    elif kind in _BRACKETS or kind is dict:
        _show_items(value, kind, text, depth)
    else:
        text.add(_repr(value, text.left))


def _show_items(value: Any, kind: type, text: _Text, depth: int) -> None:
    if kind in (set, frozenset) and not value:
        text.add("%s()" % kind.__name__)
        return
    opening, closing = _BRACKETS.get(kind, ("{", "}"))
    if depth >= _DEPTH:
        text.add(opening + "..." + closing)
        return
    text.add(opening)
    for number, item in enumerate(value):
        text.add(", " if number else "")
        _show(item, text, depth + 1)
        if kind is dict:
            text.add(": ")
            _show(value[item], text, depth + 1)
    text.add(",)" if kind is tuple and len(value) == 1 else closing)


def _repr(value: Any, limit: int) -> str:
    try:
        if type(value).__module__ in ("collections", "array") and len(value) > _LARGE:
            return "<%s of %d items>" % (type(value).__name__, len(value))
        return repr(value)[: limit + 1]
    except Exception as error:
        return "<%s object, whose repr raised %s>" % (type(value).__name__, type(error).__name__)


def exception(error: BaseException, limit: int = 300) -> str:
    """Return "Type: message" as the last line of a traceback has it, cut to `limit` characters."""
    name = type(error).__name__
    message = _message(error, limit)
    text = "%s: %s" % (name, message) if message else name
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _message(error: BaseException, limit: int) -> str:
    args = error.args
    method: Callable[..., str] = type(error).__str__
    if method is BaseException.__str__ and type(args) is tuple:
        if len(args) == 1 and type(args[0]) is str:
            return args[0][: limit + 1]
        return "" if not args else shown(args[0] if len(args) == 1 else args, limit)
    if method is KeyError.__str__ and len(args) == 1:
        return shown(args[0], limit)
    try:
        return str(error)[: limit + 1]
    except Exception as second:
        return "<message that raised %s>" % type(second).__name__
