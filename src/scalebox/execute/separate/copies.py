"""Which of the containers that came from the other side have changed since: compared with copies, item by item.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from operator import gt, is_
from typing import Any, Iterator

from scalebox.execute.separate import wire_frames
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.wire import Encoder
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

_DICTS = (dict, OrderedDict, defaultdict, Counter)
_LISTS = (list, deque)
_references = sys.getrefcount


def _same_list(value: Any, copy: list[Any]) -> bool:
    # Identity, not equality: 1 may have become True, and equality may be anybody's code.
    return len(value) == len(copy) and all(map(is_, value, copy))


def _same_dict(value: Any, copy: tuple[list[Any], list[Any]]) -> bool:
    return _same_list(dict.keys(value), copy[0]) and all(map(is_, dict.values(value), copy[1]))


def count(objects: list[Any]) -> list[int]:
    """Return how many references there are to each object."""
    return list(map(_references, objects))


def is_mutable(value: Any) -> bool:
    """Return whether `value` is a container that can be changed in place on one side as on the other."""
    kind = type(value)
    if kind in _LISTS or kind in _DICTS or kind is set or kind is bytearray:
        return True
    return kind.__module__ == "numpy" or wire_frames.is_changing(kind)


class Copies:
    """Shallow copies of the mutable ones among `objects`, without those at addresses of `besides`."""

    __slots__ = ("_copies", "kept", "objects", "references")

    def __init__(self, objects: list[Any], besides: Any = ()) -> None:
        self.objects = objects
        self.references: list[int] = []
        self.kept = True  # whether the objects may be held by more than before
        self._copies: list[Any] = []
        for number, value in enumerate(objects):
            kind = type(value)
            if besides and id(value) in besides:
                continue
            if kind is list or kind is deque:
                self._copies.append((number, list(value)))
            elif kind in _DICTS:
                self._copies.append((number, (list(dict.keys(value)), list(dict.values(value)))))
            elif kind is set:
                self._copies.append((number, list(value)))
            elif kind is bytearray:
                self._copies.append((number, bytes(value)))
            elif kind.__module__ == "numpy":
                self._copies.append((number, value.tolist() if value.dtype.kind == "O" else value.tobytes()))
            elif wire_frames.is_changing(kind):
                self._copies.append((number, wire_frames.snapshot(value)))

    @property
    def mutable(self) -> bool:
        """Whether there is anything that could change."""
        return bool(self._copies)

    def watch(self) -> None:
        """Note how many references there are to the objects."""
        self.references = count(self.objects)

    def look(self) -> None:
        """Find out whether there are more than then."""
        self.kept = any(map(gt, count(self.objects), self.references))

    def lists(self) -> Iterator[list[Any]]:
        """Yield the lists that the copies consist of."""
        for _, copy in self._copies:
            if type(copy) is tuple:
                yield copy[1]
            elif type(copy) is list:
                yield copy

    def again(self) -> Copies:
        """Return the same copies, of the same objects, in a list of their own."""
        other = Copies([])
        other._copies, other.objects = self._copies, list(self.objects)
        return other

    def changed(self, besides: Any = ()) -> list[int]:
        """Return the numbers of those that are no longer as they were, without those at addresses of `besides`."""
        changed = [number for number, copy in self._copies if not self._same(self.objects[number], copy)]
        return [number for number in changed if id(self.objects[number]) not in besides] if besides else changed

    @staticmethod
    def _same(value: Any, copy: Any) -> bool:
        kind = type(value)
        if kind in _LISTS:
            return _same_list(value, copy)
        if kind in _DICTS:
            return _same_dict(value, copy)
        if kind is set:
            return len(value) == len(copy) and set(map(id, value)) == set(map(id, copy))
        if kind is bytearray:
            return bool(value == copy)
        if wire_frames.is_changing(kind):
            return wire_frames.same(value, copy)
        same: bool = (value.tolist() if value.dtype.kind == "O" else value.tobytes()) == copy
        return same

    @staticmethod
    def is_whole(value: Any) -> bool:
        """Return whether `put_content` writes a copy of `value` that gets a number of its own."""
        kind = type(value)
        return kind.__module__ == "numpy" or wire_frames.is_changing(kind)

    @staticmethod
    def put_content(encoder: Encoder, value: Any) -> None:
        """Write what `change` needs to make an equal container of another one. The content itself gets no number."""
        kind = type(value)
        if kind in _DICTS:
            encoder.bare_list(list(dict.keys(value)))
            encoder.bare_list(list(dict.values(value)))
        elif kind is bytearray:
            encoder.put(bytes(value))
        elif kind.__module__ == "numpy" or wire_frames.is_changing(kind):
            encoder.put(value.copy())
        else:
            encoder.bare_list(list(value))

    @staticmethod
    def read_content(decoder: Decoder, value: Any) -> Any:
        """Read what `put_content` has written for a container of the kind of `value`."""
        kind = type(value)
        if kind in _DICTS:
            return decoder.bare_list(), decoder.bare_list()
        if kind is bytearray or kind.__module__ == "numpy" or wire_frames.is_changing(kind):
            return decoder.read()
        return decoder.bare_list()

    @staticmethod
    def change(value: Any, content: Any) -> None:
        """Give a container new content, in place. Raises MalformedValue for content that does not fit it."""
        kind = type(value)
        if kind in _DICTS:
            keys, values = content
            if len(keys) != len(values):
                raise MalformedValue("bad content of a dict")
            value.clear()
            for key, item in zip(keys, values):
                value[key] = item
        elif (kind is bytearray and type(content) is bytes) or (kind is list and type(content) is list):
            value[:] = content
        elif kind in (set, deque) and type(content) is list:
            value.clear()
            value.update(content) if kind is set else value.extend(content)
        elif kind.__module__ == "numpy" and kind is _array() is type(content):
            _change_array(value, content)
        elif wire_frames.is_changing(kind):
            wire_frames.change(value, content)
        else:
            raise MalformedValue("content that does not fit")


def _array() -> Any:
    return getattr(sys.modules.get("numpy"), "ndarray", None)


def _change_array(value: Any, content: Any) -> None:
    if value.dtype != content.dtype or value.shape != content.shape:
        raise MalformedValue("content that does not fit")
    value[...] = content
