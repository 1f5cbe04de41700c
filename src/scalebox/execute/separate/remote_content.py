"""Plain data inside of the solution's objects, for the tests: what an `IntEnum` is worth, and items fetched ahead.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from typing import Any, Callable

from scalebox.execute.separate import names, operations
from scalebox.execute.separate.wire_read import MalformedValue

_PLAIN = frozenset([int, float, complex, str, bytes, list, tuple, dict, set, frozenset])
_AHEAD = " ahead"  # in a proxy's dictionary: no attribute has this name


def methods(
    bridge: Any, state: Callable[[Any], dict[str, Any]], inherited: Any, is_iterator: bool
) -> dict[str, Callable[..., Any]]:
    """Return special methods for a class: of operations that it inherits from plain data, and of its iterators.

    `state` gives the real dictionary of a proxy.
    """
    found = dict([_by_content(bridge, number) for number in inherited])
    if is_iterator:
        found.update(_iterator_methods(bridge, state))
    return found


def kind(module: str, qualname: str) -> dict[str, Any]:
    """Return what makes objects of a class that both sides have in their library instances of it for `isinstance`."""
    library = names.library_class(module, qualname)
    return {} if library is None else {"__class__": property(lambda value: library)}


def _by_content(bridge: Any, number: Any) -> tuple[str, Callable[..., Any]]:
    """Return the name of an operation, and a method that does it to an object's content if the other is the tests'.

    The solution says what the content is, before it can know what it is compared with: as if it had returned that.
    """
    name = operations.NAMES[number]
    if name not in operations.COMPARISONS and name not in operations.ARITHMETIC:
        raise MalformedValue("no comparison")
    asked, judges, verb = bridge.forward(name), bridge.judges, bridge.peer.verb

    def operate(value: Any, other: Any, *modulus: Any) -> Any:
        if judges(value, other):
            return asked(value, other, *modulus)
        found = verb("content", value)
        if type(found) not in _PLAIN:
            raise TypeError("the content of an object is %s" % type(found).__name__)
        method = getattr(type(found), name, None)
        return NotImplemented if method is None else method(found, other, *modulus)

    operate.__name__ = name
    return name, operate


class _Ahead:
    __slots__ = ("error", "items")

    def __init__(self) -> None:
        self.items: list[Any] = []  # the next one last
        self.error: BaseException | None = None


def _iterator_methods(bridge: Any, state: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return what makes a class of iterators one whose items come many at once, where none of them can be left over.

    `list`, `tuple`, `sorted` and `list.extend` ask an iterator for its length, and then take all of it before
    any other code of the tests runs; a loop does not ask.
    """
    operate, verb, lengths = bridge.operate, bridge.peer.verb, bridge.lengths

    def hint(value: Any) -> Any:
        lengths.forget(value)
        state(value).setdefault(_AHEAD, _Ahead())
        return NotImplemented

    def advance(value: Any) -> Any:
        kept = state(value)
        ahead = kept.get(_AHEAD)
        if ahead is None:
            try:
                item = operate("__next__", value)
            except StopIteration:
                lengths.ended(value)
                raise
            lengths.took(value)
            return item
        if not ahead.items and ahead.error is None:
            ahead.items, ahead.error = _checked(verb("drain", value))
        if ahead.items:
            return ahead.items.pop()
        del kept[_AHEAD]
        raise ahead.error

    return {"__length_hint__": hint, "__next__": advance}


def _checked(answer: Any) -> tuple[list[Any], BaseException | None]:
    if type(answer) is tuple and len(answer) == 2:
        items, error = answer
        if type(items) is list and (isinstance(error, BaseException) or (error is None and items)):
            return items[::-1], error
    raise TypeError("no items")
