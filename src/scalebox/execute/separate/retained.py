"""Which containers of a call the side that served it has kept: what it holds by other hands than ours.

A program that stores a list it was given, or returns one that is part of its state, has that list in common with its
caller from then on. Nothing says so but the number of references: what is left when those that this package holds, and
those of the containers in the same message to one another, are taken away.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from itertools import chain
from typing import Any, Iterable

from scalebox.execute.separate.copies import Copies, count, is_mutable
from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN

#: Containers with more items than this in all are not compared before every message.
MAX_ITEMS = 2_000
_DICTS = (dict, OrderedDict, defaultdict, Counter)
_ALONE = count([[]])[0]  # of something that only its place in `objects` refers to


def _items(value: Any) -> Iterable[Any]:
    """Return what a container refers to, as far as that may be containers that can be changed."""
    kind = type(value)
    if kind is list or kind is tuple or kind is deque:
        return value  # type: ignore[no-any-return]
    return dict.values(value) if kind in _DICTS else ()


def _inside(holders: Iterable[Any], addresses: dict[int, Any]) -> dict[int, int]:
    """Return how often the objects at some addresses are referred to by `holders`."""
    found = dict.fromkeys(addresses, 0)
    for address in filter(found.__contains__, map(id, chain.from_iterable(map(_items, holders)))):
        found[address] += 1
    return found


def unheld(objects: list[Any], copies: Copies) -> list[int]:
    """Return how many references there are to each object while nobody but us holds it."""
    inside = _inside((*objects, *copies.lists()), dict.fromkeys(map(id, objects)))
    return [_ALONE + inside[id(value)] for value in objects]


def is_held(objects: list[Any], alone: list[int]) -> bool:
    """Return whether anybody but us holds one of the objects; None among them is a place that is not used."""
    return any(now > few and value is not None for now, few, value in zip(count(objects), alone, objects))


def few(objects: list[Any], bound: int) -> bool:
    """Return whether containers have no more than `bound` items together."""
    return len(objects) <= bound and sum(map(_size, objects)) <= bound


def _size(value: Any) -> int:
    return 1 + (value.size if hasattr(value, "dtype") or hasattr(value, "columns") else len(value))


def retained(objects: list[Any], copies: Copies | None, answer: list[Any], shared: Any, bound: int | None) -> list[int]:
    """Return the numbers of the containers that were kept, and of those inside of them, but not of shared ones.

    `answer` holds the result. There are none if they have more than `bound` items together.
    """
    first = 0 if copies is None or copies.kept else len(copies.references)
    counts = count(objects)
    if all(
        now == _ALONE or (value is answer[0] and now == _ALONE + 1)
        for value, now in zip(objects[first:], counts[first:])
    ):
        return []  # none of them, and none in another one
    numbers = {id(value): number for number, value in enumerate(objects)}
    inside = _inside((*objects, *(copies.lists() if copies is not None else ()), answer), numbers)
    kept = [
        number
        for number, (value, now) in enumerate(zip(objects, counts))
        if now > _ALONE + inside[id(value)]
        and (is_mutable(value) or any(address in numbers for address in map(id, _items(value))))
    ]
    return _with_content(objects, kept, numbers, shared, bound) if kept else []


def _with_content(
    objects: list[Any], kept: list[int], numbers: dict[int, int], shared: Any, bound: int | None
) -> list[int]:
    found: set[int] = set()
    size = 0
    while kept:
        number = kept.pop()
        value = objects[number]
        if number in found or id(value) in shared:
            continue
        found.add(number)
        size += _size(value)
        if bound is not None and size > bound:
            return []
        kept += [numbers[address] for address in map(id, _items(value)) if address in numbers]
    return sorted(found)
