"""Single-point mutants of a program: off by one, negated, the neighbouring operator."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

_COMPARED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Div: ast.Mult,
}  # fmt: skip


def mutants(source: str) -> Iterator[str]:
    """Yield every program that differs from `source` in one place, in the order of those places."""
    places = sum(1 for node in ast.walk(ast.parse(source)) if _change(node) is not None)
    for place in range(places):
        tree = ast.parse(source)
        changes = [change for node in ast.walk(tree) if (change := _change(node)) is not None]
        changes[place]()
        yield ast.unparse(ast.fix_missing_locations(tree))


def _change(node: ast.AST) -> Callable[[], None] | None:
    """Return what alters `node`, or None where there is nothing to alter."""
    match node:
        case ast.Constant(value=bool(truth)):
            return partial(setattr, node, "value", not truth)
        case ast.Constant(value=int(number)):
            return partial(setattr, node, "value", number + 1)
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARED:
            return partial(setattr, node, "ops", [_COMPARED[type(operator)]()])
        case ast.BinOp(op=operator) if type(operator) in _COMPUTED:
            return partial(setattr, node, "op", _COMPUTED[type(operator)]())
        case ast.BoolOp(op=ast.And()):
            return partial(setattr, node, "op", ast.Or())
        case ast.BoolOp():
            return partial(setattr, node, "op", ast.And())
        case ast.Return(value=ast.expr() as value):
            return partial(setattr, node, "value", ast.UnaryOp(ast.Not(), value))
    return None
