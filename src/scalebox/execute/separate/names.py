"""What the two sides name instead of sending it: verbs, and the classes that both find in their own library.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN

_VERBS = (
    "get_name set_name delete_name describe describe_function getattr setattr delattr method operate variables "
    "seed patch restore start_task pump cancel_task content drain"
).split()
#: What the tests side may ask of the solution side, beside calling an object.
VERBS = {name: number for number, name in enumerate(_VERBS)}
#: What the solution side may ask of the tests side, beside calling an object; nothing else is ever done for it.
CALLBACKS = {
    name: number
    for number, name in enumerate("describe getattr setattr delattr operate input print read_input start_task".split())
}

#: Modules whose classes are the same on both sides, so that `isinstance` and `==` hold.
CLASS_MODULES = frozenset(
    "builtins collections collections.abc decimal fractions datetime numbers pathlib uuid typing enum abc "
    "dataclasses itertools functools zoneinfo array ipaddress".split()
)
#: Modules of which the tests side imports anything by name that the solution has imported under that very name.
LOCAL_MODULES = CLASS_MODULES | frozenset(["contextlib", "types", "unittest.mock"])
_ERROR_MODULES = frozenset(
    "asyncio.exceptions asyncio.queues binascii calendar concurrent.futures._base configparser copy csv _csv "
    "json.decoder "
    "pickle _pickle queue _queue re sre_constants re._constants shutil socket sqlite3 ssl statistics string struct "
    "subprocess "
    "tokenize unittest.case urllib.error xml.etree.ElementTree zipfile zlib http.client email.errors numpy.linalg "
    "numpy.exceptions pandas.errors".split()
)


def class_name(kind: Any) -> str:
    """Return the name that a class was given, whatever its metaclass says."""
    name = type.__dict__["__name__"].__get__(kind)
    return name if type(name) is str else "object"


def class_module(kind: Any) -> str:
    members = type.__dict__["__dict__"].__get__(kind)
    name = members.get("__module__") if not _is_builtin(kind) else type.__dict__["__module__"].__get__(kind)
    return name if type(name) is str else ""


def _is_builtin(kind: Any) -> bool:
    return not type.__dict__["__flags__"].__get__(kind) & (1 << 9)  # Py_TPFLAGS_HEAPTYPE


def class_qualname(kind: Any) -> str:
    name = type.__dict__["__qualname__"].__get__(kind)
    return name if type(name) is str else ""


def look_up(module: str, qualname: str) -> Any:
    """Return what a loaded module has under a dotted name, or None."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        if found is None or part == "<locals>":
            return None
        found = getattr(found, part, None)
    return found


def shared_class(kind: Any) -> tuple[str, str] | None:
    """Return (module, qualified name) of a class that both sides have in common, else None."""
    module, name = class_module(kind), class_qualname(kind)
    if _is_shared(module, kind):
        return (module, name) if look_up(module, name) is kind else None
    return None


def _is_shared(module: str, kind: type) -> bool:
    if module in _ERROR_MODULES and issubclass(kind, BaseException):
        return True
    if module == "numpy":
        numpy: Any = sys.modules["numpy"]
        return issubclass(kind, (numpy.generic, numpy.ndarray))
    return module in CLASS_MODULES


def library_class(module: str, qualname: str) -> type | None:
    """Return a class of a module of the standard library that is loaded, and has no way of its own to be shared."""
    if module in CLASS_MODULES or module.partition(".")[0] not in getattr(sys, "stdlib_module_names", ()):
        return None
    found = look_up(module, qualname)
    return found if type(found) is type else None


def find_class(module: Any, name: Any) -> type | None:
    """Return the class of `shared_class`'s answer; None for anything else, whoever asks."""
    if type(module) is not str or type(name) is not str:
        return None
    if module not in CLASS_MODULES and module not in _ERROR_MODULES and module != "numpy":
        return None
    import_module(module)
    found = look_up(module, name)
    return found if isinstance(found, type) and _is_shared(module, found) else None


def import_module(name: str) -> ModuleType | None:
    """Return a module by its dotted name, imported if need be; None where that cannot be."""
    try:
        __import__(name)
    except Exception:
        return None
    return sys.modules.get(name)
