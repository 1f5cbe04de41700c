"""Which language some files of a package are in, and which of them the program begins in."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from scalebox.core.errors import InputError
from scalebox.languages import registry

#: What contest systems take a language for: C++ is that of their newest compiler.
_NEWEST = {"cpp": "cpp20"}
#: Files that are read with a program, without being in a language themselves.
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl")
#: Where a program of several files begins: in the file of this name, without its suffix.
_STEMS = {"python": ("main", "__main__")}
_STEM = ("main", "Main")
#: Or, in languages that begin in a function of a fixed name, in the file that has that.
_MARKS = {
    "c": r"\bmain\s*\(", "cpp": r"\bmain\s*\(", "cpp20": r"\bmain\s*\(", "java": r"\bvoid\s+main\s*\(",
    "rust": r"\bfn\s+main\s*\(", "go": r"\bfunc\s+main\s*\(", "kotlin": r"\bfun\s+main\s*\(",
}  # fmt: skip


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A program: the file `main` with its text `code`, and the other `files`, text by name."""

    language: str
    main: str
    code: str
    files: dict[str, str] = {}

    def text(self) -> str:
        """Return all of the program's text."""
        return "\n".join([self.code, *self.files.values()])


def source_of(
    files: Mapping[str, str], place: str, *, language: str = "", main: str = "", include: Mapping[str, str] = {}
) -> Source:
    """Return the program that some files are.

    `language` and `main` are what the package says of them, "" where it says nothing. `include` are files that the
    package adds to every program of the language, in the place of any of their names; they may be where the program
    begins. Raises InputError.
    """
    name = language or _language(files, place)
    together = {**files, **include}
    begin = main or _main(together, files, name, place)
    if begin not in together:
        raise InputError(f"has no file {begin!r} to begin with", source=place)
    others = {other: text for other, text in together.items() if other != begin}
    own = registry.languages()[name]
    if own.source in others and not own.layout:
        problem = f"has a file {own.source!r} beside the one that it begins in, {begin!r}"
        raise InputError(problem, source=place, mend="rename it: the program itself gets that name")
    return Source(language=name, main=begin, code=together[begin], files=others)


def language_of(name: str) -> str | None:
    """Return the language that packages mean by a name, or by the suffix of a file; None where it is not known here."""
    found = registry.by_extension(name) if "." in name else registry.find(name)
    return None if found is None else _NEWEST.get(found.name, found.name)


def _language(files: Mapping[str, str], place: str) -> str:
    found = {name: language for name in files if (language := language_of(name))}
    strange = [name for name in files if name not in found and not name.endswith(_HEADERS)]
    if not found:
        shown = ", ".join(strange[:3]) or "nothing"
        known = ", ".join(registry.languages())
        raise InputError(f"is in no language that is known here: {shown}", source=place, mend=f"known are {known}")
    languages = sorted(set(found.values()))
    if len(languages) > 1:
        raise InputError(f"mixes {' and '.join(languages)}", source=place)
    return languages[0]


def _main(together: Mapping[str, str], files: Mapping[str, str], language: str, place: str) -> str:
    """Return the file that the program begins in."""
    own = registry.languages()[language]
    sources = [name for name in together if name.endswith(own.links or own.extensions)]
    named = [name for name in sources if name.rsplit(".", 1)[0] in _STEMS.get(language, _STEM)]
    mark = _MARKS.get(language)
    marked = [name for name in sources if mark and re.search(mark, together[name])]
    for candidates in (sources, named, marked, [name for name in sources if name in files]):
        if len(candidates) == 1:
            return candidates[0]
    names = ", ".join(sources[:5]) or "nothing"
    raise InputError(f"does not show which file to begin with: {names}", source=place)
