"""Sabotaged copies of a solution: what any suite that tests something must reject.

If a suite passes on such a copy, a stub would earn the full reward, and the suite is at fault, not the solution.

A copy runs its module as it is, so that nothing fails at import; from then on every function and lambda in it does
nothing but raise, or return None, and what else the module defines is None. There are two kinds because either alone
has a blind spot: `with pytest.raises(Exception)` is content with a function that raises, `assert not f(x)` with one
that returns None. A suite that either copy passes gives its reward away.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import ast
import warnings
from types import CodeType
from typing import Any

#: The kinds of copies. A sound suite rejects each of them.
KINDS = ("raise", "none")

_FLAG = "__scalebox_sabotaged__"
_HEAD = f"{_FLAG} = False\n"
_BODY = {
    "raise": f"if {_FLAG}:\n raise RuntimeError('sabotaged')\n",
    "none": f"if {_FLAG}:\n return\n",
}
_LAMBDA = {"raise": f"(().sabotaged if {_FLAG} else 0)", "none": f"(None if {_FLAG} else 0)"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def sabotage(source: bytes, filename: str, kind: str) -> CodeType | None:
    """Return the sabotaged copy of `source` as a code object, or None where it does not compile. Never raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree: Any = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True, optimize=0)
            _rewrite(tree, kind)
            code: CodeType = compile(
                ast.fix_missing_locations(tree), filename, "exec", 0, dont_inherit=True, optimize=0
            )
            return code
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _rewrite(tree: Any, kind: str) -> None:
    hollow = _hollow_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            node.body[:0] = ast.parse(_BODY[kind]).body
        elif isinstance(node, ast.Lambda):
            guarded: Any = ast.parse(_LAMBDA[kind], mode="eval").body
            guarded.orelse = node.body
            node.body = guarded
    start = _after_future(tree.body)
    tree.body[start:start] = ast.parse(_HEAD).body
    names = "".join(f"{name} = None\n" for name in hollow)
    tree.body += ast.parse(f"{names}{_FLAG} = True\n").body


def _after_future(body: list[Any]) -> int:
    """Return where the module's first statement may stand: behind its docstring and its `from __future__` lines."""
    place = 1 if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else 0
    for number, node in enumerate(body):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            place = number + 1
    return place


def _hollow_names(tree: Any) -> list[str]:
    """Return the module's global names that stand for something which has no function bodies to sabotage.

    Constants, imported names, and classes with data or bases of their own: `Point` as a dataclass works without
    one line of code, and `class Stack(list)` works by what it inherits.
    """
    kept: set[str] = set()
    found: list[str] = []
    local = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and _only_methods(node)}
    for node in tree.body:
        if isinstance(node, _FUNCTIONS):
            kept.add(node.name)
        elif isinstance(node, ast.ClassDef):
            (kept.add if node.name in local and _plain_bases(node, local) else found.append)(node.name)
        else:
            found += _bound(node)
    return [name for name in dict.fromkeys(found) if name not in kept]


def _only_methods(node: ast.ClassDef) -> bool:
    def harmless(item: ast.stmt) -> bool:
        return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)

    return any(isinstance(item, _FUNCTIONS) for item in node.body) and all(
        isinstance(item, (*_FUNCTIONS, ast.Pass)) or harmless(item) for item in node.body
    )


def _plain_bases(node: ast.ClassDef, local: set[str]) -> bool:
    plain = {"object", "ABC", "Protocol", *local}
    return not node.decorator_list and all(isinstance(base, ast.Name) and base.id in plain for base in node.bases)


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a statement of the module's own level binds, those of nested functions left out."""
    found: list[str] = []
    pending: list[Any] = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, (*_FUNCTIONS, ast.Lambda)):
            continue
        if isinstance(item, ast.ClassDef):
            found.append(item.name)
            continue
        if isinstance(item, (ast.Import, ast.ImportFrom)):
            names = [(alias.asname or alias.name.partition(".")[0]) for alias in item.names if alias.name != "*"]
            found += names if getattr(item, "module", "") != "__future__" else []
        elif isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            found.append(item.id)
        pending += ast.iter_child_nodes(item)
    return found
