"""TypeScript: as JavaScript once it is compiled; the types of a function are those that it is declared with."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scalebox.execute.drivers import Driven, signature
from scalebox.execute.drivers.javascript import driven_language, driver_files
from scalebox.languages.language import Language

LANGUAGES = ("typescript", "typescript-transpile")

_NODES = {
    "ListNode": (
        "declare class ListNode { val: number; next: ListNode | null; "
        "constructor(val?: number, next?: ListNode | null); }\n"
    ),
    "TreeNode": (
        "declare class TreeNode { val: number; left: TreeNode | null; right: TreeNode | null; "
        "constructor(val?: number, left?: TreeNode | null, right?: TreeNode | null); }\n"
    ),
}


def drive(language: Language, source: str, calls: Sequence[str]) -> Driven:
    """Return the program with its driver."""
    driver = driver_files(source, calls, annotated=True)
    files = {"solution.ts": source, **driver}
    build = language.build
    nodes = [name for name in _NODES if signature.mentions(source, name) and not signature.declares(source, name)]
    if nodes and language.name == "typescript":
        files["scalebox_nodes.d.ts"] = "".join(_NODES[name] for name in nodes)
        build = tuple((*command, "scalebox_nodes.d.ts") for command in build)
    driven = msgspec.structs.replace(driven_language(language), build=build, keep=(*language.keep, *driver))
    return Driven(driven, {name: text.encode("utf-8", "replace") for name, text in files.items()})
