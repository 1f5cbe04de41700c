"""The languages there are: one file each, found by the name that it assigns."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path

from scalebox.languages.language import Language

_FOLDER = Path(__file__).parent


@functools.cache
def languages() -> Mapping[str, Language]:
    """Return all languages by their names."""
    # The mark in the text spares the start the import of every module of the folder.
    modules = [path.stem for path in sorted(_FOLDER.glob("*.py")) if "\nLANGUAGE = " in path.read_text("utf-8")]
    found = [importlib.import_module(f"scalebox.languages.{module}").LANGUAGE for module in modules]
    return {language.name: language for language in found}


@functools.cache
def _by_alias() -> Mapping[str, Language]:
    found = languages()
    return {alias: language for language in found.values() for alias in language.aliases} | dict(found)


def find(name: str) -> Language | None:
    """Return the language that goes by this name or alias, in any case; None where there is none."""
    return _by_alias().get(name.lower())


def by_extension(path: str) -> Language | None:
    """Return the language that a file is in by the end of its name; None where that says nothing."""
    suffix = Path(path).suffix.lower()
    return next((language for language in languages().values() if suffix in language.extensions), None)
