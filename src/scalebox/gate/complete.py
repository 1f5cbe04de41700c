"""Puts a program together from a prompt and what a model made of it: the rest of the function, or all of it again.

Pure text, as in extract.py: nothing is parsed or run, and time is linear in both. docs/concepts/extraction.md has the
rules for users.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from scalebox.gate import bare
from scalebox.gate.lines import Block, Source, Statement, columns
from scalebox.gate.prompt import Prompt

#: What no line at the margin of a module can be.
_IN_FUNCTION = re.compile(r"(?:return|yield|await|nonlocal)\b")
#: What stands in the body of a class by right.
_IN_CLASS = re.compile(r"(?:@\w|(?:async[ \t]+)?def[ \t]|class[ \t])")
_FUTURE = re.compile(r"from[ \t]+__future__[ \t]+import\b")
_METHOD = re.compile(r"(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(\s*(?:self|cls)\b")
_UNBOUND = re.compile(r"@[ \t]*(?:staticmethod|classmethod)\b")


class Names:
    """The candidate names of what is tested: `f` is at the margin, `Solution().f` in a class there."""

    def __init__(self, entry_points: Sequence[str], prompt: Prompt) -> None:
        paths = [re.findall(r"\w+", name) for name in entry_points]
        #: What is never taken from the prompt where the program is one of its own.
        self.heads = {path[0] for path in paths if path}
        self.margin = self.heads | ({prompt.name} if prompt.name else set())
        self.methods: dict[str, set[str]] = {}
        for path in paths:
            if len(path) > 1:
                self.methods.setdefault(path[0], set()).add(path[-1])
        binds = "|".join(map(re.escape, sorted(self.margin)))
        self._bound = re.compile(rf"(?:{binds})[ \t]*(?::[^=\n]*)?=(?!=)") if binds else None

    def defined_by(self, statement: Statement) -> bool:
        """Return whether a statement at the margin makes one of the names."""
        return statement.name in self.margin or bool(self._bound and self._bound.match(statement.head))


def complete(prompt: str, code: str, entry_points: Sequence[str] = (), stop: Sequence[str] = ()) -> str:
    """Return the program that `code` makes of `prompt`, both with newlines as line ends.

    Code that defines one of the names again is a program of its own, put behind what the prompt gives it. A method
    alone takes the place of the prompt's. All else goes on where the prompt ends, is indented as that needs, and
    ends at the first text of `stop`; "" where there is none.
    """
    begun = Prompt(prompt)
    names = Names(entry_points, begun)
    source = Source(code.split("\n"))
    if not source.statements:
        return ""
    base = source.statements[0].indent
    again = _again(source, base, names)
    if again is not None:
        return _behind(begun, again, names)
    method = _as_method(begun, source, base, names)
    if method is not None:
        return method
    if begun.mid_line:
        return begun.text + _cut("\n".join(source.lines), stop).rstrip() + "\n"
    if not begun.open or (not begun.is_stub and _is_module(source)):
        return "\n".join([begun.text, *source.lines]).rstrip("\n") + "\n"
    text = _cut("\n".join(_fitted(begun, source)), stop).rstrip()
    return f"{begun.text}{text}\n" if text.strip() else ""


def code_in(lines: Sequence[str]) -> str:
    """Return text that goes on where a prompt ends, without the prose that follows it at the margin."""
    source = Source(lines)
    for statement in source.statements[1:]:
        if not statement.indent and bare.is_prose(source.lines[statement.first]):
            return "\n".join(source.lines[: statement.first]).rstrip()
    return "\n".join(source.lines).rstrip()


def is_program(text: str) -> bool:
    """Return whether a prompt is program text, and no request in words."""
    source = Source(text.split("\n"))
    at_margin = [statement for statement in source.statements if not statement.indent]
    return bool(at_margin) and not any(bare.is_prose(source.lines[statement.first]) for statement in at_margin)


def names_to_write(prompt: str) -> list[str]:
    """Return the names that a response defines which repeats what the prompt leaves open: class, method, function."""
    begun = Prompt(prompt)
    return [statement.name for statement in begun.open if statement.name] if begun.is_stub else []


# -- a program of its own ----------------------------------------------------------------------------------------


def _again(source: Source, base: str, names: Names) -> Source | None:
    """Return the code at the margin if it defines one of the names there, and does not go on with a body before."""
    if not names.margin:
        return None
    for number, statement in enumerate(source.statements):
        if len(statement.indent) < len(base):
            return None
        if statement.indent != base:
            continue
        if names.defined_by(statement):
            before = source.statements[:number]
            return None if not base and _lost(before, "") else _at_margin(source, base)
        if _IN_FUNCTION.match(statement.head):
            return None
    return None


def _at_margin(source: Source, base: str) -> Source:
    return Source(source.moved(base, "")) if base else source


def _behind(prompt: Prompt, source: Source, names: Names) -> str:
    """Return code with what the prompt gives before it: a later definition of a name wins over an earlier one."""
    code = "\n".join(source.lines)
    own = {statement.name for statement in source.statements if not statement.indent and statement.name}
    given = prompt.given(own | names.heads)
    if not given.strip() or code.lstrip().startswith(given.strip()):
        return code
    return _futures_first([given], source)


def _futures_first(parts: list[str], source: Source) -> str:
    """Return the parts and then the source, whose imports of __future__ have to come before all."""
    lines = list(source.lines)
    futures = []
    for statement in source.statements:
        if not statement.indent and _FUTURE.match(statement.head):
            futures.append(source.text_of(statement) + "\n")
            lines[statement.first : statement.last] = [""] * (statement.last - statement.first)
    return "".join([*futures, *parts]) + "\n".join(lines)


# -- a method ----------------------------------------------------------------------------------------------------


def _as_method(prompt: Prompt, source: Source, base: str, names: Names) -> str | None:
    """Return the prompt with its method, and others of its class, replaced by those that stand at the code's margin."""
    found = prompt.method()
    if found is None:
        return None
    outer, inner = found
    wanted = names.methods.get(outer.name, set()) | {inner.name}
    code = _at_margin(source, base)
    if any(_IN_FUNCTION.match(statement.head) for statement in code.statements if not statement.indent):
        return None
    inside: list[str] = []
    outside: list[str] = []
    replaced = False
    for block in code.blocks():
        method = _is_method(code, block)
        replaced = replaced or (method and block.name in wanted)
        (inside if method else outside).extend(code.lines[block.first : block.last])
    if not replaced:
        return None
    own = prompt.source.lines
    begin, end = prompt.decorated(outer), prompt.decorated(inner)
    body = Source(inside).moved("", inner.indent)
    head = Source([*own[:begin], *outside, *own[begin:end], *body])
    return _futures_first([], head).rstrip("\n") + "\n"


def _is_method(source: Source, block: Block) -> bool:
    lines = source.lines[block.first : block.last]
    if not block.name:
        return False
    heads = (line for line in lines if _UNBOUND.match(line))
    return next(heads, None) is not None or any(
        _METHOD.match("\n".join(lines[number : number + 3]))
        for number, line in enumerate(lines)
        if line.startswith(("def", "async"))
    )


# -- the rest of a function --------------------------------------------------------------------------------------


def _is_module(source: Source) -> bool:
    """Return whether code can stand at the margin of a module."""
    at_margin = [statement for statement in source.statements if not statement.indent]
    if not at_margin or at_margin[0] is not source.statements[0]:
        return False
    return not any(_IN_FUNCTION.match(statement.head) for statement in at_margin) and not _lost(source.statements, "")


def _fitted(prompt: Prompt, source: Source) -> list[str]:
    """Return the lines, indented so that they go on where the prompt ends."""
    first = source.statements[0]
    base, body = first.indent, prompt.body_for(source)
    if not base:
        base = _lost(source.statements, body)
        source = Source(
            [*source.lines[: first.first], base + source.lines[first.first], *source.lines[first.first + 1 :]]
        )
    free = prompt.is_free and _deeper(base, prompt.open[-1].indent)
    if base == body or free or (base in prompt.levels and _IN_CLASS.match(first.head)):
        return source.lines
    return source.moved(base, body)


def _deeper(indent: str, outer: str) -> bool:
    return len(indent) > len(outer) and indent.startswith(outer)


def _lost(statements: Sequence[Statement], body: str) -> str:
    """Return the indentation that the first line lost when the text was stripped; "" where it lost none.

    `body` is the indentation that the text should have, "" where that is not known.
    """
    rest = list(_until_margin(statements[1:]))
    if not rest:
        return ""
    inner = rest[0]
    if not statements[0].opens:
        return inner.indent
    shallowest = min(rest, key=lambda statement: statement.columns)
    if shallowest.columns < inner.columns:
        return shallowest.indent
    return body if 0 < columns(body) < inner.columns else ""


def _until_margin(statements: Sequence[Statement]) -> Iterator[Statement]:
    for statement in statements:
        if not statement.indent:
            return
        yield statement


def _cut(text: str, stop: Collection[str]) -> str:
    places = [place for place in (text.find(end) for end in stop) if place >= 0]
    return text[: min(places)] if places else text
