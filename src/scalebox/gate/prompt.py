"""What a prompt leaves to be written: the function that it begins at its end, and what it gives that function."""

from __future__ import annotations

import re
from collections.abc import Collection

from scalebox.gate.lines import Block, Source, Statement

#: Bodies that say "to be written"; a string alone is a docstring.
_PLACEHOLDER = re.compile(r"(?:pass|\.\.\.|raise[ \t]+NotImplementedError\b.*)(?:[ \t]*#.*)?$")
_STRING = re.compile(r"[rRuUbB]{0,2}[\"']")
#: Ends of a line that is not over.
_UNFINISHED = re.compile(r"[ \t=+\-*/%,(\[{.<>&|^~@\\]$")


class Prompt:
    """A prompt, as text of a Python program that ends where the response is to go on.

    `text` is what the response is put behind; it is whole lines, without a placeholder such as `pass` where the body
    is to be, unless `mid_line` says that the prompt ends within a line. `open` are the statements that enclose its end,
    such as a class and a method, outermost first; `body` is the indentation of what goes on, and `is_free` says that
    any deeper one than that of the last open statement would do: there is no body yet.
    """

    def __init__(self, text: str) -> None:
        kept, _, tail = text.rpartition("\n")
        self.mid_line = bool(tail.strip()) and _UNFINISHED.search(tail) is not None
        self.source = Source((text if tail.strip() else kept).split("\n"))
        self.open = _enclosing(self.source.statements)
        #: The first statement of the body of each that is open; only the innermost may have none.
        self._bodies = [self._body_of(statement) for statement in self.open]
        self.is_free = bool(self.open) and self._bodies[-1] is None
        self.body = self._indentation(tail)
        #: Indentations with which a statement may go on.
        self.levels = frozenset([self.body, *(first.indent for first in self._bodies if first is not None)])
        #: Whether nothing but a docstring or a placeholder stands in what is open.
        self.is_stub = bool(self.open) and bool(self.open[-1].name) and all(map(_says_nothing, self._inside()))
        self.text = text if self.mid_line else self._whole_lines()

    def _body_of(self, statement: Statement) -> Statement | None:
        return next((other for other in self.source.statements if other.first >= statement.last), None)

    def _inside(self) -> list[Statement]:
        return [other for other in self.source.statements if other.first >= self.open[-1].last]

    def _indentation(self, tail: str) -> str:
        if not self.open:
            return ""
        first, outer = self._bodies[-1], self.open[-1].indent
        if first is not None:
            return first.indent
        if not tail.strip() and len(tail) > len(outer) and tail.startswith(outer):
            return tail
        return outer + ("\t" if _has_tabs(self.source) else "    ")

    def body_for(self, source: Source) -> str:
        """Return `body`, with a tab where the prompt leaves the choice and the code has tabs."""
        if self.is_free and _has_tabs(source) and self.body == self.open[-1].indent + "    ":
            return self.open[-1].indent + "\t"
        return self.body

    def _whole_lines(self) -> str:
        lines = self.source.lines
        last = self.source.statements[-1] if self.source.statements else None
        if self.is_stub and last is not None and _PLACEHOLDER.match(last.head):
            lines = lines[: last.first]
        text = "\n".join(lines)
        return text + "\n" if text.strip() else ""

    @property
    def name(self) -> str:
        """The name at the margin that a response would repeat: of the open function, or of the class around it."""
        return self.open[0].name if self.open else ""

    def method(self) -> tuple[Statement, Statement] | None:
        """Return the class and the method in it that the end is in, where the method is to be written."""
        if not self.is_stub or len(self.open) < 2:
            return None
        outer, inner = self.open[-2:]
        if outer.head.startswith("class") and not inner.head.startswith("class"):
            return outer, inner
        return None

    def given(self, dropped: Collection[str]) -> str:
        """Return what a response that is a program of its own is put behind: all but what defines `dropped`.

        A function whose body is missing altogether is left out too.
        """
        blocks = self.source.blocks()
        if self.is_free and blocks:
            blocks = blocks[:-1]
        kept = [block for block in blocks if not block.name or block.name not in dropped]
        return "".join(self._lines_of(block) for block in kept)

    def _lines_of(self, block: Block) -> str:
        return "\n".join(self.source.lines[block.first : block.last]) + "\n"

    def decorated(self, statement: Statement) -> int:
        """Return the line on which a definition begins, its decorators included."""
        first = statement.first
        for other in reversed(self.source.statements[: self.source.statements.index(statement)]):
            if other.indent != statement.indent or not other.head.startswith("@"):
                break
            first = other.first
        return first


def _enclosing(statements: list[Statement]) -> list[Statement]:
    if not statements:
        return []
    found = [statements[-1]] if statements[-1].opens else []
    level = statements[-1].columns
    for statement in reversed(statements[:-1]):
        if level == 0:
            break
        if statement.columns < level:
            level = statement.columns
            if statement.opens:
                found.append(statement)
    return found[::-1]


def _has_tabs(source: Source) -> bool:
    return any(statement.indent.startswith("\t") for statement in source.statements)


def _says_nothing(statement: Statement) -> bool:
    return _PLACEHOLDER.match(statement.head) is not None or _STRING.match(statement.head) is not None
