"""Containers that the tests read out of an object of the solution: the same list on both sides, as far as can be.

`solution_object.items.append(1)` must change the solution's list. So the copy that the tests got stays linked to the
original: before each message the sender compares its own with what both sides knew last, and sends what has changed. A
link lasts for as long as the tests hold on to one of its containers.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import sys
from typing import Any

from scalebox.execute.separate.copies import Copies
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.wire import Encoder, pack_u
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

_MAX_LINKS = 64
_references = sys.getrefcount


class _Link:
    __slots__ = ("copies", "held")

    def __init__(self, objects: list[Any]) -> None:
        self.copies = Copies(objects)
        self.held: list[int] = []  # references to each container while nobody but us has it


class Links:
    """The links of one side, by the number of the call that made them."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._links: dict[int, _Link] = {}
        self._dropped: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._links or self._dropped)

    def add(self, number: int, objects: list[Any], root: Any = None) -> bool:
        """Link containers; tell whether there is any to link. `root` is the one that the others are in."""
        link = _Link(objects)
        if not link.copies.mutable:
            return False
        link.held = [_ALONE if value is root else count for value, count in zip(objects, _count(objects))]
        self._links[number] = link
        if len(self._links) > _MAX_LINKS:
            self._drop(next(iter(self._links)))
        return True

    def _drop(self, number: int) -> None:
        del self._links[number]
        self._dropped.append(number)

    def forget(self, numbers: Any) -> None:
        for number in numbers:
            self._links.pop(number, None)

    def dropped(self) -> tuple[int, ...]:
        """Return the links that have ended since the last time."""
        dropped, self._dropped = tuple(self._dropped), []
        return dropped

    def changes(self) -> tuple[tuple[int, bytes], ...]:
        """Return what has changed on this side since both sides were the same."""
        found = []
        for number, link in self._links.items():
            changed = link.copies.changed()
            if changed:
                found.append((number, self._pack(link, changed)))
        return tuple(found)

    def drop_unheld(self) -> None:
        """End the links of which nobody else holds a container any more."""
        for number, link in list(self._links.items()):
            counts = _count(link.copies.objects)
            if not any(now > alone for now, alone in zip(counts, link.held)):
                self._drop(number)

    def _pack(self, link: _Link, changed: list[int]) -> bytes:
        objects = link.copies.objects
        encoder = Encoder(self._owner, objects)
        encoder.out.append(pack_u(len(changed)))
        for number in changed:
            encoder.out.append(pack_u(number))
            Copies.put_content(encoder, objects[number])
        self._renew(link)
        return b"".join(encoder.out)

    @staticmethod
    def _renew(link: _Link) -> None:
        objects = link.copies.objects
        before = link.held
        link.copies = Copies(objects)
        link.held = before + _count(objects)[len(before) :]

    def take(self, changes: Any) -> None:
        """Make this side's containers what the other side's have become."""
        for number, data in changes:
            link = self._links.get(number)
            if link is None or type(data) is not bytes:
                if type(number) is int and type(data) is bytes:
                    continue  # ended on this side, which the other does not know yet
                raise MalformedValue("bad changes")
            objects = link.copies.objects
            known = len(objects)
            decoder = Decoder(self._owner, data, 0, objects)
            found = [self._change(decoder, objects, known) for _ in range(decoder.counted(5))]
            if decoder.at != len(data):
                raise MalformedValue("bytes after the changes")
            for value, content in found:
                Copies.change(value, content)
            self._renew(link)

    @staticmethod
    def _change(decoder: Decoder, objects: list[Any], known: int) -> tuple[Any, Any]:
        at = decoder.count()
        if at >= known:
            raise MalformedValue("a change of nothing")
        return objects[at], Copies.read_content(decoder, objects[at])


def _count(objects: list[Any]) -> list[int]:
    return [_references(value) for value in objects]


_ALONE = _count([[]])[0]  # of something that only its place in `objects` refers to
