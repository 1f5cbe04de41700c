"""Whether a test can run apart from the solution, by the test's text alone: nothing the solution does can change it.

What the tests' side holds of the solution are stand-ins. A test that looks into the solution's functions, derives from
its classes, or changes the process that the solution runs in needs the solution beside it.

Runs inside the jail, in the tests' compile process: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from scalebox.execute.separate import facts

#: A text without any of these words needs no second look.
_WORDS = re.compile(
    r"__(?:code|closure|globals|defaults|kwdefaults|abstractmethods)__|inspect|types|patch|environ|putenv|"
    r"chdir|getcontext|setlocale|catch_warnings|warns|deprecated_call|assertWarns|assertLogs|assertNoLogs|caplog|recwarn|"
    r"\bmodules\b|setitem|\.\w+ *="
)
_ATTRIBUTES = frozenset(
    ["__code__", "__closure__", "__globals__", "__defaults__", "__kwdefaults__", "__abstractmethods__"]
)
_INSPECT = frozenset(
    "getsource getsourcelines getsourcefile getfile getmodule getclosurevars getgeneratorstate isgenerator "
    "isgeneratorfunction iscoroutine iscoroutinefunction isabstract isawaitable isasyncgen isasyncgenfunction".split()
)
_TYPES = frozenset(["types.GeneratorType", "types.CoroutineType", "types.AsyncGeneratorType"])
#: Calls that change or watch the process that makes them.
_PROCESS = {
    "chdir": "the working directory",
    "fchdir": "the working directory",
    "putenv": "the environment",
    "setenv": "the environment",
    "delenv": "the environment",
    "setlocale": "the locale",
}
_WATCHES = {
    "warns": "warnings",
    "deprecated_call": "warnings",
    "assertWarns": "warnings",
    "assertWarnsRegex": "warnings",
    "assertLogs": "log records",
    "assertNoLogs": "log records",
}
#: What a test may replace on its side, for the solution's calls are made to notice.
_FORWARDED = frozenset(["builtins.input", "builtins.print", "sys.stdin", "sys.stdout", "sys.stderr"])
_STATE = frozenset(["os.environ", "sys.modules", "sys.argv", "sys.path"])
_RUNNERS = frozenset(["pytest"])
_STATE_METHODS = frozenset(["update", "setdefault", "pop", "clear", "append", "insert", "extend", "popitem"])


def reason(tree: Any, source: str, known: facts.Facts, own: frozenset[str] = frozenset()) -> str:
    """Return why the test in `tree` must share a process with the solution, with a line, or "".

    `own` are modules that the solution does not use: what tests do to them is their own affair.
    """
    look_closer = _WORDS.search(source) is not None
    modules = _modules(tree, known.modules | own | _RUNNERS)
    for statement in facts.statements(tree):
        found = _inherits(statement, known)
        if not found and look_closer:
            found = _assigns(statement, modules)
            for node in facts.expressions(statement):
                found = found or _expression(node, modules)
        if found:
            return "line %d %s" % (getattr(statement, "lineno", 0), found)
    return ""


def _modules(tree: Any, without: frozenset[str]) -> dict[str, str]:
    """Return what names stand for: those of modules other than some, and what is imported from them."""
    found: dict[str, str] = {}
    for statement in facts.statements(tree):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or name] = name
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                found[alias.asname or alias.name] = "%s.%s" % (statement.module, alias.name)
    return {name: path for name, path in found.items() if path.partition(".")[0] not in without}


def _inherits(statement: Any, known: facts.Facts) -> str:
    if not isinstance(statement, ast.ClassDef):
        return ""
    for base in statement.bases:
        if known.solutions(facts.first_name(base)):
            return "derives %s from the program's %s" % (statement.name, facts.first_name(base))
    for decorator in statement.decorator_list:
        if known.solutions(facts.first_name(decorator)):
            return "decorates %s with the program's %s" % (statement.name, facts.first_name(decorator))
    return ""


def _path(node: Any, modules: dict[str, str]) -> str:
    """Return the dotted path of what an expression names below an imported module, else ""."""
    rest: list[str] = []
    while isinstance(node, ast.Attribute):
        rest.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in modules:
        return ""
    return ".".join([modules[node.id], *reversed(rest)])


def _assigns(statement: Any, modules: dict[str, str]) -> str:
    """Return what is said of an assignment to, or deletion of, part of a module."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    for target in targets:
        if isinstance(target, ast.Subscript):
            path = _path(target.value, modules)
            if path in _STATE:
                return "changes %s" % path
        elif isinstance(target, ast.Attribute):
            if facts.last_name(target.value) == "getcontext":
                return "changes the decimal context"
            path = _path(target, modules)
            if path and path not in _FORWARDED and path.count(".") >= 1:
                return "replaces %s" % path
    return ""


def _expression(node: Any, modules: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
        return "reads %s" % node.attr
    if isinstance(node, ast.Name) and node.id in ("caplog", "recwarn"):
        return "watches %s" % ("log records" if node.id == "caplog" else "warnings")
    if isinstance(node, (ast.Name, ast.Attribute)) and _path(node, modules) in _TYPES:
        return "asks for %s" % _path(node, modules)
    return _call(node, modules) if isinstance(node, ast.Call) else ""


def _call(node: ast.Call, modules: dict[str, str]) -> str:
    name, path = facts.last_name(node), _path(node.func, modules)
    if name in _INSPECT and path == "inspect." + name:
        return "calls %s" % path
    if name in _PROCESS:
        return "changes " + _PROCESS[name]
    if name in _WATCHES:
        return "watches " + _WATCHES[name]
    if name == "catch_warnings" and any(keyword.arg == "record" for keyword in node.keywords):
        return "watches warnings"
    if name in _STATE_METHODS and isinstance(node.func, ast.Attribute) and _path(node.func.value, modules) in _STATE:
        return "changes %s" % _path(node.func.value, modules)
    return _patch(node, name, modules)


def _patch(node: ast.Call, name: str, modules: dict[str, str]) -> str:
    """Return what is said of `patch.dict(…)` and `setitem(…)`, as of mock and monkeypatch.

    What these replace in modules, of the library or the solution's, and in the solution's classes and objects is
    replaced on both sides.
    """
    owner = facts.last_name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    if not node.args or not (name == "setitem" or (name == "dict" and owner == "patch")):
        return ""
    target = node.args[0]
    path = target.value if isinstance(target, ast.Constant) else _path(target, modules)
    return "changes %s" % path if isinstance(path, str) and path in _STATE else ""
