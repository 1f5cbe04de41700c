"""Drivers: what makes a program of functions into one that a process runs, for calls in languages but Python.

Each file is the driver of the languages that it names in `LANGUAGES`. It defines `drive(language, source, calls)`,
which returns `Driven`: the files to build, the program's own text among them, and the commands for it. The program's
lines keep their numbers, so that what compilers say of them is right: what a language needs before them stands on the
first line.

A driver reads its input, one call, before any code of the program runs: `HEAD` (index of the case, number of the
function in `calls`), then `core.values` of (arguments, keywords). What the function returns goes to descriptor 3 as one
frame. It never holds the expected value.
"""

from __future__ import annotations

import functools
import importlib
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scalebox.languages.language import Language

#: Index of the case, number of the function.
HEAD = struct.Struct("<II")
_FOLDER = Path(__file__).parent


class NoFunction(Exception):
    """The program has no such function, or one that cannot be called; the message says which, and what there is."""


class Driven(NamedTuple):
    """A program with its driver: `files` by name, and the language with the commands for them."""

    language: Language
    files: dict[str, bytes]
    #: Placeholders of the commands that are other than the language's layout says.
    words: dict[str, str] = {}  # noqa: RUF012 - never written to


Drive = Callable[[Language, str, Sequence[str]], Driven]


@functools.cache
def _drivers() -> Mapping[str, str]:
    """Return the module of each language that has a driver."""
    modules = [path.stem for path in sorted(_FOLDER.glob("*.py")) if "\nLANGUAGES = " in path.read_text("utf-8")]
    return {name: module for module in modules for name in importlib.import_module(f"{__name__}.{module}").LANGUAGES}


def languages() -> tuple[str, ...]:
    """Return the names of the languages that have a driver."""
    return tuple(sorted(_drivers()))


def drive(language: Language, source: str, calls: Sequence[str]) -> Driven:
    """Return the program with its driver. Raises NoFunction, and KeyError for a language that has none."""
    driver: Drive = importlib.import_module(f"{__name__}.{_drivers()[language.name]}").drive
    return driver(language, source, calls)


@functools.cache
def support(name: str) -> str:
    """Return a file of the drivers' own code."""
    return (_FOLDER / "support" / name).read_text("utf-8")
