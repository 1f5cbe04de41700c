"""Links: containers that tests and solution have in common, the same list on both sides, as far as can be.

`solution_object.items.append(1)` must change the solution's list, and `Logger(lines)` goes on to write into the tests'.
So what one side has kept of a call's containers (`retained`) stays linked to what the other side has: before each
message the sender compares its own with what both sides knew last, and sends what has changed. In messages such a
container is named by its place in the link, so that it is one object on either side. A link lasts for as long as the
tests hold on to one of its containers.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from typing import Any

from scalebox.execute.separate.copies import Copies, is_mutable
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.retained import is_held, unheld
from scalebox.execute.separate.wire import Encoder, pack_u
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

_MAX_LINKS = 64
#: Links of the arguments of calls under way have numbers from here on.
UNDER_WAY = 1 << 40


class _Link:
    __slots__ = ("alone", "copies")

    def __init__(self, copies: Copies) -> None:
        self.copies = copies
        self.alone: list[int] | None = None  # references to each container while nobody but us has it, once counted


class Links:
    """The links of one side, by the number of the call that made them."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._links: dict[int, _Link] = {}
        self._dropped: list[int] = []
        #: Address of a linked container -> (number of its link, its number there).
        self.places: dict[int, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._links or self._dropped)

    def add(self, number: int, copies: Copies) -> bool:
        """Link containers, of which both sides know what they were copied as; tell whether there is any to link."""
        link = _Link(copies)
        if not link.copies.mutable:
            return False
        self._links[number] = link
        self._place(number, copies.objects, 0)
        if len(self._links) > _MAX_LINKS:
            self._drop(next(iter(self._links)))
        return True

    def find(self, number: int, at: int) -> Any:
        """Return a container by its place."""
        link = self._links.get(number)
        if link is None or at >= len(link.copies.objects):
            raise MalformedValue("a container that is not shared")
        return link.copies.objects[at]

    def _place(self, number: int, objects: list[Any], start: int) -> None:
        for at in range(start, len(objects)):
            if is_mutable(objects[at]):
                self.places.setdefault(id(objects[at]), (number, at))

    def _remove(self, number: int) -> None:
        link = self._links.pop(number, None)
        for value in link.copies.objects if link is not None else ():
            if self.places.get(id(value), (None,))[0] == number:
                del self.places[id(value)]

    def _drop(self, number: int) -> None:
        self._remove(number)
        self._dropped.append(number)

    def forget(self, numbers: Any) -> None:
        for number in numbers:
            self._remove(number)

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
                found.append((number, self._pack(number, link, changed)))
        return tuple(found)

    def drop_unheld(self) -> None:
        """End the links of which nobody else holds a container any more."""
        for number, link in list(self._links.items()):
            objects = link.copies.objects
            if link.alone is None:
                link.alone = unheld(objects, link.copies)
            if not is_held(objects, link.alone):
                self._drop(number)

    def _pack(self, number: int, link: _Link, changed: list[int]) -> bytes:
        objects = link.copies.objects
        known = len(objects)
        encoder = Encoder(self._owner, objects)
        encoder.out.append(pack_u(len(changed)))
        whole = []
        for at in changed:
            encoder.out.append(pack_u(at))
            if Copies.is_whole(objects[at]):
                whole.append(len(objects))
            Copies.put_content(encoder, objects[at])
        self._renew(number, link, known, whole)
        return b"".join(encoder.out)

    def _renew(self, number: int, link: _Link, known: int, whole: list[int]) -> None:
        """Take what the containers hold now for what both sides know. At `whole` are copies that nobody needs."""
        objects = link.copies.objects
        for at in whole:
            objects[at] = None
        link.copies, link.alone = Copies(objects), None
        self._place(number, objects, known)

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
            whole: list[int] = []
            found = [self._change(decoder, objects, known, whole) for _ in range(decoder.counted(5))]
            if decoder.at != len(data):
                raise MalformedValue("bytes after the changes")
            for value, content in found:
                Copies.change(value, content)
            self._renew(number, link, known, whole)

    @staticmethod
    def _change(decoder: Decoder, objects: list[Any], known: int, whole: list[int]) -> tuple[Any, Any]:
        at = decoder.count()
        if at >= known:
            raise MalformedValue("a change of nothing")
        if Copies.is_whole(objects[at]):
            whole.append(len(objects))
        return objects[at], Copies.read_content(decoder, objects[at])
