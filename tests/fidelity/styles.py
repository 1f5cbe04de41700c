"""One set of tests in every kind that can say it: assertions become items, harnesses, programs, pytest modules.

A `Style` turns assertions (each a text of statements that fails where the program is wrong) into the fields of a
sample. All of them mean the same, so a program has the same verdict under each.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Callable, Iterable, Sequence
from textwrap import indent
from typing import Any

Style = Callable[[Sequence[str], str], dict[str, Any]]


def asserts(tests: Sequence[str], _: str) -> dict[str, Any]:
    """Return an item for each test."""
    return {"tests": [{"assert": test} for test in tests]}


def one_assert(tests: Sequence[str], _: str) -> dict[str, Any]:
    """Return one item that holds all tests."""
    return {"tests": [{"assert": "\n".join(tests)}]}


def harness(tests: Sequence[str], entry: str) -> dict[str, Any]:
    """Return `check(candidate)`, called by the engine."""
    renamed = [_renamed(test, entry, "candidate") for test in tests]
    return {"tests": [{"harness": _function("check", renamed, "candidate")}], "entry_point": entry}


def calling_harness(tests: Sequence[str], entry: str) -> dict[str, Any]:
    """Return a `check` that names its parameter like the function, and is called by the harness itself."""
    return {"tests": [{"harness": f"{_function('check', tests, entry)}\ncheck({entry})\n"}]}


def program(tests: Sequence[str], _: str) -> dict[str, Any]:
    """Return the tests as what follows the code."""
    return {"tests": [{"suffix": "\n" + "\n".join(tests) + "\n"}]}


def functions(tests: Sequence[str], _: str) -> dict[str, Any]:
    """Return test functions in an assert item."""
    return {"tests": [{"assert": _test_functions(tests)}]}


def unittest_class(tests: Sequence[str], _: str) -> dict[str, Any]:
    """Return a class for unittest in an assert item."""
    return {"tests": [{"assert": _test_case(tests)}]}


def doctest(tests: Sequence[str], _: str) -> dict[str, Any]:
    """Return an interactive session in an assert item."""
    return {"tests": [{"assert": "".join(_session(test) for test in tests)}]}


def pytest_functions(tests: Sequence[str], _: str) -> dict[str, Any]:
    """Return a pytest module of functions."""
    return pytest_module(_test_functions(tests), [f"test_{number}" for number in range(len(tests))])


def pytest_test_case(tests: Sequence[str], _: str) -> dict[str, Any]:
    """Return a pytest module of a class for unittest."""
    return pytest_module(_test_case(tests), [f"TestAll::test_{number}" for number in range(len(tests))])


#: All styles by name. Those of `NEED_ENTRY` need the name of the function under test.
STYLES: dict[str, Style] = {
    style.__name__: style
    for style in (
        asserts, one_assert, harness, calling_harness, program, functions, unittest_class, doctest, pytest_functions,
        pytest_test_case,
    )
}  # fmt: skip
NEED_ENTRY = ("harness", "calling_harness")


def pytest_module(source: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the tests of a module, in which names that it does not define are imported from the program.

    `names` are the tests that are required, as pytest has them after the name of the file.
    """
    free = sorted(free_names(source))
    head = f"from solution import {', '.join(free)}\n\n\n" if free else ""
    required = [f"test_solution.py::{name}" for name in names]
    return {"tests": [{"files": {"test_solution.py": head + source}, "required": required}]}


def free_names(source: str) -> set[str]:
    """Return the names that a source uses and that neither it nor the builtins define."""
    module = symtable.symtable(source, "<tests>", "exec")
    bound = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    return _globals(module) - bound - set(vars(builtins))


def _globals(table: symtable.SymbolTable) -> set[str]:
    found = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return found.union(*map(_globals, table.get_children()))


def _renamed(test: str, old: str, new: str) -> str:
    tree = ast.parse(test)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == old:
            node.id = new
    return ast.unparse(tree)


def _function(name: str, tests: Iterable[str], parameter: str = "") -> str:
    return f"def {name}({parameter}):\n" + "".join(indent(test.strip("\n"), "    ") + "\n" for test in tests)


def _test_functions(tests: Sequence[str]) -> str:
    return "\n\n".join(_function(f"test_{number}", [test]) for number, test in enumerate(tests))


def _test_case(tests: Sequence[str]) -> str:
    methods = [_function(f"test_{number}", [_with_methods(test)], "self") for number, test in enumerate(tests)]
    return "import unittest\n\n\nclass TestAll(unittest.TestCase):\n" + indent("\n".join(methods), "    ")


def _with_methods(test: str) -> str:
    return ast.unparse(_AssertMethods().visit(ast.parse(test)))


class _AssertMethods(ast.NodeTransformer):
    """Writes assert statements as calls of unittest's methods."""

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """Return the statement that says the same."""
        match node.test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                name, arguments = "assertEqual", [left, right]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                name, arguments = "assertFalse", [operand]
            case test:
                name, arguments = "assertTrue", [test]
        method = ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load())
        return ast.fix_missing_locations(ast.Expr(ast.Call(method, arguments, [])))


def _session(test: str) -> str:
    lines = []
    for statement in ast.parse(test).body:
        is_assert = isinstance(statement, ast.Assert)
        text = f"bool({ast.unparse(statement.test)})" if isinstance(statement, ast.Assert) else ast.unparse(statement)
        first, *rest = text.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in rest)]
        lines += ["True"] if is_assert else []
    return "\n".join(lines) + "\n\n"
