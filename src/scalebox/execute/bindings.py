"""What the names of a program stand for, and what the proof of statelessness has gathered so far.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from scalebox.execute.harmless import BUILTINS, CLASSES, CONSTANTS, HASHED, ITERATORS, NAMES, NO_STAR, NOT_VALUES

# What a name stands for. Of what a function may see, only LOCAL values are its own.
LOCAL, FUNCTION, CLASS, CONST, NUMBER, TABLE, MODULE, LIBRARY, SCRIPT, BUILTIN, RECORD = range(11)
if TYPE_CHECKING:
    Kind = tuple[int, str]
LOCAL_VALUE: Kind = (LOCAL, "")

_ANNOTATING = (CLASS, LIBRARY, MODULE, BUILTIN, RECORD)
_IN_ANNOTATIONS = frozenset([ast.Constant, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.Load])
if hasattr(ast, "Index"):
    _IN_ANNOTATIONS |= {ast.Index}


class Unproved(Exception):
    """The program, or what we understand of it, does not let the claim be shown."""


class Scope:
    """The names of one function, lambda or comprehension, or of the module."""

    __slots__ = ("carriers", "inline", "names", "outer", "plain", "seen", "shared")

    def __init__(self, outer: Scope | None, inline: bool = False) -> None:
        self.outer = outer
        self.inline = inline  # a comprehension: a walrus in it binds outside
        self.names: dict[str, Kind] = {}
        self.seen: set[str] = set()  # names looked up here and found further out
        self.shared: dict[str, Scope] = {}  # nonlocal names, and the scope that has them
        self.carriers: dict[str, bool] = {}  # names of functions, iterators …, and whether their text shows an address
        self.plain: set[str] = set()  # names used as mere values


class Bindings:
    """The names of a module, and the facts about it that are judged when all of it was seen."""

    def __init__(self) -> None:
        self.root = Scope(None)
        self.scope = self.root
        self.scopes: list[Scope] = []
        self.later: list[tuple[Any, Scope, str, str, bool]] = []
        self.me = ""  # the first parameter of the method we are in
        self.name = ""  # the function we are in
        self.script = False  # in code that runs at import
        self.star: dict[str, Kind] = {}
        self.class_names: set[str] = set()  # names of the class body that we are in: no function sees them
        self.classes: dict[str, set[str]] = {}
        self.methods: set[str] = set()
        self.static: set[str] = set()  # attributes that may be read of a class
        self.functions: set[str] = set()  # static methods
        self.data: set[str] = set()  # attributes that the program makes
        self.wanted: dict[str, int] = {}  # attributes that the program must make, and where they are read
        self.values: set[str] = set()  # attributes read without a call
        self.own_values: set[str] = set()  # the same, of self
        self.iterating: set[str] = set()  # methods taken for those of builtin types by what they do with arguments
        self.generators: set[str] = set()
        self.called: set[str] = set()  # names whose calls are used as mere values
        self.types_compared = 0
        self.sets_attributes = 0  # line of an attribute set on something else than self
        self.passes_lasting = False  # whether a function or class that outlives the call is a mere value somewhere
        self.tables: dict[str, int] = {}  # module-level tables: bit 1 read by functions, bit 2 used at import
        self.shows_text = self.shows_hash = 0  # line of the first object whose text or hash shows its address
        self.takes_text = self.takes_hash = False  # whether any text or order could show one

    def no(self, node: Any, reason: str) -> Unproved:
        return Unproved(f"line {getattr(node, 'lineno', 0)}: {reason}")

    def carrier(self, node: Any, text: bool = True) -> None:
        """Note that `node` makes an object that shows its address, and keeps it."""
        if not self.script:
            line = getattr(node, "lineno", 1)
            self.shows_hash = self.shows_hash or line
            self.shows_text = self.shows_text or (line if text else 0)

    def named(self, name: str, text: bool = True) -> None:
        """Note that a local name may hold an object that shows its address; the uses of the name decide."""
        carriers = self.scope.shared.get(name, self.scope).carriers
        carriers[name] = text or carriers.get(name, False)

    def keep(self, node: Any, into: str, text: bool = True) -> None:
        """Note an object that shows its address; held by the local name `into` alone, its uses decide."""
        if into:
            self.named(into, text)
        else:
            self.carrier(node, text)

    def function(self, node: Any, me: str, name: str) -> None:
        """Take in a function or lambda: `me` is "*" for a method, `name` is "" for a lambda."""
        raise NotImplementedError  # abstract: the subclasses have it

    def bind(self, node: Any, name: str, kind: Kind = LOCAL_VALUE) -> None:
        if name[:2] == "__" or name == self.me:
            raise self.no(node, f"{name} is bound")
        scope = self.scope
        scope = scope.shared.get(name, scope)
        if scope is self.root and kind is LOCAL_VALUE:
            kind = (SCRIPT, "")
        known = scope.names.get(name)
        if known is None:
            if name in scope.seen:
                raise self.no(node, f"{name} is used before it is bound")
            scope.names[name] = kind
        elif known[0] != kind[0] or (known != kind and kind[0] in (MODULE, LIBRARY)):
            raise self.no(node, f"{name} is bound to things of different kinds")

    def find(self, node: Any, name: str) -> tuple[Kind, Scope | None]:
        """Return what `name` stands for here, and the scope that has it."""
        scope: Scope | None = self.scope
        while scope is not None:
            kind = scope.names.get(name)
            if kind is not None:
                if kind[0] == SCRIPT and not self.script:
                    raise self.no(node, f"{name} is a module-level variable")
                return kind, scope
            scope.seen.add(name)
            scope = scope.outer
        kind = self.star.get(name)
        if kind is None:
            if name not in BUILTINS and not (self.script and name == "print"):
                raise self.no(node, f"{name} is not known to be harmless")
            kind = (BUILTIN, name)
        return kind, None

    def load(self, node: ast.Name) -> None:
        """A name used as a mere value."""
        name = node.id
        (kind, detail), scope = self.find(node, name)
        if kind == LOCAL:
            if scope is not None:
                scope.plain.add(name)
            if name == self.me:
                self.carrier(node)
        elif kind == TABLE and self.script:
            self.tables[name] |= 2
        elif kind in (TABLE, CLASS, MODULE):
            raise self.no(node, f"{name} is used as a value")
        elif kind == FUNCTION:
            self.carrier(node)
        elif kind in (LIBRARY, BUILTIN):
            self.tool(node, detail)
        self.passes_lasting = self.passes_lasting or kind in (FUNCTION, RECORD)

    def tool(self, node: Any, name: str, held: bool = True) -> None:
        """A builtin or library name; `held` says that it is not called right here."""
        if name in ("str", "repr", "format"):
            self.takes_text = self.takes_text or not self.script
        elif name in ("set", "frozenset"):
            self.takes_hash = self.takes_hash or not self.script
        elif name in HASHED:
            self.carrier(node, text=False)
        elif name in NOT_VALUES or (held and name in CLASSES):
            raise self.no(node, f"{name} is used in a way that is not understood")
        elif held and name in ITERATORS:
            self.carrier(node)
        self.passes_lasting = self.passes_lasting or (held and "." in name and name not in CONSTANTS)

    def library(self, node: Any) -> str:
        """Return the dotted name of the library thing that an expression names, or ""."""
        if type(node) is ast.Name:
            (kind, detail), _ = self.find(node, node.id)
            return detail if kind in (LIBRARY, MODULE) else ""
        if type(node) is not ast.Attribute or type(node.value) not in (ast.Name, ast.Attribute):
            return ""
        base = self.library(node.value)
        if not base or base in CONSTANTS:
            return ""
        module, _, name = (base + "." + node.attr).partition(".")
        if name not in NAMES[module]:
            raise self.no(node, f"{module}.{name} is not known to be harmless")
        return module + "." + name

    def callee(self, node: Any) -> str:
        """Return the name of the builtin or library function that a callable expression is, or ""."""
        if type(node) is ast.Name:
            (kind, detail), _ = self.find(node, node.id)
            return detail if kind in (LIBRARY, BUILTIN) else ""
        return self.library(node) if type(node) is ast.Attribute else ""

    def tool_name(self, node: Any) -> str:
        if type(node) is ast.Name and node.id in self.class_names:
            return ""
        if type(node) is ast.Name and node.id in BUILTINS:
            return self.find(node, node.id)[0][1]
        named = type(node) is ast.Name and node.id in self.root.names
        return self.library(node) if named or type(node) is ast.Attribute else ""

    def is_type_name(self, node: Any) -> bool:
        """Return whether a node names a builtin type: its methods change their first argument."""
        return type(node) is ast.Name and self.find(node, node.id)[0][0] == BUILTIN

    def is_type(self, node: Any) -> bool:
        if type(node) is not ast.Call or type(node.func) is not ast.Name or node.func.id != "type":
            return False
        return self.find(node, "type")[0] == (BUILTIN, "type") and len(node.args) == 1 and not node.keywords

    def is_number(self, node: Any) -> bool:
        if type(node) is ast.Constant:
            return type(node.value) in (int, float)
        if type(node) is ast.Name:
            return self.find(node, node.id)[0][0] == NUMBER
        return type(node) is ast.Call and type(node.func) is ast.Name and self.find(node, node.func.id)[0][1] == "len"

    def annotation(self, node: Any) -> None:
        """An annotation, which is evaluated where a function is defined: names of classes and what combines them."""
        parts: Any = ast.walk(node) if node is not None else ()
        for part in parts:
            kind = type(part)
            if kind is ast.Name:
                known = part.id in ("object", "type") or self.find(part, part.id)[0][0] in _ANNOTATING
            elif kind is ast.Attribute:
                known = self.library(part) != ""
            else:
                known = kind in _IN_ANNOTATIONS
            if not known:
                raise self.no(part, "an annotation that is not understood")

    def imported(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in NAMES:
                raise self.no(node, f"module {alias.name} is not known to be harmless")
            self.bind(node, alias.asname or alias.name, (MODULE, alias.name))

    def imported_from(self, node: ast.ImportFrom) -> None:
        module = "typing" if node.module == "collections.abc" else node.module or ""
        if node.level or module not in NAMES:
            raise self.no(node, f"module {module} is not known to be harmless")
        for alias in node.names:
            if alias.name == "*":
                if module in NO_STAR or any(kind[0] not in (MODULE, LIBRARY) for kind in self.root.names.values()):
                    raise self.no(node, "import *")
                self.star.update((name, (LIBRARY, module + "." + name)) for name in NAMES[module])
            elif alias.name not in NAMES[module]:
                raise self.no(node, f"{module}.{alias.name} is not known to be harmless")
            elif module != "__future__":
                self.bind(node, alias.asname or alias.name, (LIBRARY, module + "." + alias.name))
