"""Which Python programs always do the same, and cannot see how they are written: only their results may be kept.

The lists of modules and special names say what is harmless; what nobody has looked at keeps a program out of the cache.
What no text shows (a set of objects that is ordered by their addresses) is for the cache's audit.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping

#: Modules whose functions depend on their arguments alone, and whose import does nothing but bind names.
MODULES = frozenset(
    "__future__ abc array base64 binascii bisect calendar cmath collections collections.abc contextlib copy csv"
    " dataclasses datetime decimal difflib enum fractions functools graphlib hashlib heapq html io itertools json"
    " keyword math numbers numpy numpy.linalg operator queue re statistics string struct sys textwrap typing"
    " typing_extensions unicodedata zlib".split()
)
#: Special names that show nothing of how a program is written but what its fingerprint has.
_SPECIAL = re.compile(
    r"__(?:[ir]?(?:add|sub|mul|matmul|truediv|floordiv|mod|divmod|pow|and|or|xor|lshift|rshift)|main|name|module"
    r"|qualname|annotations|class|init|new|post_init|slots|all|version|author"
    r"|repr|str|format|bytes|bool|int|float|complex|index|round|trunc|floor|ceil|abs|neg|pos|invert|eq|ne|lt|le|gt|ge"
    r"|hash|len|length_hint|iter|next|reversed|contains|getitem|setitem|delitem|missing|call|enter|exit|getattr|setattr"
    r"|delattr|get|set|delete|copy|deepcopy|future)__\Z"
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
        "reads files or its environment": "open open_code FileIO OpenWrapper raw detach argv orig_argv path"
        " executable environ platform version version_info flags meta_path path_hooks getallocatedblocks getrefcount"
        " getsizeof addaudithook",
        "uses names made at run time": "attrgetter methodcaller format format_map Formatter ForwardRef",
        "depends on addresses": "buffer_info __hash__",
        "looks at itself": "modules _getframe _getframemodulename _current_frames _current_exceptions exc_info"
        " exception settrace gettrace setprofile getprofile excepthook unraisablehook displayhook breakpointhook"
        " last_exc last_value last_traceback monitoring call_tracing with_traceback add_note get_type_hints"
        " get_overloads redirect_stderr stderr f_locals f_globals f_lineno f_back f_code tb_frame tb_lineno tb_next"
        " gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_origin ag_frame ag_code co_varnames co_code",
    }.items()
    for word in words.split()
}  # fmt: skip
#: Modules that are not harmless, and can be reached through harmless ones, which have imported them.
_STRANGE = frozenset(sys.stdlib_module_names) - MODULES - {"readline"}  # which is what one does with sys.stdin
#: Those of them that are no ordinary words, so that nobody else has attributes of these names.
_STRANGE_WORDS = frozenset(
    "os threading _thread inspect builtins weakref _weakref ctypes posix importlib gc subprocess socket _time _os"
    " _random tempfile shutil pathlib multiprocessing asyncio traceback warnings ctypeslib memmap fromfile"
    " load loadtxt".split()
)
#: Of numpy: what reads memory that was never written.
_UNWRITTEN = frozenset("empty empty_like ndarray recarray chararray masked_all masked_all_like as_strided".split())
#: By module, what is not as harmless as the rest of it, and is an ordinary word elsewhere.
_EXCEPT: Mapping[str, frozenset[str]] = {
    "calendar": frozenset({"main"}),
    "enum": frozenset({"_convert_", "bltns"}),
    "numpy": frozenset(
        "byte_bounds datetime64 genfromtxt DataSource info lookfor source who show_config show_runtime runstring"
        " rundocs measure safe_eval test".split()
    ),
    "statistics": frozenset({"samples", "kde_random"}),
}
_FIELD_LOOKS = re.compile(r"\{[^{}:!]*[.\[]")

_IN_TESTS = re.compile(
    r"\b(time|random|secrets|uuid|datetime|threading|multiprocessing|asyncio|os|inspect|traceback|globals|locals|vars"
    r"|dir|id|hash|eval|exec|getsource|linecache|tracemalloc|gc|sys|warnings|logging|capsys|caplog|tmp_path|getattr"
    r"|open|help|compile|IsolatedAsyncioTestCase|tmpdir|tmp_path_factory|capfd|capsysbinary|benchmark|recwarn|__\w+__)\b"
)
_IMPORTS = re.compile(r"\bfrom\s+([.\w]+)\s+import\b|\bimport\s+([^\n;#]+)")
#: Modules that tests may import beside those that programs may.
_OF_TESTS = frozenset("__main__ doctest numpy.testing pytest pprint solution typing unittest unittest.mock".split())
_SEES_TEXTS = re.compile(r"except|[Rr]aises|Traceback|__a?exit__|ExitStack")


def reason_of(tree: ast.Module) -> str:
    """Return why a program may do something else another time, or see how it is written; "" if neither is possible."""
    nodes = list(ast.walk(tree))
    if reason := _of_star(nodes):
        return reason
    harmless: set[int] = set()  # places of suspect words that do no harm where they are
    for node in nodes:  # whoever calls comes before what is called
        kind = type(node)
        if kind in _LOOKED_AT and id(node) not in harmless and (reason := _of_node(node)):
            return reason
        if kind in _USERS:
            harmless.update(_harmless(node))
    return _of_borrowed(nodes) or _of_modules(nodes) or _of_memory(nodes)


def tests_reason(texts: Iterable[str], own: Collection[str]) -> str:
    """Return why tests, as texts of Python, may end otherwise another time, or look at the program; else "".

    `own` are the modules that come with them.
    """
    for text in texts:
        for found in _IN_TESTS.finditer(text):
            if not _SPECIAL.match(found[1]):
                return f"the tests use {found[1]}"
        for found in _IMPORTS.finditer(text):
            names = [found[1]] if found[1] else [name.split()[0] for name in found[2].split(",") if name.strip()]
            strange = next((name for name in names if name not in {*MODULES, *_OF_TESTS, *own}), "")
            if strange:
                return f"the tests import {strange}"
    return ""


def tests_see_texts(texts: Iterable[str]) -> bool:
    """Return whether tests may see the text of an exception, which may name a local variable."""
    return any(_SEES_TEXTS.search(text) for text in texts)


def _harmless(user: ast.AST) -> Iterator[int]:
    """Yield what is harmless for being used like this: `open(0)`, `"{}".format()`, `class A(object)`.

    And standard error where it is written to: whoever has it may put another in its place.
    """
    match user:
        case ast.ClassDef(bases=[ast.Name(id="object") as name]):
            yield id(name)
        case ast.keyword(arg="file", value=ast.Attribute(attr="stderr") as attribute):
            yield id(attribute)
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="stderr") as attribute, attr="write" | "flush")):
            yield id(attribute)
        case ast.Call(func=ast.Name(id="open") as name, args=[ast.Constant(value=0)] | [ast.Constant(value=0), _]):
            if all(word.arg in _OF_OPEN for word in user.keywords):
                yield id(name)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format") as attribute):
            if not _FIELD_LOOKS.search(text):
                yield id(attribute)


_USERS = frozenset({ast.Call, ast.ClassDef, ast.keyword})
#: What may be said of standard input when it is opened; without a buffer, it would be a file that can open another.
_OF_OPEN = frozenset({"mode", "encoding", "errors", "newline", "closefd"})
_LOOKED_AT = frozenset({ast.Import, ast.ImportFrom, ast.Name, ast.Attribute, ast.FunctionDef, ast.AsyncFunctionDef,
                        ast.ClassDef, ast.Constant, ast.MatchClass})  # fmt: skip


def _of_node(node: ast.AST) -> str:
    match node:
        case ast.Name(id="open"):
            return _ATTRIBUTES["open"]
        case ast.Name(id=name):
            return _NAMES.get(name, "") or _of_special(name)
        case ast.Attribute(attr=name):
            return _of_attribute(name)
        case ast.Constant(value=str(text)) if text != "__main__" and _SPECIAL_IN_TEXT.search(text):
            return "looks at itself"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return _of_special(name) or (_of_class(node) if isinstance(node, ast.ClassDef) else "")
        case ast.MatchClass(kwd_attrs=names):
            return next(filter(None, map(_of_attribute, names)), "")
        case ast.Import() | ast.ImportFrom():
            return _of_import(node)
    return ""


def _of_class(node: ast.ClassDef) -> str:
    """Return "" unless a class is made by something of the program's own, which sees its docstring and its lines."""
    bases = [_last(base) for base in node.bases]
    makers = [_last(word.value) for word in node.keywords if word.arg in ("metaclass", None)]
    own = any(name in _METACLASSES or not name for name in bases) or not _METACLASSES.issuperset(makers)
    return "looks at itself" if own else ""


_METACLASSES = frozenset({"type", "ABCMeta", "EnumMeta", "EnumType"})


def _last(node: ast.expr) -> str:
    """Return the name that an expression ends in: of `a`, `m.a`, `a[int]`, `a(…)`; "" where there is none."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=inner):
            return _last(inner)
        case ast.Call(func=inner):  # a named tuple and the like, made where it is derived from
            name = _last(inner)
            return "" if name in _METACLASSES else name
    return ""


def _of_star(nodes: list[ast.AST]) -> str:
    """Return what a program may have taken out of a module that it imports all names of."""
    stars = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in nodes)
    names = (node.id for node in nodes if isinstance(node, ast.Name)) if stars else ()
    return next(filter(None, map(_of_attribute, names)), "")


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


def _of_modules(nodes: list[ast.AST]) -> str:
    """Return what of a harmless module is none: a part of it that is not for others, or a module as a value."""
    imports = [node for node in nodes if isinstance(node, ast.Import)]
    bound = {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
    modules = {alias.name.partition(".")[0] for node in imports for alias in node.names}
    modules |= {(node.module or "").partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    words = {word for module in modules for word in _EXCEPT.get(module, ())}
    bases = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        taken: list[str] = []
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in bound and _is_private(attribute):
                taken = [attribute]
            case ast.Attribute(attr=attribute) if attribute in words:
                taken = [attribute]
            case ast.ImportFrom():
                taken = [one.name for one in node.names if one.name in words or _is_private(one.name)]
            case ast.Name(id=name, ctx=ast.Load()) if name in bound and id(node) not in bases:
                return f"hands the module {name} on"
        if taken:
            return f"takes {taken[0]} from another module"
    return ""


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith(("__", "_heap"))


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
    if any(
        isinstance(node, ast.Import) and any(alias.name.startswith("numpy") for alias in node.names) for node in nodes
    ):
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        if not _UNWRITTEN.isdisjoint(attributes) or any(map(_leaves_out, nodes)):
            return "reads memory that was never written"
    return ""


def _leaves_out(node: ast.AST) -> bool:
    """Return whether a function of numpy's writes to some places of a new array only: `divide(a, b, where=b != 0)`."""
    words = {word.arg for word in node.keywords} if isinstance(node, ast.Call) else set()
    return "where" in words and "out" not in words


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
