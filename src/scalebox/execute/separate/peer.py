"""Calls over a socket, in both directions: either side may call back while it serves, so calls nest.

One side speaks at a time. A message is u32 length, u8 kind, u32 number of the call, u8 flags, and a body:

    CALL           [extras] target, u32 count, arguments [, u32 count, (name, value) ...]
    RETURN, RAISE  [extras] [u32 count, (u32 number, new content) ...] value [u32 count, u32 number ...]
    HELLO, FAILED  what came of loading the solution's module

A call's mutable arguments are copies. The side that served it says in its answer which of them have changed and to
what, and the caller changes its own objects in place; and since an answer goes on with the numbers of the call's
containers, a result that is an argument comes back as that very object. Numbers behind the value are those of
containers that the server has kept: from then on they are shared (`links`).

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import os
import struct
import sys
import weakref
from _thread import RLock
from typing import Any, Callable

from scalebox.execute.separate import wire_arrays, wire_frames, wire_read
from scalebox.execute.separate.copies import Copies
from scalebox.execute.separate.links import Links
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.retained import MAX_ITEMS, retained
from scalebox.execute.separate.wire import Encoder, pack_u
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

CALL, RETURN, RAISE, HELLO, FAILED = range(1, 6)
EXTRAS, KEYWORDS, CHANGES, LINKED = 1, 2, 2, 4  # flags; the higher bits of a call's are the subclass's own
HEAD = struct.Struct("<IBIB")
MAX_MESSAGE = 64 << 20
MAX_NESTING = 100
MAX_PROXIES = 500_000
_FRAMES = 8
_CHUNK = 1 << 16
_ATOMS = frozenset([type(None), bool, int, float, complex, str, bytes])
_unpack_head = HEAD.unpack_from
_read, _write = os.read, os.write


class ConnectionBroken(Exception):
    """The other side is gone, or does not keep to the protocol."""


class TooLarge(ValueError):
    """A message over the bound."""


class _Reference(weakref.ref):  # type: ignore[type-arg]
    __slots__ = ("address", "handle")
    address: int
    handle: int


class Proxies:
    """The proxies of the other side's objects, each known by its handle for as long as it lives."""

    def __init__(self) -> None:
        self._by_handle: dict[int, _Reference] = {}
        self._by_address: dict[int, int] = {}
        self.released: list[int] = []
        #: The reference to the newest proxy.
        self.newest: Any = None

    def add(self, handle: int, proxy: Any) -> Any:
        if len(self._by_handle) >= MAX_PROXIES:
            raise MalformedValue("too many objects")
        reference = _Reference(proxy, self._forget)
        reference.handle = handle
        reference.address = id(proxy)
        self.newest = reference
        self._by_handle[handle] = reference
        self._by_address[reference.address] = handle
        if handle in self.released:
            self.released.remove(handle)
        return proxy

    def _forget(self, reference: _Reference) -> None:
        if self._by_handle.get(reference.handle) is reference:
            del self._by_handle[reference.handle]
            self.released.append(reference.handle)
        if self._by_address.get(reference.address) == reference.handle:
            del self._by_address[reference.address]

    def get(self, handle: int) -> Any:
        """Return the living proxy of a handle, or None."""
        reference = self._by_handle.get(handle)
        return None if reference is None else reference()

    def living(self) -> list[Any]:
        """Return all proxies that live."""
        found = [reference() for reference in list(self._by_handle.values())]
        return [proxy for proxy in found if proxy is not None]

    def handle(self, value: Any) -> int | None:
        """Return the handle of a proxy; None for anything else."""
        return self._by_address.get(id(value))


class Exports:
    """This side's objects that the other side holds handles of. Handles are never used twice."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._handles: dict[int, int] = {}
        self._last = 0

    def add(self, value: Any) -> int:
        handle = self._handles.get(id(value))
        if handle is None:
            self._last = handle = self._last + 1
            self._handles[id(value)] = handle
            self._objects[handle] = value
        return handle

    def get(self, handle: int) -> Any:
        """Return the object of a handle. Raises MalformedValue for one not given out, or given back."""
        try:
            return self._objects[handle]
        except KeyError:
            raise MalformedValue("no such object") from None

    def release(self, handle: Any) -> None:
        value = self._objects.pop(handle, self)
        if value is not self:
            self._handles.pop(id(value), None)


class Peer:
    """One end of the connection. A subclass says what travels beside plain data, and what may be called."""

    Ended: type[BaseException] = ConnectionBroken
    #: Sides number their calls each for itself; links of calls that this side has made have numbers of this remainder.
    odd = 0

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.lock = RLock()
        self.proxies = Proxies()
        self.exports = Exports()
        self.nesting = 0
        self.failure: str | None = None  # why the connection is of no more use
        self.guard: Callable[[], None] | None = None  # called before anything is asked of the other side
        self.links = Links(self)
        self.shared = self.links.places
        self.linking = False  # whether the answer that is due is a part of the state, to be linked whatever its size
        self.pending: dict[int, list[Any]] = {}  # containers of calls that this side waits for, by number
        self.under_way: list[tuple[int, Copies]] = []  # calls that this side serves
        self._number = 0

    # --- what the subclass provides -----------------------------------------------------------

    def put_other(self, encoder: Encoder, value: Any) -> None:
        """Write a value that is no plain data."""
        raise NotImplementedError

    def put_raised(self, encoder: Encoder, error: BaseException) -> None:
        raise NotImplementedError

    def read_other(self, decoder: Decoder, tag: int) -> Any:
        raise NotImplementedError

    def read_target(self, decoder: Decoder, flags: int) -> Callable[..., Any]:
        """Read what is called."""
        raise NotImplementedError

    def call_flags(self) -> int:
        return 0

    def extras(self) -> tuple[Any, ...] | None:
        """Return plain data that travels with the next message, if any: releases first."""
        released = self.proxies.released
        if not released:
            return None
        self.proxies.released = []
        return (tuple(released),)

    def take_extras(self, extras: Any) -> None:
        for handle in extras[0]:
            self.exports.release(handle)

    def broken(self, why: str) -> BaseException:
        """Return the exception that says that the connection is of no more use; from now on every use raises one."""
        if self.failure is None:
            self.failure = why
        return self.Ended(self.failure)

    # --- messages -----------------------------------------------------------------------------

    @property
    def requests(self) -> int:
        """How many calls this side has made."""
        return self._number

    def send(self, kind: int, number: int, flags: int, body: bytes) -> None:
        size = len(body) + HEAD.size - 4
        if size > MAX_MESSAGE:
            raise TooLarge("more data than can be carried (%d bytes)" % size)
        data = HEAD.pack(size, kind, number, flags) + body
        try:
            sent = _write(self.fd, data)
            if sent != len(data):
                rest = memoryview(data)[sent:]
                while rest:
                    rest = rest[_write(self.fd, rest) :]
        except OSError:
            raise self.broken("the other side has ended") from None

    def receive(self) -> bytes:
        """Return one whole message, head and all."""
        try:
            data = _read(self.fd, _CHUNK)
            if not data:
                raise self.broken("the other side has ended")
            if len(data) < HEAD.size or len(data) != _unpack_head(data)[0] + 4:
                data = self._receive_rest(data)
        except OSError:
            raise self.broken("the other side has ended") from None
        return data

    def _receive_rest(self, data: bytes) -> bytes:
        parts = bytearray(data)
        size = HEAD.size
        while len(parts) < size:
            chunk = _read(
                self.fd, min(size - len(parts), 1 << 20) if len(parts) >= HEAD.size else HEAD.size - len(parts)
            )
            if not chunk:
                raise self.broken("the other side has ended")
            parts += chunk
            if size == HEAD.size and len(parts) >= HEAD.size:
                size = self._size(parts)
        if size == HEAD.size:
            size = self._size(parts)
            while len(parts) < size:
                chunk = _read(self.fd, min(size - len(parts), 1 << 20))
                if not chunk:
                    raise self.broken("the other side has ended")
                parts += chunk
        if len(parts) != size:
            raise self.broken("two messages where one was due")
        return bytes(parts)

    def _size(self, parts: bytearray) -> int:
        size: int = _unpack_head(parts)[0] + 4
        if not HEAD.size <= size <= MAX_MESSAGE + 4:
            raise self.broken("a message of %d bytes" % size)
        return size

    # --- calling ------------------------------------------------------------------------------

    def call(self, target: bytes, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Have the other side call `target` (its encoding); return what it returns, raise what it raises."""
        if self.guard is not None:
            self.guard()
        with self.lock:
            if self.failure is not None:
                raise self.Ended(self.failure)
            extras = self.extras()  # first, for new containers in shared ones are named in what follows
            encoder = Encoder(self)
            out = encoder.out
            out.append(target)
            out.append(pack_u(len(args)))
            for value in args:
                encoder.put(value)
            flags = self.call_flags()
            if kwargs:
                flags |= KEYWORDS
                out.append(pack_u(len(kwargs)))
                for name, value in kwargs.items():
                    encoder.text(name)
                    encoder.put(value)
            if extras is not None:
                flags |= EXTRAS
                out.insert(0, self._packed(extras))
            self._number = number = (self._number + 1) & 0xFFFFFFFF
            self.send(CALL, number, flags, b"".join(out))
            self.pending[number] = encoder.objects
            data = self._wait(number)
            del self.pending[number]
            return self._result(data, encoder)

    def _packed(self, extras: Any) -> bytes:
        encoder = Encoder(None)
        encoder.put(extras)
        data = b"".join(encoder.out)
        return pack_u(len(data)) + data

    def _wait(self, number: int) -> bytes:
        """Serve calls of the other side until the answer to call `number` is there."""
        try:
            while True:
                data = self.receive()
                _, kind, answered, _ = _unpack_head(data)
                if kind == CALL:
                    self.serve(data)
                elif (kind == RETURN or kind == RAISE) and answered == number:
                    return data
                else:
                    raise self.broken("an answer to no question")
        except BaseException:
            # Also an exception of a signal's handler: the answer is still to come, and nobody would wait for it.
            self.broken("interrupted while it waited for an answer")
            raise

    def _result(self, data: bytes, encoder: Encoder) -> Any:
        objects = encoder.objects
        flags = data[9]
        decoder = Decoder(self, data, HEAD.size, objects)
        known = len(objects)
        try:
            changes = []
            if flags:
                if flags & EXTRAS:
                    self._read_extras(decoder)
                if flags & CHANGES:
                    changes = self._read_changes(decoder, known)
            value = decoder.read()
            kept = [decoder.count() for _ in range(decoder.counted(4))] if flags & LINKED else None
            if decoder.at != len(data):
                raise MalformedValue("bytes after the value")
            for changed, content in changes:
                Copies.change(changed, content)
            if kept is not None:
                self.links.add(2 * _unpack_head(data)[2] + self.odd, Copies([objects[at] for at in kept]))
        except wire_read.ERRORS as error:
            raise self.broken(_why(error)) from error
        if data[4] == RAISE:
            self.throw(value)
        return value

    def throw(self, error: Any) -> None:
        if not isinstance(error, BaseException):
            raise self.broken("something raised that is no exception")
        raise error

    def _read_extras(self, decoder: Decoder) -> None:
        end = decoder.count() + decoder.at
        inner = Decoder(self, decoder.data[decoder.at : end])
        extras = inner.read()
        decoder.at = end
        if type(extras) is not tuple or not extras or inner.at != len(inner.data):
            raise MalformedValue("bad extras")
        self.take_extras(extras)

    def _read_changes(self, decoder: Decoder, known: int) -> list[tuple[Any, Any]]:
        changes = []
        for _ in range(decoder.counted(5)):
            number = decoder.count()
            if number >= known:
                raise MalformedValue("a change of nothing")
            value = decoder.objects[number]
            changes.append((value, Copies.read_content(decoder, value)))
        return changes

    # --- serving ------------------------------------------------------------------------------

    def serve(self, data: bytes) -> None:
        """Answer one call."""
        _, _, number, flags = _unpack_head(data)
        decoder = Decoder(self, data, HEAD.size)
        try:
            target, args, kwargs = self._read_call(decoder, flags)
        except wire_read.ERRORS as error:
            raise self.broken(_why(error)) from error
        copies = Copies(decoder.objects, self.shared) if decoder.objects else None
        if copies is not None:
            copies.watch()
            self.under_way.append((number, copies))
        self.nesting += 1
        deeper = False
        if self.nesting > 1:
            deeper = _deepen(_FRAMES)
        try:
            if self.nesting > MAX_NESTING:
                raise RecursionError("more than %d calls nested between tests and solution" % MAX_NESTING)
            answer = [target(*args, **kwargs)]
            kind = RETURN
        except BaseException as error:
            if self.failure is not None:
                raise self.Ended(self.failure) from None
            answer = [error]
            kind = RAISE
        finally:
            self.nesting -= 1
            if deeper:
                _deepen(-_FRAMES)
        if copies is not None:
            copies.look()
            self.under_way.pop()
        del args, kwargs, target
        self._answer(number, kind, answer, copies)

    def _read_call(self, decoder: Decoder, flags: int) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
        if flags & EXTRAS:
            self._read_extras(decoder)
        target = self.read_target(decoder, flags)
        args = [decoder.read() for _ in range(decoder.counted())]
        kwargs = {}
        if flags & KEYWORDS:
            for _ in range(decoder.counted()):
                name = decoder.text()
                kwargs[name] = decoder.read()
        if decoder.at != len(decoder.data):
            raise MalformedValue("bytes after the arguments")
        return target, args, kwargs

    def _answer(self, number: int, kind: int, answer: list[Any], copies: Copies | None) -> None:
        """Send the only item of `answer`, which nobody else is to hold: references are counted (`retained`)."""
        with self.lock:
            try:
                flags, body = self._body(number, kind, answer, copies)
                self.send(kind, number, flags, body)
            except BaseException as error:
                if self.failure is not None:
                    raise self.Ended(self.failure) from None
                # What cannot be carried is the caller's exception.
                self.links.forget((2 * number + 1 - self.odd,))
                encoder = Encoder(self)
                self.put_raised(encoder, error)
                self.send(RAISE, number, 0, b"".join(encoder.out))
            self.answered()

    def answered(self) -> None:
        """An answer has been sent: it is the other side's turn."""

    def _body(self, number: int, kind: int, answer: list[Any], copies: Copies | None) -> tuple[int, bytes]:
        flags = 0
        extras = self.extras()
        changed = copies.changed(self.shared) if copies is not None else None
        if copies is not None and (changed or type(answer[0]) not in _ATOMS):
            encoder = Encoder(self, copies.objects)
        else:
            encoder = Encoder(self)
        if changed:
            flags |= CHANGES
            encoder.out.append(pack_u(len(changed)))
            for at in changed:
                encoder.out.append(pack_u(at))
                Copies.put_content(encoder, encoder.objects[at])
        if kind == RAISE:
            self.put_raised(encoder, answer[0])
        else:
            encoder.put(answer[0])
            flags |= self._link(number, answer, encoder, copies)
        self.linking = False
        if extras is not None:
            flags |= EXTRAS
            encoder.out.insert(0, self._packed(extras))
        return flags, b"".join(encoder.out)

    def _link(self, number: int, answer: list[Any], encoder: Encoder, copies: Copies | None) -> int:
        """Link the containers of a call that have been kept on this side; return the flag that says so."""
        objects = encoder.objects if copies is None else copies.objects
        if not objects:
            return 0
        kept = retained(objects, copies, answer, self.shared, None if self.linking else MAX_ITEMS)
        if not kept or not self.links.add(2 * number + 1 - self.odd, Copies([objects[at] for at in kept])):
            return 0
        encoder.out += map(pack_u, (len(kept), *kept))
        return LINKED


def _deepen(frames: int) -> bool:
    """Move the interpreter's limit on recursion, so that our own frames between nested calls do not count."""
    try:
        sys.setrecursionlimit(sys.getrecursionlimit() + frames)
    except (RecursionError, ValueError, OverflowError):
        return False
    return True


wire_arrays.register()
wire_frames.register()


def _why(error: BaseException) -> str:
    return str(error)[:200] or type(error).__name__
