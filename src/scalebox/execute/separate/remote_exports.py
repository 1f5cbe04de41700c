"""What of the tests' side the solution may touch, and how: this file decides, and a table in remote_library.py.

The tests' code hands over objects when it passes them as arguments, returns them from call-backs or stores them in the
solution. Of these

- functions, methods, classes and other callables can be called;
- iterators and generators give their next item (generators take `send`, `throw` and `close`);
- objects of classes that the test code itself defines show the attributes that do not begin with an underscore, and
  their methods and operators as far as such a class defines them;
- so do objects of some of the library's classes, such as `random.Random` (remote_library.py);
- mocks give child mocks and take calls; files and StringIO have the usual methods;
- everything else can be handed back, and nothing more.

No name with a leading underscore is ever looked up for the solution, so there is no way from any of these to a frame,
a code object, a dictionary of globals or a module.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import io
import sys
from enum import Enum
from functools import partial
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

from scalebox.execute.separate import names, operations, remote_library
from scalebox.execute.separate.names import class_module, class_name
from scalebox.execute.separate.remote_objects import RemoteType

_CALLABLE = (
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
    partial,
    type,
)
#: Modules whose other callable objects are to be called: `itemgetter(1)`, cached functions, `numpy.sqrt`.
_CALLED = frozenset(["functools", "operator", "numpy"])
_GENERATOR = frozenset(["send", "throw", "close"])
_ASYNC_GENERATOR = frozenset(["asend", "athrow", "aclose"])
_FILE = frozenset(
    "read readline readlines write writelines seek tell flush close closed getvalue truncate readable writable "
    "seekable "
    "read1 readinto isatty name mode encoding".split()
)
_ENUM = frozenset(["name", "value"])
_ITERATOR_MODULES = frozenset("builtins itertools csv _csv re".split())
_NUMBERS = operations.NUMBERS
_COPIES = (_NUMBERS["__copy__"], _NUMBERS["__deepcopy__"])
_MAX_TEXT = 1_000


def _numbered(text: str) -> frozenset[int]:
    return frozenset([_NUMBERS["__%s__" % name] for name in text.split()])


_OF_ITERATORS, _OF_FILES = _numbered("iter next"), _numbered("iter next enter exit")
_OF_ASYNC_GENERATORS = _numbered("aiter anext")
_NONE: frozenset[int] = frozenset()


class Refused(AttributeError):
    """The solution asked for something that it may not have."""


class Policy:
    """`own_modules` are the names of the modules of the test code."""

    def __init__(self, own_modules: set[str]) -> None:
        self.own_modules = own_modules

    # --- what kind of thing -------------------------------------------------------------------

    def own(self, kind: Any) -> bool:
        """Return whether a class is one that the test code defines."""
        return not isinstance(kind, RemoteType) and class_module(kind) in self.own_modules

    def _usable(self, kind: Any) -> bool:
        """Return whether objects show what a class of theirs defines."""
        return self.own(kind) or remote_library.is_open(kind)

    def _own_instance(self, value: Any) -> bool:
        mro = type.__dict__["__mro__"].__get__(type(value))
        return remote_library.is_open(mro[0]) or any(self.own(kind) for kind in mro)

    @staticmethod
    def is_callable(value: Any) -> bool:
        """Return whether `value` is a function, or something of a library's that is there to be called, like one."""
        kind = type(value)
        if isinstance(kind, RemoteType):
            return False
        return isinstance(value, _CALLABLE) or (
            callable(value) and class_module(kind) in _CALLED and not remote_library.is_open(kind)
        )

    @staticmethod
    def named(value: Any) -> tuple[str, str] | None:
        """Return (module, name) of a function of a library, which the solution finds in its own; else None."""
        bound = getattr(value, "__self__", None)
        if bound is not None and not isinstance(bound, (ModuleType, type)):
            return None
        module = getattr(getattr(value, "__objclass__", value), "__module__", None)
        name = getattr(value, "__qualname__", None)
        if type(module) is not str or type(name) is not str or not is_library(module):
            return None
        return (module, name) if names.look_up(module, name) is value else None

    # --- what may be done ---------------------------------------------------------------------

    def operations(self, value: Any) -> frozenset[int]:
        """Return the numbers of the operations that `value` is open to."""
        kind = type(value)
        mro = type.__dict__["__mro__"].__get__(kind)
        if isinstance(kind, RemoteType) or isinstance(value, type):
            return _NONE
        if _is_mock(value):
            return frozenset(operations.defined(mro))
        if self._own_instance(value):
            found = operations.defined(mro, lambda base: not self._usable(base))
            return frozenset([*found, *(_COPIES if not isinstance(value, Enum) else ())])
        if isinstance(value, io.IOBase):
            return _OF_FILES
        if isinstance(value, AsyncGeneratorType):
            return _OF_ASYNC_GENERATORS
        if hasattr(kind, "__next__") and class_module(kind) in _ITERATOR_MODULES:
            return _OF_ITERATORS
        return _NONE

    def _readable(self, value: Any, name: Any) -> bool:
        if type(name) is not str or name.startswith("_") or isinstance(value, type):
            return False
        kind = type(value)
        if isinstance(kind, RemoteType):
            return False
        if _is_mock(value):
            return not _is_mock_business(name)
        if isinstance(value, GeneratorType):
            return name in _GENERATOR
        if isinstance(value, AsyncGeneratorType):
            return name in _ASYNC_GENERATOR
        if isinstance(value, io.IOBase):
            return name in _FILE
        if kind is SimpleNamespace:
            return name in vars(value)
        if not self._own_instance(value):
            return False
        if isinstance(value, Enum) and name in _ENUM:
            return True
        return self._has(value, name)

    def _has(self, value: Any, name: str) -> bool:
        """Return whether an object of the test code's has the attribute itself, or from a class of the test code's."""
        mro = type.__dict__["__mro__"].__get__(type(value))
        if name in getattr(value, "__dict__", ()):
            return remote_library.shows(mro[0], name)
        found = [kind for kind in mro if name in type.__dict__["__dict__"].__get__(kind)]
        if found:
            return self._usable(found[0]) and remote_library.shows(found[0], name)
        return any(self.own(kind) and "__getattr__" in type.__dict__["__dict__"].__get__(kind) for kind in mro)

    def getattr(self, value: Any, name: Any) -> Any:
        if not self._readable(value, name):
            raise Refused("'%s' object has no attribute %s" % (class_name(type(value)), repr(name)[:_MAX_TEXT]))
        return getattr(value, name)

    def _writable(self, value: Any, name: Any) -> bool:
        if type(name) is not str or name.startswith("_") or isinstance(value, (type, Enum)):
            return False
        if _is_mock(value):
            return not _is_mock_business(name)
        kind = type(value)
        if remote_library.is_open(kind):
            return remote_library.is_settable(kind)
        return kind is SimpleNamespace or (not isinstance(kind, RemoteType) and self._own_instance(value))

    def setattr(self, value: Any, name: Any, new: Any) -> None:
        if not self._writable(value, name) or callable(getattr(type(value), name, None)):
            # Not a method either: a program could replace the one that judges it.
            raise Refused("cannot set this attribute of a '%s' object" % class_name(type(value)))
        setattr(value, name, new)

    def delattr(self, value: Any, name: Any) -> None:
        if not self._writable(value, name):
            raise Refused("cannot delete this attribute of a '%s' object" % class_name(type(value)))
        delattr(value, name)

    def operate(self, number: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        if type(number) is not int or number not in self.operations(value):
            raise TypeError("'%s' object does not support this operation" % class_name(type(value)))
        return operations.FUNCTIONS[number](value, *args, **kwargs)

    # --- how it looks over there --------------------------------------------------------------

    def describe(self, value: Any) -> tuple[Any, ...]:
        """Return (class name, operations, attributes that are methods, whether attributes can be asked for, …).

        Behind that: whether it is a coroutine; (module, name) of a library's class that it is of, or None.
        """
        kind = type(value)
        open_to = bool(_is_mock(value) or self._own_instance(value) or type(value) is SimpleNamespace)
        fixed: tuple[str, ...] = ()
        if isinstance(value, GeneratorType):
            fixed = tuple(sorted(_GENERATOR))
        elif isinstance(value, io.IOBase):
            fixed = tuple(sorted(_FILE))
        elif isinstance(value, AsyncGeneratorType):
            fixed = tuple(sorted(_ASYNC_GENERATOR))
        return (
            class_name(type(value))[:200],
            tuple(sorted(self.operations(value))),
            fixed,
            open_to,
            isinstance(value, CoroutineType),
            (class_module(kind), class_name(kind)) if remote_library.is_open(kind) else None,
        )


def is_library(module: str) -> bool:
    """Return whether a loaded module belongs to the interpreter or is installed with it: the solution has it, too."""
    found = sys.modules.get(module)
    if found is None:
        return False
    path = getattr(found, "__file__", None)
    if path is None:
        return module in sys.builtin_module_names
    return type(path) is str and path.startswith(_PREFIXES)


_PREFIXES = tuple(
    {prefix.rstrip("/") + "/" for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)}
)


def _mock_module() -> Any:
    return sys.modules.get("unittest.mock")


def _is_mock(value: Any) -> bool:
    module = _mock_module()
    return module is not None and isinstance(value, module.NonCallableMock)


def _is_mock_business(name: str) -> bool:
    """Return whether a name is one of those by which tests steer and question a mock."""
    return (
        name.startswith(("assert", "mock_"))
        or hasattr(_mock_module().Mock, name)
        or name in ("method_calls", "side_effect")
    )
