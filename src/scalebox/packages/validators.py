"""How outputs of a Kattis package are judged: by the default validator, as a match mode, or by one of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from scalebox.core.errors import InputError
from scalebox.packages.files import Files
from scalebox.packages.programs import Source, source_of

_TOLERANCES = {
    "float_tolerance": ("abs", "rel"),
    "float_absolute_tolerance": ("abs",),
    "float_relative_tolerance": ("rel",),
}
_FLAGS = ("case_sensitive", "space_change_sensitive")
#: Folders that hold a validator, the older name last.
FOLDERS = ("output_validator", "output_validators")


def match_of(flags: Sequence[str], place: str) -> dict[str, Any]:
    """Return the match mode that judges as the default validator does under these flags.

    Raises InputError for a flag that it does not have, and where no mode judges alike.
    """
    bounds: dict[str, float] = {}
    given: set[str] = set()
    left = iter(flags)
    for flag in left:
        if flag in _TOLERANCES:
            bounds |= dict.fromkeys(_TOLERANCES[flag], _bound(flag, next(left, ""), place))
        elif flag in _FLAGS:
            given.add(flag)
        else:
            mend = f"one of {', '.join((*_FLAGS, *_TOLERANCES))}"
            raise InputError(f"the default validator has no flag {flag[:64]!r}", source=place, mend=mend)
    cased = "case_sensitive" in given
    if "space_change_sensitive" in given:
        if bounds or not cased:
            what = "numbers within a tolerance" if bounds else "texts without case"
            problem = f"no match mode compares {what} and minds white space (space_change_sensitive)"
            raise InputError(problem, source=place, mend="give the package a validator of its own")
        return {"mode": "exact"}
    if bounds.get("rel", 0.0) >= 1:
        raise InputError("a relative tolerance of 1 or more would accept 0 for anything", source=place)
    if not bounds:
        return {"mode": "tokens" if cased else "tokens_ignore_case"}
    return {"mode": "float", "abs": 0.0, "rel": 0.0, "ignore_case": not cased, "near_integers": True} | bounds


def _bound(flag: str, text: str, place: str) -> float:
    try:
        bound = float(text)
    except ValueError:
        bound = math.nan
    if not bound >= 0 or math.isinf(bound):
        raise InputError(f"{flag} needs a number after it, not {text[:64]!r}", source=place)
    return bound


def read_validator(files: Files) -> Source:
    """Return the package's validator. Raises InputError where there is none, or more than one."""
    folder = next((folder for folder in FOLDERS if files.names(folder)), "")
    if not folder:
        mend = "put its validator into output_validators/"
        raise InputError("has no output validator, but says that it has one", source=files.label, mend=mend)
    below = [name.removeprefix(f"{folder}/") for name in files.names(folder)]
    heads = {name.split("/")[0] for name in below if "/" in name}
    if len(heads) == 1 and all("/" in name for name in below):
        folder = f"{folder}/{heads.pop()}"
    elif heads:
        raise InputError("holds several validators", source=files.place(folder), mend="leave one")
    return program(files, folder)


def program(files: Files, folder: str) -> Source:
    """Return the program whose files lie in a folder. Raises InputError."""
    names = files.names(folder)
    for script in ("build", "run"):
        if f"{folder}/{script}" in names:
            problem = "is a script that builds or runs the program, which is not supported"
            raise InputError(problem, source=files.place(f"{folder}/{script}"))
    return source_of(texts(files, names, folder), files.place(folder))


def texts(files: Files, names: Iterable[str], folder: str) -> dict[str, str]:
    """Return the texts of files by their names below a folder."""
    return {name.removeprefix(f"{folder}/"): files.text(name) for name in names}


def judge_record(source: Source, protocol: str, args: Sequence[str]) -> dict[str, Any]:
    """Return the record of a judge program, as a sample's `checker` or `interactor` has it."""
    record: dict[str, Any] = {"language": source.language, "code": source.code, "protocol": protocol}
    return record | {"files": source.files, "args": list(args)}
