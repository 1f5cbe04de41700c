"""What the solution's classes and functions look like, for the proxies on the tests' side.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from opcode import opmap
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any, Callable

from scalebox.execute.separate import names, operations, serve_content
from scalebox.execute.separate.names import class_module, class_name, class_qualname
from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN

_STORE_ATTRIBUTE = opmap["STORE_ATTR"]
_MAX_NAME = 200
_MAX_DOC = 10_000
_MAX_METHOD_DOC = 2_000
_MAX_METHODS = 2_000
_mro_of = type.__dict__["__mro__"].__get__
_members_of = type.__dict__["__dict__"].__get__
_CLASS_METHOD = type(dict.__dict__["fromkeys"])
#: What a class of named tuples may define beside its fields and still be carried as a tuple.
_SHOWING = frozenset([operations.NUMBERS["__repr__"], operations.NUMBERS["__str__"]])


def _library_error(kind: Any) -> bool:
    return issubclass(kind, BaseException) and class_module(kind) == "builtins"


def _aside(kind: Any) -> bool:
    return kind is object or _library_error(kind)


def describe_class(kind: Any, export: Callable[[Any], int]) -> tuple[Any, ...]:
    """Return what the class is like.

    That is (name, qualified name, module, doc, bases, operations, whether hashable, methods, fields, data fields,
    inherited operations). `methods` are (name, "function" | "class", handle, doc) of what an instance or the class is
    called by, `operations` the numbers of the special methods that it or its bases define, `fields` those of a named
    tuple and `data fields` those of a dataclass, or None; the last are the numbers of `serve_content.inherited`.
    """
    type.__getattribute__(kind, "__doc__")  # some of the interpreter's own types are not complete before
    mro = _mro_of(kind)
    doc = _members_of(kind).get("__doc__")
    fields = tuple_fields(kind)
    hashes = [_members_of(base)["__hash__"] for base in mro if "__hash__" in _members_of(base)]
    return (
        class_name(kind)[:_MAX_NAME],
        class_qualname(kind)[:_MAX_NAME],
        class_module(kind)[:_MAX_NAME],
        doc[:_MAX_DOC] if type(doc) is str else None,
        tuple([_base(base, export) for base in type.__dict__["__bases__"].__get__(kind) if base is not object]),
        tuple(operations.defined(mro, _aside)) if fields is None else _showing(mro),
        bool(hashes) and hashes[0] is not None,
        tuple(_methods(mro, export)[:_MAX_METHODS]),
        fields,
        _data_fields(mro),
        serve_content.inherited(mro) if fields is None else (),
    )


def _base(kind: Any, export: Callable[[Any], int]) -> Any:
    """Return a class that both sides have as itself, any other as its handle."""
    return kind if names.shared_class(kind) is not None else export(kind)


def _data_fields(mro: tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return the names of a dataclass' fields, else None."""
    members = [_members_of(base) for base in mro]
    found = next((each["__dataclass_fields__"] for each in members if "__dataclass_fields__" in each), None)
    if type(found) is not dict:
        return None
    kinds = {name: getattr(field, "_field_type", None) for name, field in found.items()}
    return tuple([name for name, kind in kinds.items() if type(name) is str and repr(kind) == "_FIELD"])


def _showing(mro: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the numbers of how named tuples show themselves, where the program says that."""
    found = []
    for name in ("__repr__", "__str__"):
        method = next(_members_of(base)[name] for base in mro if name in _members_of(base))
        if isinstance(method, FunctionType) and method.__module__ != "collections":
            found.append(operations.NUMBERS[name])
    return tuple(found)


def _methods(mro: tuple[Any, ...], export: Callable[[Any], int]) -> list[tuple[str, str, int, str | None]]:
    found = []
    seen = set()
    for kind in mro:
        if _aside(kind):
            continue
        for name, member in list(_members_of(kind).items()):
            if name in seen or type(name) is not str or (name.startswith("__") and name.endswith("__")):
                continue
            seen.add(name)
            if isinstance(member, (FunctionType, MethodDescriptorType, BuiltinFunctionType)):
                found.append((name, "function", export(member), _doc(member)))
            elif isinstance(member, (staticmethod, classmethod, _CLASS_METHOD)):
                found.append((name, "class", export(member), _doc(getattr(member, "__func__", None))))
    return found


def _doc(function: Any) -> str | None:
    """Return what the program says of a method; of the library's, which say it at length, nothing."""
    doc = function.__doc__ if isinstance(function, FunctionType) else None
    return doc[:_MAX_METHOD_DOC] if type(doc) is str else None


def tuple_fields(kind: Any) -> tuple[str, ...] | None:
    """Return the fields of a class of named tuples whose behaviour is that of a tuple, else None."""
    mro = _mro_of(kind)
    if tuple not in mro:
        return None
    fields: Any = next((_members_of(base)["_fields"] for base in mro if "_fields" in _members_of(base)), None)
    if type(fields) is not tuple or not all(type(field) is str for field in fields):
        return None
    own = operations.defined(mro, lambda base: base is object or base is tuple)
    return fields if _SHOWING.issuperset(own) else None


def describe_function(function: Any) -> tuple[Any, ...]:
    """Return (name, qualified name, module, doc, parameters, attributes) of a function."""
    name, qualname, doc = function.__name__, function.__qualname__, function.__doc__
    module = function.__module__
    return (
        name if type(name) is str else "",
        qualname if type(qualname) is str else "",
        module if type(module) is str else "",
        doc[:_MAX_DOC] if type(doc) is str else None,
        _parameters(function),
        {"__wrapped__": vars(function)["__wrapped__"]} if "__wrapped__" in vars(function) else None,
    )


def keeps_attributes(function: Any) -> bool:
    """Return whether a function has attributes, or may give itself some: a copy would not show what becomes of them."""
    if not vars(function).keys() <= {"__wrapped__"}:
        return True
    code = function.__code__
    if _STORE_ATTRIBUTE not in code.co_code[::2]:
        return False
    known = function.__globals__
    return any(known.get(name) is function for name in code.co_names) or any(
        _content_of(cell) is function for cell in function.__closure__ or ()
    )


def _content_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty as yet
        return None


def _parameters(function: Any) -> tuple[tuple[Any, ...], ...] | None:
    """Return (name, number of its kind, whether there is a default, default) of every parameter."""
    wrapped = function
    while isinstance(wrapped, FunctionType) and "__wrapped__" in vars(wrapped):
        wrapped = vars(wrapped)["__wrapped__"]
    if not isinstance(wrapped, FunctionType):
        return None
    code = wrapped.__code__
    defaults = wrapped.__defaults__ or ()
    found: list[tuple[Any, ...]] = []
    count = code.co_argcount
    for at, name in enumerate(code.co_varnames[:count]):
        default = at - (count - len(defaults))
        kind = 0 if at < code.co_posonlyargcount else 1
        found.append((name, kind, default >= 0, defaults[default] if default >= 0 else None))
    rest = code.co_varnames[count:]
    if code.co_flags & 0x04:
        found.append((rest[code.co_kwonlyargcount], 2, False, None))
    for name in rest[: code.co_kwonlyargcount]:
        by_name = wrapped.__kwdefaults__ or {}
        found.append((name, 3, name in by_name, by_name.get(name)))
    if code.co_flags & 0x08:
        found.append((rest[code.co_kwonlyargcount + (1 if code.co_flags & 0x04 else 0)], 4, False, None))
    return tuple(found)


def local_name(name: str, value: Any) -> tuple[str, str] | None:
    """Return (module, name) of something of the standard library that is bound under its own name, else None."""
    module = class_module(value) if isinstance(value, type) else getattr(value, "__module__", None)
    if type(module) is not str or module not in names.LOCAL_MODULES or module == "builtins":
        return None
    return (module, name) if names.look_up(module, name) is value else None
