"""The statements of Python source as its text shows them, found line by line: nothing is parsed.

Time is linear in the text, and any text will do: a model's answer, cut off anywhere, with prose in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<long>"{3}|'{3})
      | "(?:[^"\\]|\\.)*(?:"|\\?$) | '(?:[^'\\]|\\.)*(?:'|\\?$)
      | (?P<comment>\#) | (?P<open>[(\[{]) | (?P<close>[)\]}]) | [^\s"'\#()\[\]{}]+""",
    re.VERBOSE,
)
#: What begins no line inside of brackets, so that a bracket left open does not swallow all that follows.
_FRESH = re.compile(r"(?:@\w|(?:async[ \t]+)?def[ \t]+\w|class[ \t]+\w|import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b)")
_DEFINITION = re.compile(r"(?:async[ \t]+)?def[ \t]+(\w+)|class[ \t]+(\w+)")
_GOES_ON = re.compile(r"(?:else|elif|except|finally)\b")


class Statement(NamedTuple):
    """A statement on the lines `first` to `last` - 1; `opens` says that a block should follow it."""

    first: int
    last: int
    indent: str
    head: str
    opens: bool

    @property
    def columns(self) -> int:
        """How far it is indented."""
        return columns(self.indent)

    @property
    def name(self) -> str:
        """The name of the function or class that it begins to define, or ""."""
        found = _DEFINITION.match(self.head)
        return (found.group(1) or found.group(2)) if found else ""


class Source:
    """Lines, the statements on them, and which lines begin inside of a string."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self.quoted: set[int] = set()
        self.statements: list[Statement] = []
        scanner = _Scanner()
        first = -1
        for number, line in enumerate(self.lines):
            if scanner.quotes:
                self.quoted.add(number)
            elif scanner.depth and _FRESH.match(line):
                if first >= 0:
                    self._add(first, number, opens=False)
                scanner, first = _Scanner(), -1
            if first < 0:
                if line.lstrip()[:1] in ("", "#"):
                    continue
                first = number
            scanner.scan(line)
            if not scanner.goes_on:
                self._add(first, number + 1, opens=scanner.ending == ":")
                first = -1
        if first >= 0:
            self._add(first, len(self.lines), opens=False)

    def _add(self, first: int, last: int, *, opens: bool) -> None:
        line = self.lines[first]
        head = line.lstrip(" \t")
        self.statements.append(Statement(first, last, line[: len(line) - len(head)], head.rstrip(), opens))

    def text_of(self, statement: Statement) -> str:
        """Return all lines of a statement."""
        return "\n".join(self.lines[statement.first : statement.last])

    def moved(self, old: str, new: str) -> list[str]:
        """Return the lines with the indentation `old` made `new`; lines with less, and insides of strings, stay."""
        return [
            line if number in self.quoted or not line.strip() or not line.startswith(old) else new + line[len(old) :]
            for number, line in enumerate(self.lines)
        ]

    def blocks(self) -> list[Block]:
        """Return the statements at the margin, each with its decorators before it and its body after it."""
        begins: list[Statement] = []
        names: list[str] = []
        decorated = False
        for statement in self.statements:
            if statement.indent or _GOES_ON.match(statement.head):
                continue
            if not decorated:
                begins.append(statement)
                names.append("")
            names[-1] = statement.name
            decorated = statement.head.startswith("@")
        if not begins:
            return []
        edges = [0, *(statement.first for statement in begins[1:]), len(self.lines)]
        return [
            Block(start, end, name, begin.head)
            for start, end, name, begin in zip(edges[:-1], edges[1:], names, begins, strict=True)
        ]


class Block(NamedTuple):
    """Lines `first` to `last` - 1, which begin with the statement `head` and define `name`, if anything."""

    first: int
    last: int
    name: str
    head: str


class _Scanner:
    """Where in strings and brackets a line ends."""

    def __init__(self) -> None:
        self.quotes = ""
        self.depth = 0
        self.ending = ""  # the last character that is neither white space nor part of a comment

    @property
    def goes_on(self) -> bool:
        return bool(self.quotes) or self.depth > 0 or self.ending == "\\"

    def scan(self, line: str) -> None:
        place = 0
        self.ending = ""
        if self.quotes:
            place = self._leave(line, 0)
        while place < len(line):
            token = _TOKEN.search(line, place)
            if token is None or token.lastgroup == "comment":
                return
            place = token.end()
            self.ending = line[place - 1]
            if token.lastgroup == "long":
                self.quotes = token.group()
                place = self._leave(line, place)
            elif token.lastgroup == "open":
                self.depth += 1
            elif token.lastgroup == "close":
                self.depth = max(0, self.depth - 1)
        if self.ending == "\\" and not line.endswith("\\"):
            self.ending = ""

    def _leave(self, line: str, place: int) -> int:
        """Return where the long string ends that `line` is in at `place`; the line's end where it does not."""
        while (end := line.find(self.quotes, place)) >= 0:
            before = line[place:end]
            if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
                self.quotes = ""
                self.ending = line[end]
                return end + 3
            place = end + 1
        return len(line)


def columns(indent: str) -> int:
    """Return how wide an indentation is."""
    return len(indent.expandtabs(8))
