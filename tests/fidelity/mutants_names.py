"""Mutants for the cache: single points, and names and texts taken for one another, which fingerprints might confuse."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from tests.fidelity.mutants import mutants

_MOST_OF_A_KIND = 24


def confused(source: str) -> Iterator[str]:
    """Yield single-point mutants of `source`, and those in which one use of a variable, or one text, is another."""
    yield from itertools.islice(mutants(source), _MOST_OF_A_KIND)
    yield from itertools.islice(_other_names(source), 2 * _MOST_OF_A_KIND)
    yield from itertools.islice(_other_texts(source), _MOST_OF_A_KIND)


def _other_names(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        uses = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        bound = {node.id for node in uses if isinstance(node.ctx, ast.Store)}
        names = sorted(bound | {argument.arg for argument in function.args.args})
        for use in uses:
            if use.id in names and len(names) > 1:
                own = use.id
                for use.id in [name for name in names if name != own][:3]:
                    yield ast.unparse(tree)
                use.id = own


def _other_texts(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            own = node.value
            node.value = own + "x"
            yield ast.unparse(tree)
            node.value = own
