"""Third-party tests as function calls: asserts and literals read from their syntax trees, never run."""

from __future__ import annotations

import ast
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

#: Two threads that parse get in each other's way in CPython 3.11 (its issue 106905).
_PARSER = threading.Lock()


class NotACall(ValueError):
    """A test that no function call with plain arguments and a plain value can express; says why."""


class Call(NamedTuple):
    """A call and the value expected of it, as Python literals; a `tolerance` asks for closeness instead of equality."""

    name: str
    args: str
    expect: str
    kwargs: dict[str, Any]
    tolerance: float = 0.0

    def test(self) -> dict[str, Any]:
        """Return the call as an item of a sample's `tests`."""
        item: dict[str, Any] = {"call": self.name, "args_repr": self.args, "expect_repr": self.expect}
        return item | ({"kwargs": self.kwargs} if self.kwargs else {})


_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant)
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Load)


def literal(node: ast.expr) -> str:
    """Return the `repr` of what a constant expression (literals and arithmetic on them) means; raises NotACall."""
    for part in ast.walk(node):
        if not isinstance(part, (*_ARITHMETIC, *_CONTAINERS)):
            raise NotACall(f"{type(part).__name__} in {ast.unparse(node)!r} is no literal")
    return repr(eval(compile(ast.Expression(node), "<literal>", "eval"), {"__builtins__": {}}))  # noqa: S307 - checked above


def call(node: ast.expr, expect: str, tolerance: float = 0.0) -> Call:
    """Return the call of `node`, a plain name applied to literals, with the value expected of it; raises NotACall."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise NotACall(f"{ast.unparse(node)!r} is no call of the solution's function")
    arguments = "".join(f"{literal(argument)}, " for argument in node.args)
    keywords = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise NotACall("** in a call")
        keywords[keyword.arg] = ast.literal_eval(literal(keyword.value))
    return Call(node.func.id, f"({arguments.rstrip()})", expect, keywords, tolerance)


def calls_of(source: str) -> list[Call]:
    """Return the calls that the top-level asserts of `source` make; raises NotACall where one makes none."""
    calls = []
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.Assert):
            raise NotACall(f"{type(statement).__name__} beside the asserts")
        calls.append(_asserted(statement.test))
    if not calls:
        raise NotACall("no assert")
    return calls


def _asserted(test: ast.expr) -> Call:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            try:
                return call(left, literal(right))
            except NotACall:
                return call(right, literal(left))
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(left=left, op=ast.Sub(), right=right)]),
            ops=[ast.Lt() | ast.LtE()],
            comparators=[bound],
        ):
            return call(left, literal(right), tolerance=float(literal(bound)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return call(operand, "False")
        case ast.Call():
            return call(test, "True")
    raise NotACall(f"{ast.unparse(test)!r} compares nothing that a call returns")


def assigned(source: str, name: str) -> str | None:
    """Return the source of the value that `source` assigns to `name`, at whatever depth, or None."""
    with _PARSER:
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return ast.unparse(node.value)
    return None


def match_for(calls: Sequence[Call]) -> dict[str, Any]:
    """Return the `match` that the tolerances of calls ask for; raises NotACall where they differ."""
    tolerances = {call.tolerance for call in calls}
    if len(tolerances) > 1:
        raise NotACall("tests with different tolerances")
    (tolerance,) = tolerances
    return {"mode": "float", "abs": tolerance, "rel": 0.0} if tolerance else {"mode": "value"}
