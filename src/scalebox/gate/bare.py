"""Finds Python code in text without fences: all of it, or the runs of lines between lines of prose.

A line at the margin is prose only where Python could not read it: two words side by side, neither a keyword, outside of
strings and comments. So an answer that is nothing but code is never taken apart.
"""

from __future__ import annotations

import re

from scalebox.gate.markdown import dedent

_KEYWORDS = (
    "and|as|assert|async|await|break|case|class|continue|def|del|elif|else|except|exec|finally|for|from|global|if|import|"
    "in|is|lambda|match|nonlocal|not|or|pass|print|raise|return|try|type|while|with|yield"
)
#: String literals; one that does not end takes the rest of the line. An apostrophe in a word begins none.
_STRINGS = re.compile(r"""(?<!\w)[rRbBuUfF]{0,2}(?:"(?:\\.|[^"\\])*(?:"|\\?$)|'(?:\\.|[^'\\])*(?:'|\\?$))""")
_ADJACENT = re.compile(rf"(?<![\w.])(?!(?:{_KEYWORDS})\b)[^\W\d]\w* +(?!(?:{_KEYWORDS})\b)[^\W\d]\w*")
_SENTENCE = re.compile(r"[A-Z][\w', -]*[.!?:]$")
_COMPOUND = "async|case|class|def|elif|else|except|finally|for|if|lambda|match|try|while|with"
_LABEL = re.compile(rf"(?!(?:{_COMPOUND})\b)[^\W\d][\w ]*:$")
_MARKUP = re.compile(rf"\*\*[^*]+\*\*|[-*=_]{{3,}}$|>\s|\|.*\||(?:\d{{1,9}}[.)]|[•]) +(?!(?:{_KEYWORDS})\b)[^\W\d]")
_CODE = re.compile(
    r"""\s*(?:
      @\w | (?:async\s+)?def\s+\w+\s*[(\[] | class\s+\w+\s*[:(\[] | import\s+\w | from\s+[\w.]+\s+import\b
    | (?:if|elif|while|for|with|except|match|case)\b.*: | (?:else|try|finally)\s*:
    | (?:return|raise|yield|assert|del|global)\b | (?:pass|break|continue)\s*(?:\#.*)?$
    | [\w.]+\s*\( | [(\[]?\w[\w., \[\]()'"*:-]*?(?:[-+*/%&|^@]|//|\*\*|<<|>>|:)?=(?!=)
    )""",
    re.VERBOSE,
)
_TRIPLE = re.compile(r"\"{3}|'{3}")
_LONGEST_LINE = 2000  # characters of a line that are looked at


def runs(lines: list[str]) -> tuple[bool, list[str]]:
    """Return whether all of `lines` may be code, and the runs of lines that look like code, each dedented."""
    found: list[list[str]] = [[]]
    strong = [0]
    open_string = ""
    mixed = False
    for line in lines:
        head = line[:_LONGEST_LINE]
        if not open_string and is_prose(head):
            mixed = True
            found.append([])
            strong.append(0)
            continue
        code = not open_string and _CODE.match(head) is not None
        if code or strong[-1] or not mixed:
            found[-1].append(line)
            strong[-1] += code
        for quotes in _TRIPLE.findall(line):
            open_string = "" if open_string == quotes else open_string or quotes
    return not mixed, [_tidy(run) for run, count in zip(found, strong, strict=True) if count]


def is_code(line: str) -> bool:
    """Return whether a line at the margin can be nothing but code."""
    return _CODE.match(line[:_LONGEST_LINE]) is not None and not is_prose(line)


def is_prose(line: str) -> bool:
    """Return whether a line at the margin can only be natural language or Markdown."""
    line = line[:_LONGEST_LINE]
    if not line or line[0] in " \t#@)]}\"'":
        return False
    if _MARKUP.match(line) or _LABEL.match(line.rstrip()):
        return True
    rest = _STRINGS.sub("''", line).partition("#")[0].rstrip()
    if _ADJACENT.search(rest):
        return True
    return _CODE.match(line) is None and (_SENTENCE.match(rest) is not None or not rest.isascii())


def _tidy(run: list[str]) -> str:
    while run and not run[0].strip():
        run.pop(0)
    while run and not run[-1].strip():
        run.pop()
    return "\n".join(dedent(run, 1 << 30))
