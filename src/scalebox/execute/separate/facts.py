"""What the text of a test says about its names: which it binds itself, which functions check, what catches what.

Runs inside the jail, in the tests' compile process: standard library alone, Python 3.8 syntax. Large displays are
not looked into, so that literal data of a megabyte costs nothing here.
"""

from __future__ import annotations

import ast
import builtins
import re
from typing import Any, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
TRIES: Any = (ast.Try, *filter(None, [getattr(ast, "TryStar", None)]))
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_LARGE = 50  # items of a display that is taken for data
BUILTINS = frozenset(vars(builtins))
#: Names that a test may leave to the solution to import; nothing else is taken from it by these names.
LIBRARY = frozenset(
    "math cmath np numpy pd pandas random itertools functools operator collections re json copy statistics decimal "
    "fractions datetime time os sys pytest unittest inspect types typing".split()
)
#: The builtin exceptions that an `except` catches a failed assertion with.
_CATCHING = frozenset(["AssertionError", "Exception", "BaseException"])
#: Context managers that let exceptions through.
_TRANSPARENT = frozenset(
    "open redirect_stdout redirect_stderr patch object dict multiple catch_warnings TemporaryDirectory "
    "NamedTemporaryFile TemporaryFile closing nullcontext StringIO BytesIO localcontext errstate".split()
)
_RAISES = re.compile(r"raises$|warns$|deprecated_call$|suppress$|assert[A-Z_]")
_CHECKS = re.compile(r"_?(assert|check|expect|verify)", re.IGNORECASE)


def blocks(node: Any) -> Iterator[list[Any]]:
    """Yield the lists of statements (or of handlers and cases) directly below `node`."""
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def statements(node: Any, scopes: bool = True) -> Iterator[Any]:
    """Yield every statement, handler and case below `node`, those of nested functions and classes if `scopes`."""
    pending = list(blocks(node))
    while pending:
        for child in pending.pop():
            yield child
            if scopes or not isinstance(child, SCOPES):
                pending.extend(blocks(child))


def expressions(node: Any) -> Iterator[ast.expr]:
    """Yield the expressions below a statement or an expression, without those in statements below it."""
    pending: list[Any] = [node]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if isinstance(child, (ast.stmt, ast.ExceptHandler)) or type(child).__name__ == "match_case":
                continue
            if isinstance(child, ast.expr):
                yield child
            if not (isinstance(child, _LITERALS) and _size(child) > _LARGE):
                pending.append(child)


def _size(node: Any) -> int:
    return len(node.values if isinstance(node, ast.Dict) else node.elts)


def last_name(node: Any) -> str:
    """Return `c` of the expressions `c`, `a.c` and calls of them, else ""."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def first_name(node: Any) -> str:
    """Return `a` of the expressions `a`, `a.b.c`, `a(x).b[0]` …, else ""."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


class Facts:
    """What the text binds. `modules` are the names of the modules that are the solution."""

    def __init__(self, trees: list[ast.Module], modules: frozenset[str]) -> None:
        self.modules = modules
        self.classes: dict[str, ast.ClassDef] = {}
        #: Names that the text binds, in any scope, to something that is not the solution's.
        self.bound: set[str] = set()
        #: Names that the text imports from the solution.
        self.imported: set[str] = set()
        functions: dict[str, list[Any]] = {}
        for tree in trees:
            for statement in statements(tree):
                self._bind(statement)
            for statement in _outside_classes(tree):
                functions.setdefault(statement.name, []).append(statement)
        self.checkers = self._checkers(functions)

    def solutions(self, name: str) -> bool:
        """Return whether `name` can only be the solution's, as far as the text tells."""
        return name in self.imported or (name != "" and name not in self.bound and name not in BUILTINS)

    def _bind(self, statement: Any) -> None:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            self._bind_import(statement)
        elif isinstance(statement, SCOPES):
            self.bound.add(statement.name)
            if isinstance(statement, ast.ClassDef):
                self.classes[statement.name] = statement
            else:
                arguments = statement.args
                every = [*getattr(arguments, "posonlyargs", ()), *arguments.args, *arguments.kwonlyargs]
                every += filter(None, [arguments.vararg, arguments.kwarg])
                self.bound.update(argument.arg for argument in every)
        elif isinstance(statement, ast.ExceptHandler):
            self.bound.add(statement.name or "")
        elif hasattr(statement, "pattern"):  # a case of `match`
            self.bound.update(getattr(part, "name", None) or "" for part in ast.walk(statement.pattern))
        for expression in expressions(statement):
            if isinstance(expression, ast.Name) and not isinstance(expression.ctx, ast.Load):
                self.bound.add(expression.id)

    def _bind_import(self, statement: Any) -> None:
        whole = isinstance(statement, ast.Import)
        for alias in statement.names:
            source = alias.name if whole else statement.module or ""
            ours = source.partition(".")[0] in self.modules
            (self.imported if ours else self.bound).add(alias.asname or alias.name.partition(".")[0])

    def _checkers(self, functions: dict[str, list[Any]]) -> frozenset[str]:
        """Return the names of the text's functions that can fail by themselves, or call one that can."""
        mentions = {name: set(self._mentioned(nodes)) for name, nodes in functions.items()}
        found = {name for name, nodes in functions.items() if any(map(self._checks, nodes))}
        grown = True
        while grown:
            more = {name for name, names in mentions.items() if name not in found and not found.isdisjoint(names)}
            found |= more
            grown = bool(more)
        return frozenset(found)

    @staticmethod
    def _mentioned(nodes: list[Any]) -> Iterator[str]:
        for node in nodes:
            for statement in statements(node):
                for expression in expressions(statement):
                    if isinstance(expression, ast.Name):
                        yield expression.id

    @staticmethod
    def _checks(function: Any) -> bool:
        return any(isinstance(node, (ast.Assert, ast.Raise)) or raises_block(node) for node in statements(function))

    def calls_checker(self, statement: Any) -> bool:
        """Return whether an expression statement makes a check by a call.

        It names one of the text's functions that can fail, or calls what is called `assert…` (also as a method), or
        a function of the text's own that is called `check…`, `expect…` or `verify…`.
        """
        if not isinstance(statement, ast.Expr):
            return False
        for node in expressions(statement):
            if isinstance(node, ast.Name) and node.id in self.checkers:
                return True
            if isinstance(node, ast.Call):
                name = last_name(node)
                if isinstance(node.func, ast.Attribute):
                    if name.lower().startswith("assert"):
                        return True
                elif _CHECKS.match(name) and not self.solutions(name):
                    return True
        return False

    def catches(self, node: Any) -> bool:
        """Return whether a `try` statement may end a failed assertion of its body.

        A name that only the solution can have given does not: the solution could make it mean any exception.
        """
        if type(node).__name__ == "TryStar" or _leaves(node.finalbody):
            return True
        return any(self._handles(handler.type) for handler in node.handlers)

    def _handles(self, kind: Any, depth: int = 0) -> bool:
        if kind is None or depth > 20:
            return True
        if isinstance(kind, ast.Tuple):
            return any(self._handles(item, depth + 1) for item in kind.elts)
        if isinstance(kind, ast.Attribute):
            return not self.solutions(first_name(kind))
        if not isinstance(kind, ast.Name):
            return True
        if kind.id in self.classes:
            return any(self._handles(base, depth + 1) for base in self.classes[kind.id].bases)
        if kind.id in self.bound:
            return True
        return kind.id in _CATCHING

    def swallows(self, node: Any) -> bool:
        """Return whether a `with` statement may end a failed assertion of its body, as far as the text tells."""
        return any(last_name(item.context_expr) not in _TRANSPARENT for item in node.items)


def _leaves(block: list[Any]) -> bool:
    """Return whether a `finally` block ends the exception under way by leaving it with a jump."""
    jumps = (ast.Return, ast.Break, ast.Continue)
    holder = ast.Module(body=block, type_ignores=[])
    return any(isinstance(statement, jumps) for statement in statements(holder, scopes=False))


def _outside_classes(tree: Any) -> Iterator[Any]:
    """Yield the functions of a module that are no methods."""
    pending = list(blocks(tree))
    while pending:
        for child in pending.pop():
            if isinstance(child, FUNCTIONS):
                yield child
            if not isinstance(child, ast.ClassDef):
                pending.extend(blocks(child))


def raises_block(node: Any) -> bool:
    """Return whether `node` is a `with` statement over `raises(…)`, `assertRaises(…)` or the like."""
    if not isinstance(node, (ast.With, ast.AsyncWith)):
        return False
    return any(_RAISES.match(last_name(item.context_expr)) for item in node.items)
