"""Which functions a program declares, as far as its text shows that without a compiler.

Total and linear: hostile text gives another list of functions, never an error. Whether a function can be called
at all is the compiler's to say; here it is found, told from others of its name, or missed, and what there is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scalebox.execute.drivers import NoFunction

#: Comments and texts, in all the languages that `functions` reads; then words, arrows and single characters.
_TOKEN = re.compile(
    r"""
    (?P<skip> //[^\n]* | /\*.*?(?:\*/|\Z) | ^[ \t]*\#(?![!\[])(?:\\\n|[^\n])* | \n | [^\S\n]+ )
  | (?P<text> R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)
            | b?r(?P<hashes>\#{0,8})".*?(?:"(?P=hashes)|\Z)
            | \"{3}.*?(?:\"{3}|\Z)
            | "(?:\\.|[^"\\])*(?:"|\Z)
            | '(?:\\.[^'\n]{0,10}|[^'\\\n])' )
  | (?P<word> [^\W\d]\w* )
  | (?P<other> -> | => | :: | . )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}
#: Words that begin a block of functions, and those that also begin the type of a function's result.
_CONTAINERS = frozenset({"interface", "record", "namespace", "impl", "mod", "trait"})
_TYPES = frozenset({"class", "struct", "union", "enum", "extern"})
#: How deep such blocks are looked into.
_MOST_DEPTH = 20
#: Names shown where one is missed.
_MOST_SHOWN = 8


class Function(NamedTuple):
    """A function with a body: its owner (class, `impl`, namespace; "" where there is none), and its parts as tokens."""

    owner: str
    name: str
    before: tuple[str, ...]
    parameters: tuple[tuple[str, ...], ...]


def tokens(text: str) -> list[str]:
    """Return the words and signs of a program; a text is `""`, comments and lines of a preprocessor are left out."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("word", "other"):
            found.append(match.group())
        elif match.group("text") is not None:
            found.append('""')
    return found


def functions(text: str) -> list[Function]:
    """Return the functions of a program in C++, Java or Rust that lie in no other function."""
    words = tokens(text)
    found: list[Function] = []
    owners: list[str] = []
    head: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == ";":
            head = []
        elif word == "}":
            head = []
            if owners:
                owners.pop()
        elif word == "{":
            owner = _container(head) if len(owners) < _MOST_DEPTH else None
            if owner is None:
                found += _function(".".join(filter(None, owners)), head)
                at = _closing(words, at)
            else:
                owners.append(owner)
            head = []
        elif word in ("(", "["):
            end = _closing(words, at)
            head += words[at : end + 1]
            at = end
        else:
            head.append(word)
        at += 1
    return found


def _closing(words: Sequence[str], at: int) -> int:
    """Return where the bracket at `at` is closed, or the last place there is."""
    opened = 0
    for place in range(at, len(words)):
        if words[place] in _PAIRS:
            opened += 1
        elif words[place] in (")", "]", "}"):
            opened -= 1
            if opened == 0:
                return place
    return len(words) - 1


def _plain(head: Sequence[str]) -> list[str]:
    """Return what begins a block without annotations and attributes."""
    kept: list[str] = []
    at = 0
    while at < len(head):
        if head[at] == "#" or (head[at] == "[" and head[at + 1 : at + 2] == ["["]):
            at = _closing(head, at + (head[at] == "#"))
        elif head[at] == "@" or head[at] in ("__attribute__", "alignas"):
            at += head[at] == "@"
            while head[at + 1 : at + 2] == ["."]:
                at += 2
            if head[at + 1 : at + 2] == ["("]:
                at = _closing(head, at + 1)
        elif head[at] in ("public", "private", "protected") and head[at + 1 : at + 2] == [":"]:
            at += 1
        else:
            kept.append(head[at])
        at += 1
    return kept


def _container(head: Sequence[str]) -> str | None:
    """Return the name of what a block holds functions of, "" for one that has none; None for any other block."""
    plain = _plain(head)
    stop = next((at for at, word in enumerate(plain) if word in ("(", "=", "fn")), len(plain))
    known = _CONTAINERS if stop < len(plain) else _CONTAINERS | _TYPES
    start = next((at for at, word in enumerate(plain[:stop]) if word in known), None)
    if start is None:
        return None
    keyword, names = plain[start], plain[start + 1 : stop]
    if keyword == "impl":
        return _implemented(plain[start + 1 :])
    named = next((word for word in names if word.isidentifier() and word != "class"), "")
    return None if keyword == "record" and not named else named


def _implemented(words: Sequence[str]) -> str:
    """Return the name of the type that an `impl` is for."""
    words = _without_angles(words)
    if "for" in words:
        words = words[words.index("for") + 1 :]
    names = [word for word in words[: words.index("where") if "where" in words else None] if word.isidentifier()]
    return names[-1] if names else ""


def _without_angles(words: Sequence[str]) -> list[str]:
    depth, kept = 0, []
    for word in words:
        depth += word == "<"
        if depth == 0:
            kept.append(word)
        depth -= word == ">" and depth > 0
    return kept


def _function(owner: str, head: Sequence[str]) -> Iterable[Function]:
    """Yield the function whose body follows, if that is what follows."""
    plain = _plain(head)
    if "fn" in plain:
        at = plain.index("fn") + 1
        opening = next((place for place in range(at, len(plain)) if plain[place] == "("), None)
    else:
        opening = next((place for place, word in enumerate(plain) if word == "("), None)
        at = -1 if opening is None else opening - 1
        if opening is None or "=" in plain[:opening]:
            return
    if opening is None or at < 0 or not plain[at].isidentifier():
        return
    end = _closing(plain, opening)
    yield Function(owner, plain[at], tuple(plain[:at]), _parameters(plain[opening + 1 : end]))


def _parameters(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the parameters, each as its tokens."""
    depth = 0
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "," and depth == 0:
            parts.append([])
            continue
        depth += word in ("(", "[", "{", "<")
        depth -= word in (")", "]", "}", ">") and depth > 0
        parts[-1].append(word)
    return tuple(tuple(part) for part in parts if part)


def wanted(call: str) -> tuple[str, str]:
    """Return the owner ("" where none is named) and the name of what `call` names. Raises NoFunction."""
    *owner, name = call.replace("()", "").split(".")
    return ".".join(owner), name


def choose(found: Sequence[Function], call: str) -> list[Function]:
    """Return the functions that `call` names: those of `Solution` first, then free ones, then the first class's.

    They have one owner and one name; more than one is an overloaded function. Raises NoFunction.
    """
    owner, name = wanted(call)
    named = [function for function in found if function.name == name and (not owner or function.owner == owner)]
    if not named:
        raise missed(call, [f"{one.owner}.{one.name}".strip(".") for one in found])
    owners = [function.owner for function in named]
    first = next((one for one in ("Solution", "") if one in owners), owners[0])
    return [function for function in named if function.owner == first]


def missed(call: str, names: Sequence[str]) -> NoFunction:
    """Return the error that says that there is no such function, and which there are."""
    names = list(dict.fromkeys(names))
    shown = ", ".join(names[:_MOST_SHOWN]) + (", …" if len(names) > _MOST_SHOWN else "")
    return NoFunction(f"no function {call}; " + (f"the program has {shown}" if names else "the program has none"))


def declares(text: str, name: str, *, unit: bool = False) -> bool:
    """Return whether the program declares a class or struct of this name itself; `unit` says that `;` may end that."""
    words = tokens(text)
    return any(
        words[at] in ("class", "struct", "enum", "function")
        and words[at + 1] == name
        and (unit or words[at + 2 : at + 3] != [";"])
        for at in range(len(words) - 1)
    )


def mentions(text: str, name: str) -> bool:
    """Return whether the program's code names this."""
    return name in tokens(text)
