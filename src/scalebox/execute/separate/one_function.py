"""Whether a test takes the solution for one function of its arguments: read off the test's own text.

Of such a test each answer must be right whatever was asked before; `fresh` sees to it. A test that calls without
arguments, lets a result lie, uses a second name of the solution, or wants two answers to one question, is about state.

Runs inside the jail, in the tests' compile process: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Iterable

from scalebox.execute.separate import facts

#: What a test reaches the state of the solution's process by, and what may be in two calls at once.
_WORDS = re.compile(
    r"\b(?:eval|exec|globals|locals|vars|__dict__|seed|setstate|patch|mock|monkeypatch|setattr|delattr|environ|stdin|stdout|input|reload|capsys|capfd|"
    r"cache_\w+|getrecursionlimit|setrecursionlimit|Thread|threading|concurrent|asyncio|async|await|open|tmp_path)\b"
)


def calls_one_function(sources: Iterable[str], trees: Iterable[Any], known: facts.Facts) -> bool:
    """Return whether all that a test does with the solution is to call one function, with arguments, for its results.

    A function that the test is handed as an argument is not looked for: `check(candidate)`.
    """
    if any(map(_WORDS.search, sources)):
        return False
    uses = _Uses(known)
    return all(uses.take(tree) for tree in trees) and len(uses.names) <= 1


class _Uses:
    def __init__(self, known: facts.Facts) -> None:
        self._known = known
        self.names: set[str] = set()
        self._answers: dict[str, str] = {}

    def take(self, tree: Any) -> bool:
        """Take note of what a text calls; return whether that is all it does."""
        if any(map(_asks_type, ast.walk(tree))):
            return False  # of the class itself, which a copy has anew
        caught = {id(part) for node in facts.statements(tree) if _catches(node) for part in node.body}
        return all(self._statement(node, id(node) in caught) for node in facts.statements(tree))

    def _statement(self, statement: Any, caught: bool) -> bool:
        if isinstance(statement, ast.Expr) and self._called(statement.value) and not caught:
            return False  # for its effect
        called: set[int] = set()
        for node in facts.expressions(statement):
            if isinstance(node, ast.Call):
                called.update(self._accounted(node))
            elif isinstance(node, ast.Compare):
                if not self._agrees(node):
                    return False
            elif id(node) not in called and self._name(node):
                return False
        return True

    def _accounted(self, node: ast.Call) -> Iterable[int]:
        """Return the ids of the expressions in which a call names the solution's function as it should."""
        name = self._called(node)
        if name and (node.args or node.keywords):
            self.names.add(name)
            return {id(node.func), id(getattr(node.func, "value", None))}
        made: Any = node.func.value if isinstance(node.func, ast.Attribute) else None
        name = self._called(made)
        fresh = isinstance(made, ast.Call) and not (made.args or made.keywords)
        if name and fresh and (node.args or node.keywords):  # Solution().f(…)
            self.names.add("%s().%s" % (name, facts.last_name(node.func)))
            return {id(made.func), id(getattr(made.func, "value", None))}
        if facts.last_name(node.func) in self._known.bound:  # handed on to a function of the test's own
            handed = [*node.args, *(keyword.value for keyword in node.keywords)]
            self.names.update(filter(None, map(self._name, handed)))
            return {id(part) for part in handed if self._name(part)}
        return ()

    def _called(self, node: Any) -> str:
        return self._name(node.func) if isinstance(node, ast.Call) else ""

    def _name(self, node: Any) -> str:
        """Return the name of the solution's that an expression is, as `f` or `solution.f`, else ""."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.attr if node.value.id in self._known.imported else ""
        if not isinstance(node, ast.Name) or node.id in facts.LIBRARY or not self._known.solutions(node.id):
            return ""
        return node.id

    def _agrees(self, node: ast.Compare) -> bool:
        """Take note of `f(…) == constant`; return whether the same call was not to give another one."""
        answer = node.comparators[0]
        if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.Is)) or not isinstance(answer, ast.Constant):
            return True
        if not self._called(node.left) or any(map(_is_large, ast.walk(node.left))):
            return True
        wanted = ast.dump(answer)
        return self._answers.setdefault(ast.dump(node.left), wanted) == wanted


def _catches(node: Any) -> bool:
    return facts.raises_block(node) or isinstance(node, facts.TRIES)


def _asks_type(node: Any) -> bool:
    """Return whether an expression is `type(x) is K`, for a `K` that is no builtin."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    asked = any(isinstance(side, ast.Call) and facts.last_name(side) == "type" for side in sides)
    return asked and any(isinstance(side, ast.Name) and side.id not in facts.BUILTINS for side in sides)


def _is_large(node: Any) -> bool:
    return len(getattr(node, "elts", ())) > 20 or len(getattr(node, "keys", ())) > 20
