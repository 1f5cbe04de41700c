"""What a program of a compiled language is, apart from comments and the amount of white space between its tokens.

That there is white space at all stays, and so do line ends where they may count: no rule of a grammar beyond these is
needed to see that nothing changes.
A program for which even that may not be so (it asks for its line numbers, continues lines, might hold raw
strings) has no fingerprint but its text.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

_MOST_CHARACTERS = 256 * 1024

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_CHARACTER = r"'(?:[^'\\\n]|\\.)+'"
#: A number with all that sticks to it, so that the apostrophes in it begin nothing.
_NUMBER = r"\.?[0-9](?:'?[\w.]|(?<=[eEpP])[+-])*"
_WORD = r"[^\W\d]\w*"
_GAP = r"(?P<gap>(?:[ \t\r\n]|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)+)"


class Family(NamedTuple):
    """The tokens of some languages, and what has them give up.

    `line_ends` says where the end of a line is more than a space: "directives", "" for nowhere, or "everywhere".
    """

    token: re.Pattern[str]
    gives_up: re.Pattern[str]
    line_ends: str


def _family(token: str, gives_up: str, line_ends: str) -> Family:
    # Where a line ends at a mere carriage return, languages and compilers do not agree.
    return Family(re.compile(f"{_GAP}|{token}", re.DOTALL), re.compile(rf"{gives_up}|\r(?!\n)"), line_ends)


_ANY = r"[^\s/'\"`]|/(?![/*])"
#: Line numbers, raw strings, lines that go on, trigraphs, tokens that are pasted, names of headers with what begins a
#: comment elsewhere, and what the compiler is told in comments or pragmas.
_C_GIVES_UP = (
    r'__LINE__|__FILE__|__COUNTER__|__builtin_(?:LINE|FILE)|source_location|stacktrace|R"|\\\s*\n|\?\?|#\s*line|%:|##'
    r'|#\s*(?:embed|include\s*")|_Pragma|(?:include\w*|embed)\b[^\n<]{0,100}<[^>\n]{0,200}/[/*]'
)
_C_TOKEN = rf"(?:u8|[uUL])?{_STRING}|(?:u8|[uUL])?{_CHARACTER}|{_NUMBER}|{_WORD}|{_ANY}"
_CPP = _family(_C_TOKEN, _C_GIVES_UP, "directives")
#: Digits are not parted by apostrophes in C: one behind a number begins a character.
_C = _family(_C_TOKEN, rf"{_C_GIVES_UP}|[0-9][\w.]*'", "directives")
_JAVA = _family(
    rf'"""(?:[^"\\]|\\.|"(?!""))*"""|{_STRING}|{_CHARACTER}|{_NUMBER}|{_WORD}|{_ANY}',
    r"\\u|getStackTrace|getLineNumber|StackWalker|StackTraceElement|printStackTrace",
    "",
)
_GO = _family(
    rf"`[^`]*`|{_STRING}|{_CHARACTER}|{_NUMBER}|{_WORD}|{_ANY}",
    r'//go:|//export|//line|/\*line|\+build|"C"',
    "everywhere",
)
_FAMILIES = {"c": _C, "cpp": _CPP, "cpp20": _CPP, "java": _JAVA, "go": _GO}


def tokens(language: str, source: str) -> bytes | None:
    """Return a program's fingerprint, or None where it has none but its text."""
    family = _FAMILIES.get(language)
    if family is None or len(source) > _MOST_CHARACTERS or family.gives_up.search(source):
        return None
    at, made, directive = 0, list[str](), False
    match = family.token.match
    while at < len(source):
        found = match(source, at)
        if found is None:
            return None
        at = found.end()
        if found["gap"] is None:
            directive = directive or found[0] == "#"  # which is found nowhere else
            made.append(found[0])
            continue
        ends_line = "\n" in _line_ends(found["gap"], family.line_ends)
        counts = family.line_ends == "everywhere" or directive or source.startswith("#", at)
        made.append("\n" if ends_line and counts and family.line_ends else " ")
        directive = directive and not ends_line
    # Two tokens cannot be taken for one: what is between them is kept, and tokens are read from left to right.
    return hashlib.blake2b("".join(made).strip().encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _line_ends(gap: str, where: str) -> str:
    """Return a run of white space and comments without the line ends that do not count.

    In a directive, a block comment is a space even where it goes on to the next line.
    """
    return gap if where == "everywhere" else re.sub(r"//[^\n]*|/\*.*?(?:\*/|\Z)", " ", gap, flags=re.DOTALL)
