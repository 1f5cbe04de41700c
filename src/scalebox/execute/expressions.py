"""Expressions, as the proof of statelessness sees them: by what becomes of their value.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from scalebox.execute.bindings import BUILTIN, CLASS, LIBRARY, LOCAL, MODULE, TABLE, Bindings, Scope
from scalebox.execute.harmless import (
    CLASSES,
    DATA,
    ERRORS,
    HASHED,
    HASHED_METHODS,
    ITERATES,
    ITERATORS,
    MAKES_SET,
    METHOD_SHAPES,
    METHODS,
    READS,
    SHAPES,
    TYPE_NAMES,
    YIELDS_CARRIERS,
    is_special,
)  # fmt: skip


class Expressions(Bindings):
    """Visits expressions; what it does not understand raises Unproved."""

    def expr(self, node: Any) -> None:
        """An expression whose value goes anywhere."""
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            raise self.no(node, f"{type(node).__name__} is not understood")
        handler(self, node)

    def exprs(self, nodes: list[Any]) -> None:
        for node in nodes:
            self.expr(node)

    def iterated(self, node: Any) -> None:
        """An expression that is only iterated, tested for membership, indexed or asked for an attribute."""
        kind = type(node)
        if kind is ast.Name:
            (what, detail), _ = self.find(node, node.id)
            if what == TABLE:
                self.tables[node.id] |= 0 if self.script else 1
            elif what in (CLASS, MODULE):
                raise self.no(node, f"{node.id} is used as a value")
            elif what in (LIBRARY, BUILTIN):
                self.tool(node, detail)
        elif kind is ast.GeneratorExp:
            self.comprehension(node)
        elif kind is ast.Call:
            self.call(node, held=False)
        elif kind is ast.Starred:
            self.iterated(node.value)
        else:
            self.expr(node)

    def applied(self, node: Any) -> None:
        """An expression that is only called."""
        kind = type(node)
        if kind is ast.Lambda:
            self.function(node, "", "")
        elif kind is ast.Name:
            (what, detail), _ = self.find(node, node.id)
            self.called.add(node.id)
            if what == CLASS:
                self.carrier(node)
            elif what in (TABLE, MODULE):
                raise self.no(node, f"{node.id} is used as a value")
            elif what in (LIBRARY, BUILTIN) and detail not in CLASSES:
                self.tool(node, detail)
        elif kind is ast.Attribute:
            self.called.add(node.attr)
            name = self.attribute(node, held=False)
            if name and name not in CLASSES:
                self.tool(node, name)
        elif kind is ast.Call:
            self.call(node, held=False)
        else:
            self.expr(node)

    def attribute(self, node: Any, held: bool = True) -> str:
        """A read of an attribute; return its dotted name if it is the library's."""
        base, attr = node.value, node.attr
        if type(base) is ast.Name:
            if base.id == self.me:
                self.own(node, held)
                return ""
            (kind, detail), _ = self.find(base, base.id)
            if kind == CLASS and attr in self.static and attr not in self.methods:
                self.values.update([attr] if held else [])
                return ""
            if kind == TABLE and attr not in READS:
                raise self.no(node, f"a module-level table might be changed by .{attr}")
            if kind == BUILTIN:
                if detail not in TYPE_NAMES or attr not in METHODS or attr == "format":
                    raise self.no(node, f"{detail}.{attr} is not known to be harmless")
                self.takes_hash = self.takes_hash or attr in MAKES_SET
                return ""
        elif attr == "__name__" and self.is_type(base):
            self.exprs(base.args)
            return ""
        elif type(base) is ast.Call and type(base.func) is ast.Name and base.func.id == "super" and attr == "__init__":
            self.iterated(base)
            return ""
        name = self.library(node)
        if name:
            if held:
                self.tool(node, name)
            return name
        self.method(node, held)
        self.iterated(base)
        return ""

    def own(self, node: ast.Attribute, held: bool) -> None:
        """An attribute of the instance whose method we are in."""
        attr = node.attr
        if is_special(attr):
            raise self.no(node, f"attribute {attr}")
        self.wanted.setdefault(attr, node.lineno)
        if held:
            self.own_values.add(attr)

    def method(self, node: ast.Attribute, held: bool) -> None:
        """An attribute of any object: plain data, a method of a builtin type, or something that the program defines."""
        attr = node.attr
        if attr in DATA:
            self.takes_text = self.takes_text or attr == "args"
            return
        if attr not in METHODS:
            if attr[0] == "_" or is_special(attr):
                raise self.no(node, f"attribute {attr}")
            self.wanted.setdefault(attr, node.lineno)
        elif attr == "format":
            if held or not _is_plain_format(node.value):
                raise self.no(node, "a format string that may read attributes")
            self.takes_text = self.takes_text or not self.script
        elif attr in MAKES_SET:
            self.takes_hash = self.takes_hash or not self.script
        if held:
            self.values.add(attr)

    def class_reference(self, node: Any) -> None:
        """A class, or a tuple of classes, that something is only compared with."""
        kind = type(node)
        if kind is ast.Name:
            if self.find(node, node.id)[0][0] == LOCAL:
                self.load(node)
        elif kind in (ast.Tuple, ast.List, ast.Set):
            for item in node.elts:
                self.class_reference(item)
        elif self.is_type(node):
            self.exprs(node.args)
        elif kind is not ast.Constant and not self.library(node):
            raise self.no(node, "a class that is not understood")

    def call(self, node: Any, held: bool = True, into: str = "") -> None:
        """A call; `held` says that its value goes anywhere, `into` that it goes to that local name."""
        func = node.func
        kind = type(func)
        if kind is ast.Name:
            shape = self.call_name(node, held, into)
        elif kind is ast.Attribute:
            name = self.attribute(func, held=False)
            shape = self.call_tool(node, name, held, into) if name else self.call_method(node, held, into)
        else:
            self.applied(func)
            shape = "p"
        self.arguments(node, shape)

    def call_name(self, node: Any, held: bool, into: str) -> str:
        """Return the shape of the arguments of a call of a name."""
        name = node.func.id
        (what, detail), _ = self.find(node.func, name)
        if what in (BUILTIN, LIBRARY):
            return self.call_tool(node, detail, held, into)
        if what in (TABLE, MODULE):
            raise self.no(node, f"{name} is called")
        if held and what == CLASS:
            self.keep(node, into)
        elif held:
            self.called.add(name)
        return "p"

    def call_method(self, node: Any, held: bool, into: str) -> str:
        """The same for a method of any object. A builtin type's method may change its first argument."""
        attr = node.func.attr
        if attr == "finditer":
            self.carrier(node, text=False)
        if held and attr in HASHED_METHODS:
            self.keep(node, into, attr in ("finditer", "elements"))
        elif held:
            self.called.add(attr)
        if attr in self.methods or self.is_type_name(node.func.value):
            return "p"
        shape = "i" if attr in ITERATES else METHOD_SHAPES.get(attr, "p")
        if shape != "p":
            self.iterating.add(attr)
        return shape

    def arguments(self, node: ast.Call, shape: str) -> None:
        """The arguments of a call, each used as `shape` says; a k at its end says that `key` is only called."""
        keyed = shape[-1:] == "k"
        shape = shape[:-1] if keyed else shape
        last = len(shape) - 1
        for place, argument in enumerate(node.args):
            letter = shape[min(last, place)] if shape else ""
            if type(argument) is ast.Starred:
                self.iterated(argument)
                shape, last = "p", 0  # whatever follows may be at any place
            elif letter == "i":
                self.iterated(argument)
            elif letter == "f":
                self.applied(argument)
            elif letter:
                self.expr(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.iterated(keyword.value)
            elif keyword.arg == "key" and keyed:
                self.applied(keyword.value)
            else:
                self.expr(keyword.value)

    def call_tool(self, node: Any, name: str, held: bool, into: str) -> str:
        """A call of a builtin or of the library; return the shape of its arguments, "" if they were looked at."""
        special = _SPECIAL_CALLS.get(name)
        if special is not None:
            return special(self, node, held)
        if name == "functools.partial":
            self.passes_lasting = True  # its attributes give the function back
        if name in YIELDS_CARRIERS:
            self.carrier(node, text=name != "re.finditer")
        if name in ITERATORS or name in HASHED or name in ERRORS or (name == "float" and _says_nan(node)):
            if held:
                self.keep(node, into, name in ITERATORS)
        elif name[:7] == "typing." and self.scope is not self.root:
            raise self.no(node, f"{name} is called")
        else:
            self.tool(node, name, held=False)
        return SHAPES.get(name, "p")

    def compared(self, node: Any, _held: bool) -> str:
        """A call of isinstance."""
        if len(node.args) != 2 or node.keywords:
            raise self.no(node, "isinstance that is not understood")
        self.expr(node.args[0])
        self.class_reference(node.args[1])
        return ""

    def copied(self, node: Any, _held: bool) -> str:
        """A call of copy or deepcopy: a memo that the program passes would hold addresses."""
        if len(node.args) != 1 or node.keywords or type(node.args[0]) is ast.Starred:
            raise self.no(node, "a copy with more than one argument")
        return "p"

    def defaulted(self, node: Any, _held: bool) -> str:
        """A call of defaultdict, whose text shows its factory."""
        if node.args and self.callee(node.args[0]) == "" and not self.script:
            self.shows_text = self.shows_text or node.lineno
        return "fp"

    def upper(self, node: Any, held: bool) -> str:
        """A call of super."""
        if held or node.args or not self.me:
            raise self.no(node, "super is used as a value")
        return "p"

    def extreme(self, node: Any, _held: bool) -> str:
        """A call of min or max: of one iterable, or of the values themselves."""
        return "ik" if len(node.args) == 1 else "pk"

    def comprehension(self, node: Any) -> None:
        outer = self.scope
        inner = Scope(outer, inline=True)
        self.scopes.append(inner)
        for generator in node.generators:
            if generator.is_async:
                raise self.no(node, "async")
            grouped = self.iterated_in_loop(generator.iter)
            self.scope = inner  # the first iterable alone belongs to the scope outside
            self.loop_target(generator.target, grouped)
            for test in generator.ifs:
                self.iterated(test)
        if type(node) is ast.DictComp:
            self.expr(node.key)
            self.expr(node.value)
        else:
            self.expr(node.elt)
        self.scope = outer

    def iterated_in_loop(self, node: Any) -> bool:
        """The iterable of a loop; return whether it is a groupby, whose items hold iterators."""
        if type(node) is ast.Call and self.callee(node.func) == "itertools.groupby":
            self.arguments(node, SHAPES["itertools.groupby"])
            return True
        self.iterated(node)
        return False

    def loop_target(self, node: Any, grouped: bool) -> None:
        self.store(node)
        if grouped:
            if type(node) is not ast.Tuple or len(node.elts) != 2 or type(node.elts[1]) is not ast.Name:
                self.carrier(node)
            else:
                self.named(node.elts[1].id)

    def binary(self, node: ast.BinOp) -> None:
        self.expr(node.left)
        self.expr(node.right)
        # A % formats text, unless one side is certainly a number.
        if (
            type(node.op) is ast.Mod
            and not self.script
            and not (self.is_number(node.right) or self.is_number(node.left))
        ):
            self.takes_text = True

    def subscript(self, node: ast.Subscript) -> None:
        self.iterated(node.value)
        self.expr(node.slice)

    def comparison(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        if any(map(self.is_type, operands)):
            self.types_compared = node.lineno
            for operand in operands:
                self.class_reference(operand)
            return
        self.expr(node.left)
        for operator, operand in zip(node.ops, node.comparators):
            (self.iterated if type(operator) in (ast.In, ast.NotIn) else self.expr)(operand)

    def made_set(self, node: Any) -> None:
        self.takes_hash = self.takes_hash or not self.script
        if type(node) is ast.Set:
            self.exprs(node.elts)
        else:
            self.comprehension(node)

    def held_function(self, node: Any) -> None:
        self.carrier(node)
        if type(node) is ast.Lambda:
            self.applied(node)
        else:
            self.iterated(node)

    def text(self, node: ast.FormattedValue) -> None:
        self.takes_text = self.takes_text or not self.script
        self.expr(node.value)
        if node.format_spec is not None:
            self.expr(node.format_spec)

    def walrus(self, node: ast.NamedExpr) -> None:
        self.expr(node.value)
        inner = self.scope
        while self.scope.inline and self.scope.outer is not None:
            self.scope = self.scope.outer
        self.store(node.target)
        self.scope = inner

    def yielded(self, node: Any) -> None:
        if not self.name:
            raise self.no(node, "yield outside of a function")
        self.generators.add(self.name)
        if self.name[:2] == "__" and self.name != "__iter__":
            self.carrier(node)
        if type(node) is ast.YieldFrom:
            self.iterated(node.value)
        elif node.value is not None:
            self.expr(node.value)

    def store(self, node: Any) -> None:
        kind = type(node)
        if kind is ast.Name:
            self.bind(node, node.id)
        elif kind in (ast.Tuple, ast.List):
            for item in node.elts:
                self.store(item)
        elif kind is ast.Starred:
            self.store(node.value)
        elif kind is ast.Subscript:
            if type(node.value) is ast.Name and self.find(node, node.value.id)[0][0] == TABLE:
                raise self.no(node, "a module-level table is changed")
            self.iterated(node.value)
            self.expr(node.slice)
        else:
            self.set_attribute(node)

    def set_attribute(self, node: ast.Attribute) -> None:
        """An attribute that is set: of self, or of any object as long as nothing that outlives a call goes anywhere."""
        base: Any = node.value
        own = type(base) is ast.Name and base.id == self.me
        lasting = self.script or (type(base) is ast.Name and self.find(base, base.id)[0][0] != LOCAL)
        if is_special(node.attr) or (not own and (lasting or node.attr[0] == "_")):
            raise self.no(node, f"attribute {node.attr} is set")
        if not own:
            self.iterated(base)
            self.sets_attributes = node.lineno
        self.data.add(node.attr)


def _is_plain_format(node: Any) -> bool:
    """Return whether a node is a string constant whose replacement fields read no attribute."""
    if type(node) is not ast.Constant or type(node.value) is not str:
        return False
    fields = [field.partition("}")[0] for field in node.value.split("{")[1:]]
    return not any("[" in field or "." in field.partition(":")[0] for field in fields)


def _says_nan(node: Any) -> bool:
    text = node.args[0].value if len(node.args) == 1 and type(node.args[0]) is ast.Constant else ""
    return type(text) is str and "nan" in text.lower()


def _parts(*names: str) -> Callable[[Expressions, Any], None]:
    def visit(proof: Expressions, node: Any) -> None:
        for name in names:
            part = getattr(node, name)
            if part is not None:
                (proof.exprs if type(part) is list else proof.expr)(part)

    return visit


def _iterated(proof: Expressions, node: Any) -> None:
    proof.iterated(node.value)


def _table(proof: Expressions, node: Any) -> None:
    for key, value in zip(node.keys, node.values):
        if key is None:
            proof.iterated(value)
        else:
            proof.expr(key)
            proof.expr(value)


def _unary(proof: Expressions, node: Any) -> None:
    (proof.iterated if type(node.op) is ast.Not else proof.expr)(node.operand)


def _either(proof: Expressions, node: Any) -> None:
    proof.iterated(node.test)
    proof.expr(node.body)
    proof.expr(node.orelse)


_SPECIAL_CALLS: dict[str, Callable[[Expressions, Any, bool], str]] = {
    "collections.defaultdict": Expressions.defaulted,
    "copy.copy": Expressions.copied,
    "copy.deepcopy": Expressions.copied,
    "isinstance": Expressions.compared,
    "max": Expressions.extreme,
    "min": Expressions.extreme,
    "super": Expressions.upper,
}
_EXPRESSIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Attribute: Expressions.attribute,
    ast.BinOp: Expressions.binary,
    ast.BoolOp: _parts("values"),
    ast.Call: Expressions.call,
    ast.Compare: Expressions.comparison,
    ast.Constant: _parts(),
    ast.Dict: _table,
    ast.DictComp: Expressions.comprehension,
    ast.FormattedValue: Expressions.text,
    ast.GeneratorExp: Expressions.held_function,
    ast.IfExp: _either,
    ast.JoinedStr: _parts("values"),
    ast.Lambda: Expressions.held_function,
    ast.List: _parts("elts"),
    ast.ListComp: Expressions.comprehension,
    ast.Name: Expressions.load,
    ast.NamedExpr: Expressions.walrus,
    ast.Set: Expressions.made_set,
    ast.SetComp: Expressions.made_set,
    ast.Slice: _parts("lower", "upper", "step"),
    ast.Starred: _iterated,
    ast.Subscript: Expressions.subscript,
    ast.Tuple: _parts("elts"),
    ast.UnaryOp: _unary,
    ast.Yield: Expressions.yielded,
    ast.YieldFrom: Expressions.yielded,
}
if hasattr(ast, "Index"):  # Python 3.8 wraps what stands in brackets
    _EXPRESSIONS[ast.Index] = _parts("value")
    _EXPRESSIONS[ast.ExtSlice] = _parts("dims")
