"""The solution's end of the connection: runs the program's module, then answers the tests' calls until they hang up.

The program shares this process and may do to it what it likes; it harms nobody but itself. Still its ordinary pranks
(replaced builtins, replaced streams) change nothing here: all that is used is bound before the program runs.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import builtins
import os
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable

from scalebox.execute.separate import (
    errors,
    exported,
    names,
    operations,
    serve_content,
    serve_describe,
    wire,
    wire_library,
)
from scalebox.execute.separate.copies import is_mutable
from scalebox.execute.separate.links import UNDER_WAY
from scalebox.execute.separate.names import CALLBACKS, VERBS
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.peer import CALL, FAILED, HELLO, ConnectionBroken, Peer
from scalebox.execute.separate.remote_functions import DESCRIBED, WORTH_ASKING, make_function
from scalebox.execute.separate.retained import few
from scalebox.execute.separate.serve_async import Tasks
from scalebox.execute.separate.shapes import make_stand_in
from scalebox.execute.separate.wire import Encoder, pack_id
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

STDOUT, STDERR, STDIN, INPUT, PRINT = 4, 8, 16, 32, 64
_REDIRECTED = STDOUT | STDERR | STDIN | INPUT | PRINT
_MAX_NAMES = 10_000
_MAX_MESSAGE = 2_000
_MAX_SHARED = 200  # items of a call's containers that are compared for each call-back
_OWN = "_scalebox_own"  # where an exception of the tests keeps its number
_GET_ITEM = operations.NUMBERS["__getitem__"]
_getpid = os.getpid
_exit = os._exit
_callback = {name: b"v" + bytes([number]) for name, number in CALLBACKS.items()}


class _Handle:
    """A bare handle, on its way back to the side that owns it."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        self.handle = handle


class SolutionPeer(Peer):
    """Adds handles for the program's objects, and stand-ins for those of the tests."""

    odd = 1

    def __init__(self, fd: int, namespace: dict[str, Any]) -> None:
        super().__init__(fd)
        self.namespace = namespace
        self.written: list[tuple[int, str]] = []
        self._opened: list[int] = []  # calls under way whose containers are shared from the next message on
        self._pid = _getpid()
        self._tuples: dict[Any, bool] = {}
        self._kinds: dict[int, Any] = {}
        self._mirrors: dict[int, Any] = {}
        self._named: dict[int, tuple[Any, str, str]] = {}  # functions that came by name, and go back by it
        self._patched: dict[tuple[str, str], Any] = {}
        self.tasks = Tasks(self)
        self._verbs: dict[int, Callable[..., Any]] = {
            VERBS[name]: getattr(self, "_" + name) for name in VERBS if hasattr(self, "_" + name)
        }
        self._streams = {
            STDOUT: exported.ForwardedOutput(self.written, 1),
            STDERR: exported.ForwardedOutput(self.written, 2),
            STDIN: exported.ForwardedInput(self),
        }

    # --- calling the tests --------------------------------------------------------------------

    def verb(self, name: str, *args: Any) -> Any:
        return self.call(_callback[name], args)

    def verb_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.call(_callback[name], args, kwargs)

    def call(self, target: bytes, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        with self.lock:
            if not self.nesting or _getpid() != self._pid:
                raise RuntimeError("the tests can only be called while they wait for a result")
            self._open()
            return super().call(target, args, kwargs)

    def _open(self) -> None:
        """Share the containers of the calls under way with the tests, whose code may look at them before it returns."""
        for number, copies in self.under_way:
            key = UNDER_WAY + 2 * number + 1 - self.odd
            new = copies.mutable and any(id(value) not in self.shared for value in copies.objects if is_mutable(value))
            if new and few(copies.objects, _MAX_SHARED) and self.links.add(key, copies.again()):
                self._opened.append(number)

    def extras(self) -> tuple[Any, ...] | None:
        released, written = self.proxies.released, self.written
        changes = self.links.changes() if self.links else ()
        if not released and not written and not changes and not self._opened:
            return None
        self.proxies.released = []
        extras = (tuple(released), tuple(written), changes, tuple(self._opened))
        written.clear()
        self._opened.clear()
        return extras

    def take_extras(self, extras: Any) -> None:
        # Before anything is released: what has changed may name what nobody over there holds any more.
        self.links.take(extras[1])
        self.links.forget(extras[2])
        super().take_extras(extras)

    def _answer(self, number: int, kind: int, answer: list[Any], copies: Any) -> None:
        if _getpid() != self._pid:
            _exit(1)  # a child that the program forked has come back from its function
        super()._answer(number, kind, answer, copies)

    # --- writing ------------------------------------------------------------------------------

    def put_other(self, encoder: Encoder, value: Any) -> None:
        handle = self.proxies.handle(value)
        if handle is not None:
            encoder.out.append(b"o" + pack_id(handle))
            return
        kind = type(value)
        if kind is _Handle:
            encoder.out.append(b"o" + pack_id(value.handle))
            return
        writer = wire_library.writer_for(kind)
        if writer is not None:
            writer(encoder, value)
        else:
            self.put_object(encoder, value)

    def put_object(self, encoder: Encoder, value: Any) -> None:
        """Write something that is no plain data."""
        kind = type(value)
        named = self._named.get(id(value))
        if named is not None:
            _put_named(encoder, *named[1:])
        elif kind is FunctionType and not serve_describe.keeps_attributes(value):
            self._put_function(encoder, value)
        elif issubclass(kind, type):
            self._put_class(encoder, value)
        elif issubclass(kind, BaseException):
            self.put_raised(encoder, value)
        elif issubclass(kind, tuple) and self._is_tuple(kind):
            encoder.out.append(b"n")
            encoder.put(kind)
            wire.put_frozen(encoder, value, b"t")
        else:
            encoder.out.append(b"h" + pack_id(self.exports.add(value)) + pack_id(self.exports.add(kind)))

    def _is_tuple(self, kind: Any) -> bool:
        known = self._tuples.get(kind)
        if known is None:
            known = self._tuples[kind] = serve_describe.tuple_fields(kind) is not None
        return known

    def _put_class(self, encoder: Encoder, kind: Any) -> None:
        shared = names.shared_class(kind)
        if shared is None:
            encoder.out.append(b"C" + pack_id(self.exports.add(kind)))
        else:
            _put_named(encoder, *shared)

    def _put_function(self, encoder: Encoder, value: Any) -> None:
        code = value.__code__.co_flags
        flags = (1 if code & 0x80 else 0) | (2 if code & 0x20 else 0) | (4 if code & 0x200 else 0)
        if value.__doc__ is not None or vars(value):
            flags |= WORTH_ASKING
        encoder.out.append(b"m" + pack_id(self.exports.add(value)) + bytes([flags]))
        name = value.__name__
        encoder.text(name[:200])

    def put_raised(self, encoder: Encoder, error: BaseException) -> None:
        kind: Any = type(error)
        own = BaseException.__dict__["__dict__"].__get__(error).get(_OWN)
        handle = 0 if own or names.shared_class(kind) is not None else self.exports.add(error)
        errors.put(encoder, error, kind, handle, own or 0, errors.trace_of(error))

    # --- reading ------------------------------------------------------------------------------

    def read_target(self, decoder: Decoder, flags: int) -> Callable[..., Any]:
        tag = decoder.byte()
        if tag == 118:  # v
            target: Callable[..., Any] = self._verbs[decoder.byte()]
        elif tag == 111:  # o
            target = self.exports.get(decoder.id())
        else:
            raise MalformedValue("a call of nothing")
        return self._redirected(target, flags) if flags & _REDIRECTED else target

    def _redirected(self, target: Callable[..., Any], flags: int) -> Callable[..., Any]:
        """Return a call of `target` with the tests' streams in the place of the program's."""

        def call(*args: Any, **kwargs: Any) -> Any:
            before = sys.stdout, sys.stderr, sys.stdin, builtins.input, builtins.print
            if flags & STDOUT:
                sys.stdout = self._streams[STDOUT]
            if flags & STDERR:
                sys.stderr = self._streams[STDERR]
            if flags & STDIN:
                sys.stdin = self._streams[STDIN]
            if flags & INPUT:
                builtins.input = lambda prompt="": self.verb("input", prompt)
            if flags & PRINT:
                builtins.print = lambda *args, **kwargs: self.verb_call("print", args, kwargs)
            try:
                return target(*args, **kwargs)
            finally:
                sys.stdout, sys.stderr, sys.stdin, builtins.input, builtins.print = before

        return call

    def read_other(self, decoder: Decoder, tag: int) -> Any:
        reader = _READERS.get(tag)
        if reader is None:
            raise MalformedValue("unknown tag %d" % tag)
        return reader(self, decoder)

    def _read_own(self, decoder: Decoder) -> Any:
        return self.exports.get(decoder.id())

    def _read_named(self, decoder: Decoder) -> Any:
        module, name = decoder.text(), decoder.text()
        names.import_module(module)
        found = names.look_up(module, name)
        if found is None:
            raise MalformedValue("no such name")
        if not isinstance(found, type) or names.shared_class(found) is None:
            self._named[id(found)] = (found, module, name)
        return found

    def _read_function(self, decoder: Decoder) -> Any:
        handle, flags, name = decoder.id(), decoder.byte(), decoder.text()
        described = decoder.read() if flags & DESCRIBED else None
        known = self.proxies.get(handle)
        if known is not None:
            return known
        if described is None:
            return self.proxies.add(handle, make_function(self, handle, flags, name))
        return self.proxies.add(handle, make_stand_in(self, handle, flags, name, described))

    def _read_object(self, decoder: Decoder) -> Any:
        handle, number = decoder.id(), decoder.id()
        known = self.proxies.get(handle)
        if known is not None:
            return known
        kind = self._kinds.get(number)
        if kind is None:
            kind = self._kinds[number] = exported.build_class(self, self._ask("describe", handle))
        return self.proxies.add(handle, object.__new__(kind))

    def _ask(self, name: str, handle: int) -> Any:
        # While arguments are read, the call that they belong to has not begun to count.
        self.nesting += 1
        try:
            return self.verb(name, _Handle(handle))
        finally:
            self.nesting -= 1

    def _read_mirror(self, decoder: Decoder) -> Any:
        handle = decoder.id()
        kind = self._mirrors.get(handle)
        if kind is None:
            name, fields, bases = self._ask("describe", handle)
            kind = exported.mirror_error(self, name, bases) if fields is None else exported.mirror_tuple(name, fields)
            self._mirrors[handle] = self.proxies.add(handle, kind)
        return kind

    def _read_tuple(self, decoder: Decoder) -> Any:
        kind = decoder.read()
        if decoder.byte() != 116:  # t
            decoder.at -= 1
            return decoder.read()
        value = tuple.__new__(kind, decoder.items_into([]))
        decoder.objects.append(value)
        return value

    def _read_error(self, decoder: Decoder) -> Any:
        parts = errors.Read(decoder)
        error = errors.make(parts)
        BaseException.__dict__["__dict__"].__get__(error)[_OWN] = parts.handle
        return error

    # --- what the tests may ask for -----------------------------------------------------------

    def _get_name(self, name: str) -> Any:
        value = self.namespace[name]
        self.linking = True
        if isinstance(value, ModuleType):
            return ("module", value.__name__)
        local = serve_describe.local_name(name, value)
        return ("value", value) if local is None else ("local", *local)

    def _set_name(self, name: str, value: Any) -> None:
        self.namespace[name] = value

    def _delete_name(self, name: str) -> None:
        del self.namespace[name]

    def _describe(self, kind: Any) -> Any:
        return serve_describe.describe_class(kind, self.exports.add)

    def _describe_function(self, function: Any) -> Any:
        return serve_describe.describe_function(function)

    def _getattr(self, value: Any, name: str) -> Any:
        self.linking = True
        return getattr(value, name)

    def _setattr(self, value: Any, name: str, new: Any) -> None:
        setattr(value, name, new)

    def _delattr(self, value: Any, name: str) -> None:
        delattr(value, name)

    def _method(self, value: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(value, name)(*args, **kwargs)

    def _operate(self, number: int, value: Any, /, *args: Any, **kwargs: Any) -> Any:
        if number == _GET_ITEM:
            self.linking = True
        return operations.FUNCTIONS[number](value, *args, **kwargs)

    def _content(self, value: Any) -> Any:
        return serve_content.content(value)

    def _drain(self, iterator: Any) -> Any:
        return serve_content.drain(iterator)

    def _variables(self, value: Any) -> Any:
        found = getattr(value, "__dict__", None)
        return None if found is None else dict(found)

    def _seed(self, module: str, /, *args: Any, **kwargs: Any) -> None:
        found: Any = names.import_module(module)
        found.seed(*args, **kwargs)

    def _patch(self, module: str, name: str, value: Any) -> None:
        found = names.import_module(module)
        self._patched.setdefault((module, name), vars(found).get(name, self))
        setattr(found, name, value)

    def _restore(self, module: str, name: str) -> None:
        original = self._patched.pop((module, name), self)
        if original is not self:
            setattr(names.import_module(module), name, original)

    def _start_task(self, awaitable: Any) -> int:
        return self.tasks.start(awaitable)

    def _cancel_task(self, number: int) -> None:
        self.tasks.cancel(number)

    def _pump(self, patience: float, finished: Any) -> Any:
        return self.tasks.pump(patience, finished)


def _put_named(encoder: Encoder, module: str, name: str) -> None:
    encoder.out.append(b"g")
    encoder.text(module)
    encoder.text(name)


_READERS: dict[int, Callable[[SolutionPeer, Decoder], Any]] = {
    ord("o"): SolutionPeer._read_own,
    ord("g"): SolutionPeer._read_named,
    ord("m"): SolutionPeer._read_function,
    ord("h"): SolutionPeer._read_object,
    ord("C"): SolutionPeer._read_mirror,
    ord("n"): SolutionPeer._read_tuple,
    ord("e"): SolutionPeer._read_error,
}


def serve(fd: int, code: CodeType, namespace: dict[str, Any]) -> int:
    """Run the program's module in `namespace`, then answer calls until the tests hang up; return the exit status."""
    peer = SolutionPeer(fd, namespace)
    pid = _getpid()
    namespace.setdefault("__builtins__", builtins)
    failure = _run(code, namespace)
    if _getpid() != pid:
        _exit(1)  # a child that the program forked has come to the end of the module
    try:
        if failure is not None:
            peer.send(FAILED, 0, 0, _plain(failure))
            return 1
        known = [name for name in namespace if type(name) is str and not name.startswith("__")]
        peer.send(HELLO, 0, 0, _plain(tuple(known[:_MAX_NAMES])))
        while True:
            data = peer.receive()
            if data[4] != CALL:
                return 1
            peer.serve(data)
    except ConnectionBroken:
        return 0


def _run(code: CodeType, namespace: dict[str, Any]) -> tuple[str, str, str] | None:
    try:
        exec(code, namespace)  # noqa: S102 - this is the program under test, in its jail
    except SystemExit as error:
        return (
            "exited",
            "the program exited (%s)" % errors.shown(error.code)[:_MAX_MESSAGE],
            errors.trace_of(error),
        )
    except BaseException as error:
        text = "%s: %s" % (names.class_name(type(error)), errors.shown(error, str))
        return ("raised", text[:_MAX_MESSAGE], errors.trace_of(error))
    return None


def _plain(value: Any) -> bytes:
    encoder = Encoder(None)
    encoder.put(value)
    return b"".join(encoder.out)
