"""The tests' view of what lives in the solution's process: proxies, made to look like the real thing.

A class of the solution is a real class here, with the same name and the same bases among the solution's classes, and
its instances are instances of that class; `isinstance`, `type(x).__name__` and `except` work as they should, and are
decided here. What a proxy is asked for is asked of the solution, except what would let the solution judge itself: a
comparison or an arithmetic operation between a proxy and the tests' own data (docs/design/separate.md).

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from typing import Any, Callable

from scalebox.execute.separate import operations, remote_content, remote_kinds
from scalebox.execute.separate.remote_async import running_loop
from scalebox.execute.separate.remote_lengths import Lengths
from scalebox.execute.separate.wire import pack_id
from scalebox.execute.separate.wire_read import MalformedValue

_MAX_NAME = 200
_MAX_CLASSES = 10_000
_ASIDE = operations.ARITHMETIC | operations.COMPARISONS
_new = object.__new__


class _Stateful:
    pass


#: The real dictionary of a proxy, which its attribute `__dict__` does not show.
state: Callable[[Any], dict[str, Any]] = _Stateful.__dict__["__dict__"].__get__
_DRIVER = " driver"
_VALUE = " value"  # in that dictionary: may be compared with the tests' data. No attribute has this name

#: The special names that classes and objects of the solution are asked for. All others the interpreter or a library
#: looks for on its own account (numpy would let `__array_function__` decide a comparison).
_ASKED = frozenset(
    "__name__ __qualname__ __doc__ __wrapped__ __annotations__ __defaults__ __kwdefaults__ "
    "__func__ "
    "__self__ __members__ __match_args__ __slots__ __init__ __post_init__ __version__ __author__ __all__ "
    "__fields__".split()
)


def _special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class RemoteType(type):
    """The metaclass of classes that stand for the solution's."""

    _scalebox: Any  # the Bridge to its peer; None: a class of ours

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        if "_scalebox" not in members:
            raise TypeError(
                "a class of the solution cannot be a base of a class of the tests: they run in two processes"
            )
        super().__init__(name, bases, members)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._scalebox.construct(cls, args, kwargs)

    def __getattr__(cls, name: str) -> Any:
        if _special(name) and name not in _ASKED:
            raise AttributeError("type object '%s' has no attribute '%s'" % (cls.__name__, name))
        return cls._scalebox.getattr(cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        cls._scalebox.setattr(cls, name, value)
        if name in type.__dict__["__dict__"].__get__(cls):
            type.__setattr__(cls, name, value)

    def __delattr__(cls, name: str) -> None:
        cls._scalebox.delattr(cls, name)
        if name in type.__dict__["__dict__"].__get__(cls):
            type.__delattr__(cls, name)

    def __bool__(cls) -> bool:
        return True

    def __len__(cls) -> int:
        return cls._scalebox.operate("__len__", cls)  # type: ignore[no-any-return]

    def __iter__(cls) -> Any:
        return cls._scalebox.operate("__iter__", cls)

    def __reversed__(cls) -> Any:
        return cls._scalebox.operate("__reversed__", cls)

    def __getitem__(cls, key: Any) -> Any:
        return cls._scalebox.operate("__getitem__", cls, key)

    def __contains__(cls, item: Any) -> bool:
        if not cls._scalebox.is_remote(item):
            raise TypeError("a class of the solution is not asked whether it contains the tests' data")
        return cls._scalebox.operate("__contains__", cls, item)  # type: ignore[no-any-return]

    def __dir__(cls) -> Any:
        return cls._scalebox.operate("__dir__", cls)


class RemoteObject(_Stateful, metaclass=RemoteType):
    """An object of the solution."""

    _scalebox = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("objects of the solution are made by its classes")

    def __getattr__(self, name: str) -> Any:
        if _special(name) and (name not in _ASKED or isinstance(self, BaseException)):
            raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))
        return type(self)._scalebox.getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        type(self)._scalebox.setattr(self, name, value)

    def __delattr__(self, name: str) -> None:
        type(self)._scalebox.delattr(self, name)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return type(self)._scalebox.variables(self)

    def __dir__(self) -> Any:
        return type(self)._scalebox.operate("__dir__", self)

    def __copy__(self) -> Any:
        return type(self)._scalebox.operate("__copy__", self)

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)._scalebox.operate("__deepcopy__", self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle an object of the solution")

    def __repr__(self) -> str:
        kind = type(self)
        return "<%s.%s object at 0x%x>" % (kind.__module__, kind.__qualname__, id(self))


class Bridge:
    """Builds the classes of one peer's proxies and carries out what proxies are asked for."""

    def __init__(self, peer: Any) -> None:
        self.peer = peer
        self.classes: dict[int, Any] = {}
        #: What stands for a method in a class, by its address: itself, and the handle of the method.
        self.members: dict[int, tuple[Any, int]] = {}
        self._building: set[int] = set()
        self._forwards: dict[str, Any] = {}
        # Classes whose instances the tests may compare and compute with; and those that have come by another way.
        self._value_handles: set[int] = set()
        self._other_handles: set[int] = set()
        self.lengths = Lengths(self, state)

    # --- what proxies are asked for -----------------------------------------------------------

    def getattr(self, value: Any, name: str) -> Any:
        return self.peer.aliases.of(self.peer.verb("getattr", value, name))

    def setattr(self, value: Any, name: str, new: Any) -> None:
        self.peer.verb("setattr", value, name, new)
        if isinstance(value, RemoteObject):
            # Found before a method of the class, as on the other side; data is always asked for.
            state(value).pop(name, None)
            if hasattr(type.__dict__["__dict__"].__get__(type(value)).get(name), "__get__"):
                state(value)[name] = new

    def delattr(self, value: Any, name: str) -> None:
        self.peer.verb("delattr", value, name)
        if isinstance(value, RemoteObject):
            state(value).pop(name, None)

    def variables(self, value: Any) -> Any:
        found = self.peer.verb("variables", value)
        if type(found) is not dict:
            raise AttributeError("'%s' object has no attribute '__dict__'" % type(value).__name__)
        return found

    def operate(self, name: str, value: Any, *args: Any) -> Any:
        result = self.peer.verb("operate", operations.NUMBERS[name], value, *args)
        demanded = operations.RESULTS.get(name)
        if demanded is not None and type(result) is not demanded:
            if result is NotImplemented and name in _ASIDE:
                return result
            raise TypeError("%s returned %s, not %s" % (name, type(result).__name__, demanded.__name__))
        return result

    def is_remote(self, value: Any) -> bool:
        return isinstance(value, RemoteObject) or self.peer.proxies.handle(value) is not None

    def construct(self, cls: Any, args: Any, kwargs: Any) -> Any:
        """Make an instance. It may be compared with the tests' data if the tests use its class for its values."""
        if cls._scalebox is None:
            raise TypeError("objects of the solution are made by its classes")
        newest = self.peer.proxies.newest
        value = self.peer.call(b"o" + pack_id(self.peer.proxies.handle(cls) or 0), args, kwargs)
        if self._fresh(value, newest) and self.peer.proxies.handle(type(value)) in self._value_handles:
            state(value)[_VALUE] = True
        return value

    def class_delivered(self, handle: int) -> None:
        """Note that the solution has handed over a class: other than by the name that the tests know it by."""
        self._value_handles.discard(handle)
        self._other_handles.add(handle)

    def values_of(self, ask: Callable[[], Any]) -> None:
        """Let the class that ask() gives be one of values, if it has never come by another way."""
        others = set(self._other_handles)
        value = ask()
        handle = self.peer.proxies.handle(value) if isinstance(value, RemoteType) else None
        if handle is not None and handle not in others:
            self._other_handles.discard(handle)
            self._value_handles.add(handle)

    def _fresh(self, value: Any, newest: Any) -> bool:
        """Return whether `value` is a proxy that came into being since `newest` was the newest."""
        last = self.peer.proxies.newest
        return isinstance(value, RemoteObject) and last is not newest and last() is value

    def judges(self, value: Any, other: Any) -> bool:
        """Return whether `value` may take part in deciding about `other`."""
        return _VALUE in state(value) or self.is_remote(other)

    @staticmethod
    def returned(value: Any) -> None:
        """Take from an object that the solution has returned the right to be compared with the tests' data."""
        state(value).pop(_VALUE, None)

    # --- forwarding methods -------------------------------------------------------------------

    def forward(self, name: str) -> Any:
        """Return the method that forwards a special method of the solution's."""
        made = self._forwards.get(name)
        if made is None:
            if name in operations.COMPARISONS:
                made = self._comparison(name)
            elif name in operations.ARITHMETIC:
                made = self._arithmetic(name)
            else:
                made = getattr(self, "_" + name.strip("_") + "_method", self._simple)(name)
            made.__name__ = name
            self._forwards[name] = made
        return made

    def _len_method(self, name: str) -> Any:
        return self.lengths.length()

    def _iter_method(self, name: str) -> Any:
        return self.lengths.iterate()

    def _looped_item_method(self, name: str) -> Any:
        return self.lengths.item()

    def _simple(self, name: str) -> Any:
        operate = self.operate
        return lambda value, *args: operate(name, value, *args)

    def _comparison(self, name: str) -> Any:
        operate, judges = self.operate, self.judges

        def compare(value: Any, other: Any) -> Any:
            return operate(name, value, other) if judges(value, other) else NotImplemented

        return compare

    def _arithmetic(self, name: str) -> Any:
        proxies, operate, judges = self.peer.proxies, self.operate, self.judges

        def compute(value: Any, other: Any, *modulus: Any) -> Any:
            if not judges(value, other):
                return NotImplemented
            operands = [operand for operand in (value, other) if isinstance(operand, RemoteObject)]
            lasting = all(_VALUE in state(operand) for operand in operands)
            newest = proxies.newest
            result = operate(name, value, other, *modulus)
            if lasting and (self._fresh(result, newest) or any(result is operand for operand in operands)):
                state(result)[_VALUE] = True
            return result

        return compute

    def _call_method(self, name: str) -> Any:
        peer = self.peer

        def call(value: Any, /, *args: Any, **kwargs: Any) -> Any:
            return peer.call(b"o" + pack_id(peer.proxies.handle(value) or 0), args, kwargs)

        return call

    def _contains_method(self, name: str) -> Any:
        operate, judges = self.operate, self.judges

        def contains(value: Any, item: Any) -> bool:
            if judges(value, item):
                return operate(name, value, item)  # type: ignore[no-any-return]
            return any(found is item or found == item for found in value)

        return contains

    def _exit_method(self, name: str) -> Any:
        operate = self.operate

        def leave(value: Any, kind: Any, error: Any, trace: Any) -> Any:
            swallowed = operate(name, value, kind, error, None)
            return False if _unforgivable(error) else swallowed

        return leave

    def _aexit_method(self, name: str) -> Any:
        operate = self.operate

        async def leave(value: Any, kind: Any, error: Any, trace: Any) -> Any:
            swallowed = await operate(name, value, kind, error, None)
            return False if _unforgivable(error) else swallowed

        return leave

    def _await_method(self, name: str) -> Any:
        return lambda value: self._driver(value).__await__()

    def _driver(self, value: Any) -> Any:
        """Return a coroutine of ours that awaits the solution's; outside of an event loop, what that gives."""
        kept = state(value).get(_DRIVER)
        if kept is None:
            if running_loop() is None:
                return _Awaited(self.operate("__await__", value))
            kept = state(value)[_DRIVER] = self.peer.awaiting.result(value)
        return kept

    def _coroutine_methods(self) -> dict[str, Any]:
        """Return what makes an object of the solution a coroutine that an event loop here can drive."""
        driver, verb = self._driver, self.peer.verb_call

        def forward(name: str) -> Any:
            def method(value: Any, *args: Any) -> Any:
                if running_loop() is None and _DRIVER not in state(value):
                    return verb("method", (value, name, *args), {})
                return getattr(driver(value), name)(*args)

            method.__name__ = name
            return method

        return {name: forward(name) for name in ("send", "throw", "close")}

    def method(self, name: str, kind: str, doc: str | None) -> Any:
        """Return what stands for a method in a class."""
        verb = self.peer.verb_call
        if kind == "function":

            def method(value: Any, /, *args: Any, **kwargs: Any) -> Any:
                return verb("method", (value, name, *args), kwargs)

            made: Any = method
        else:

            def of_class(cls: Any, /, *args: Any, **kwargs: Any) -> Any:
                return verb("method", (cls, name, *args), kwargs)

            made = classmethod(of_class)
            method = of_class
        method.__name__, method.__doc__ = name, doc
        return made

    # --- classes ------------------------------------------------------------------------------

    def class_for(self, handle: int) -> Any:
        """Return the class that stands for the class with that handle."""
        known = self.classes.get(handle)
        if known is not None:
            return known
        if handle in self._building or len(self.classes) >= _MAX_CLASSES:
            raise MalformedValue("a class among its own bases, or too many classes")
        self._building.add(handle)
        try:
            made = self._build(handle, self.peer.verb_on("describe", handle))
        finally:
            self._building.discard(handle)
        self.classes[handle] = self.peer.proxies.add(handle, made)
        return made

    def _build(self, handle: int, description: Any) -> Any:
        name, qualname, module, doc, bases, numbers, hashable, methods, fields, data_fields, plain = description
        bases = tuple([self.class_for(base) if type(base) is int else base for base in bases])
        if not all(type(text) is str and len(text) <= _MAX_NAME for text in (name, qualname, module)):
            raise MalformedValue("bad name of a class")
        members: dict[str, Any] = {"_scalebox": self, "__module__": module, "__qualname__": qualname}
        members["__doc__"] = doc if type(doc) is str else None
        for method, kind, member, said in methods:
            if type(method) is not str or _special(method) or type(member) is not int or not 0 <= member < 1 << 64:
                raise MalformedValue("bad name of a method")
            made = members[method] = self.method(method, kind, said if type(said) is str else None)
            self.members[id(made)] = (made, member)
        if fields is not None:
            for special in ("__repr__", "__str__"):
                if operations.NUMBERS[special] in numbers:
                    members[special] = self.forward(special)
            return self._build_tuple(name, members, fields, bases)
        members.update(self._specials(numbers, plain, bases))
        if data_fields is not None:
            members["__dataclass_fields__"] = remote_kinds.data_fields(data_fields)
        if "__await__" in members and "send" in members:
            members.update(self._coroutine_methods())
        if hashable is not True:
            members["__hash__"] = None
        elif "__eq__" in members and "__hash__" not in members:
            members["__hash__"] = object.__hash__
        errors = tuple([base for base in bases if issubclass(base, BaseException)])
        if errors:
            return self._build_error(name, members, errors)
        members["__doc__"] = _Documentation(self, members["__doc__"])
        remote = tuple([base for base in bases if issubclass(base, RemoteObject)])
        members.update(remote_content.kind(module, qualname))
        members.update(remote_kinds.members(name, bases, by_content=bool(plain)))
        made = RemoteType(name, remote or (RemoteObject,), members)
        remote_kinds.bind(made)
        return made

    def _specials(self, numbers: Any, plain: Any, bases: Any) -> dict[str, Any]:
        """Return the special methods of a class, by name."""
        members = {operations.NAMES[number]: self.forward(operations.NAMES[number]) for number in numbers}
        members.update(remote_content.methods(self, state, plain, "__next__" in members))
        if "__getitem__" in members and "__iter__" not in members:
            members["__getitem__"] = self.forward("looped_item")
        return {**remote_kinds.joined(self, bases), **members}

    def _build_error(self, name: str, members: dict[str, Any], bases: tuple[Any, ...]) -> Any:
        for special in ("__getattr__", "__dir__"):
            members[special] = vars(RemoteObject)[special]
        for special in ("__init__", "__new__", "__reduce__", "__setstate__", "__repr__", "__str__"):
            members.pop(special, None)
        members["__str__"] = _error_text
        return RemoteType(name, bases, members)

    def _build_tuple(self, name: str, members: dict[str, Any], fields: Any, bases: Any) -> Any:
        """Return a class of named tuples: real tuples, whose content is here and not with the solution."""
        if type(fields) is not tuple or not all(type(field) is str for field in fields):
            raise MalformedValue("bad fields of a named tuple")
        known = tuple([base for base in bases if issubclass(base, tuple) and isinstance(base, RemoteType)])
        for own in ("_asdict", "_replace", "_fields", "_field_defaults", "_make"):
            members.pop(own, None)
        for field in fields:
            members.pop(field, None)
        members["__slots__"] = ()
        members["__getattr__"] = vars(RemoteObject)["__getattr__"]  # properties
        return RemoteType(name, known or (remote_kinds.named_tuple(name, fields),), members)


class _Documentation:
    """The `__doc__` of a class; that of an object, which may be a wrapped function, is asked for."""

    def __init__(self, bridge: Bridge, text: str | None) -> None:
        self._bridge = bridge
        self._text = text

    def __get__(self, value: Any, kind: Any) -> Any:
        return self._text if value is None else self._bridge.getattr(value, "__doc__")


def _unforgivable(error: Any) -> bool:
    """Return whether an exception is not the solution's to swallow: a failed assertion of the tests, above all."""
    if error is None or getattr(error, "scalebox_remote", False):
        return False
    return isinstance(error, AssertionError) or not isinstance(error, Exception)


class _Awaited:
    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __await__(self) -> Any:
        return self._iterator


def _error_text(error: Any) -> str:
    text = vars(error).get("scalebox_text")
    return text if type(text) is str else BaseException.__str__(error)


def make_instance(cls: Any) -> Any:
    """Return a fresh proxy of the class."""
    return _new(cls)
