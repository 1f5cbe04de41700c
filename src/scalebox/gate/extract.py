"""Takes the program out of a model's answer. Pure text: nothing is parsed or run; time is linear in the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from scalebox.gate import bare
from scalebox.gate.complete import code_in, complete, is_program, names_to_write
from scalebox.gate.markdown import Block, Document, dedent, parse
from scalebox.gate.tags import canonical

How = Literal["fenced", "incomplete_fenced", "bare", "empty"]
Choice = Literal["auto", "last", "first", "longest"]

#: What a program that stands by itself has at the margin, and an example of use mostly has not.
_DEFINES = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(?!test_|Test)\w", re.MULTILINE)
_READS = re.compile(
    r"\b(?:input[ \t]*\(|sys[ \t]*\.[ \t]*stdin\b|open[ \t]*\([ \t]*0|fileinput\b|os[ \t]*\.[ \t]*read\b)"
)
_ANYTHING = re.compile(r"")
#: The same in other languages, where a program is entered at a function of this name.
_ENTERED = re.compile(r"\b[Mm]ain\s*\(")
_WITH_ENTRY = frozenset(["c", "cpp", "csharp", "d", "go", "java", "kotlin", "rust", "scala"])


class Extracted(msgspec.Struct, frozen=True):
    """The program found in an answer, and how it was found."""

    code: str
    how: How


def extract(
    response: str, *, language: str = "python", choose: Choice = "auto", entry_points: Sequence[str] = ()
) -> Extracted:
    """Return the program in `response`; line ends become newlines, a byte order mark is dropped.

    `choose` says which of several blocks counts (docs/concepts/extraction.md); `entry_points` are candidate names of
    what tests call: `f`, `Class.method`. An answer without code, or cut off in its reasoning, gives "" and "empty".
    """
    return _found(parse(newlines(response)), language, choose, entry_points)


def extract_after(
    prompt: str, response: str, *, stop: Sequence[str] = (), choose: Choice = "auto", entry_points: Sequence[str] = ()
) -> Extracted:
    """Return the Python program that `response` makes of `prompt`: it goes on where that ends, or repeats it.

    Code that goes on ends at the first text of `stop`. A prompt that is a request in words counts as the program
    text in its fences, if any.
    """
    begun = program_text(prompt, entry_points)
    document = parse(newlines(response))
    if not begun:
        return _found(document, "python", choose, entry_points)
    names = (*entry_points, *names_to_write(begun))
    lead = document.prose[: document.lead]
    first = next((line for line in lead if line.strip()), "")
    if first[:1] in (" ", "\t") and not bare.is_prose(first.strip()):
        return _completed(begun, Extracted(code_in(lead), "bare"), entry_points, stop)
    blocks = _relevant(_unwrapped(document.blocks), "python")
    if bare.is_code(first) and not _defining(blocks, names):
        found = _bare(lead, "python", choose, names)
    else:
        found = _found(document, "python", choose, names)
    return _completed(begun, found, entry_points, stop)


def newlines(text: str) -> str:
    """Return `text` with newlines as line ends, and without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def program_text(prompt: str, entry_points: Sequence[str] = ()) -> str:
    """Return what is program text in a prompt: all of it, or, where it is a request in words, what is in its fences."""
    prompt = newlines(prompt)
    if is_program(prompt):
        return prompt
    blocks = _relevant(_unwrapped(parse(prompt).blocks), "python")
    return _pick(blocks, "auto", entry_points).code if blocks else ""


def _completed(prompt: str, found: Extracted, entry_points: Sequence[str], stop: Sequence[str]) -> Extracted:
    code = complete(prompt, found.code, entry_points, stop)
    return Extracted(code, found.how if code else "empty")


def _found(document: Document, language: str, choose: Choice, entry_points: Sequence[str]) -> Extracted:
    blocks = _relevant(_unwrapped(document.blocks), canonical(language))
    if blocks:
        block = _pick(blocks, choose, entry_points, canonical(language))
        return Extracted(block.code, "fenced" if block.complete else "incomplete_fenced")
    return _bare(document.prose, language, choose, entry_points)


def _unwrapped(blocks: list[Block]) -> list[Block]:
    """Return the blocks, with the blocks inside instead of one that wraps a whole Markdown answer."""
    found: list[Block] = []
    for block in blocks:
        wraps = block.language == "text" or (not block.language and block.code.lstrip().startswith(("```", "~~~")))
        found += (parse(block.code).blocks if wraps else []) or [block]
    return found


def _relevant(blocks: list[Block], language: str) -> list[Block]:
    """Return the blocks worth a look: in the language or untagged; else with a tag we do not know; else any."""
    blocks = [block for block in blocks if block.code.strip()]
    for wanted in ((language, ""), (None,)):
        fitting = [block for block in blocks if block.language in wanted]
        if fitting:
            return fitting
    return blocks


def _bare(lines: list[str], language: str, choose: Choice, entry_points: Sequence[str]) -> Extracted:
    start = next((number for number, line in enumerate(lines) if line.strip()), None)
    if start is None:
        return Extracted("", "empty")
    lines = dedent(lines[start:], len(lines[start]))
    whole, runs = (True, []) if canonical(language) != "python" else bare.runs(lines)
    if whole:
        return Extracted("\n".join(lines), "bare")
    if not runs:
        return Extracted("", "empty")
    blocks = [Block("", run, complete=True) for run in runs]
    found = _defining(blocks, entry_points) if choose == "auto" else None
    block = found or _pick(blocks, "longest" if choose == "auto" else choose, ())
    return Extracted(block.code, "bare")


def _pick(blocks: list[Block], choose: Choice, entry_points: Sequence[str], language: str = "python") -> Block:
    if choose == "auto":
        return _defining(blocks, entry_points) or _standing(blocks, language)
    tagged = [block for block in blocks if block.language != ""] or blocks
    if choose == "longest":
        return max(tagged, key=lambda block: len(block.code))
    return tagged[0] if choose == "first" else tagged[-1]


def _defining(blocks: list[Block], entry_points: Sequence[str]) -> Block | None:
    """Return the last block that defines an entry point, the first that any defines."""
    return next((block for name in entry_points if (block := _defining_one(blocks, name))), None)


def _defining_one(blocks: list[Block], entry_point: str) -> Block | None:
    """Return the last block that defines the entry point: tagged before untagged, at the margin before in a class."""
    names = re.findall(r"\w+", entry_point)
    if not names:
        return None
    head, last = re.escape(names[0]), re.escape(names[-1])
    defined = rf"(?:async[ \t]+)?def[ \t]+{head}\b|class[ \t]+{head}\b"
    bound = rf"{head}[ \t]*(?::[^=\n]*)?=(?!=)|(?:from|import)\b.*\bas[ \t]+{head}\b"
    at_margin = re.compile(rf"^(?:{defined}|{bound})", re.MULTILINE)
    in_class = re.compile(rf"^[ \t]+(?:async[ \t]+)?def[ \t]+{last}\b", re.MULTILINE)
    return _last_of(blocks, at_margin) or _last_of(blocks, in_class)


def _standing(blocks: list[Block], language: str) -> Block:
    """Return the last block that can stand alone: it defines something, reads input, or has `main`; else the last."""
    signs = (_DEFINES, _READS) if language == "python" else (_ENTERED,) if language in _WITH_ENTRY else ()
    return _last_of(blocks, *signs) or _last_of(blocks, _ANYTHING) or blocks[-1]


def _last_of(blocks: list[Block], *patterns: re.Pattern[str]) -> Block | None:
    """Return the last block in which a pattern is found; tagged before untagged, whole before cut off."""
    fitting = [block for block in blocks if any(pattern.search(block.code) for pattern in patterns)]
    ranks = [(block.language != "", block.complete, place) for place, block in enumerate(fitting)]
    return fitting[max(ranks)[2]] if ranks else None
