"""Exceptions on the wire: class, arguments, and what else a test may look at.

    e   u64 handle of an exception of the sender's (0: it stays without one), u64 number of one of the receiver's own
        that has come back (0: none), class, arguments, text, attributes, trace, what goes with it: None, or (cause,
        context, whether that is not to be shown, notes)

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Callable

from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.wire import Encoder, pack_id
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

TAG = b"e"
_MAX_TEXT = 2_000
_MAX_FRAMES = 20
_MAX_OWN = 256
_MAX_NESTED = 8
_LONG = 200_000  # characters of an argument that is shown instead of carried
#: What an exception keeps beside its arguments and its dictionary.
_FIELDS: list[tuple[type, tuple[str, ...]]] = [
    (OSError, ("filename", "filename2")),
    (ImportError, ("name", "path")),
    (SyntaxError, ("filename", "lineno", "offset", "text")),
]


class Own:
    """This side's exceptions that have passed through the other side: the newest few, by number."""

    def __init__(self) -> None:
        self._errors: OrderedDict[int, BaseException] = OrderedDict()
        self._last = 0

    def add(self, error: BaseException) -> int:
        for number, known in self._errors.items():
            if known is error:
                return number
        self._last += 1
        self._errors[self._last] = error
        if len(self._errors) > _MAX_OWN:
            self._errors.popitem(last=False)
        return self._last

    def get(self, number: int) -> BaseException | None:
        return self._errors.get(number)


#: Builtin exceptions that a failed assertion of the tests is one of.
_CATCH_ALL: tuple[Any, ...] = (BaseException, Exception, AssertionError)


class _Alias(type):
    """The kind of the classes that stand for builtin ones: equal to those, as data."""

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.__bases__[0]

    def __hash__(cls) -> int:
        return hash(cls.__bases__[0])


class Aliases:
    """What the tests get where the solution says that an exception of its own is one of `_CATCH_ALL`.

    `except Invalid:` is to catch what the solution raises, and not the `raise AssertionError("nothing was raised")`
    before it, whatever `Invalid` is. So the name stands for a class of its own below the builtin one, and once it has
    been handed out, what the solution raises of the builtin one is of that class.
    """

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}

    def of(self, value: Any) -> Any:
        """Return what stands for `value`, a name's or attribute's, or one in a tuple of classes; else `value`."""
        if type(value) is tuple:
            parts = [self.of(item) for item in value]
            return value if all(new is old for new, old in zip(parts, value)) else tuple(parts)
        for kind in _CATCH_ALL:
            if value is kind:
                if kind not in self._made:
                    self._made[kind] = _Alias(kind.__name__, (kind,), {"__module__": "builtins"})
                return self._made[kind]
        return value

    def raised(self, kind: Any) -> Any:
        """Return the class of an exception that the solution raised as one of `kind`."""
        return self._made.get(kind, kind)


def shown(value: Any, how: Callable[[Any], str] = repr) -> str:
    """Return a text for a value that may not want to have one."""
    try:
        text = how(value)
        return text[:_LONG] if type(text) is str else "<%s object>" % type(value).__name__
    except BaseException:
        return "<%s object>" % type(value).__name__


def put(encoder: Encoder, error: BaseException, kind: type, handle: int, own: int, trace: str | None) -> None:
    """Write an exception as one of class `kind`; one that is inside of itself, or of too many, as a text."""
    if len(encoder.errors) >= _MAX_NESTED or any(error is other for other in encoder.errors):
        encoder.put(shown(error))
        return
    encoder.errors.append(error)
    _put_parts(encoder, error, kind, handle, own, trace)
    encoder.errors.pop()


def _put_parts(encoder: Encoder, error: BaseException, kind: type, handle: int, own: int, trace: str | None) -> None:
    encoder.out.append(TAG + pack_id(handle) + pack_id(own))
    encoder.put(kind)
    arguments = list(_args_of(error))
    encoder.out.append(b"l" + len(arguments).to_bytes(4, "little"))
    encoder.number(arguments)
    for argument in arguments:
        encoder.put_or(argument, shown)
    encoder.put(shown(error, str)[:_LONG] if handle else None)
    encoder.put_or(_attributes(error), lambda value: {name: shown(item) for name, item in value.items()})
    encoder.put(trace)
    encoder.put_or(_company(error), lambda value: None)


def _company(error: BaseException) -> tuple[Any, ...] | None:
    """Return (cause, context, whether that is not to be shown, notes), or None where there is nothing to tell."""
    notes = BaseException.__dict__["__dict__"].__get__(error).get("__notes__")
    lines = [line for line in notes if type(line) is str] if type(notes) is list else None
    found = (error.__cause__, error.__context__, error.__suppress_context__, lines)
    return None if found == (None, None, False, None) else found


def _args_of(error: BaseException) -> tuple[Any, ...]:
    found = BaseException.__dict__["args"].__get__(error)
    return found if type(found) is tuple else ()


def _attributes(error: BaseException) -> dict[str, Any]:
    found = {}
    for kind, names in _FIELDS:
        if isinstance(error, kind):
            found.update({name: getattr(error, name, None) for name in names})
    members = BaseException.__dict__["__dict__"].__get__(error)
    found.update({name: value for name, value in members.items() if type(name) is str and not name.startswith("_")})
    for name in ("scalebox_remote", "scalebox_text", "scalebox_traceback"):
        found.pop(name, None)
    return found


class Read:
    """The parts of an exception that has arrived."""

    __slots__ = ("args", "attributes", "company", "handle", "kind", "own", "text", "trace")

    def __init__(self, decoder: Decoder) -> None:
        self.handle = decoder.id()
        self.own = decoder.id()
        self.kind = decoder.read()
        arguments = decoder.read()
        self.text = decoder.read()
        self.attributes = decoder.read()
        self.trace = decoder.read()
        self.company = decoder.read()
        if (
            not isinstance(self.kind, type)
            or not issubclass(self.kind, BaseException)
            or type(arguments) is not list
            or type(self.attributes) is not dict
        ):
            raise MalformedValue("no exception")
        self.args = tuple(arguments)


def make(parts: Read) -> BaseException:
    """Return an exception of the class that arrived, without running code of that class beyond the library's."""
    kind: Any = parts.kind
    try:
        error: Any = kind.__new__(kind, *parts.args)
        if kind.__module__ == "builtins":
            kind.__init__(error, *parts.args)
    except Exception:
        error = BaseException.__new__(kind)
    try:
        error.args = parts.args
    except Exception:
        raise MalformedValue("bad arguments of an exception") from None
    members = BaseException.__dict__["__dict__"].__get__(error)
    fields = {name for base, names in _FIELDS if isinstance(error, base) for name in names}
    for name, value in parts.attributes.items():
        if type(name) is not str or name.startswith("_"):
            continue
        if name not in fields:
            members[name] = value
        elif value is not None:
            try:
                setattr(error, name, value)
            except Exception:  # noqa: S112 - a value that such a field does not take
                continue
    _accompany(error, parts.company)
    return error  # type: ignore[no-any-return]  # made by a class that is known when it runs


def _accompany(error: Any, company: Any) -> None:
    if type(company) is not tuple or len(company) != 4:
        return
    cause, context, suppressed, notes = company
    if isinstance(context, BaseException):
        BaseException.__dict__["__context__"].__set__(error, context)
    if isinstance(cause, BaseException):
        BaseException.__dict__["__cause__"].__set__(error, cause)
    error.__suppress_context__ = suppressed is True
    if type(notes) is list and all(type(line) is str for line in notes):
        BaseException.__dict__["__dict__"].__get__(error)["__notes__"] = notes


def trace_of(error: BaseException) -> str:
    """Return where an exception was raised, a line a frame, without frames of our own."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_OWN_FILES):
            lines.append("line %d, in %s" % (trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return "\n".join(lines[-_MAX_FRAMES:])[:_MAX_TEXT]


_OWN_FILES = trace_of.__code__.co_filename.rpartition("errors")[0]
