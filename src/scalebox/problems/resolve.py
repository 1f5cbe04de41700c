"""From the record of a sample that may name a problem to a sample with tests: the one place where that is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.parse import parse_sample
from scalebox.parse.fields import identifier, shown
from scalebox.problems.record import GIVEN, Problems, split_version

#: What only the problem may give: with a judge or a set-up of its own, a sample could have hidden tests told to it.
_PROBLEMS_OWN = ("match", "checker", "interactor", "setup", "entry_point")
#: What a sample may say even where the problem does.
_SAMPLES_OWN = ("reward",)


def sample_of(raw: Mapping[str, Any], *, settings: Settings, problems: Problems | None = None) -> Sample:
    """Return the checked sample of a raw record; one without tests has those of the problem that it names.

    Its `held` is then true. Raises InputError, also where there is no such problem.
    """
    if problems is None or not isinstance(raw, Mapping) or raw.get("tests") is not None or not raw.get("problem_id"):
        return parse_sample(raw, settings=settings)
    sample = parse_sample(_with_tests(raw, problems), settings=settings)
    return msgspec.structs.replace(sample, held=True)


def _with_tests(raw: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    given = {key: value for key, value in raw.items() if value is not None}
    named = identifier(given, "problem_id", "problem_id")
    problem = problems.find(*split_version(named))
    if problem is None:
        raise InputError(f"no problem is called {shown(named)}", field="problem_id", mend="give tests, or load it")
    taken = {key: value for key, value in problem.record.items() if key in GIVEN}
    for name, value in given.items():
        if name in _PROBLEMS_OWN:
            raise InputError("comes from the problem", field=name, mend="leave it out, or give tests too")
        if name in taken and name not in _SAMPLES_OWN and value != taken[name]:
            raise InputError(f"the problem says otherwise: {shown(taken[name])}", field=name, mend="leave it out")
    return {**taken, **given}
