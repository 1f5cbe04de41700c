"""The `program` kind: which part of prefix + code + suffix is the solution, and which part tests it.

Runs in the worker. The suffix is the task author's, and the only text that is parsed here; where it is cut depends on
prefix and suffix alone, so that no code can choose how it is tested.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Sequence

_STATEMENT = re.compile(r"(?!(?:and|or|in|is)\b)[A-Za-z_@]")
_NOTHING = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*")
_TOP_LEVEL = re.compile(r"^[^\s#)\]}]", re.MULTILINE)
_CONTINUES = re.compile(r"(?:elif|else|except|finally)\b")


def whole(prefix: str, code: str, suffix: str) -> str:
    """Return the program as one text. A suffix that begins a statement starts on a line of its own."""
    body = prefix + code
    return body + ("\n" if body and not body.endswith("\n") and _STATEMENT.match(suffix) else "") + suffix


def split_program(prefix: str, code: str, suffix: str) -> tuple[str, str] | None:
    """Return (source of the solution, source of the tests), or None where the program cannot be cut.

    The tests are the suffix from its first unindented statement on. What stands before that (the rest of a function of
    which the code is the middle) goes to the solution. A suffix that does not parse from there on, or that tests
    nothing, cannot be cut off, nor one that defines a function or class which the prefix uses.
    """
    start = _cut(suffix)
    tree = _parsed(suffix[start:])
    if tree is None or not tree.body:
        return None
    defined = _defined(tree)
    if any(name in prefix for name in defined) and not defined.isdisjoint(_used(prefix)):
        return None
    return whole(prefix, code, suffix[:start]), suffix[start:]


def _cut(suffix: str) -> int:
    """Return where the first unindented line of the suffix begins that continues no statement before it."""
    for found in _TOP_LEVEL.finditer(suffix):
        # What follows the code on the code's own line belongs to that.
        if (found.start() or _STATEMENT.match(suffix)) and not _CONTINUES.match(suffix, found.start()):
            return 0 if _NOTHING.fullmatch(suffix, 0, found.start()) else found.start()
    return len(suffix)


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defined(tree: ast.Module) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


def _used(prefix: str) -> set[str]:
    """Return the names in `prefix`, which may end in the middle of anything, without its strings and comments."""
    found: set[str] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(prefix).readline):
            if token.type == tokenize.NAME:
                found.add(token.string)
    except (SyntaxError, tokenize.TokenError):
        return found
    return found


def fold(cases: Sequence[tuple[str, str, str]], reason: str, detail: str) -> tuple[str, str]:
    """Return (status, detail) of the one case that a program is, from those that its tests came to.

    `cases` are (name, status, detail); `reason` and `detail` are those of the frame that ended them. The program passed
    if its tests ran to their end and no case of them did anything but pass; one that asserts nothing passes by ending.
    """
    for _, status, said in cases:
        if status != "passed":
            return ("error" if status == "skipped" else status), said
    return ("passed", "") if reason == "done" else ("error", detail or reason)
