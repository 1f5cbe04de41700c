"""Python literals as text, for what JSON cannot say: tuples, sets, bytes, complex numbers, inf and nan."""

from __future__ import annotations

import ast
import math
import re
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from scalebox.core.long_literals import Odd, read_long
from scalebox.core.values import MAX_DEPTH

MAX_CHARACTERS = 64 * 1024 * 1024
MAX_ITEMS = 4_000_000
#: Characters from which on a literal is read token by token, and of one that has to be read at once all the same: the
#: interpreter's parser takes seconds for a megabyte, and holds up all threads.
LONG, MOST_ODD = 16 * 1024, 256 * 1024
_SURROGATE = re.compile("[\ud800-\udfff]")

#: CPython 3.11 builds syntax trees with one counter for all threads, and raises SystemError where two get in each
#: other's way (its issue 106905); filters of warnings are not one thread's either.
_PARSER = threading.Lock()

#: What `repr` writes for numbers that have no literal of their own.
_NAMES = {"inf": math.inf, "nan": math.nan, "infj": complex(0.0, math.inf), "nanj": complex(0.0, math.nan)}
_NUMBERS = (int, float, complex)
_CONTAINERS = frozenset({list, tuple, set, frozenset, dict})
_SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes, bytearray})
_PLAIN = _SCALARS | _CONTAINERS
_JSON = frozenset({type(None), bool, int, float, str, list, tuple, dict})


def parse_literal(text: str) -> Any:
    """Return the value of a literal: Python's own, and set(), frozenset(...), inf, nan, float('inf').

    Nothing is evaluated. Raises ValueError, with what is wrong and where, for any other text.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS} characters")
    text = text.strip()
    try:
        if len(text) > LONG:
            try:
                return read_long(_sound(text), _parsed)
            except Odd:
                if len(text) > MOST_ODD:
                    mend = "comments, texts side by side or over several lines, or a slip"
                    raise ValueError(f"no Python literal, or too long for what is in it: {mend}") from None
        return _parsed(text)
    except SyntaxError as error:
        raise ValueError(f"no Python literal: {error.msg} at character {error.offset or 1}") from None
    except (RecursionError, MemoryError):
        raise ValueError("nested too deeply") from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def _parsed(text: str) -> Any:
    with _PARSER, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, mode="eval")
    return _value(tree.body)


def _sound(text: str) -> str:
    """Return a text that no interpreter refuses as source for its characters alone; raises Odd for any other."""
    if "\0" in text or not (text.isascii() or _SURROGATE.search(text) is None):
        raise Odd
    return text


def check_plain(value: Any) -> None:
    """Raise ValueError unless `value` is plain data within the bounds of what crosses the wall of a jail."""
    if type(value) in _SCALARS:
        return
    items = 0
    for level, kinds in _levels(value):
        items += len(level)
        if items > MAX_ITEMS:
            raise ValueError(f"more than {MAX_ITEMS} items")
        if not kinds <= _PLAIN:
            names = ", ".join(sorted(kind.__name__ for kind in kinds - _PLAIN))
            raise ValueError(f"holds {names}, which is no plain data")


def is_json(value: Any) -> bool:
    """Return whether nothing but what JSON has, and tuples, is in `value`, which is not nested too deeply."""
    try:
        return all(kinds <= _JSON for _, kinds in _levels(value))
    except ValueError:
        return False


def _levels(value: Any) -> Iterator[tuple[list[Any], set[type]]]:
    """Yield what lies at each depth, and its types; raises ValueError where that is too deep."""
    level = [value]
    for _ in range(MAX_DEPTH):
        kinds = set(map(type, level))
        yield level, kinds
        if kinds.isdisjoint(_CONTAINERS):
            return
        level = _children(level)
    raise ValueError(f"nested more than {MAX_DEPTH - 1} deep")


def _children(level: list[Any]) -> list[Any]:
    children: list[Any] = []
    for item in level:
        kind = type(item)
        if kind is dict:
            children += item.keys()
            children += item.values()
        elif kind in _CONTAINERS:
            children += item
    return children


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value) if value is not Ellipsis:
            return value
        case ast.List(elts=items):
            return [_value(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple([_value(item) for item in items])
        case ast.Set(elts=items):
            return {_value(item) for item in items}
        case ast.Dict(keys=keys, values=values):
            return {_key(key, node): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=operand):
            number = _number(operand)
            return -number if isinstance(sign, ast.USub) else number
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            return _complex(left, sign, right)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, arguments, node)
    raise _refusal(node)


def _key(key: ast.expr | None, parent: ast.expr) -> Any:
    if key is None:
        raise _refusal(parent)
    return _value(key)


def _number(node: ast.expr) -> Any:
    value = _value(node)
    if type(value) not in _NUMBERS:
        raise _refusal(node)
    return value


def _complex(left: ast.expr, sign: ast.operator, right: ast.expr) -> complex:
    real, imaginary = _number(left), _number(right)
    if type(real) is complex or type(imaginary) is not complex:
        raise _refusal(right)
    try:
        return complex(real + imaginary if isinstance(sign, ast.Add) else real - imaginary)
    except OverflowError:
        raise ValueError("a complex number out of range") from None


def _call(name: str, arguments: list[ast.expr], node: ast.expr) -> Any:
    if name == "set" and not arguments:
        return set()
    if name == "frozenset" and len(arguments) <= 1:
        content = _value(arguments[0]) if arguments else ()
        if type(content) in (list, tuple, set, frozenset):
            return frozenset(content)
    if name == "float" and len(arguments) == 1:
        content = _value(arguments[0])
        if isinstance(content, str) and content.strip("+-").lower() in ("inf", "infinity", "nan"):
            return float(content)
    raise _refusal(node)


def _refusal(node: ast.expr) -> ValueError:
    return ValueError(f"no Python literal: {type(node).__name__} at character {node.col_offset + 1}")
