"""What the solution's objects say they are: `isinstance(Stack(), list)`, where `Stack` derives from `list`.

The class that stands for one of the solution's cannot derive from `list` itself, or its objects would have content of
their own here. `isinstance` also asks an object's `__class__`, so that gives a class beside it that does.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import types
from typing import Any

from scalebox.execute.separate.wire_read import MalformedValue

_PLAIN: Any = (int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
_UNFIT = ("ABC", "Generic", "Protocol")
BESIDE = "_scalebox_beside"
#: To these an operand on the left leaves it to say what the sum is: lists, strings and so on have no `__radd__`.
_JOINED: Any = (list, tuple, str, bytes)


def members(name: str, bases: tuple[Any, ...], *, by_content: bool) -> dict[str, Any]:
    """Return what makes objects of a class with these bases instances of those that both sides have; see `bind`.

    An object of a class below plain data that is not compared by its content is no such data.
    """
    if not by_content and any(issubclass(base, _PLAIN) for base in bases):
        return {}
    both = [vars(base).get(BESIDE, None if "_scalebox" in vars(base) else base) for base in bases]
    fit = [base for base in both if base is not None and not issubclass(base, (type, BaseException))]
    made = _beside(name, tuple([base for base in fit if base.__name__ not in _UNFIT]))
    if made is not None:
        return {BESIDE: made, "__class__": property(lambda value: made)}
    if any(BESIDE in vars(base) for each in bases for base in each.__mro__):
        return {"__class__": vars(object)["__class__"]}
    return {}


def joined(bridge: Any, bases: tuple[Any, ...]) -> dict[str, Any]:
    """Return the `__radd__` for a class below lists, strings and so on: `[1] + Stack([2])` is a plain list."""
    base = next((kind for base in bases for kind in _JOINED if issubclass(base, kind)), None)
    if base is None:
        return {}
    verb = bridge.peer.verb

    def add(value: Any, left: Any) -> Any:
        if type(left) is not base:
            return NotImplemented
        content = verb("content", value)
        if type(content) is not base:
            raise TypeError("the content of an object is %s" % type(content).__name__)
        return left + content

    return {"__radd__": add}


def bind(cls: Any) -> None:
    """Let the class beside `cls`, if there is one, take itself for that."""
    made = vars(cls).get(BESIDE)
    if made is None:
        return

    def equals(beside: Any, other: Any) -> bool:
        return other is made or other is cls

    answers = {
        "__eq__": equals,
        "__ne__": lambda beside, other: not equals(beside, other),
        "__hash__": lambda beside: hash(cls),
        "__call__": lambda beside, *args, **kwargs: cls(*args, **kwargs),
        "__getattr__": lambda beside, name: getattr(cls, name),
        "__repr__": lambda beside: repr(cls),
        "__iter__": lambda beside: iter(cls),
        "__len__": lambda beside: len(cls),
        "__getitem__": lambda beside, key: cls[key],
    }
    for name in ("__module__", "__qualname__", "__doc__"):
        type.__setattr__(made, name, getattr(cls, name))
    for name, answer in answers.items():
        setattr(type(made), name, answer)


def _beside(name: str, bases: tuple[Any, ...]) -> Any:
    """Return a new class below the given ones; None if there are none, or they forbid it."""
    kinds = [type(base) for base in bases]
    kind = next((kind for kind in kinds if all(issubclass(kind, other) for other in kinds)), type)
    try:
        return types.new_class(name, bases, {"metaclass": type("Beside", (kind,), {})}) if bases else None
    except Exception:
        return None


def data_fields(names: Any) -> dict[str, Any]:
    """Return what makes a class a dataclass for `dataclasses.fields`, `asdict` and `replace`."""
    import dataclasses

    found = {}
    for name in names:
        if type(name) is not str:
            raise MalformedValue("bad field of a dataclass")
        field: Any = dataclasses.field()
        field.name, field.type, field._field_type = name, object, dataclasses._FIELD  # type: ignore[attr-defined]
        found[name] = field
    return found


def named_tuple(name: str, fields: tuple[str, ...]) -> Any:
    import collections

    made: Any = collections.namedtuple(name, fields)  # type: ignore[misc]
    del made._field_defaults  # which only the solution knows
    return made
