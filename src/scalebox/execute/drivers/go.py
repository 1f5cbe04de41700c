"""Go: the driver is a second file of the program's package, which calls its functions by reflection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from scalebox.execute.drivers import Driven, NoFunction, signature, support
from scalebox.languages.language import Language

LANGUAGES = ("go",)

#: Comments and texts, which are no code. What they hold of line breaks stays.
_OPAQUE = re.compile(
    r"""/\*.*?(?:\*/|\Z)|//[^\n]*|`[^`]*(?:`|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.[^'\n]{0,10}|[^'\\\n])'""", re.DOTALL
)
_PACKAGE = re.compile(r"^[ \t]*package[ \t]+(\w+)", re.MULTILINE)
_FUNCTION = re.compile(
    r"^func[ \t]+(?:\([^()]{0,80}?\*?(?P<owner>\b\w{1,80})(?:\[[^\]]{0,80}\])?[ \t]*\)[ \t]*)?"
    r"(?P<name>\w{1,80})[ \t]*(?P<generic>\[)?(?P<signature>[^{]*)",
    re.MULTILINE,
)
_MAIN = re.compile(r"^(func[ \t]+)main([ \t]*\()", re.MULTILINE)
#: Packages that a judge imports for programs without a package clause, which are pasted into its own file.
_IMPORTED = (
    "bytes", "container/heap", "container/list", "errors", "fmt", "math", "math/big", "math/bits", "math/rand",
    "regexp", "sort", "strconv", "strings", "sync", "time", "unicode",
)  # fmt: skip
_NODES = {
    "ListNode": "type ListNode struct {\n\tVal  int\n\tNext *ListNode\n}\n",
    "TreeNode": "type TreeNode struct {\n\tVal   int\n\tLeft  *TreeNode\n\tRight *TreeNode\n}\n",
}
_ERROR = r"^(?:[^\n:]*solution\.go:(?P<line>\d+):(?:\d+:)? |[^\n#:]*\.go:\d+:(?:\d+:)? )(?P<message>.*)$"


class _Function(NamedTuple):
    owner: str
    name: str
    generic: bool
    signature: str


def drive(language: Language, source: str, calls: Sequence[str]) -> Driven:
    """Return the program with its driver, in the package `main`."""
    code = _OPAQUE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), source)
    found = [
        _Function(one["owner"] or "", one["name"], bool(one["generic"]), one["signature"])
        for one in _FUNCTION.finditer(code)
    ]
    chosen = [_choose(found, call) for call in calls]
    lines = [support("driver.go")]
    lines += [text for name, text in _NODES.items() if _lacks(code, name)]
    lines.append("var scaleboxFunctions = []scaleboxFunction{")
    for one in chosen:
        value = f"(&{one.owner}{{}}).{one.name}" if one.owner else one.name
        bytes_are_text = not _spelled(one.signature, "uint8") or _spelled(one.signature, "byte")
        runes_are_text = not _spelled(one.signature, "int32") or _spelled(one.signature, "rune")
        lines.append(f"\t{{{value}, {str(bytes_are_text).lower()}, {str(runes_are_text).lower()}}},")
    lines.append("}\n")
    *before, build = language.build
    build = (*build[:-1], "solution.go", "scalebox_driver.go")
    driven = msgspec.structs.replace(language, build=(*before, build), error=_ERROR)
    files = {"solution.go": _in_main(source, code), "scalebox_driver.go": "\n".join(lines)}
    return Driven(driven, {name: text.encode("utf-8", "replace") for name, text in files.items()})


def _choose(found: Sequence[_Function], call: str) -> _Function:
    owner, name = signature.wanted(call)
    named = [one for one in found if one.name == name and (not owner or one.owner == owner)]
    named.sort(key=lambda one: (one.owner != "", one.owner != "Solution"))
    if not named:
        raise signature.missed(call, [f"{one.owner}.{one.name}".strip(".") for one in found])
    if named[0].generic:
        raise NoFunction(f"{call} is generic, whose types no call can tell: declare a function of plain types")
    return named[0]


def _lacks(code: str, name: str) -> bool:
    """Return whether the program names a type that it does not declare."""
    declared = re.search(rf"\b{name}[ \t]+struct\b", code)
    return declared is None and re.search(rf"\b{name}\b", code) is not None


def _spelled(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", text) is not None


def _in_main(source: str, code: str) -> str:
    """Return the program as one of the package `main` without a function `main` of its own; lines stay as they are."""
    main = _MAIN.search(code)
    if main is not None:
        source = f"{source[: main.end(1)]}scaleboxUnusedMain{source[main.start(2) :]}"
        code = f"{code[: main.end(1)]}scaleboxUnusedMain{code[main.start(2) :]}"
    package = _PACKAGE.search(code)
    if package is not None:
        return f"{source[: package.start(1)]}main{source[package.end(1) :]}"
    has = set(re.findall(r'"([\w/]+)"', source)) if re.search(r"^import\b", code, re.MULTILINE) else set()
    used = [path for path in _IMPORTED if path not in has and re.search(rf"\b{path.rpartition('/')[2]}\.\w", code)]
    return "package main; " + "".join(f'import "{path}"; ' for path in used) + source
