"""Finds the code blocks of a model's answer: reasoning left out, fences taken apart. One pass, linear in the text.

Follows CommonMark where models do (a closing fence is alone on its line, at least as long as the opening one, and
indented by at most three columns more, so that ``` lines in the docstring of a function close nothing), and is more
lenient where models are: a fence may stand anywhere in a list, and a tagged opening fence ends a block left open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from scalebox.gate.tags import language_of

_REASONING = "think|thinking|thought|thoughts|reasoning"
_TAG = re.compile(
    rf"(<(?:/?(?:{_REASONING}|answer)|/s|\|(?:im_end|endoftext|end_of_text|eot_id|end)\|)>|◁/?think▷)", re.IGNORECASE
)
_OPENING = re.compile(r"([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(`{3,}(?=[^`]*$)|~{3,})(.*)$")
_CLOSING = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*$")
_ONE_LINE = re.compile(r"[ \t]*```+([^`]+)```+[ \t]*$")
_WORD = re.compile(r"[\w+#-]*")
_TRIPLE = re.compile(r"\"{3}|'{3}")
#: A line outside of any fence that opens a docstring or a long string: the answer is code without a fence.
_LONG_STRING = re.compile(r"[ \t]*(?:[A-Za-z_][\w.]{0,200} *= *|return )?[rRuUbBfF]{0,2}(?:\"{3}|'{3})")
_QUOTES = frozenset("'\"`")
_CLOSING_SLACK = 3  # columns, CommonMark


@dataclass
class Block:
    """One fenced block. `language` is "" where the fence names none, None where it names no language we know."""

    language: str | None
    code: str
    complete: bool


@dataclass
class Document:
    """What an answer consists of once its reasoning is gone: the fenced blocks, and all lines outside of them.

    The first `lead` lines of the prose stand before all blocks.
    """

    blocks: list[Block] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    lead: int = 0


@dataclass
class _Fence:
    marker: str
    indent: int
    language: str | None
    lines: list[str] = field(default_factory=list)


def parse(text: str) -> Document:
    """Split an answer, with newlines as line ends, into blocks and prose.

    A reasoning section that never ends hides all that follows; one that never began hides all before its end.
    Fences inside of a triple-quoted string are text, unless the string never ends.
    """
    scanner = _scan(text, _Scanner())
    if scanner.string:
        scanner = _scan(text, _Scanner(heed_strings=False))
    return scanner.document


def _scan(text: str, scanner: _Scanner) -> _Scanner:
    pieces = _TAG.split(text)
    for number, piece in enumerate(pieces):
        if number % 2:
            scanner.tag(piece, pieces[number - 1][-3:], pieces[number + 1][:3])
        else:
            scanner.text(piece)
    scanner.end()
    return scanner


class _Scanner:
    def __init__(self, *, heed_strings: bool = True) -> None:
        self.document = Document()
        self.fence: _Fence | None = None
        self.string = ""  # the quotes of the triple-quoted string we are in
        self._heed_strings = heed_strings
        self._reasoning = ""  # the name of the section we are in
        self._fenced = False  # whether any fence was opened
        self._partial: list[str] = []  # what is there of the line in hand
        self._first = ""  # its first character that is no white space

    def text(self, piece: str) -> None:
        head, *rest = piece.split("\n")
        self._add(head)
        for line in rest:
            self._flush()
            self._add(line)

    def _add(self, piece: str) -> None:
        self._partial.append(piece)
        self._first = self._first or piece.lstrip()[:1]

    def tag(self, tag: str, before: str, after: str) -> None:
        name = tag.strip("<>◁▷/|").lower()
        closes = "/" in tag
        if _is_quote(before, before[-1:]) or _is_quote(after, after[:1]):
            self._add(tag)
        elif self._reasoning:
            if closes and name == self._reasoning:
                self._reasoning = ""
                self._drop_line()
        elif self._inside_code(after):
            self._add(tag)
        elif name not in _REASONING.split("|"):
            self._edge(ends=closes or "|" in tag)
        elif closes:
            self._begin_again()
        elif self.fence is None:
            self._end_line()
            self._reasoning = name
        else:
            self._add(tag)

    def _inside_code(self, after: str) -> bool:
        """Return whether a tag here is text of a program: in a comment, or in the middle of a line of a block."""
        return self._first == "#" or (self.fence is not None and self._first != "" and after[:1] not in ("", "\n"))

    def _edge(self, *, ends: bool) -> None:
        # <answer> and end-of-text tokens are edges of lines, whatever they are glued to.
        self._end_line()
        if self.fence is not None and ends:
            self._close(complete=False)

    def _begin_again(self) -> None:
        self.document = Document()
        self.fence = None
        self._fenced = False
        self.string = ""
        self._drop_line()

    def _drop_line(self) -> None:
        self._partial.clear()
        self._first = ""

    def _end_line(self) -> None:
        if self._first:
            self._flush()
        self._drop_line()

    def _flush(self) -> None:
        line = "".join(self._partial)
        self._drop_line()
        if self._reasoning:
            return
        if self.fence is None:
            self._outside(line)
        else:
            self._inside(line, self.fence)
        self._follow_strings(line)

    def _follow_strings(self, line: str) -> None:
        if not self._heed_strings or ('"""' not in line and "'''" not in line):
            return
        if self.fence is None:
            if not self.string and not _LONG_STRING.match(line):
                return
        elif self.fence.language not in ("", "python"):
            return
        for quotes in _TRIPLE.findall(line):
            if not self.string:
                self.string = quotes
            elif self.string == quotes:
                self.string = ""

    def _outside(self, line: str) -> None:
        if not self.string and ("```" in line or "~~~" in line):
            opening = _OPENING.match(line)
            if opening is not None:
                self._open(opening)
                return
            single = _ONE_LINE.match(line)
            if single is not None:
                self.document.blocks.append(_one_line(single.group(1)))
                return
        self.document.prose.append(line)
        if not self.document.blocks and not self._fenced:
            self.document.lead += 1

    def _inside(self, line: str, fence: _Fence) -> None:
        if self.string or ("```" not in line and "~~~" not in line):
            fence.lines.append(line)
            return
        closing = _CLOSING.match(line)
        if closing is not None and _can_close(fence, closing.group(1), closing.group(2)):
            self._close(complete=True)
            return
        opening = _OPENING.match(line)
        if (
            opening is not None
            and _can_close(fence, opening.group(1), opening.group(2))
            and language_of(opening.group(3))
        ):
            self._close(complete=False)
            self._open(opening)
            return
        fence.lines.append(line)

    def _open(self, opening: re.Match[str]) -> None:
        lead, marker, info = opening.groups()
        self._fenced = True
        self.fence = _Fence(marker, len(lead.expandtabs(4)), language_of(info))

    def _close(self, *, complete: bool) -> None:
        if self.fence is None:
            return
        fence, self.fence = self.fence, None
        if not complete and fence.lines:
            # A closing fence glued to the last line of code.
            last = fence.lines[-1].rstrip()
            if last.endswith(fence.marker):
                fence.lines[-1] = last[: -len(fence.marker)]
                complete = True
        code = "\n".join(dedent(fence.lines, fence.indent))
        self.document.blocks.append(Block(fence.language, code, complete))

    def end(self) -> None:
        self._flush()
        if self.fence is not None:
            while len(self.fence.lines) > 1 and not self.fence.lines[-1].strip():
                self.fence.lines.pop()
            self._close(complete=False)


def _is_quote(neighbours: str, nearest: str) -> bool:
    return nearest in _QUOTES and neighbours != "```"


def _can_close(fence: _Fence, lead: str, marker: str) -> bool:
    return (
        marker[0] == fence.marker[0]
        and len(marker) >= len(fence.marker)
        and len(lead.expandtabs(4)) <= fence.indent + _CLOSING_SLACK
    )


def _one_line(content: str) -> Block:
    word = _WORD.match(content)
    name = word.group() if word else ""
    language = language_of(name) if name else ""
    rest = content[len(name) :]
    if language and rest[:1] in (" ", "\t"):
        return Block(language, rest.strip(), complete=True)
    return Block("", content.strip(), complete=True)


def dedent(lines: list[str], columns: int) -> list[str]:
    """Take up to `columns` characters of white space off each line, and no more than the first line with text has."""
    first = next((line for line in lines if line.strip()), "")
    columns = min(columns, len(first) - len(first.lstrip(" \t")))
    if not columns:
        return lines
    return [line[min(columns, len(line) - len(line.lstrip(" \t"))) :] for line in lines]
