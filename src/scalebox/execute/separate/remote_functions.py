"""Functions of the solution, as functions of the tests.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import sys
from typing import Any, Callable

from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.wire import pack_id
from scalebox.execute.separate.wire_read import MalformedValue

__builtins__ = OWN

#: Flags of a function on the wire: it makes coroutines; its description follows; to ask for one is worth it.
COROUTINE, DESCRIBED, WORTH_ASKING = 1, 8, 16
_KINDS = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD")


def make_function(peer: Any, handle: int, flags: int, name: str) -> Callable[..., Any]:
    """Return a real function that calls the solution's function with that handle."""
    call = peer.call
    target = b"o" + pack_id(handle)

    def remote(*args: Any, **kwargs: Any) -> Any:
        return call(target, args, kwargs)

    remote.__name__ = remote.__qualname__ = name
    if flags & COROUTINE:
        mark_coroutine(remote)
    return remote


def mark_coroutine(function: Any) -> None:
    """Have asyncio take a function for one that makes coroutines."""
    coroutines = sys.modules.get("asyncio.coroutines")
    marker = getattr(coroutines, "_is_coroutine", None)
    if marker is not None:
        function._is_coroutine = marker
    inspect = sys.modules.get("inspect")
    if hasattr(inspect, "markcoroutinefunction"):
        inspect.markcoroutinefunction(function)  # type: ignore[union-attr]


def dress(function: Any, description: Any) -> None:
    """Give a function the name, documentation and signature of the solution's."""
    name, qualname, module, doc, parameters, variables = description
    if not all(type(text) is str for text in (name, qualname, module)):
        raise MalformedValue("bad description of a function")
    function.__name__, function.__qualname__, function.__module__ = name, qualname, module
    function.__doc__ = doc if type(doc) is str else None
    if type(variables) is dict and callable(variables.get("__wrapped__")):
        function.__wrapped__ = variables["__wrapped__"]
    inspect = sys.modules.get("inspect")
    if inspect is not None and parameters is not None:
        sign(inspect, function, parameters)


def sign(inspect: Any, function: Any, parameters: Any) -> None:
    """Set the signature: `parameters` are (name, number of the kind, whether there is a default, default)."""
    made = []
    for name, kind, has_default, default in parameters:
        kept = {"default": default} if has_default else {}
        made.append(inspect.Parameter(name, getattr(inspect.Parameter, _KINDS[kind]), **kept))
    function.__signature__ = inspect.Signature(made)
