"""What languages that are compiled for the HotSpot virtual machine have in common, Java aside."""

from __future__ import annotations

import re

from scalebox.languages import java
from scalebox.languages.language import verbatim

#: How compilers are started: short programs, so the second compiler of the virtual machine is not worth its while.
COMPILER = ("{java}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto", "-Xmx1024m")
#: How programs are started; what comes next is the class path, then {main}.
PROGRAM = (
    "{java}", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto", "-Xss64m", "-Xmx{memory_mb}m",
    "-XX:+ExitOnOutOfMemoryError", "-Dfile.encoding=UTF-8", "-cp",
)  # fmt: skip

_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)", re.MULTILINE)
#: An annotation, a call that would pass for a declaration, or a brace: whatever tells where `main` is.
_PIECE = re.compile(
    r"\b(?:object|class|interface|trait)\s+(\w+)(\s+extends\s+(?:[\w.]+\s+with\s+){0,4}App\b)?|[{}]"
    r"|\b(?:fun|def)\s+main\b(\s*\(\s*(?:vararg\b|\w+\s*:\s*Array\b))?"
)


def archived(file: str) -> str:
    """Return the option to start with the classes that lie in a prepared file, parsed already."""
    return f"-XX:SharedArchiveFile={{prepared}}/{file}"


def archiving(file: str, source: str, program: str, command: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the commands that prepare that file, by having `command` compile `program` once as the file `source`."""
    write = ("/bin/sh", "-c", 'printf %s "$2" > "$1"', "sh", source, verbatim(program))
    return (write, (command[0], f"-XX:ArchiveClassesAtExit={{prepared}}/{file}", *command[1:]))


def main_class(text: str, file_class: str) -> str:
    """Return the class to run, in the file's package: `file_class` where `main` is in none.

    Else it is that of the first object (or companion) whose `main` takes words, else the first with any `main`.
    """
    code = java.without_opaque(text)
    depth, outer = 0, ""
    entries: list[str] = []
    others: list[str] = []
    for piece in _PIECE.finditer(code):
        word = piece.group()
        if word in "{}":
            depth += 1 if word == "{" else -1
        elif piece.group(1) is None:
            if depth <= 0:
                entries.insert(0, file_class)
            else:
                (entries if piece.group(3) else others).append(outer)
        elif depth == 0:
            outer = piece.group(1)
            if piece.group(2):
                entries.append(outer)
    main = next(filter(None, entries + others), "")
    package = _PACKAGE.search(code)
    name = main or file_class
    return f"{package.group(1)}.{name}" if package else name
