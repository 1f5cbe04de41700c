"""The record of a problem, and what it takes to be one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.parse import parse_sample
from scalebox.parse.fields import check_names, identifier, text_of

#: Fields that a sample gets from its problem; they mean there what they mean in a sample.
GIVEN = (
    "language", "tests", "match", "checker", "interactor", "limits", "profile", "reward", "setup", "entry_point",
    "prompt", "stop", "main",
)  # fmt: skip
_FIELDS = ("problem_id", *GIVEN, "reference", "meta")
_VERSIONED = re.compile(r"(.*)@(\d{1,9})", re.DOTALL)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a problem: `record` holds the fields as they were written, without `problem_id`."""

    problem_id: str
    record: Mapping[str, Any]
    version: int = 1


class Problems(Protocol):
    """Where problems are found."""

    def find(self, problem_id: str, version: int | None) -> Problem | None:
        """Return a problem's version (None: the newest), None where there is none."""


def check_problem(raw: Mapping[str, Any], settings: Settings, *, problem_id: str | None = None) -> Problem:
    """Return the checked problem of a raw record, whose id may come from elsewhere. Raises InputError.

    It is checked as a sample with some program would be: what passes here will be found good then.
    """
    given = {key: value for key, value in raw.items() if value is not None}
    check_names(given, _FIELDS, "")
    if problem_id is not None and given.setdefault("problem_id", problem_id) != problem_id:
        raise InputError(f"is not {problem_id!r}", field="problem_id", mend="leave it out")
    own_id = identifier(given, "problem_id", "problem_id", 'give each problem its own, such as "p-7"')
    if _VERSIONED.fullmatch(own_id):
        raise InputError(
            "ends like a version", field="problem_id", mend="leave out @ and the number: versions count up"
        )
    if "reference" in given:
        text_of(given, "reference", "reference", "source of a solution known to be right")
    as_sample(given, settings)
    record = {key: value for key, value in given.items() if key != "problem_id"}
    return Problem(problem_id=own_id, record=_plain(record))


def as_sample(record: Mapping[str, Any], settings: Settings) -> Sample:
    """Return a sample of a problem, with a program that is none."""
    return parse_sample({"id": "-", "code": "", **{k: v for k, v in record.items() if k in GIVEN}}, settings=settings)


def split_version(problem_id: str) -> tuple[str, int | None]:
    """Return the id and the version that a sample names; None for the newest."""
    found = _VERSIONED.fullmatch(problem_id)
    return (found[1], int(found[2])) if found else (problem_id, None)


def encode_record(record: Mapping[str, Any]) -> bytes:
    """Return a record as JSON, the same for the same record."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as JSON would give it back. Raises InputError for what JSON cannot hold."""
    try:
        kept: dict[str, Any] = json.loads(encode_record(record))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be kept: {error}", mend="give plain JSON") from None
    return kept
