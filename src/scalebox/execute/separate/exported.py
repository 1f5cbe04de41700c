"""The solution's view of what lives in the tests' process: things to call, to iterate, to ask for their attributes.

Here is no protection: this is the solution's own process. What may be done is decided on the other side
(`remote_exports`).

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import io
from typing import Any

from scalebox.execute.separate import names, operations
from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN


class _Stateful:
    pass


_state = _Stateful.__dict__["__dict__"].__get__


class ExportedObject(_Stateful):
    """An object of the tests."""

    _scalebox: Any = None
    _scalebox_fixed: tuple[str, ...] = ()
    _scalebox_open = False

    def __getattr__(self, name: str) -> Any:
        kind = type(self)
        if name.startswith("_") or not (kind._scalebox_open or name in kind._scalebox_fixed):
            raise AttributeError("'%s' object has no attribute '%s'" % (kind.__name__, name))
        return kind._scalebox.verb("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        type(self)._scalebox.verb("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        type(self)._scalebox.verb("delattr", self, name)

    def __repr__(self) -> str:
        return "<%s object of the tests>" % type(self).__name__


def _forward(peer: Any, number: int) -> Any:
    name = operations.NAMES[number]
    demanded = operations.RESULTS.get(name)

    def method(value: Any, /, *args: Any, **kwargs: Any) -> Any:
        result = peer.verb_call("operate", (number, value, *args), kwargs)
        if demanded is not None and type(result) is not demanded and result is not NotImplemented:
            raise TypeError("%s returned %s, not %s" % (name, type(result).__name__, demanded.__name__))
        return result

    method.__name__ = name
    return method


def build_class(peer: Any, description: Any) -> Any:
    """Return the class of ExportedObject for objects that the other side describes so (`Policy.describe`)."""
    name, numbers, fixed, is_open, is_coroutine, real = description
    members: dict[str, Any] = {
        "_scalebox": peer,
        "_scalebox_fixed": fixed,
        "_scalebox_open": is_open,
        "__module__": "tests",
    }
    for number in numbers:
        members[operations.NAMES[number]] = _forward(peer, number)
    if "__eq__" in members:
        members.setdefault("__hash__", None)
    if is_coroutine:
        members["__await__"] = lambda value: peer.tasks.borrowed(value).__await__()
    kind = None if real is None else names.look_up(*real)
    if isinstance(kind, type):
        members["__class__"] = property(lambda value: kind)  # so `isinstance` says what it says of the real one
    return type(name, (ExportedObject,), members)


def mirror_error(peer: Any, name: str, bases: tuple[Any, ...]) -> Any:
    """Return an exception class that stands for one that the tests define."""
    return type(name, bases or (Exception,), {"__module__": "tests", "_scalebox": peer})


def mirror_tuple(name: str, fields: tuple[str, ...]) -> Any:
    """Return a class of named tuples that stands for one that the tests define."""
    import collections

    return collections.namedtuple(name, fields)


class ForwardedOutput(io.TextIOBase):
    """Stands for sys.stdout or sys.stderr where the tests have put something else in their place."""

    def __init__(self, written: list[tuple[int, str]], stream: int) -> None:
        self._written = written
        self._stream = stream

    encoding = "utf-8"
    errors = "strict"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        self._written.append((self._stream, str.__str__(text)))
        return len(text)


class ForwardedInput(io.TextIOBase):
    """Stands for sys.stdin where the tests have put something else in its place."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, peer: Any) -> None:
        self._peer = peer

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> str:
        return self._peer.verb("read_input", "read", -1 if size is None else size)  # type: ignore[no-any-return]

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]  # typeshed allows no None here
        return self._peer.verb("read_input", "readline", -1 if size is None else size)  # type: ignore[no-any-return]
