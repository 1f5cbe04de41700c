"""The tests' end of the connection: what of the tests' side travels, and what becomes of what arrives.

Every byte that arrives may have been made up by the solution.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import builtins
import sys
from types import FunctionType
from typing import Any, Callable

from scalebox.execute.separate import errors, names, shapes, wire, wire_library
from scalebox.execute.separate.copies import Copies
from scalebox.execute.separate.links import UNDER_WAY
from scalebox.execute.separate.names import CALLBACKS, VERBS
from scalebox.execute.separate.peer import Exports, Peer
from scalebox.execute.separate.remote_async import Awaiting
from scalebox.execute.separate.remote_exports import Policy
from scalebox.execute.separate.remote_functions import DESCRIBED, WORTH_ASKING, dress, make_function
from scalebox.execute.separate.remote_objects import Bridge, RemoteObject, RemoteType, make_instance
from scalebox.execute.separate.wire import Encoder, pack_id
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

STDOUT, STDERR, STDIN, INPUT, PRINT = (
    4,
    8,
    16,
    32,
    64,
)  # flags of a call: what the test code has put in place of the real one
_input, _print = builtins.input, builtins.print
_VERB_TARGETS = {name: b"v" + bytes([number]) for name, number in VERBS.items()}


class SolutionEnded(BaseException):
    """The solution's process is gone, or broke the protocol or its bounds.

    No `Exception`, so that tests that catch those do not take it for one of the solution's. Every later use raises it
    again.
    """


class _Handle:
    """A bare handle, on its way back to the side that owns it."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        self.handle = handle


class TestsPeer(Peer):
    """Adds proxies for what belongs to the solution, and exports what the tests hand over."""

    __test__ = False
    Ended = SolutionEnded

    def __init__(self, fd: int, own_modules: set[str]) -> None:
        super().__init__(fd)
        self.bridge = Bridge(self)
        self.policy = Policy(own_modules)
        self.own_errors = errors.Own()
        self.aliases = errors.Aliases()
        self._kinds = Exports()  # classes of exported objects: known by these numbers, and never called
        self._callable: set[int] = set()
        self._named: dict[tuple[str, str], Any] = {}  # what the solution has been told by name
        self.awaiting = Awaiting(self)
        self._real = (sys.__stdout__, sys.__stderr__, sys.__stdin__)
        self._asked = 0  # flags of the call under way
        self._verbs: dict[int, Callable[..., Any]] = {
            CALLBACKS["describe"]: self._describe,
            CALLBACKS["getattr"]: self.policy.getattr,
            CALLBACKS["setattr"]: self.policy.setattr,
            CALLBACKS["delattr"]: self.policy.delattr,
            CALLBACKS["operate"]: self.policy.operate,
            CALLBACKS["input"]: self._input,
            CALLBACKS["print"]: self._print,
            CALLBACKS["read_input"]: self._read_input,
            CALLBACKS["start_task"]: self.awaiting.lend,
        }

    # --- asking -------------------------------------------------------------------------------

    def verb(self, name: str, *args: Any) -> Any:
        return self.call(_VERB_TARGETS[name], args)

    def verb_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.call(_VERB_TARGETS[name], args, kwargs)

    def verb_on(self, name: str, handle: int) -> Any:
        return self.call(_VERB_TARGETS[name], (_Handle(handle),))

    def call_flags(self) -> int:
        flags = 0
        real = self._real
        if sys.stdout is not real[0]:
            flags = STDOUT
        if sys.stderr is not real[1]:
            flags |= STDERR
        if sys.stdin is not real[2]:
            flags |= STDIN
        if builtins.input is not _input:
            flags |= INPUT
        if builtins.print is not _print:
            flags |= PRINT
        self._asked = flags
        return flags

    def extras(self) -> tuple[Any, ...] | None:
        links = self.links
        if not links and not self.proxies.released:
            return None
        changes = links.changes()
        links.drop_unheld()
        released = super().extras() or ((),)
        return (*released, changes, links.dropped())

    def take_extras(self, extras: Any) -> None:
        super().take_extras(extras)
        self._callable.difference_update(extras[0])
        for number in extras[3]:
            if number not in self.pending:
                raise MalformedValue("a call that is not under way")
            self.links.add(UNDER_WAY + 2 * number + self.odd, Copies(list(self.pending[number])))
        self.links.take(extras[2])
        for stream, text in extras[1]:
            if type(text) is not str:
                raise MalformedValue("output that is no text")
            if stream == 1 and self._asked & STDOUT:
                _write(sys.stdout, text)
            elif stream == 2 and self._asked & STDERR:
                _write(sys.stderr, text)

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
            return
        self.put_object(encoder, value)

    def put_object(self, encoder: Encoder, value: Any) -> None:
        """Write something that is no plain data."""
        member = self.bridge.members.get(id(value))
        if member is not None:
            encoder.out.append(b"o" + pack_id(member[1]))
        elif isinstance(value, tuple) and hasattr(type(value), "_fields"):
            encoder.out.append(b"n")
            self._put_class(encoder, type(value))
            wire.put_frozen(encoder, value, b"t")
        elif isinstance(value, BaseException):
            self.put_raised(encoder, value)
        elif isinstance(value, type):
            self._put_class(encoder, value)
        elif not self._put_base(encoder, value):
            named = self.policy.named(value) if self.policy.is_callable(value) else None
            if named is not None:
                self._named[named] = value
                _put_named(encoder, named)
            elif self.policy.is_callable(value):
                self._put_callable(encoder, value)
            else:
                self._put_object_of(encoder, value)

    def _put_base(self, encoder: Encoder, value: Any) -> bool:
        """Write an object of a class derived from a type of plain data as that: the methods stay here."""
        base: Any
        for base in (int, float, str, bytes, list, dict, set, frozenset, tuple):
            if isinstance(value, base) and not isinstance(value, RemoteObject) and type(value) is not bool:
                plain = base.__new__(base, value) if base not in (list, dict, set) else _copied(base, value)
                encoder.put(plain)
                return True
        return False

    def _put_class(self, encoder: Encoder, kind: Any) -> None:
        handle = self.proxies.handle(kind)
        shared = names.shared_class(kind) if handle is None else None
        if handle is not None:
            encoder.out.append(b"o" + pack_id(handle))
        elif shared is not None:
            _put_named(encoder, shared)
        elif issubclass(kind, BaseException) or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            encoder.out.append(b"C" + pack_id(self.exports.add(kind)))
        else:
            named = self.policy.named(kind)
            if named is not None:
                self._named[named] = kind
                _put_named(encoder, named)
            else:
                self._put_callable(encoder, kind)

    def _put_callable(self, encoder: Encoder, value: Any) -> None:
        handle = self.exports.add(value)
        self._callable.add(handle)
        name = getattr(value, "__name__", "")
        described = shapes.describe(value)
        encoder.out.append(b"m" + pack_id(handle) + bytes([_flags(value) | (DESCRIBED if described else 0)]))
        encoder.text(name if type(name) is str else "")
        if described is not None:
            encoder.put(described)

    def _put_object_of(self, encoder: Encoder, value: Any) -> None:
        encoder.out.append(b"h" + pack_id(self.exports.add(value)) + pack_id(self._kinds.add(type(value))))

    def put_raised(self, encoder: Encoder, error: BaseException) -> None:
        handle = self.proxies.handle(error)
        if handle is not None:
            encoder.out.append(b"o" + pack_id(handle))
            return
        own = self.own_errors.add(error)
        errors.put(encoder, error, type(error), own, 0, None)

    # --- reading ------------------------------------------------------------------------------

    def read_target(self, decoder: Decoder, flags: int) -> Callable[..., Any]:
        tag = decoder.byte()
        if tag == ord("v"):
            return self._verbs[decoder.byte()]
        if tag != ord("o"):
            raise MalformedValue("a call of nothing")
        handle = decoder.id()
        if handle not in self._callable:
            raise MalformedValue("a call of something that was not handed over to be called")
        target: Callable[..., Any] = self.exports.get(handle)
        return target

    def read_other(self, decoder: Decoder, tag: int) -> Any:
        reader = _READERS.get(tag)
        if reader is None:
            raise MalformedValue("unknown tag %d" % tag)
        return reader(self, decoder)

    def _read_object(self, decoder: Decoder) -> Any:
        handle = decoder.id()
        cls = self.bridge.class_for(decoder.id())
        known = self.proxies.get(handle)
        if known is not None:
            if isinstance(known, RemoteObject):
                self.bridge.returned(known)
            return known
        if not issubclass(cls, RemoteObject):
            raise MalformedValue("an object of a class that has none")
        return self.proxies.add(handle, make_instance(cls))

    def _read_class(self, decoder: Decoder) -> Any:
        handle = decoder.id()
        self.bridge.class_delivered(handle)
        return self.bridge.class_for(handle)

    def _read_function(self, decoder: Decoder) -> Any:
        handle = decoder.id()
        flags = decoder.byte()
        name = decoder.text()
        known = self.proxies.get(handle)
        if known is not None:
            return known
        made = self.proxies.add(handle, make_function(self, handle, flags, name))
        if flags & WORTH_ASKING:
            dress(made, self.verb("describe_function", made))
        return made

    def _read_own(self, decoder: Decoder) -> Any:
        return self.exports.get(decoder.id())

    def _read_named(self, decoder: Decoder) -> Any:
        module, name = decoder.text(), decoder.text()
        found = self._named.get((module, name)) or names.find_class(module, name)
        if found is None:
            raise MalformedValue("a class that is not shared")
        return found

    def _read_tuple(self, decoder: Decoder) -> Any:
        kind = decoder.read()
        if not isinstance(kind, type) or not issubclass(kind, tuple) or not hasattr(kind, "_fields"):
            raise MalformedValue("no class of named tuples")
        if decoder.byte() != ord("t"):
            decoder.at -= 1
            return decoder.read()
        items = decoder.items_into([])
        if len(items) != len(kind._fields):
            raise MalformedValue("a named tuple of another length")
        value = tuple.__new__(kind, items)
        decoder.objects.append(value)
        return value

    def _read_error(self, decoder: Decoder) -> Any:
        parts = errors.Read(decoder)
        if parts.own:
            own = self.own_errors.get(parts.own)
            if own is not None:
                return own
        known = self.proxies.get(parts.handle) if parts.handle else None
        if known is not None:
            return known
        parts.kind = self.aliases.raised(parts.kind)
        error = errors.make(parts)
        vars(error).update(scalebox_remote=True, scalebox_traceback=parts.trace if type(parts.trace) is str else "")
        if isinstance(type(error), RemoteType):
            vars(error)["scalebox_text"] = parts.text
            if parts.handle:
                self.proxies.add(parts.handle, error)
        return error

    # --- what the solution may ask for --------------------------------------------------------

    def _describe(self, value: Any) -> Any:
        if isinstance(value, type):
            fields = getattr(value, "_fields", None) if issubclass(value, tuple) else None
            bases = tuple([base for base in value.__bases__ if issubclass(base, BaseException)])
            return (value.__name__, fields, bases)
        return self.policy.describe(value)

    def _input(self, prompt: Any = "") -> Any:
        return str(builtins.input(*([prompt] if prompt != "" else [])))

    def _print(self, *args: Any, **kwargs: Any) -> None:
        builtins.print(*args, **{name: value for name, value in kwargs.items() if name in ("sep", "end", "flush")})

    def _read_input(self, how: Any, size: Any) -> Any:
        if how not in ("read", "readline") or type(size) is not int:
            raise TypeError("no way to read the input")
        stream: Any = sys.stdin
        return str(stream.read(size) if how == "read" else stream.readline(size) if size >= 0 else stream.readline())


def _flags(value: Any) -> int:
    """Return what is to be known of a callable: 1 makes coroutines, 2 generators, 4 asynchronous generators."""
    code = value.__code__.co_flags if isinstance(value, FunctionType) else 0
    return (1 if code & 0x80 else 0) | (2 if code & 0x20 else 0) | (4 if code & 0x200 else 0)


def _put_named(encoder: Encoder, named: tuple[str, str]) -> None:
    encoder.out.append(b"g")
    encoder.text(named[0])
    encoder.text(named[1])


def _copied(base: Any, value: Any) -> Any:
    return (
        dict(dict.items(value))
        if base is dict
        else list(list.__iter__(value))
        if base is list
        else set(set.__iter__(value))
    )


def _write(stream: Any, text: str) -> None:
    try:
        stream.write(text)
    except Exception:  # noqa: S110 - what stands in for the output does not take it
        pass


_READERS: dict[int, Callable[[TestsPeer, Decoder], Any]] = {
    ord("h"): TestsPeer._read_object,
    ord("C"): TestsPeer._read_class,
    ord("m"): TestsPeer._read_function,
    ord("o"): TestsPeer._read_own,
    ord("g"): TestsPeer._read_named,
    ord("n"): TestsPeer._read_tuple,
    ord("e"): TestsPeer._read_error,
}
