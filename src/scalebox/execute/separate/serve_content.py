"""What the tests may take out of the solution's objects as plain data: content, and many items at once.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Set
from typing import Any, Callable

from scalebox.execute.separate import operations
from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN

_ALL = slice(None)
#: How the content of an object of a class below each of these is read, past whatever that class defines.
_READ: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__pos__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, _ALL),
    list: lambda value: list.__getitem__(value, _ALL),
    tuple: lambda value: tuple.__getitem__(value, _ALL),
    dict: dict.copy,
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}
#: Classes of the library whose objects equal others by what they give when iterated; the operations that say so.
_ITERATED: dict[Any, tuple[str, ...]] = {
    Mapping: ("__eq__",),
    Set: ("__eq__", "__lt__", "__le__", "__gt__", "__ge__"),
}
_ATOMS = frozenset([type(None), bool, int, float, complex, str, bytes])
_CHUNK = 1 << 17  # bytes, about
_OTHER = _CHUNK >> 4  # what an item counts that may be of any size
_members_of = type.__dict__["__dict__"].__get__
_size_of = sys.getsizeof


def inherited(mro: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the numbers of the comparisons and arithmetic operations that a class has from a type of plain data.

    In-place ones, which change an object or make another, are not among them. A class that says by itself what it
    equals has none.
    """
    by_items = next((kind for kind in mro if kind in _ITERATED), None)
    if by_items is not None and by_items is _owner(mro, "__eq__"):
        names = _ITERATED[by_items]
        return tuple([operations.NUMBERS[name] for name in names if _owner(mro, name) is by_items])
    base = next((kind for kind in mro if kind in _READ), None)
    if base is None or _owner(mro, "__eq__") is not base:
        return ()
    return tuple(
        [
            number
            for number, name in enumerate(operations.NAMES)
            if (name in operations.COMPARISONS or (name in operations.ARITHMETIC and name[2] != "i"))
            and _owner(mro, name) is base
        ]
    )


def _owner(mro: tuple[Any, ...], name: str) -> Any:
    return next((kind for kind in mro if name in _members_of(kind)), None)


def content(value: Any) -> Any:
    """Return what an object of a class below a type of plain data contains, as that type."""
    for kind in type.__dict__["__mro__"].__get__(type(value)):
        if kind in _READ:
            return _READ[kind](value)
        if kind in _ITERATED:
            return dict(value.items()) if kind is Mapping else frozenset(value)
    raise TypeError("no plain data")


def drain(iterator: Any) -> tuple[list[Any], BaseException | None]:
    """Return the next items of an iterator, one at least, and what ended it, if anything did."""
    items: list[Any] = []
    size = 0
    while size < _CHUNK:
        try:
            item = next(iterator)
        except BaseException as error:
            return items, error
        items.append(item)
        size += 64 + _size_of(item) if type(item) in _ATOMS else _OTHER
    return items, None
