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
from typing import Any, Iterator

#: Attributes that plain results and functions have as well, which are no evidence.
_PLAIN = frozenset(
    name
    for kind in (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, range, FunctionType)
    for name in dir(kind)
) | {"cache_clear", "cache_info", "cache_parameters", "__wrapped__"}


_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.JoinedStr)
_ASKS = frozenset(["isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance", "assertIsSubclass"])


def value_classes(tree: ast.AST) -> frozenset[str]:
    """Return the names that the test uses in a way that only classes allow."""
    found: set[str] = set()
    certain: set[str] = set()
    real: dict[str, str] = {}  # name in the test -> name in the solution
    made: dict[str, set[str]] = {}  # variable or attribute -> names that were called for its value
    used: set[str] = set()  # variables and attributes of which an attribute is used
    for node in ast.walk(tree):
        for variable, value in _bindings(node):
            if isinstance(value, ast.Call):
                made.setdefault(variable, set()).add(_name(value.func))
        if isinstance(node, ast.Attribute) and node.attr not in _PLAIN:
            owner: Any = node.value
            if isinstance(owner, ast.Call):
                found.add(_name(owner.func))
            else:
                found.add(_name(owner))
                used.add(_name(owner))
        elif isinstance(node, ast.ImportFrom):
            real.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.Call) and _name(node.func) in _ASKS and len(node.args) >= 2:
            kinds: Any = node.args[1]
            certain.update(map(_name, kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]))
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            certain.update(_compared_types(node.left, node.comparators[0]))
    for name in used:
        found |= made.get(name, set())
    for one, other in _equated(tree):
        found |= _computed(one, made) & _calls(other)
    found = {name for name in found if name.lstrip("_")[:1].isupper()} | certain
    return frozenset({real.get(name, name) for name in found} - {""})


def _bindings(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield (variable or attribute, value) of what a statement binds; of a function its name, and what it returns."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _pairs(target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        yield _name(node.target), node.value
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            yield _name(item.optional_vars), item.context_expr
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Return, ast.Yield)):
                yield node.name, inner.value


def _pairs(target: Any, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(target.elts) == len(value.elts):
            for part, item in zip(target.elts, value.elts):
                yield from _pairs(part, item)
    else:
        yield _name(target), value


def _compared_types(left: Any, right: Any) -> Iterator[str]:
    """Yield `K` of `type(x) is K` and `x.__class__ == K`."""
    for one, other in ((left, right), (right, left)):
        if _name(one) == "__class__" or (isinstance(one, ast.Call) and _name(one.func) == "type"):
            yield _name(other)


def _equated(tree: ast.AST) -> Iterator[tuple[Any, Any]]:
    """Yield (one, other) of all that the test wants to be equal, both ways round."""
    for node in ast.walk(tree):
        pair: list[Any] = []
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            pair = [node.left, node.comparators[0]]
        elif isinstance(node, ast.Call) and _name(node.func).lower().startswith("assert") and len(node.args) >= 2:
            pair = node.args[:2]
        if pair:
            yield pair[0], pair[1]
            yield pair[1], pair[0]


def _computed(node: Any, made: dict[str, set[str]]) -> set[str]:
    """Return the names that were called for an operand of arithmetic: `Vector` of `v * 2`, where `v = Vector(1, 2)`.

    What is computed with such a thing and equals such a thing is a value: a function would be asked for the result.
    """
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return set()
    parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
    if any(isinstance(part, _DISPLAYS) or _is_text(part) for part in parts):
        return set()  # added to a result that is a list, or a text
    found: set[str] = set()
    for part in parts:
        found |= made.get(_name(part), set()) | _calls(part) | _computed(part, made)
    return found


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _calls(node: Any) -> set[str]:
    return {_name(node.func)} if isinstance(node, ast.Call) else set()


def _name(node: Any) -> str:
    """Return a name, or an attribute of one as its last part; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""
