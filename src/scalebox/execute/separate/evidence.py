"""Which names a test uses as classes of values: read off the test's own text, so that no solution can bring it about.

Only objects of such classes are asked how they compare with plain data (`remote_objects`). `Diff(a, b) == [1]` alone
makes `Diff` no class, for it may well be a function; `Vector(1, 2).x`, `isinstance(v, Vector)`, or `v.x` after `v =
Vector(1, 2)` do. A name that begins with a small letter is a function's, whatever is done with its result: a solution
may put a class in the place of any function, and what functions return has attributes too. `isinstance` alone shows
that it is none.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

#: Attributes that plain results and functions have as well, which are no evidence.
_PLAIN = frozenset(
    name
    for kind in (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, range, FunctionType)
    for name in dir(kind)
) | {"cache_clear", "cache_info", "cache_parameters", "__wrapped__"}


def value_classes(tree: ast.AST) -> frozenset[str]:
    """Return the names that the test uses in a way that only classes allow."""
    found: set[str] = set()
    certain: set[str] = set()
    real: dict[str, str] = {}  # name in the test -> name in the solution
    made: dict[str, set[str]] = {}  # variable or attribute -> names that were called for its value
    used: set[str] = set()  # variables and attributes of which an attribute is used
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            name = _name(node.value.func)
            for target in node.targets:
                made.setdefault(_name(target), set()).add(name)
        elif isinstance(node, ast.Attribute) and node.attr not in _PLAIN:
            owner: Any = node.value
            if isinstance(owner, ast.Call):
                found.add(_name(owner.func))
            else:
                found.add(_name(owner))
                used.add(_name(owner))
        elif isinstance(node, ast.ImportFrom):
            real.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.Call) and _name(node.func) in ("isinstance", "issubclass") and len(node.args) == 2:
            kinds: Any = node.args[1]
            certain.update(map(_name, kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]))
    for name in used:
        found |= made.get(name, set())
    found = {name for name in found if name.lstrip("_")[:1].isupper()} | certain
    return frozenset({real.get(name, name) for name in found} - {""})


def _name(node: Any) -> str:
    """Return a name, or an attribute of one as its last part; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
