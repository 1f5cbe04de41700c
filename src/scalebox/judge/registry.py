"""The match modes that there are: the files of `checkers/`, imported when first used."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Literal, NamedTuple

from scalebox.core.errors import InputError
from scalebox.judge.checkers import outputs, values
from scalebox.judge.difference import Difference

Kind = Literal["stdin", "call"]

_FOLDERS = {"stdin": outputs, "call": values}
DEFAULTS: dict[Kind, str] = {"stdin": "tokens", "call": "value"}


class Checker(NamedTuple):
    """A match mode; what its parts are is in the docstrings of `checkers/outputs` and `checkers/values`."""

    compare: Callable[..., Difference]
    options: tuple[str, ...]
    problem: Callable[[str], str]


@cache
def modes(kind: Kind) -> tuple[str, ...]:
    """Return the names of the modes for tests of `kind`, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(_FOLDERS[kind].__path__)))


@cache
def checker(kind: Kind, mode: str) -> Checker:
    """Return the checker of `mode`, of the kind's default one for "". Raises InputError if there is none."""
    name = mode or DEFAULTS[kind]
    if name not in modes(kind):
        raise InputError(f"no match mode {name!r} for this kind of test", mend=f"one of {', '.join(modes(kind))}")
    module = importlib.import_module(f"{_FOLDERS[kind].__name__}.{name}")
    return Checker(module.compare, module.OPTIONS, getattr(module, "problem", lambda _expected: ""))
