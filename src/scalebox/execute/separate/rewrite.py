"""Compiles the text of a test so that its checks are recorded, one by one, while everything else runs as written.

Every `assert` becomes

    try:
        @begin(site)
        if TEST:                        # operands are passed through @keep(slot, operand)
            @passed(site)
        else:
            @failed(site, MESSAGE)
    except:
        if @raised(site): raise

and a statement that checks in another way (docs/concepts/tests.md) is put into `with @check(site):`. What starts with
`@` is no identifier, so no text can name it; the hooks (cases.py) are among the builtins and show in no `globals()` or
`locals()`. Nothing is evaluated twice or in another order, no variable is added, and every line keeps its number.

Runs inside the jail, in the tests' compile process: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import ast
import re
import warnings
from types import CodeType
from typing import Any, Iterator

from scalebox.execute import source as plain
from scalebox.execute.separate import evidence, facts, one_function, split
from scalebox.execute.separate.show import shown

SETUP_NAME = "<setup>"
_PROMPT = re.compile(r"^[ \t]*>>> ", re.MULTILINE)
#: Code that names these can reach any of the solution's names by text.
_DYNAMIC = frozenset(
    "eval exec compile globals locals vars dir modules __import__ import_module __dict__ __main__ __builtins__".split()
)
#: And text that names something of its own module, as `patch("__main__.f")` does.
_OWN_MODULE = re.compile(r"__main__\.|__name__\}\.|__name__ *\+")
_MODULE, _INNER = 0, 1


def build_tests(
    source: str, filename: str, setup: str = "", modules: tuple[str, ...] = ("solution",)
) -> dict[str, Any]:
    """Compile a test item and its set-up. Never raises.

    `modules` are the names by which the text may import the solution. Returns {"ok": False, "message", "line",
    "column"} as `source.build` does where the text is no Python: the task's fault. Else {"ok": True} with
      code, setup       code objects; `setup` None where there is none, `code` None for a doctest
      filename          that of `code`
      doctest           the text, where it is an interactive session and no program, else ""
      names             the names that the text uses (sorted), or None where it may reach any by their text
      own               the names that it defines and imports itself
      cases             how many `assert` statements can be cases
      imports, threads  as `source.build` says
      shared            why the test cannot run apart from the solution, or "": a property of the text alone
      calls_check       whether its top level calls `check` by itself
      sites             what can be a case: (kind, file name, line, column, end line, end column, cover), kind
                        "assert", "never" (`assert False`) or "check"; those of the set-up, whose functions may be
                        called, last; cover: its function catches none of its exceptions (0), perhaps some (1), or
                        perhaps even a failed assertion (2)
      slots             values that a failed assert shows: (site, label, position or None, constant's text)
      shields           file name -> (first line, last line, whole) of bodies of which exceptions may be caught;
                        whole: a failed assertion too
      lines             file name -> its lines
      value_classes     names that it uses as classes of values (evidence.py)
      one_function      whether it takes the solution for one function (one_function.py)
      unittest          whether it defines classes that may be test cases
      dropped           the line of a comparison whose result is dropped, "" without one
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _build(source, filename, setup, frozenset((*modules, "__main__")))
    except Exception as error:
        return plain.failure(error)


def _build(source: str, filename: str, setup: str, modules: frozenset[str]) -> dict[str, Any]:
    prologue = _parse_setup(setup)
    try:
        tree = _parse(source, filename)
    except SyntaxError:
        if not _PROMPT.search(source):
            raise
        return _doctest(source, prologue, setup, modules)
    session = _only_docstring(tree)
    if session and _PROMPT.search(session):
        return _doctest(session, prologue, setup, modules)
    known = facts.Facts([tree, prologue], modules)
    imported = sorted({*plain.imports(tree), *plain.imports(prologue)} - modules)
    alone = one_function.calls_one_function([source, setup], [tree, prologue], known)
    values = evidence.value_classes(tree) | evidence.value_classes(prologue)
    shared = split.reason(tree, source, known) or split.reason(prologue, setup, known)
    calls_check = any("check" in _loads(node) for node in facts.statements(tree, scopes=False))
    sessions = _sessions(tree) if "doctest" in imported else []
    tests = any(isinstance(node, ast.ClassDef) and node.bases for node in facts.statements(tree))
    dropped = _dropped(tree, _lines(source))
    tables = Tables()
    tree.body = Instrumenter(known, tables, filename).block(tree.body, _MODULE, _OPEN)
    code, cases = _compile(tree, filename), sum(site[0] == "assert" for site in tables.sites)
    prologue.body = Instrumenter(known, tables, SETUP_NAME).block(prologue.body, _INNER, _OPEN)
    before = _compile(prologue, SETUP_NAME) if setup else None
    used = set(_names(code)) | (set(_names(before)) if before else set())
    return {
        "ok": True,
        "code": code,
        "setup": before,
        "filename": filename,
        "doctest": "",
        "names": None if sessions or used & _DYNAMIC or _OWN_MODULE.search(setup + source) else sorted(used),
        "own": sorted(known.bound),
        "cases": cases,
        "imports": imported,
        "threads": plain.starts_threads(imported),
        "shared": shared,
        "calls_check": calls_check,
        "sites": tables.sites,
        "slots": tables.slots,
        "shields": tables.shields,
        "lines": {filename: _lines(source), SETUP_NAME: _lines(setup)},
        "value_classes": sorted(values),
        "one_function": alone and not sessions,
        "unittest": tests,
        "sessions": sessions,
        "dropped": dropped,
    }


def _dropped(tree: ast.Module, lines: list[str]) -> str:
    """Return the line of a comparison whose result nobody takes: whoever wrote it meant an assert."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare):
            return "".join(lines[node.lineno - 1 : node.lineno]).strip()[:200]
    return ""


def _sessions(tree: ast.Module) -> list[str]:
    """Return the docstrings with prompts, which a text that imports doctest wants run."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    return [text for text in found if _PROMPT.search(text)]


def _parse_setup(setup: str) -> Any:
    try:
        return _parse(setup, SETUP_NAME)
    except SyntaxError as error:
        error.msg = "set-up: %s" % error.msg
        raise


def _parse(source: str, filename: str) -> Any:
    return compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True, optimize=0)


def _compile(tree: Any, filename: str) -> CodeType:
    code: CodeType = compile(tree, filename, "exec", 0, dont_inherit=True, optimize=0)
    return code


def _only_docstring(tree: Any) -> str:
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant):
        value = tree.body[0].value.value
        return value if isinstance(value, str) else ""
    return ""


def _doctest(text: str, prologue: Any, setup: str, modules: frozenset[str]) -> dict[str, Any]:
    found = re.findall(r"^[ \t]*>>> *(?:import|from) +([A-Za-z_]\w*)", text, re.MULTILINE)
    imported = sorted({*found, *plain.imports(prologue)} - modules)
    known = facts.Facts([prologue], modules)
    names = _session_names(text, setup, prologue, modules)
    return {
        "ok": True,
        "code": None,
        "setup": _compile(prologue, SETUP_NAME) if setup else None,
        "filename": "",
        "doctest": text,
        "names": names,
        "own": sorted(known.bound),
        "cases": len(_PROMPT.findall(text)),
        "imports": imported,
        "threads": plain.starts_threads(imported),
        "shared": split.reason(prologue, setup, known),
        "calls_check": False,
        "sites": [],
        "slots": [],
        "shields": {},
        "lines": {},
        "value_classes": sorted(evidence.value_classes(prologue)),
        "one_function": names is not None,
        "unittest": False,
        "sessions": [],
        "dropped": "",
    }


def _session_names(text: str, setup: str, prologue: Any, modules: frozenset[str]) -> list[str] | None:
    """Return the names that a session uses, if it takes the solution for one function, else None."""
    import doctest

    try:
        examples = doctest.DocTestParser().get_examples(text)
        trees = [_parse(example.source, "") for example in examples]
    except (SyntaxError, ValueError):
        return None
    for tree, example in zip(trees, examples):
        if example.want:  # what is shown is looked at
            tree.body = [ast.Return(value=node.value) if isinstance(node, ast.Expr) else node for node in tree.body]
    known = facts.Facts([*trees, prologue], modules)
    used = {node.id for tree in (*trees, prologue) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if used & _DYNAMIC or not one_function.calls_one_function([text, setup], [*trees, prologue], known):
        return None
    return sorted(used)


def _lines(source: str) -> list[str]:
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _names(code: CodeType) -> Iterator[str]:
    pending = [code]
    while pending:
        code = pending.pop()
        yield from (name for name in code.co_names if not name.startswith("@"))
        pending.extend(part for part in code.co_consts if isinstance(part, CodeType))


def _loads(statement: Any) -> set[str]:
    if isinstance(statement, facts.SCOPES):
        return set()
    return {node.id for node in facts.expressions(statement) if isinstance(node, ast.Name)}


class Tables:
    """What the rewritten files of an item refer to by number: see `build_tests`."""

    def __init__(self) -> None:
        self.sites: list[tuple[str, str, int, int, int, int, int]] = []
        self.slots: list[tuple[int, str, Any, str]] = []
        self.shields: dict[str, list[tuple[int, int, bool]]] = {}


#: What a function may do to an exception that leaves a block: nothing; end it, but no failed assertion; perhaps end
#: that too, by a context manager of which nothing is known; end a failed assertion, for sure or as is meant.
_OPEN, _GUARDED, _DOUBTFUL, _CAUGHT = 0, 1, 2, 3


class Instrumenter:
    """Rewrites the statements of one file in place."""

    def __init__(self, known: facts.Facts, tables: Tables, filename: str) -> None:
        self._known = known
        self._tables = tables
        self._filename = filename
        self._shields = tables.shields.setdefault(filename, [])

    def block(self, body: list[Any], level: int, cover: int) -> list[Any]:
        """Return the statements of a block, rewritten. `cover` says what the function may do to its exceptions."""
        return [self._statement(node, level, cover) for node in body]

    def _statement(self, node: Any, level: int, cover: int) -> Any:
        if isinstance(node, ast.Assert):
            return node if cover == _CAUGHT or _always_true(node.test) else self._assert(node, cover)
        check = cover < _DOUBTFUL and self._is_check(node, level)
        site = self._site("check", node, cover) if check else 0
        self._below(node, level, cover)
        return self._checked(node, site) if check else node

    def _is_check(self, node: Any, level: int) -> bool:
        if self._known.calls_checker(node) or facts.raises_block(node):
            return True
        if level != _MODULE or isinstance(node, facts.SCOPES):
            return False
        if isinstance(node, facts.TRIES):
            return not all(isinstance(part, (ast.Import, ast.ImportFrom)) for part in node.body)
        if self._cover(node) == _DOUBTFUL and any(isinstance(part, ast.Assert) for part in facts.statements(node)):
            return True
        return any(isinstance(part, ast.Raise) for part in facts.statements(node, scopes=False))

    def _below(self, node: Any, level: int, cover: int) -> None:
        """Rewrite the statements below a compound statement."""
        if isinstance(node, facts.FUNCTIONS):
            self._function(node, level)
            return
        if isinstance(node, ast.ClassDef):
            node.body = self.block(node.body, _INNER, cover)
            return
        inside = max(cover, self._cover(node))
        if inside > cover:
            self._shields.append((node.body[0].lineno, node.body[-1].end_lineno, inside >= _DOUBTFUL))
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, self.block(block, level, inside if name == "body" else cover))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self.block(part.body, level, cover)

    def _function(self, node: Any, level: int) -> None:
        named = level == _MODULE and node.name.startswith("test")
        node.body = self.block(node.body, _INNER, _OPEN)
        if named:
            after = 1 if ast.get_docstring(node, clean=False) is not None else 0
            node.body.insert(after, self._call_statement(node.body[0], "ran", ast.Constant(value=node.name)))

    def _cover(self, node: Any) -> int:
        """Return what a statement may catch of what leaves its body."""
        if isinstance(node, facts.TRIES):
            if self._known.catches(node):
                return _CAUGHT
            return _GUARDED if node.handlers else _OPEN
        if isinstance(node, (ast.With, ast.AsyncWith)) and self._known.swallows(node):
            return _CAUGHT if facts.raises_block(node) else _DOUBTFUL
        return _OPEN

    def _site(self, kind: str, node: Any, cover: int) -> int:
        if kind == "assert" and isinstance(node.test, ast.Constant):
            kind = "never"  # `assert False`: not to be reached
        # A compound statement is shown by its first line.
        end = (node.body[0].lineno, 0) if hasattr(node, "body") else (node.end_lineno, node.end_col_offset)
        self._tables.sites.append((kind, self._filename, node.lineno, node.col_offset, *end, cover))
        return len(self._tables.sites) - 1

    def _checked(self, node: Any, site: int) -> Any:
        item = ast.withitem(context_expr=self._call(node, "check", ast.Constant(value=site)), optional_vars=None)
        return ast.fix_missing_locations(ast.copy_location(ast.With(items=[item], body=[node]), node))

    def _assert(self, node: Any, cover: int) -> Any:
        site = self._site("assert", node, cover)
        number = ast.Constant(value=site)
        self._slot(site, "test", _position(node.test), "")
        operands = _Operands(self, site, self._known)
        message = [node.msg] if node.msg is not None else []
        branch = ast.If(
            test=operands.test(node.test),
            body=[self._call_statement(node, "passed", number)],
            orelse=[self._call_statement(node, "failed", number, *message)],
        )
        again = ast.If(test=self._call(node, "raised", number), body=[ast.Raise(exc=None, cause=None)], orelse=[])
        whole = ast.Try(
            body=[self._call_statement(node, "begin", number), branch],
            handlers=[ast.ExceptHandler(type=None, name=None, body=[again])],
            orelse=[],
            finalbody=[],
        )
        return ast.fix_missing_locations(ast.copy_location(whole, node))

    def keep(self, site: int, label: str, node: Any) -> Any:
        """Return `node`, its value passed through a slot."""
        return self._call(node, "keep", ast.Constant(value=self._slot(site, label, _position(node), "")), node)

    def constant(self, site: int, label: str, node: ast.Constant) -> None:
        self._slot(site, label, None, shown(node.value))

    def _slot(self, site: int, label: str, position: Any, text: str) -> int:
        self._tables.slots.append((site, label, position, text))
        return len(self._tables.slots) - 1

    @staticmethod
    def _call(place: Any, method: str, *arguments: Any) -> Any:
        hook = ast.Name(id="@" + method, ctx=ast.Load())
        call = ast.copy_location(ast.Call(func=hook, args=list(arguments), keywords=[]), place)
        return ast.fix_missing_locations(call)

    def _call_statement(self, place: Any, method: str, *arguments: Any) -> Any:
        call = self._call(place, method, *arguments)
        return ast.copy_location(ast.Expr(value=call), place)


class _Operands:
    """Picks the parts of one assert's expression whose values say why it failed."""

    def __init__(self, work: Instrumenter, site: int, known: facts.Facts) -> None:
        self._work, self._site, self._known = work, site, known

    def test(self, node: Any, sides: bool = True) -> Any:
        """Return the expression with its operands kept; `sides`: called left and right, where there is no doubt."""
        if isinstance(node, ast.Compare):
            labels = ("left", "right") if sides and len(node.ops) == 1 else ("",) * (len(node.ops) + 1)
            node.left = self._operand(node.left, labels[0])
            node.comparators = [self._operand(part, label) for part, label in zip(node.comparators, labels[1:])]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.test(node.operand, sides)
            return node
        if isinstance(node, ast.BoolOp):
            node.values = [self.test(part, sides=False) for part in node.values]
            return node
        return self._operand(node, "")

    def _operand(self, node: Any, label: str) -> Any:
        if isinstance(node, ast.Constant):
            self._work.constant(self._site, label, node)
            return node
        return self._work.keep(self._site, label, _Calls(self._work, self._site, self._known).inside(node))


class _Calls(ast.NodeTransformer):
    """Keeps the outermost calls of functions that are no builtins: `f(3)` of `abs(f(3) - 4)`."""

    def __init__(self, work: Instrumenter, site: int, known: facts.Facts) -> None:
        self._work, self._site, self._known = work, site, known

    def inside(self, node: Any) -> Any:
        # The value of `node` itself is kept by whoever asks.
        return node if isinstance(node, ast.Call) and not self._is_builtin(node) else self.visit(node)

    def visit_Call(self, node: Any) -> Any:
        return self.generic_visit(node) if self._is_builtin(node) else self._work.keep(self._site, "", node)

    def _is_builtin(self, node: Any) -> bool:
        function = node.func
        return isinstance(function, ast.Name) and function.id in facts.BUILTINS and function.id not in self._known.bound

    def _skip(self, node: Any) -> Any:
        return node

    # Bodies that run later, or many times; awaited calls, whose value is the coroutine; data.
    visit_Lambda = visit_GeneratorExp = visit_ListComp = visit_SetComp = visit_DictComp = _skip
    visit_Await = visit_Yield = visit_YieldFrom = visit_JoinedStr = visit_NamedExpr = _skip
    visit_List = visit_Tuple = visit_Set = visit_Dict = _skip


def _position(node: Any) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _always_true(node: Any) -> bool:
    """Return whether an assert says nothing: its test is a true constant."""
    return isinstance(node, ast.Constant) and bool(node.value)
