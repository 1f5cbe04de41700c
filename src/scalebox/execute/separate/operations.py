"""The special methods that proxies forward, by number, with the operation that each stands for.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8. Everything is
bound when this is loaded, so that a program which replaces builtins later changes nothing here.
"""

from __future__ import annotations

import math
import operator
import os
from typing import Any, Callable

from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN


def _swapped(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda right, left: operation(left, right)


def _own(name: str) -> Callable[..., Any]:
    """Return the call of a special method as the interpreter makes it: looked up in the type."""
    return lambda value, *arguments: getattr(type(value), name)(value, *arguments)


def _copy(value: Any) -> Any:
    import copy

    return copy.copy(value)


def _deep_copy(value: Any, memo: Any = None) -> Any:
    import copy

    return copy.deepcopy(value)


_BINARY = "add sub mul truediv floordiv mod pow lshift rshift and or xor matmul".split()
ARITHMETIC = frozenset(
    [
        form % name
        for name in [*_BINARY, "divmod"]
        for form in ("__%s__", "__r%s__", "__i%s__")
        if form + name != "__i%s__divmod"
    ]
)
COMPARISONS = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__".split())

_TABLE: dict[str, Callable[..., Any]] = {
    "__len__": len,
    "__bool__": bool,
    "__iter__": iter,
    "__next__": next,
    "__reversed__": reversed,
    "__int__": int,
    "__float__": float,
    "__complex__": complex,
    "__index__": operator.index,
    "__str__": str,
    "__repr__": repr,
    "__bytes__": bytes,
    "__format__": format,
    "__hash__": hash,
    "__abs__": abs,
    "__neg__": operator.neg,
    "__pos__": operator.pos,
    "__invert__": operator.invert,
    "__round__": round,
    "__trunc__": math.trunc,
    "__floor__": math.floor,
    "__ceil__": math.ceil,
    "__fspath__": os.fspath,
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__delitem__": operator.delitem,
    "__contains__": operator.contains,
    "__call__": lambda value, *args, **kwargs: value(*args, **kwargs),
    "__enter__": _own("__enter__"),
    "__exit__": _own("__exit__"),
    "__aenter__": _own("__aenter__"),
    "__aexit__": _own("__aexit__"),
    "__aiter__": _own("__aiter__"),
    "__anext__": _own("__anext__"),
    "__await__": _own("__await__"),
    "__dir__": dir,
    "__copy__": _copy,
    "__deepcopy__": _deep_copy,
    "__divmod__": divmod,
    "__rdivmod__": _swapped(divmod),
}
for _name in sorted(COMPARISONS):
    _TABLE[_name] = getattr(operator, _name)
for _name in _BINARY:
    _TABLE["__%s__" % _name] = getattr(operator, "__%s__" % _name)
    _TABLE["__r%s__" % _name] = _swapped(getattr(operator, "__%s__" % _name))
    _TABLE["__i%s__" % _name] = getattr(operator, "__i%s__" % _name)
_TABLE["__pow__"] = pow  # which takes a modulus, too

NAMES = tuple(_TABLE)
NUMBERS = {name: number for number, name in enumerate(NAMES)}
FUNCTIONS = tuple(_TABLE.values())

#: What the interpreter demands of an operation's result, by exact type.
RESULTS: dict[str, type] = {
    "__len__": int,
    "__bool__": bool,
    "__int__": int,
    "__float__": float,
    "__complex__": complex,
    "__index__": int,
    "__str__": str,
    "__repr__": str,
    "__bytes__": bytes,
    "__format__": str,
    "__hash__": int,
    "__fspath__": str,
    "__contains__": bool,
}
RESULTS.update(dict.fromkeys(COMPARISONS, bool))


def defined(mro: tuple[Any, ...], skipped: Callable[[Any], bool] = lambda kind: kind is object) -> list[int]:
    """Return the numbers of the operations that classes of `mro` define; None in a class takes one away."""
    found = []
    for number, name in enumerate(NAMES):
        for kind in mro:
            members = type.__dict__["__dict__"].__get__(kind)
            if name in members:
                if members[name] is not None and not skipped(kind):
                    found.append(number)
                break
    return found
