"""What a Python program is, apart from how it is written: what CPython makes of it, without what nobody sees.

Two programs with one fingerprint are compiled to the same instructions, constants and visible names. What is left out
is only positions, docstrings and the names of local variables; programs that might look at these are told apart (here,
or in `determinism`, which has them not cached at all). Renaming is thus decided by the compiler's own resolution of
scopes, and not by one of ours. One thing is taken from the text: in which order the elements of a set were written,
which decides the order in which it gives them. Nothing of the program is run.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import struct
import warnings
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import NamedTuple

#: Longest source that is compiled here; beyond, and with what blows up when compiled, a program is its text.
_MOST_BYTES, _MOST_WITH_FINALLY = 32 * 1024, 4 * 1024
#: What is told of the exception that ends a `with`.
_ENDS = frozenset({"__exit__", "__aexit__", "ExitStack", "AsyncExitStack"})
_FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


class Compiled(NamedTuple):
    """A program as CPython compiles it: the fingerprint, and its tree without what the fingerprint leaves out."""

    digest: bytes
    tree: ast.Module


def compiled(source: bytes, *, keep_names: bool = False) -> Compiled | None:
    """Return a program's fingerprint, or None where it has none but its text (it cannot, or should not, be compiled).

    `keep_names` says that somebody may see the names of local variables.
    """
    if len(source) > _MOST_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            keep_names = _simplify(tree, source) or keep_names
            code = compile(tree, "", "exec", 0, dont_inherit=True, optimize=0)
        sets = [ast.dump(node) for node in ast.walk(tree) if isinstance(node, ast.Set) and _is_constant(node)]
        form = repr((_form(code, keep_names), sets)).encode("utf-8", "surrogatepass")
    except _FAILURES:  # the form of what is nested deeply is, too
        return None
    return Compiled(hashlib.blake2b(form, digest_size=16).digest(), tree)


# --- what the compiler keeps, and nobody sees ------------------------------------------------------


def _simplify(tree: ast.Module, source: bytes) -> bool:
    """Take docstrings out and put imports in order; return whether the program gets hold of exceptions.

    The texts of some name local variables.

    Raises ValueError for what takes too long to compile: bodies of `finally` are compiled once for each way out.
    """
    sees = any(map(_gets_exceptions, ast.walk(tree)))
    pending: list[tuple[ast.AST, int]] = [(tree, 0)]
    while pending:
        node, finals = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                node.body = _without_texts(node.body) or [ast.copy_location(ast.Pass(), node)]
            case ast.Module():
                node.body = list(_ordered([*_head(node.body), *_without_texts(node.body)]))
        if getattr(node, "finalbody", None):
            finals += 1
            if finals > 1 or len(source) > _MOST_WITH_FINALLY:
                raise ValueError("too much to compile")
        for field in ("body", "orelse", "handlers", "finalbody", "cases"):
            children = getattr(node, field, None)
            if isinstance(children, list):
                pending += ((child, finals) for child in children)
    return sees


def _gets_exceptions(node: ast.AST) -> bool:
    """Return whether a program gets hold of an exception here: it catches one, or has a say in how a `with` ends."""
    match node:
        case ast.ExceptHandler(name=str()):
            return True
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name in _ENDS
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            return name in _ENDS
    return False


def _is_constant(node: ast.Set) -> bool:
    """Return whether the compiler may make one constant of a set, which does not show how it was written."""
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))


def _head(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return a text that stands where no import of __future__ may follow it any more: it stays an error."""
    futures = [at for at, one in enumerate(body) if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
    return [one for one in body[1 : max(futures, default=0)] if _is_alone(one)][:1]


def _without_texts(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return a body without statements that are only a string: docstrings, and texts that do nothing."""
    return [one for one in body if not _is_alone(one)]


def _is_alone(statement: ast.stmt) -> bool:
    """Return whether a statement is only a text."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _ordered(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements, those of each run of imports one name at a time and in order.

    Only programs whose imports have no effect but to bind names are cached. Two that bind one name stay as they are.
    """
    run: list[ast.Import | ast.ImportFrom] = []
    for statement in body:
        parts = list(_parts(statement))
        if parts:
            run += parts
            continue
        yield from _sorted(run)
        run = []
        yield statement
    yield from _sorted(run)


def _parts(statement: ast.stmt) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield an import as imports of one name each; nothing for any other statement."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return
    module = getattr(statement, "module", None)
    if module == "__future__" or any(alias.name == "*" for alias in statement.names):
        return
    for alias in statement.names:
        one = (
            ast.Import([alias])
            if isinstance(statement, ast.Import)
            else ast.ImportFrom(module, [alias], statement.level)
        )
        yield ast.copy_location(one, statement)


def _sorted(run: list[ast.Import | ast.ImportFrom]) -> Iterable[ast.Import | ast.ImportFrom]:
    bound = {one.names[0].asname or one.names[0].name.partition(".")[0] for one in run}
    if len(bound) < len(run):
        return run
    return sorted(run, key=lambda one: (getattr(one, "module", None) or "", one.names[0].name))


# --- what of the code can be seen ------------------------------------------------------------------


def _form(code: CodeType, keep_names: bool) -> tuple[object, ...]:
    """Return all of a code object that decides what it does, as plain data with an unambiguous `repr`."""
    arguments = code.co_argcount + code.co_kwonlyargcount
    arguments += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    # In the bodies of classes, and in scopes made for annotations, variables are looked up by their names.
    by_name = not code.co_flags & inspect.CO_OPTIMIZED or "__classdict__" in code.co_freevars
    if keep_names or by_name or code.co_name.startswith("<generic"):
        local: tuple[object, ...] = (code.co_varnames, code.co_cellvars, code.co_freevars)
    else:
        names = code.co_varnames[:arguments]
        # A cell that is an argument is found by its name; `super` finds its own by name.
        cells = [name if name in names or name.startswith("__") else "" for name in code.co_cellvars]
        local = (names, cells, [name if name.startswith("__") else "" for name in code.co_freevars])
    return (
        code.co_name, code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
        code.co_nlocals, code.co_stacksize, code.co_code, code.co_names, local,
        getattr(code, "co_exceptiontable", b""), getattr(code, "co_qualname", ""),
        [_constant(value, keep_names) for value in code.co_consts],
    )  # fmt: skip


def _constant(value: object, keep_names: bool) -> object:
    """Return a constant with its type, where `repr` alone would not tell."""
    match value:
        case CodeType():
            return _form(value, keep_names)
        case bool():
            pass
        case int():
            return hex(value), int
        case float():
            return struct.pack("<d", value), float
        case complex():
            return struct.pack("<dd", value.real, value.imag), complex
        case tuple():
            return tuple(_constant(item, keep_names) for item in value)
        case frozenset():
            return sorted(repr(_constant(item, keep_names)) for item in value), frozenset
    return value
