"""A program and its tests as one text, and the reading of such texts: no parser, but strings and comments are known."""

from __future__ import annotations

import hashlib
import re

import msgspec

from scalebox.languages.language import Language

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_BRACKETS = re.compile(r"[()\[\]{}]")
_CLOSERS = re.compile(r"[{}]")


class Assembled(msgspec.Struct, frozen=True, kw_only=True):
    """One text of code and tests, and how it is built and run.

    `files` lie beside the source when it is built, `beside` beside the program when it is run. The code begins on the
    line after `before`, and has `lines`. `failed` finds a failed assertion in what a run writes on its standard error.
    `problem` says why the code cannot be tested, where it takes the place of what the tests are written with.
    """

    text: str
    language: Language
    files: dict[str, bytes] = {}
    beside: dict[str, bytes] = {}
    before: int = 0
    lines: int = 0
    failed: str = ""
    problem: str = ""

    def where(self, line: int) -> str:
        """Return what a line of the text is to the author of the code."""
        if line <= self.before:
            return "before the code, "
        if line <= self.before + self.lines:
            return f"line {line - self.before}: "
        return "in the tests, "


def joined(
    language: Language, prefix: str, code: str, suffix: str, *, files: dict[str, bytes] | None = None,
    beside: dict[str, bytes] | None = None, failed: str = "", problem: str = "",
) -> Assembled:  # fmt: skip
    """Return the three parts as one text, the last from a line of its own on."""
    head = prefix + code + ("" if code.endswith("\n") or not code else "\n")
    return Assembled(
        text=head + suffix, language=language, files=files or {}, beside=beside or {}, before=prefix.count("\n"),
        lines=code.rstrip("\n").count("\n") + 1, failed=failed, problem=problem,
    )  # fmt: skip


def words(text: str) -> set[str]:
    """Return the names and keywords in a text, those in its strings and comments too."""
    return set(_WORD.findall(text))


def label_of(*parts: str) -> str:
    """Return a name that nobody can know who does not know all parts."""
    return "scalebox_" + hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]


def blanked(text: str, opaque: re.Pattern[str]) -> str:
    """Return the text, as long as it was, with blanks for what `opaque` finds: strings and comments."""
    return opaque.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closed(text: str, opening: int) -> int:
    """Return where the bracket that is opened there has been closed; the end of the text if it never is."""
    depth = 0
    for found in _BRACKETS.finditer(text, opening):
        depth += 1 if found.group() in "([{" else -1
        if depth == 0:
            return found.end()
    return len(text)


def ends_open(code: str, opaque: re.Pattern[str]) -> str:
    """Return a fault of code that ends within a comment: the first of the tests would be part of it."""
    last = max((found.group() for found in opaque.finditer(code) if found.end() == len(code)), default="")
    whole = len(last) > 3 and last.endswith("*/")
    return "the code ends within a comment" if last.startswith("/*") and not whole else ""


def first_outside(suffix: str, opaque: re.Pattern[str]) -> int:
    """Return where a suffix leaves the last of the braces that the code left open; 0 where it closes none."""
    depth = lowest = place = 0
    for found in _CLOSERS.finditer(blanked(suffix, opaque)):
        depth += 1 if found.group() == "{" else -1
        if depth < lowest:
            lowest, place = depth, found.end()
    return place
