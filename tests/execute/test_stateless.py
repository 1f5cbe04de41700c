"""The proof of statelessness, program by program: what it accepts, and what it refuses and why."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scalebox.execute.stateless import prove

PROGRAMS = Path(__file__).with_name("programs")


def programs(file: str) -> list[tuple[str, str, str]]:
    """Return (name, reason, program) of each entry of a file of programs."""
    parts = re.split(r"^### (.*)\n", (PROGRAMS / file).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    titles = [title.partition(" -> ") for title in parts[::2]]
    return [(name, reason, code) for (name, _, reason), code in zip(titles, parts[1::2], strict=True)]


STATELESS = programs("stateless.txt")
STATEFUL = programs("stateful.txt")

BUILTINS = """
getattr setattr delattr vars globals locals exec eval compile open input print __import__ hash id dir help memoryview
breakpoint object exit quit classmethod property issubclass hasattr aiter ascii __name__ __builtins__ __file__
""".split()
MODULES = "os random time threading io gc ctypes inspect builtins importlib weakref numpy os.path secrets uuid".split()
ATTRIBUTES = """
gi_frame gi_code cr_frame ag_frame f_globals f_back tb_frame co_consts func_globals __globals__ __dict__ __closure__
__code__ __defaults__ __class__ __self__ __func__ __wrapped__ __subclasses__ __reduce__
""".split()
#: Attributes that stay forbidden when the program has attributes of that name.
NAMED_BY_PROGRAM = "gi_frame f_globals tb_frame default_factory mro scanner now today register format_map".split()


def targets(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Solution":
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef) and "__" not in part.name]
            return [f"Solution.{name}" for name in methods[:1]]
    return ["f"]


def reason_against(code: str) -> str:
    tree = ast.parse(code)
    proved, why = prove(tree, targets(tree))
    assert proved is (why == "")
    return why


@pytest.mark.parametrize("code", [row[2] for row in STATELESS], ids=[row[0] for row in STATELESS])
def test_accepts(code: str) -> None:
    assert reason_against(code) == ""


@pytest.mark.parametrize(("reason", "code"), [row[1:] for row in STATEFUL], ids=[row[0] for row in STATEFUL])
def test_refuses(reason: str, code: str) -> None:
    why = reason_against(code)
    assert reason in why
    assert re.match(r"line \d+: .", why) or "not a function" in why or "named as" in why or "at import" in why


@pytest.mark.parametrize("name", BUILTINS)
def test_refuses_builtins(name: str) -> None:
    assert f"{name} is not known to be harmless" in reason_against(f"def f(x):\n    return {name}(x)")


@pytest.mark.parametrize("name", MODULES)
def test_refuses_modules(name: str) -> None:
    assert f"module {name} is not known" in reason_against(f"import {name}\ndef f():\n    return 1")


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_refuses_attributes(name: str) -> None:
    assert f"attribute {name}" in reason_against(f"def g():\n    yield 1\ndef f(x):\n    return g().{name}")


@pytest.mark.parametrize("name", NAMED_BY_PROGRAM)
def test_refuses_attributes_that_the_program_has_too(name: str) -> None:
    made = f"class A:\n    def __init__(self):\n        self.value = 1\n    def {name}(self):\n        return 1\n"
    assert name in reason_against(f"{made}def f(x):\n    return x.{name}()")


def test_has_many_programs() -> None:
    assert len(STATELESS) > 60
    assert len(STATEFUL) > 180


@pytest.mark.parametrize("call", ["f", "A.run", "A().run", "B.run", "A.fast"])
def test_knows_what_calls_name(call: str) -> None:
    run = "    def run(self):\n        return 1\n    @staticmethod\n    def fast():\n        return 1\n"
    code = f"def f():\n    return 1\nclass A:\n{run}class B(A):\n    pass"
    assert prove(ast.parse(code), [call]) == (True, "")


@pytest.mark.parametrize(
    "call", ["g", "A", "A.walk", "C.run", "A.run.x", "A.__init__", "f.run", "", ".", "f.__call__", "run"]
)
def test_refuses_calls_it_does_not_know(call: str) -> None:
    init = "    def __init__(self):\n        self.x = 1\n"
    code = f"def f():\n    return 1\nclass A:\n{init}    def run(self):\n        return 1"
    proved, why = prove(ast.parse(code), ["f", call])
    assert not proved
    assert "not a function of the program" in why


def test_takes_a_lone_method_for_one_of_solution() -> None:
    code = "class Solution:\n    def twoSum(self, xs):\n        return xs"
    assert prove(ast.parse(code), ["twoSum"]) == (True, "")


def test_is_total_on_deep_trees() -> None:
    node: ast.expr = ast.Constant(1)
    for _ in range(100_000):
        node = ast.UnaryOp(ast.USub(), node)
    assert prove(ast.Module([ast.Expr(node)], []), []) == (False, "nested too deeply")


def test_is_total_on_trees_that_no_parser_makes() -> None:
    tree = ast.parse("x = y = 1")
    del tree.body[0].targets  # type: ignore[attr-defined] # an assignment
    proved, why = prove(tree, [])
    assert not proved
    assert why


def test_bounds_its_reasons() -> None:
    assert len(reason_against("def f():\n    return " + "x" * 100_000)) <= 300


@pytest.mark.parametrize(
    ("code", "proved"),
    [
        ("import math\nN = 3\ndef f(x):\n    return math.sqrt(x) + N\n", True),
        ("class Solution:\n    def f(self, x):\n        return x\n", True),
        ("import functools\nanswers = [1, 2]\nf = functools.partial(lambda a, n: a.pop(0), answers)\n", False),
        ("import itertools\nf = itertools.count().__next__\n", False),
        ("seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\n", False),
    ],
)
def test_without_names_of_calls_everything_that_the_module_defines_is_meant(code: str, proved: bool) -> None:
    assert prove(ast.parse(code), [])[0] is proved
