"""Decides whether a program provably keeps no state between calls: its calls may then share one process.

The claim: calling the named functions one after another in one process gives the results of a fresh process for each.
It is shown by a whitelist over the syntax tree. What outlives a call (functions, classes, modules, values of the module
and of classes, default arguments) is immutable or only read; nothing reaches into frames, code or attributes of what
lasts; and where an object's address could show in a result (text or hash of a function, iterator or instance), the
answer is no. Whatever is not understood is a no. docs/concepts/state.md gives the argument.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from scalebox.execute.bindings import CLASS, CONST, FUNCTION, LOCAL, NUMBER, RECORD, SCRIPT, TABLE, Scope, Unproved
from scalebox.execute.expressions import Expressions
from scalebox.execute.harmless import COMPARES, CONSTANTS, ERRORS, MAKES_CONST, MEMO, METHODS, SPECIAL_METHODS

_NUMERIC = (ast.Constant, ast.BinOp, ast.Pow, ast.Mult, ast.Add, ast.Tuple)
_REASON_LIMIT = 300  # characters


def prove(tree: ast.Module, calls: list[str]) -> tuple[bool, str]:
    """Return (True, "") if calls of `calls` cannot influence one another, else (False, the reason with its line).

    A call is `f`, `Class.method`, `Class().method` (a fresh instance each), or a method of `Solution` alone. Without
    `calls` it may be of whatever the module defines: then that must be functions, classes and constants alone. The
    module's `__name__` must not be "__main__". Total: a tree nested too deeply is a no.
    """
    proof = _Proof()
    try:
        proof.module(tree)
        proof.targets(calls)
    except Unproved as no:
        return False, str(no)[:_REASON_LIMIT]
    except RecursionError:
        return False, "nested too deeply"
    except Exception as error:
        return False, f"the analysis failed: {error!r}"[:_REASON_LIMIT]
    return True, ""


class _Definitions(Expressions):
    """Takes in what a program defines; what it does not understand raises Unproved."""

    def definition(self, node: Any) -> bool:
        """Take in a statement at the margin that only defines; return whether it was one."""
        kind = type(node)
        if kind is ast.FunctionDef:
            if node.decorator_list:
                raise self.no(node, "a decorated function")
            self.bind(node, node.name, (FUNCTION, ""))
            self.function(node, "", node.name)
        elif kind is ast.ClassDef:
            self.klass(node)
        elif kind in (ast.Import, ast.ImportFrom):
            (self.imported if kind is ast.Import else self.imported_from)(node)
        elif kind is ast.Assign:
            return self.constants(node.targets, node.value)
        elif kind is ast.AnnAssign:
            self.annotation(node.annotation)
            return node.value is None or self.constants([node.target], node.value)
        else:
            return kind is ast.Pass or _is_main_guard(node) or _is_quiet(node)
        return True

    def function(self, node: Any, me: str, name: str) -> None:
        """A function: its defaults and annotations now, its body when the names around it are known."""
        if getattr(node, "type_params", None):
            raise self.no(node, "type parameters")
        arguments = node.args
        defaults = arguments.defaults + [default for default in arguments.kw_defaults if default is not None]
        if self.scope is self.root and not (self.script and type(node) is ast.Lambda):
            for default in defaults:
                if not self.constant(default):
                    raise self.no(default, "a default that may change")
        else:
            self.exprs(defaults)
        if type(node) is not ast.Lambda:
            for argument in _arguments(arguments):
                self.annotation(argument.annotation)
            self.annotation(node.returns)
        self.later.append((node, self.scope, me or self.me, name, self.script))

    def constants(self, targets: list[Any], value: Any) -> bool:
        """Take in `NAME = value` if the value can never change, or is a table that may be read."""
        if any(type(target) is not ast.Name for target in targets):
            return False
        what = self.constant(value)
        if type(value) is ast.Lambda:
            what = FUNCTION
            self.function(value, "", "")
        elif not what and len(targets) == 1 and self.is_table(value):
            what = TABLE  # under one name alone: the uses of the name are all its uses
        elif not what and self.is_record(value):
            what = RECORD
        for target in targets if what else ():
            self.bind(target, target.id, (what, ""))
            if what == TABLE:
                self.tables[target.id] = 0
        return bool(what)

    def constant(self, node: Any) -> int:
        """Return CONST or NUMBER if an expression certainly gives an immutable value of immutable values, else 0."""
        kind = type(node)
        if kind is ast.Constant:
            return NUMBER if type(node.value) in (int, float) else CONST
        if kind is ast.Name:
            known = self.root.names.get(node.id, (0, ""))[0]
            return known if known in (CONST, NUMBER) and node.id not in self.class_names else 0
        if kind is ast.UnaryOp:
            return self.constant(node.operand)
        if kind is ast.BinOp:
            sides = self.constant(node.left), self.constant(node.right)
            return 0 if 0 in sides else CONST if CONST in sides else NUMBER
        if kind is ast.Tuple:
            return CONST if all(map(self.constant, node.elts)) else 0
        if kind is ast.Attribute:
            return CONST if self.library(node) in CONSTANTS else 0
        if kind is ast.Call and self.tool_name(node.func) in MAKES_CONST and self.takes_constants(node):
            self.call(node)
            return CONST
        return 0

    def takes_constants(self, node: Any) -> bool:
        """Return whether all arguments of a call are immutable, or new and made of immutable values."""
        return all(self.constant(argument) or self.is_table(argument) for argument in node.args) and all(
            keyword.arg and self.constant(keyword.value) for keyword in node.keywords
        )

    def is_table(self, node: Any) -> bool:
        """Return whether an expression makes a list, set or dict of immutable values."""
        kind = type(node)
        if kind in (ast.List, ast.Set):
            return all(map(self.constant, node.elts))
        if kind is ast.Dict:
            return all(key is not None and self.constant(key) for key in node.keys) and all(
                map(self.constant, node.values)
            )
        if kind is ast.Call and type(node.func) is ast.Name and node.func.id in ("set", "list", "dict", "sorted"):
            return self.tool_name(node.func) == node.func.id and self.takes_constants(node)
        return False

    def is_record(self, node: Any) -> bool:
        """Return whether an expression is a namedtuple with its fields written out; take in the fields."""
        if (
            type(node) is not ast.Call
            or node.keywords
            or len(node.args) != 2
            or not isinstance(node.func, (ast.Name, ast.Attribute))
        ):
            return False
        if self.tool_name(node.func) != "collections.namedtuple":
            return False
        fields = node.args[1].elts if isinstance(node.args[1], (ast.List, ast.Tuple)) else [node.args[1]]
        texts = [field.value for field in fields if type(field) is ast.Constant and type(field.value) is str]
        if len(texts) != len(fields) or type(node.args[0]) is not ast.Constant:
            return False
        self.data.update(" ".join(texts).replace(",", " ").split())
        return True

    def klass(self, node: ast.ClassDef) -> None:
        if node.decorator_list or node.keywords or getattr(node, "type_params", None):
            raise self.no(node, "a class with a decorator or a metaclass")
        methods: set[str] = set()
        for base in node.bases:
            name = base.id if type(base) is ast.Name else ""
            if name in self.classes:
                methods |= self.classes[name]
            elif name in self.root.names or (name not in ERRORS and name != "object"):
                raise self.no(node, "a base class that is not known to be harmless")
        self.bind(node, node.name, (CLASS, ""))
        parts: list[Any] = node.body
        for part in parts:
            targets = getattr(part, "targets", None) or [getattr(part, "target", None)]
            self.class_names.update(getattr(target, "id", "") for target in targets)
            self.class_names.add(getattr(part, "name", ""))
        for part in parts:
            kind = type(part)
            if kind is ast.FunctionDef:
                methods.add(part.name)
                self.defined_method(part)
            elif kind in (ast.Assign, ast.AnnAssign):
                self.class_constant(part)
            elif kind is not ast.Pass and not _is_quiet(part):
                raise self.no(part, "a class body that does more than define")
        self.class_names = set()
        self.classes[node.name] = methods

    def defined_method(self, node: Any) -> None:
        name = node.name
        if name[:2] == "__" == name[-2:] and name not in SPECIAL_METHODS:
            raise self.no(node, f"method {name}")
        decorators = [getattr(decorator, "id", "") for decorator in node.decorator_list]
        bound = self.class_names | self.root.names.keys()
        if decorators not in ([], ["staticmethod"], ["property"]) or not bound.isdisjoint(decorators):
            raise self.no(node, "a decorated method")
        if decorators == ["staticmethod"]:
            self.static.add(name)
            self.functions.add(name)
        else:
            (self.data if decorators else self.methods).add(name)
        self.function(node, "" if decorators == ["staticmethod"] else "*", name)

    def class_constant(self, node: Any) -> None:
        targets = node.targets if type(node) is ast.Assign else [node.target]
        if type(node) is ast.AnnAssign:
            self.annotation(node.annotation)
        for target in targets:
            if type(target) is not ast.Name or (target.id[:2] == "__" and target.id != "__slots__"):
                raise self.no(node, "a class attribute that is not understood")
            self.data.add(target.id)
            self.static.add(target.id)
        if node.value is not None and not self.constant(node.value):
            raise self.no(node, "a class attribute that may change")


class _Proof(_Definitions):
    """One walk over a module: definitions first, then what runs at import, then the bodies of functions."""

    def body(self, node: Any, outer: Scope, me: str, name: str, script: bool) -> None:
        self.scope = Scope(outer)
        self.scopes.append(self.scope)
        self.script, self.name = script, name
        self.me = "" if me == "*" else me
        names = [argument.arg for argument in _arguments(node.args)]
        for argument in names:
            self.bind(node, argument)
        if me == "*":
            first = getattr(node.args, "posonlyargs", []) + node.args.args
            if not first:
                raise self.no(node, "a method without self")
            self.me = first[0].arg
        if type(node) is ast.Lambda:
            self.expr(node.body)
        else:
            self.statements(node.body)

    def statements(self, nodes: list[Any]) -> None:
        for node in nodes:
            handler = _STATEMENTS.get(type(node))
            if handler is None:
                raise self.no(node, f"{type(node).__name__} is not understood")
            handler(self, node)

    def assign(self, node: Any) -> None:
        targets, value = node.targets, node.value
        name = targets[0].id if len(targets) == 1 and type(targets[0]) is ast.Name and not self.script else ""
        if name and type(value) is ast.Call:
            self.call(value, into=name)
        elif name and type(value) in (ast.Lambda, ast.GeneratorExp):
            (self.applied if type(value) is ast.Lambda else self.iterated)(value)
            self.named(name)
        elif any(type(target) in (ast.Tuple, ast.List) for target in targets) and len(targets) == 1:
            self.iterated(value)
        else:
            self.expr(value)
        for target in targets:
            self.store(target)

    def augmented(self, node: ast.AugAssign) -> None:
        if type(node.op) is ast.Mod and not self.is_number(node.value) and not self.script:
            self.takes_text = True
        self.expr(node.value)
        self.store(node.target)

    def annotated(self, node: ast.AnnAssign) -> None:
        if self.script:
            self.annotation(node.annotation)
        if node.value is not None:
            self.expr(node.value)
            self.store(node.target)
        elif type(node.target) is not ast.Name:
            raise self.no(node, "an annotation that is not understood")

    def branch(self, node: Any) -> None:
        self.iterated(node.test)
        self.statements(node.body)
        self.statements(node.orelse)

    def loop(self, node: ast.For) -> None:
        grouped = self.iterated_in_loop(node.iter)
        self.loop_target(node.target, grouped)
        self.statements(node.body)
        self.statements(node.orelse)

    def attempt(self, node: ast.Try) -> None:
        self.statements(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                self.class_reference(handler.type)
            if handler.name:
                self.bind(handler, handler.name)
                self.named(handler.name, text=False)
            self.statements(handler.body)
        self.statements(node.orelse)
        self.statements(node.finalbody)

    def throw(self, node: ast.Raise) -> None:
        if type(node.exc) is ast.Call:
            self.call(node.exc, held=False)
        elif node.exc is not None:
            self.class_reference(node.exc)
        if node.cause is not None:
            self.iterated(node.cause)

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if type(target) is ast.Subscript:
                self.store(target)
            elif type(target) is not ast.Name or self.find(target, target.id)[0][0] != LOCAL or target.id == self.me:
                raise self.no(node, "del of something that may outlive a call")

    def nonlocals(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            scope = self.scope.outer
            while scope is not None and name not in scope.names:
                scope = scope.outer
            if scope is None or scope is self.root:
                raise self.no(node, f"nonlocal {name}")
            self.scope.shared[name] = scope.shared.get(name, scope)

    def nested(self, node: ast.FunctionDef) -> None:
        if self.scope is self.root:
            raise self.no(node, "a function defined under a condition")
        decorators: list[Any] = node.decorator_list
        for decorator in decorators:
            called = type(decorator) is ast.Call
            if self.library(decorator.func if called else decorator) not in MEMO:
                raise self.no(node, "a decorator that is not known to be harmless")
            if called:
                self.exprs(decorator.args)
                self.exprs([keyword.value for keyword in decorator.keywords])
        self.bind(node, node.name)
        self.named(node.name)
        self.function(node, "", node.name)

    def match(self, node: Any) -> None:
        self.expr(node.subject)
        for case in node.cases:
            self.pattern(case.pattern)
            if case.guard is not None:
                self.iterated(case.guard)
            self.statements(case.body)

    def pattern(self, node: Any) -> None:
        kind = type(node).__name__
        if kind == "MatchValue":
            self.expr(node.value)
        elif kind == "MatchClass":
            raise self.no(node, "a class pattern")
        for name in (getattr(node, "name", None), getattr(node, "rest", None)):
            if name:
                self.bind(node, name)
        self.exprs(getattr(node, "keys", []))
        for inner in [*getattr(node, "patterns", []), getattr(node, "pattern", None)]:
            if inner is not None:
                self.pattern(inner)

    def module(self, tree: ast.Module) -> None:
        at_import = [node for node in tree.body if not self.definition(node)]
        self.script = True
        self.statements(at_import)
        for node, outer, me, name, script in self.later:  # grows while it is walked
            self.body(node, outer, me, name, script)
        self.verdict()

    def verdict(self) -> None:
        """Check what can only be known when everything was seen."""
        functions = self.methods | self.functions
        for attr in self.wanted.keys() - self.data - functions:
            raise Unproved(f"line {self.wanted[attr]}: attribute {attr} is not known to be harmless")
        if not self.iterating.isdisjoint(self.data | self.functions):
            raise Unproved("an attribute is named as a method of builtin types")
        if self.types_compared and not self.methods.isdisjoint(COMPARES):
            raise Unproved(f"line {self.types_compared}: type() together with own comparisons")
        passes = self.passes_lasting or not (self.values | self.own_values).isdisjoint(self.functions)
        if self.sets_attributes and passes:
            raise Unproved(f"line {self.sets_attributes}: an attribute is set, of a function perhaps")
        for name, uses in self.tables.items():
            if uses == 3:
                raise Unproved(f"{name} is read by functions and might be changed at import")
        held = (
            not self.values.isdisjoint(functions)
            or not self.values.isdisjoint(METHODS)  # apart: a union would count references to all of them
            or not self.own_values.isdisjoint(functions)
            or not (self.called | self.values | self.own_values).isdisjoint(self.generators)
        )
        plain = [scope.carriers[name] for scope in self.scopes for name in scope.plain & scope.carriers.keys()]
        if self.takes_text and (held or self.shows_text or any(plain)):
            raise Unproved(f"line {self.shows_text}: an object's address might show in a text")
        if self.takes_hash and (held or self.shows_hash or plain):
            raise Unproved(f"line {self.shows_hash}: an object's address might show in the order of a set")

    def targets(self, calls: list[str]) -> None:
        variable = next((name for name, kind in self.root.names.items() if kind[0] == SCRIPT), "")
        if variable and not calls:
            raise Unproved(f"{variable} may be anything")
        for call in calls:
            head, _, method = call.partition(".")
            head = head[:-2] if head[-2:] == "()" else head
            if not method and self.root.names.get(head, (0, ""))[0] == FUNCTION:
                continue
            if not method and head not in self.root.names:
                head, method = "Solution", head
            if method[:2] == "__" or method not in self.classes.get(head, ()):
                raise Unproved(f"{call[:100]} is not a function of the program")


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    found = getattr(arguments, "posonlyargs", []) + arguments.args + arguments.kwonlyargs
    return found + [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]


def _is_main_guard(node: Any) -> bool:
    """Return whether a statement is `if __name__ == "__main__":`, whose body never runs here."""
    if type(node) is not ast.If or node.orelse or type(node.test) is not ast.Compare or len(node.test.ops) != 1:
        return False
    left, right = node.test.left, node.test.comparators[0]
    return (
        type(node.test.ops[0]) is ast.Eq
        and (type(left) is ast.Name and left.id == "__name__")
        and (type(right) is ast.Constant and right.value == "__main__")
    )


def _is_quiet(node: Any) -> bool:
    """Return whether a statement is a lone constant, or sets the recursion limit to a constant."""
    value = node.value if type(node) is ast.Expr else None
    if type(value) is ast.Call and type(value.func) is ast.Attribute and value.func.attr == "setrecursionlimit":
        named = type(value.func.value) is ast.Name and value.func.value.id == "sys"
        return named and not value.keywords and all(type(part) in _NUMERIC for part in ast.walk(ast.Tuple(value.args)))
    return type(value) is ast.Constant


def _nothing(proof: _Proof, node: Any) -> None:
    """Take a statement that does nothing by itself."""


def _returned(proof: _Proof, node: Any) -> None:
    if node.value is not None:
        proof.expr(node.value)


def _evaluated(proof: _Proof, node: Any) -> None:
    proof.iterated(node.value)


def _asserted(proof: _Proof, node: Any) -> None:
    proof.iterated(node.test)
    if node.msg is not None:
        proof.expr(node.msg)


_STATEMENTS: dict[type, Callable[[_Proof, Any], Any]] = {
    ast.AnnAssign: _Proof.annotated,
    ast.Assert: _asserted,
    ast.Assign: _Proof.assign,
    ast.AugAssign: _Proof.augmented,
    ast.Break: _nothing,
    ast.Continue: _nothing,
    ast.Delete: _Proof.delete,
    ast.Expr: _evaluated,
    ast.For: _Proof.loop,
    ast.FunctionDef: _Proof.nested,
    ast.If: _Proof.branch,
    ast.Import: _Proof.imported,
    ast.ImportFrom: _Proof.imported_from,
    ast.Nonlocal: _Proof.nonlocals,
    ast.Pass: _nothing,
    ast.Raise: _Proof.throw,
    ast.Return: _returned,
    ast.Try: _Proof.attempt,
    ast.While: _Proof.branch,
}
if hasattr(ast, "Match"):
    _STATEMENTS[ast.Match] = _Proof.match
