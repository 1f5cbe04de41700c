"""Which Python programs always do the same, and cannot see how they are written: only their results may be kept.

The lists of modules and special names say what is harmless; what nobody has looked at keeps a program out of the cache.
What no text shows (a set of objects that is ordered by their addresses) is for the cache's audit.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping

#: Modules whose functions depend on their arguments alone, and whose import does nothing but bind names.
MODULES = frozenset(
    "__future__ abc array base64 binascii bisect calendar cmath collections collections.abc contextlib copy csv"
    " dataclasses datetime decimal difflib enum fractions functools graphlib hashlib heapq html io itertools json"
    " keyword math numbers numpy numpy.linalg operator pprint queue re statistics string struct sys textwrap typing"
    " typing_extensions unicodedata zlib".split()
)
#: Special names that show nothing of how a program is written but what its fingerprint has.
_SPECIAL = re.compile(
    r"__(?:[ir]?(?:add|sub|mul|matmul|truediv|floordiv|mod|divmod|pow|and|or|xor|lshift|rshift)|main|name|module"
    r"|qualname|annotations|class|init|new|post_init|slots|all|version|author"
    r"|repr|str|format|bytes|bool|int|float|complex|index|round|trunc|floor|ceil|abs|neg|pos|invert|eq|ne|lt|le|gt|ge"
    r"|hash|len|length_hint|iter|next|reversed|contains|getitem|setitem|delitem|missing|call|enter|exit|getattr|setattr"
    r"|delattr|get|set|delete|copy|deepcopy|match_args|future)__\Z"
)
_SPECIAL_IN_TEXT = re.compile(r"__[A-Za-z]")
_NAMES: Mapping[str, str] = {
    "id": "depends on addresses", "hash": "depends on addresses", "object": "depends on addresses",
    "eval": "runs code made at run time", "exec": "runs code made at run time", "compile": "runs code made at run time",
    "getattr": "uses names made at run time", "setattr": "uses names made at run time",
    "delattr": "uses names made at run time", "locals": "looks at itself", "vars": "looks at itself",
    "dir": "looks at itself", "globals": "looks at itself", "help": "looks at itself", "breakpoint": "looks at itself",
}  # fmt: skip
_ATTRIBUTES: Mapping[str, str] = {
    word: reason
    for reason, words in {
        "reads the clock": "now today utcnow fromtimestamp timestamp astimezone",
        "uses random numbers": "random",
        "reads files or its environment": "open argv orig_argv path executable environ platform version version_info"
        " flags meta_path path_hooks getallocatedblocks getrefcount getsizeof addaudithook",
        "uses names made at run time": "attrgetter methodcaller format format_map Formatter",
        "looks at itself": "modules _getframe _getframemodulename _current_frames _current_exceptions exc_info"
        " exception settrace gettrace setprofile getprofile excepthook unraisablehook displayhook breakpointhook"
        " last_exc last_value last_traceback monitoring call_tracing with_traceback add_note get_type_hints"
        " redirect_stderr f_locals f_globals f_lineno f_back f_code tb_frame tb_lineno tb_next gi_frame gi_code"
        " gi_yieldfrom cr_frame cr_code cr_origin ag_frame ag_code co_varnames co_code",
    }.items()
    for word in words.split()
}  # fmt: skip
#: Modules that are not harmless, and can be reached through harmless ones, which have imported them.
_STRANGE = frozenset(sys.stdlib_module_names) - MODULES
#: Those of them that are no ordinary words, so that nobody else has attributes of these names.
_STRANGE_WORDS = frozenset(
    "os threading _thread inspect builtins weakref _weakref ctypes posix importlib gc subprocess socket _time _os"
    " _random tempfile shutil pathlib multiprocessing asyncio traceback warnings ctypeslib memmap fromfile"
    " load loadtxt".split()
)
_UNWRITTEN = frozenset({"empty", "empty_like", "ndarray"})
_FIELD_LOOKS = re.compile(r"\{[^{}:!]*[.\[]")

_IN_TESTS = re.compile(
    r"\b(time|random|secrets|uuid|datetime|threading|multiprocessing|asyncio|os|inspect|traceback|globals|locals|vars"
    r"|dir|id|hash|eval|exec|getsource|linecache|tracemalloc|gc|sys|warnings|logging|capsys|caplog|tmp_path|getattr"
    r"|__\w+__)\b"
)
_SEES_TEXTS = re.compile(r"except|[Rr]aises")


def reason_of(tree: ast.Module) -> str:
    """Return why a program may do something else another time, or see how it is written; "" if neither is possible."""
    nodes = list(ast.walk(tree))
    harmless: set[int] = set()  # places of suspect words that do no harm where they are
    for node in nodes:  # whoever calls comes before what is called
        kind = type(node)
        if kind in _LOOKED_AT and id(node) not in harmless and (reason := _of_node(node)):
            return reason
        if kind is ast.Call or kind is ast.ClassDef:
            harmless.update(_harmless(node))
    return _of_borrowed(nodes) or _of_memory(nodes)


def tests_reason(texts: Iterable[str]) -> str:
    """Return why tests, as texts of Python, may end otherwise another time, or look at the program; else ""."""
    for text in texts:
        for found in _IN_TESTS.finditer(text):
            if not _SPECIAL.match(found[1]):
                return f"the tests use {found[1]}"
    return ""


def tests_see_texts(texts: Iterable[str]) -> bool:
    """Return whether tests may see the text of an exception, which may name a local variable."""
    return any(_SEES_TEXTS.search(text) for text in texts)


def _harmless(user: ast.AST) -> Iterator[int]:
    """Yield what is harmless for being used like this: `open(0)`, `"{}".format()`, `class A(object)`."""
    match user:
        case ast.ClassDef(bases=[ast.Name(id="object") as name]):
            yield id(name)
        case ast.Call(func=ast.Name(id="open") as name, args=[ast.Constant(value=0), *_]):
            yield id(name)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format") as attribute):
            if not _FIELD_LOOKS.search(text):
                yield id(attribute)


_LOOKED_AT = frozenset({ast.Import, ast.ImportFrom, ast.Name, ast.Attribute, ast.FunctionDef, ast.AsyncFunctionDef,
                        ast.ClassDef, ast.Constant, ast.MatchClass})  # fmt: skip


def _of_node(node: ast.AST) -> str:
    match node:
        case ast.Name(id="open"):
            return _ATTRIBUTES["open"]
        case ast.Name(id=name):
            return _NAMES.get(name, "") or _of_special(name)
        case ast.Attribute(attr="stderr", ctx=ast.Store()):
            return "looks at itself"
        case ast.Attribute(attr=name):
            return _of_attribute(name)
        case ast.Constant(value=str(text)) if text != "__main__" and _SPECIAL_IN_TEXT.search(text):
            return "looks at itself"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return _of_special(name)
        case ast.MatchClass(kwd_attrs=names):
            return next(filter(None, map(_of_attribute, names)), "")
        case ast.Import() | ast.ImportFrom():
            return _of_import(node)
    return ""


def _of_import(node: ast.Import | ast.ImportFrom) -> str:
    names = [alias.name for alias in node.names]
    modules = names if isinstance(node, ast.Import) else [node.module or "."]
    strange = next((name for name in modules if name not in MODULES), "")
    if strange:
        return f"imports {strange}"
    if isinstance(node, ast.Import):
        return ""
    if node.module == "numpy" and not {"*", *_UNWRITTEN}.isdisjoint(names):
        return "takes from numpy what may read memory that was never written"
    return next(filter(None, map(_of_attribute, names)), "")


def _of_borrowed(nodes: list[ast.AST]) -> str:
    """Return which other module a program takes out of one that it imports."""
    imported = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            taken = next((alias.name for alias in node.names if alias.name in _STRANGE), "")
        elif isinstance(node, ast.Attribute):
            strange = node.attr in _STRANGE_WORDS or (node.attr in _STRANGE and _root(node) in imported)
            taken = node.attr if strange else ""
        else:
            continue
        if taken:
            return f"takes {taken} from another module"
    return ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _of_memory(nodes: list[ast.AST]) -> str:
    """Return how a program may come to depend on where in memory something lies, or what had been there."""
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if any(isinstance(node, ast.Set | ast.SetComp) for node in nodes) or not names.isdisjoint({"set", "frozenset"}):
        classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        if classes and (classes & names or _passes_self(nodes)):
            return "may go through a set of objects, whose order depends on addresses"
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    if not _UNWRITTEN.isdisjoint(attributes) and any(
        isinstance(node, ast.Import) and any(alias.name == "numpy" for alias in node.names) for node in nodes
    ):
        return "reads memory that was never written"
    return ""


def _of_attribute(name: str) -> str:
    return _ATTRIBUTES.get(name, "") or _of_special(name)


def _of_special(name: str) -> str:
    is_special = name.startswith("__") and name.endswith("__")
    return "looks at itself" if is_special and not _SPECIAL.match(name) else ""


def _passes_self(nodes: list[ast.AST]) -> bool:
    """Return whether an object may hand itself on: a method's first argument stands without an attribute of it."""
    names = {
        function.args.args[0].arg
        for owner in nodes
        if isinstance(owner, ast.ClassDef)
        for function in owner.body
        if isinstance(function, ast.FunctionDef) and function.args.args
    }
    bases = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return any(isinstance(node, ast.Name) and node.id in names and id(node) not in bases for node in nodes)
