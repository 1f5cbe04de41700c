"""A sample's `match` object, checked: every option must exist, make sense and mean something in its mode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scalebox.core.errors import InputError
from scalebox.core.sample import Match
from scalebox.judge.difference import show_value
from scalebox.judge.registry import DEFAULTS, Kind, checker, modes

_OPTIONS = tuple(name for name in Match.__struct_fields__ if name != "mode")
_NAMES: Mapping[Kind, str] = {"stdin": "outputs", "call": "returned values"}
_OTHER: Mapping[Kind, Kind] = {"stdin": "call", "call": "stdin"}


def check_match(raw: Mapping[str, Any], kind: Kind, field: str) -> Match:
    """Return the match object `raw` of tests of `kind`; a mode that is left out becomes the kind's default.

    Raises InputError, with the path of the field under `field`, for an unknown mode, a mode of the other
    kind, an option that is unknown, senseless, missing or without a meaning in the mode.
    """
    if not isinstance(raw, Mapping):
        mend = f'for example {{"mode": "{DEFAULTS[kind]}"}}'
        raise InputError(f"must be an object, not {show_value(raw)}", field=field, mend=mend)
    mode = _check_mode(raw.get("mode", DEFAULTS[kind]), kind, f"{field}.mode")
    used = checker(kind, mode).options
    given = {name: value for name, value in raw.items() if name != "mode"}
    for name in given:
        if name not in _OPTIONS:
            raise InputError("no such option", field=f"{field}.{name}", mend=f"one of mode, {', '.join(_OPTIONS)}")
        if name not in used:
            meant = ", ".join(other for other in modes(kind) if name in checker(kind, other).options)
            mend = f"leave it out, or choose a mode that has it: {meant}" if meant else "leave it out"
            raise InputError(f"has no meaning in mode {mode!r}", field=f"{field}.{name}", mend=mend)
    if "marker" in used and "marker" not in given:
        raise InputError(f"mode {mode!r} needs a marker", field=field, mend='for example "marker": "Answer:"')
    return Match(mode=mode, **{name: _check_option(name, value, f"{field}.{name}") for name, value in given.items()})


def check_expected(expected: str, match: Match, field: str) -> None:
    """Raise InputError if `match` cannot compare anything with `expected`: a bad pattern, no JSON."""
    problem = checker("stdin", match.mode).problem(expected)
    if problem:
        raise InputError(problem, field=field, mend=f"mend it, or choose another mode than {match.mode!r}")


def _check_mode(mode: Any, kind: Kind, path: str) -> str:
    if isinstance(mode, str) and mode in modes(kind):
        return mode
    mend = f"one of {', '.join(modes(kind))}"
    if isinstance(mode, str) and mode in modes(_OTHER[kind]):
        raise InputError(
            f"{mode!r} compares {_NAMES[_OTHER[kind]]}, these tests have {_NAMES[kind]}", field=path, mend=mend
        )
    raise InputError(f"no such mode: {show_value(mode)}", field=path, mend=mend)


def _check_option(name: str, value: Any, path: str) -> Any:
    if name in ("abs", "rel"):
        return _check_tolerance(name, value, path)
    if name in ("ignore_case", "near_integers", "by_line"):
        if not isinstance(value, bool):
            raise InputError(f"must be true or false, not {show_value(value)}", field=path)
        return value
    if name == "marker":
        return _check_text(value, path)
    if not isinstance(value, (list, tuple)):
        raise InputError("must be a list of texts", field=path, mend='for example ["DEBUG"]')
    return tuple(_check_text(item, f"{path}[{index}]") for index, item in enumerate(value))


def _check_tolerance(name: str, value: Any, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"must be a number, not {show_value(value)}", field=path, mend="such as 1e-6")
    if not 0 <= value <= 1e300 or math.isnan(value):
        raise InputError(f"{show_value(value)} makes no sense", field=path, mend="0 or more, and finite")
    if name == "rel" and value >= 1:
        raise InputError(f"{show_value(value)} would accept 0 for anything", field=path, mend="less than 1")
    return float(value)


def _check_text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"must be a text, not {show_value(value)}", field=path)
    if not value.strip():
        raise InputError("must not be blank", field=path)
    return value
