"""Functions of the tests, as functions of the solution that take the same parameters.

A program may look at what it is given to call: count the parameters to curry a function, bind arguments to its
signature, copy name and documentation onto a wrapper. What defaults *are* is not told, for a test may have put there
what it expects: the stand-in has a mark in their place, which is never passed on.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from keyword import iskeyword
from types import FunctionType, MethodType
from typing import Any, Callable

from scalebox.execute.separate import names
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.remote_functions import COROUTINE, make_function, mark_coroutine
from scalebox.execute.separate.wire import pack_id

__builtins__ = OWN

_MAX_DOC = 2_000
_MAX_PARAMETERS = 50
_MAX_SHAPES = 1_000
_VAR_POSITIONAL, _VAR_KEYWORD = 0x04, 0x08
_OURS = "_scalebox_"


class _Default:
    def __repr__(self) -> str:
        return "..."


_DEFAULT = _Default()
_makers: dict[Any, Callable[[Callable[..., Any], bytes, Any], Any]] = {}


def describe(value: Any) -> tuple[Any, ...] | None:
    """Return (qualified name, module, doc, shape, annotations) of a function or method; None for other callables.

    A shape is (names of positional parameters, how many of them by position only, how many have no default, name of
    `*args` or "", names of keyword-only parameters, those of them without default, name of `**kwargs` or "").
    """
    bound = type(value) is MethodType
    function = value.__func__ if bound else value
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    count, by_name = code.co_argcount, code.co_kwonlyargcount
    positional, keywords = code.co_varnames[:count], code.co_varnames[count : count + by_name]
    rest = list(code.co_varnames[count + by_name :])
    required = count - len(function.__defaults__ or ())
    skipped = 1 if bound and count else 0
    given = function.__kwdefaults__ or {}
    shape = (
        positional[skipped:],
        max(code.co_posonlyargcount - skipped, 0),
        max(required - skipped, 0),
        rest.pop(0) if code.co_flags & _VAR_POSITIONAL else "",
        keywords,
        tuple([name for name in keywords if name not in given]),
        rest.pop(0) if code.co_flags & _VAR_KEYWORD else "",
    )
    doc, module = function.__doc__, function.__module__
    return (
        function.__qualname__,
        module if type(module) is str else "",
        doc[:_MAX_DOC] if type(doc) is str else None,
        shape,
        tuple(_annotations(function).items()),  # no dict: nothing here is to be shared
    )


def _annotations(function: Any) -> dict[str, Any]:
    """Return the annotations that both sides can name."""
    try:
        found = dict(function.__annotations__)
    except Exception:  # evaluated only now, in later versions of the interpreter
        return {}
    return {
        name: kind
        for name, kind in found.items()
        if kind is None or type(kind) is str or (isinstance(kind, type) and names.shared_class(kind) is not None)
    }


def make_stand_in(peer: Any, handle: int, flags: int, name: str, described: Any) -> Callable[..., Any]:
    """Return a function that calls the tests' function with that handle, and takes the same parameters."""
    qualname, module, doc, shape, annotations = described
    maker = _maker(shape)
    if maker is None:
        made = make_function(peer, handle, flags, name)
    else:
        made = maker(peer.call, b"o" + pack_id(handle), _DEFAULT)
        if flags & COROUTINE:
            mark_coroutine(made)
    made.__name__, made.__qualname__, made.__module__, made.__doc__ = name, qualname, module, doc
    made.__annotations__ = dict(annotations)
    return made


def _maker(shape: Any) -> Any:
    """Return what makes functions of that shape; None where there can be none, as for names that nobody can write."""
    if shape not in _makers:
        all_names = [*shape[0], *shape[4], *[name for name in (shape[3], shape[6]) if name]]
        good = len(all_names) <= _MAX_PARAMETERS and all(
            name.isidentifier() and not iskeyword(name) and not name.startswith(_OURS) for name in all_names
        )
        if not good or len(_makers) >= _MAX_SHAPES:
            return None
        found: dict[str, Any] = {}
        exec(_source(shape), found)  # noqa: S102 - in the solution's own process, of names and nothing else
        _makers[shape] = found[_OURS + "make"]
    return _makers[shape]


def _source(shape: Any) -> str:
    positional, by_position, required, args, keywords, needed, kwargs = shape
    parameters = [name + ("" if number < required else "=_scalebox_default") for number, name in enumerate(positional)]
    if by_position:
        parameters.insert(by_position, "/")
    if args or keywords:
        parameters.append("*" + args)
    parameters += [name + ("" if name in needed else "=_scalebox_default") for name in keywords]
    if kwargs:
        parameters.append("**" + kwargs)
    lines = [
        "def _scalebox_make(_scalebox_call, _scalebox_target, _scalebox_default):",
        "    def _scalebox_made(%s):" % ", ".join(parameters),
        "        _scalebox_args = [%s]" % ", ".join(positional[:required]),
        "        _scalebox_kwargs = {%s}" % ("**" + kwargs if kwargs else ""),
    ]
    for name in positional[required:]:
        # What comes behind a default that was left out can be given by name alone.
        lines += [
            "        if %s is not _scalebox_default:" % name,
            "            if len(_scalebox_args) == %d: _scalebox_args.append(%s)" % (positional.index(name), name),
            "            else: _scalebox_kwargs['%s'] = %s" % (name, name),
        ]
    for name in keywords:
        lines.append("        if %s is not _scalebox_default: _scalebox_kwargs['%s'] = %s" % (name, name, name))
    if args:
        lines.append("        _scalebox_args += %s" % args)
    lines += [
        "        return _scalebox_call(_scalebox_target, tuple(_scalebox_args), _scalebox_kwargs)",
        "    return _scalebox_made",
    ]
    return "\n".join(lines) + "\n"
