"""What a program in JavaScript or TypeScript says of the types of a function: annotations, or the comment before it.

Only what an argument must be made into is looked at (`bigint`, Map, Set, nodes), and what is returned; anything
else is `any`. Total: text that cannot be read this way has no types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from scalebox.execute.drivers import NoFunction, signature

#: A type: its name and its parts. "array" has one, "map" two, "set" one, "tuple" and "union" any number.
Type = list[object]
ANY: Type = ["any"]

_DECLARED = re.compile(
    r"\bfunction(?:\s*\*\s*|\s+)(\w+)"
    r"|\b(?:const|let|var)\s+(\w+)\s*(?::[^=;\n]{0,400})?=\s*(?:async\b\s*)?(?:function\b|\(|\w{1,80}\s*=>)"
)
_WORD = re.compile(r"\s*([\w$.]+|\"[^\"]*\"|'[^']*'|=>|[^\s])")
_PARAMETER_TAG = re.compile(r"@param\s*\{([^{}\n]*)\}\s*\[?([\w$]+)")
_RETURN_TAG = re.compile(r"@returns?\s*\{([^{}\n]*)\}")
#: How long a signature is read, and how deep a type.
_MOST_TEXT, _MOST_DEPTH = 4000, 20


class Signature(NamedTuple):
    """The types of a function; `parameters` is empty where nothing is known of them."""

    parameters: list[Type]
    returned: Type


def signature_of(source: str, call: str, *, annotated: bool) -> Signature:
    """Return what the program says of the function's types, by annotations or else by its comment.

    Raises NoFunction where the text does not even name the function.
    """
    owner, name = signature.wanted(call)
    if not all(re.search(rf"(?<![\w$]){part}(?![\w$])", source) for part in (*owner.split("."), name) if part):
        raise signature.missed(call, [one or other for one, other in _DECLARED.findall(source)])
    if owner.count("."):
        raise NoFunction(f"{call}: a function of a class within another cannot be called")
    declared = _declaration(source, name)
    if declared is None:
        return Signature([], ANY)
    start, opening = declared
    closing = _closing(source, opening)
    names = _split(source[opening + 1 : closing])
    if annotated:
        return Signature([_annotation(text) for text in names], _returned(source[closing + 1 :][:_MOST_TEXT]))
    return _documented(source[:start], [re.match(r"\s*(?:\.\.\.)?([\w$]*)", text) for text in names])


def _declaration(source: str, name: str) -> tuple[int, int] | None:
    """Return where the function's declaration begins, and where its parameters do."""
    word = re.escape(name)
    generic = r"\s*(?:<[^()]{0,400}>)?\s*\("
    made = r"=\s*(?:async\b\s*)?(?:function\b\s*(?:\w{1,80}\s*)?)?(?:<[^()]{0,400}>)?\("
    forms = (
        rf"(?:export\s+)?(?:default\s+)?(?:async\s+)?\bfunction(?:\s*\*\s*|\s+){word}{generic}",
        rf"(?:export\s+)?\b(?:const|let|var)\s+{word}\s*(?::[^=;\n]{{0,400}})?{made}",
        rf"(?:module\.)?exports\.{word}\s*{made}",
        rf"^[ \t]*(?:(?:public|static|async|private|protected)[ \t]+)*{word}{generic}(?=[^;]{{0,400}}?\{{)",
    )
    for form in forms:
        found = re.search(form, source, re.MULTILINE)
        if found is not None:
            return found.start(), found.end() - 1
    return None


def _closing(source: str, opening: int) -> int:
    depth = 0
    for at in range(opening, min(len(source), opening + _MOST_TEXT)):
        depth += source[at] in "([{"
        depth -= source[at] in ")]}"
        if depth == 0:
            return at
    return opening


def _split(text: str) -> list[str]:
    """Return the parameters, each as its text."""
    depth, parts = 0, [""]
    for at, letter in enumerate(text):
        depth += letter in "([{<"
        depth -= letter in ")]}" or (letter == ">" and text[at - 1 : at] != "=")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _annotation(text: str) -> Type:
    _, colon, written = text.partition(":")
    return parse_type(written.partition("=")[0] if "=>" not in written else "") if colon else ANY


def _returned(text: str) -> Type:
    found = re.match(r"\s*:\s*([^{;]*?)\s*(?:\{|=>|;|$)", text)
    return parse_type(found[1]) if found else ANY


def _documented(before: str, names: Sequence[re.Match[str] | None]) -> Signature:
    """Return the types of the comment right before the declaration; plain ones are not taken at their word."""
    before = before.rstrip()
    start = before.rfind("/**") if before.endswith("*/") else -1
    comment = before[start:] if start >= 0 else ""
    told = {name: _untold(parse_type(text)) for text, name in _PARAMETER_TAG.findall(comment)}
    returned = _RETURN_TAG.search(comment)
    return Signature(
        [told.get(name[1] if name else "", ANY) for name in names],
        parse_type(returned[1]) if returned else ANY,
    )


def _untold(kind: Type) -> Type:
    """Return a type without what says nothing of how a value is to be made."""
    if kind[0] in ("number", "string", "boolean"):
        return ANY
    if kind[0] == "map":  # the keys of one are numbers only if it says so
        return kind
    return [kind[0], *(_untold(part) if isinstance(part, list) else part for part in kind[1:])]


def parse_type(text: str) -> Type:
    """Return the type that is written; what cannot be read is `any`."""
    words = _WORD.findall(text[:_MOST_TEXT])
    kind, at = _union(words, 0, 0)
    return kind if at == len(words) else ANY


def _union(words: Sequence[str], at: int, depth: int) -> tuple[Type, int]:
    if depth > _MOST_DEPTH:
        return ANY, at
    kinds: list[Type] = []
    optional = False
    while True:
        while at < len(words) and words[at] in ("?", "!", "|"):  # of a comment: may be null, is never null
            optional |= words[at] == "?"
            at += 1
        kind, at = _postfix(words, at, depth)
        kinds.append(kind)
        if at >= len(words) or words[at] != "|":
            break
    if optional:
        kinds.append(["null"])
    return (kinds[0] if len(kinds) == 1 else ["union", *kinds]), at


def _postfix(words: Sequence[str], at: int, depth: int) -> tuple[Type, int]:
    if at < len(words) and words[at] == "readonly":
        at += 1
    kind, at = _primary(words, at, depth)
    while list(words[at : at + 2]) == ["[", "]"]:
        kind, at = ["array", kind], at + 2
    return kind, at


def _primary(words: Sequence[str], at: int, depth: int) -> tuple[Type, int]:
    word = words[at] if at < len(words) else ""
    at += 1
    if word == "(":
        kind, at = _union(words, at, depth + 1)
        return (kind, at + 1) if words[at : at + 1] == [")"] else (ANY, len(words) + 1)
    if word == "[":
        parts, at = _list(words, at, "]", depth)
        return ["tuple", *parts], at
    parts = []
    while words[at : at + 1] == ["."]:
        at += 1
    if words[at : at + 1] == ["<"] or (word.endswith(".") and words[at : at + 1] == ["<"]):
        parts, at = _list(words, at + 1, ">", depth)
    return _named(word.rstrip("."), parts), at


def _list(words: Sequence[str], at: int, end: str, depth: int) -> tuple[list[Type], int]:
    parts: list[Type] = []
    while at < len(words) and words[at] != end:
        kind, at = _union(words, at, depth + 1)
        parts.append(kind)
        if words[at : at + 1] == [","]:
            at += 1
        elif words[at : at + 1] != [end]:
            return [], len(words) + 1
    return parts, at + 1


def _named(name: str, parts: list[Type]) -> Type:
    """Return a type by its name; names that say nothing of how a value is to be made are `any`."""
    first = parts[0] if parts else ANY
    if name in ("Array", "ReadonlyArray"):
        return ["array", first]
    if name in ("Set", "ReadonlySet"):
        return ["set", first]
    if name in ("Map", "ReadonlyMap"):
        return ["map", first, parts[1] if len(parts) > 1 else ANY]
    if name == "Promise":
        return first
    if name in ("undefined", "null"):
        return ["null"]
    return [name] if name in ("number", "string", "boolean", "bigint", "void", "ListNode", "TreeNode") else ANY
