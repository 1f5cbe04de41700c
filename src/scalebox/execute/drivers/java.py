"""Java: the driver is a class of its own, beside the program's, which finds the method and its types by reflection."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from scalebox.execute.drivers import Driven, signature, support
from scalebox.languages.java import layout
from scalebox.languages.language import Language

LANGUAGES = ("java",)

#: What programs that are pasted into a judge's own file expect to be there.
_IMPORTS = "import java.util.*; import java.util.function.*; import java.util.stream.*; import java.math.*; "
_PACKAGE = re.compile(r"^[ \t]*package\s+[\w.]+\s*;", re.MULTILINE)
_LIST_NODE = (
    "class ListNode { int val; ListNode next; ListNode() {} ListNode(int val) { this.val = val; } "
    "ListNode(int val, ListNode next) { this.val = val; this.next = next; } }\n"
)
_TREE_NODE = (
    "class TreeNode { int val; TreeNode left, right; TreeNode() {} TreeNode(int val) { this.val = val; } "
    "TreeNode(int val, TreeNode left, TreeNode right) { this.val = val; this.left = left; this.right = right; } }\n"
)
_NODES = {"ListNode": _LIST_NODE, "TreeNode": _TREE_NODE}
_DRIVER = "ScaleboxDriver"


def drive(language: Language, source: str, calls: Sequence[str]) -> Driven:
    """Return the program with its driver, which is told classes and methods by the command that runs it."""
    found = signature.functions(source)
    chosen = [signature.choose([one for one in found if one.owner], call)[0] for call in calls]
    # A package would only keep the driver from reaching classes that are not public.
    text = _PACKAGE.sub(lambda match: "\n" * match.group().count("\n"), source, count=1)
    name = layout(text)["source"]
    files = {name: _IMPORTS + text, f"{_DRIVER}.java": support(f"{_DRIVER}.java")}
    for node, declared in _NODES.items():
        if signature.mentions(source, node) and not signature.declares(source, node):
            files[f"{node}.java"] = declared
    methods = [f"{one.owner.replace('.', '$')}.{one.name}" for one in chosen]
    (build,) = language.build
    driven = msgspec.structs.replace(
        language,
        build=((*build[:-1], *files),),
        run=(*language.run[:1], "--add-opens", "java.base/java.io=ALL-UNNAMED", *language.run[1:], *methods),
        error=rf"^(?:{re.escape(name)}:(?P<line>\d+): |\S+: )error: (?P<message>.*)$",
    )
    words = {"main": _DRIVER}
    return Driven(driven, {file: code.encode("utf-8", "replace") for file, code in files.items()}, words)
