"""Parses and compiles one sample, inside the jail: hostile source costs that sample alone.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

from scalebox.execute import stateless

_TEXT_LIMIT = 200  # characters of the offending line that a message shows
_THREADING = frozenset(["_thread", "asyncio", "concurrent", "joblib", "multiprocessing", "threading"])
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def build(source: bytes, filename: str, need_state: bool, calls: list[str]) -> dict[str, Any]:
    """Compile `source` as Python would from a file, coding cookie, byte order mark and asserts included.

    Returns {"ok": True, "code", "imports", "threads", "stateless", "why"}: `imports` are the top-level names of all
    modules named in import statements, `threads` whether one of them starts threads; `stateless` is what
    `stateless.prove` says of `calls` where `need_state` asks for it, else False, and `why` its reason.
    Or {"ok": False, "message", "line", "column"}, both from 1, or 0 where there is no telling. Never raises.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree: Any = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True, optimize=0)
            imported = imports(tree)
            proved, why = _prove(tree, calls) if need_state else (False, "")
            code = compile(tree, filename, "exec", 0, dont_inherit=True, optimize=0)
    except Exception as error:
        return failure(error)
    return {
        "ok": True,
        "code": code,
        "imports": imported,
        "threads": starts_threads(imported),
        "stateless": proved,
        "why": why,
    }


def _prove(tree: Any, calls: list[str]) -> tuple[bool, str]:
    try:
        return stateless.prove(tree, calls)
    except Exception as error:
        return False, "the analysis failed (%s)" % type(error).__name__


def failure(error: Exception) -> dict[str, Any]:
    """Return what `build` answers where compiling ended in `error`."""
    if isinstance(error, SyntaxError):
        return _syntax_error(error)
    if isinstance(error, RecursionError):
        return _failure("nested too deeply")
    if isinstance(error, MemoryError):
        return _failure("too large or nested too deeply: the compiler ran out of memory")
    return _failure(str(error)[:_TEXT_LIMIT] or type(error).__name__)


def _syntax_error(error: SyntaxError) -> dict[str, Any]:
    message = str(error.msg)[:_TEXT_LIMIT]
    line, column = error.lineno or 0, max(error.offset or 1, 1)
    if not line:
        return _failure(message)
    text = (error.text or "").strip()[:_TEXT_LIMIT]
    shown = f"{message}: {text}" if text else message
    return _failure(f"line {line}, column {column}: {shown}", line, column)


def _failure(message: str, line: int = 0, column: int = 0) -> dict[str, Any]:
    return {"ok": False, "message": message, "line": line, "column": column}


def starts_threads(imported: list[str]) -> bool:
    """Return whether one of the modules imported starts threads."""
    return not _THREADING.isdisjoint(imported)


def imports(tree: ast.AST) -> list[str]:
    """Return the sorted top-level names that import statements name, at any depth."""
    found: set[str] = set()
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                found.add(node.module.partition(".")[0])
        else:
            for name in _BLOCKS:
                pending += getattr(node, name, ()) if isinstance(getattr(node, name, None), list) else ()
    return sorted(found)
