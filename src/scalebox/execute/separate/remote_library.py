"""Which objects of the library's classes the solution may use, once the tests have handed them over.

A generator of random numbers, a queue, a logger: what their public attributes lead to is data, methods that deal with
data, or objects that the solution gave itself. Not here is what runs text or follows names that it is given
(`string.Formatter`, connections to databases, executors), and what leads to code, frames or modules.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from typing import Any

from scalebox.execute.separate.names import class_module, class_name

_OPEN = {
    "random": "Random SystemRandom",
    "_random": "Random",
    "numpy.random._generator": "Generator",
    "numpy.random.mtrand": "RandomState",
    "re": "Pattern Match",
    "builtins": "mappingproxy memoryview",
    "collections": "ChainMap UserDict UserList UserString",
    "string": "Template",
    "queue": "Queue LifoQueue PriorityQueue",
    "_queue": "SimpleQueue",
    "_thread": "lock RLock",
    "threading": "Event Condition Semaphore BoundedSemaphore Barrier _RLock",
    "logging": "Logger Filterer",
    "functools": "KeyWrapper",
    "csv": "DictWriter DictReader",
    "_csv": "writer",
    "argparse": "Namespace _AttributeHolder",
    "_struct": "Struct",
    "statistics": "NormalDist",
}
_CLASSES = {module: frozenset(names.split()) for module, names in _OPEN.items()}
#: Of some classes not all that has no leading underscore.
_ONLY = {
    "logging": frozenset(
        "debug info warning warn error exception critical fatal log isEnabledFor getEffectiveLevel setLevel name level "
        "disabled".split()
    )
}
_SETTABLE = frozenset([("argparse", "Namespace")])


def is_open(kind: Any) -> bool:
    """Return whether objects of a class may be used; the methods that own classes have from `collections.abc` may."""
    module = class_module(kind)
    return module == "collections.abc" or class_name(kind) in _CLASSES.get(module, ())


def shows(kind: Any, name: str) -> bool:
    """Return whether such objects show an attribute, one of their own or of that class."""
    only = _ONLY.get(class_module(kind))
    return only is None or name in only


def is_settable(kind: Any) -> bool:
    return (class_module(kind), class_name(kind)) in _SETTABLE
