"""A problem package as it was read: cases, how they are judged, submissions and what is expected of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scalebox.core.limits import CEILINGS, MIB, Limits
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.packages.expected import Expectation
from scalebox.packages.programs import Source
from scalebox.packages.scores import Group
from scalebox.parse import parse_sample

#: By the clock a program has so many times its CPU time, and more: what else runs on the machine must not matter.
_WALL_FACTOR, _WALL_S = 3.0, 10.0


class TimeLimit(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of CPU time for a case; None where they follow from the accepted submissions.

    They are then `multiplier` times what the slowest one takes, rounded up to a multiple of `resolution_s`.
    """

    seconds: float | None = None
    multiplier: float = 5.0
    resolution_s: float = 1.0

    def derived(self, slowest_s: float) -> float:
        """Return the limit that follows from the slowest accepted submission."""
        steps = max(1, math.ceil(round(slowest_s * self.multiplier / self.resolution_s, 6)))
        return min(steps * self.resolution_s, CEILINGS["cpu_s"])


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One test. `judging` is the part of a sample's record that says how: `match`, `checker` or `interactor`."""

    name: str
    stdin: str
    stdout: str
    judging: Mapping[str, Any]
    files: dict[str, str] = {}
    hidden: bool = True
    #: Out of how many points its judge gives some.
    weight: float = 1.0


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """A program of the package, or one given with it. `expected` is None where nobody says what should come out.

    `problem` says why it cannot be run here; `source` is None then. `timed`: the time limit may follow from it.
    """

    name: str
    source: Source | None = None
    expected: Expectation | None = None
    timed: bool = False
    #: Limits of its own, as in a sample's record.
    limits: Mapping[str, Any] = {}
    problem: str = ""


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """A problem package. `limits` is the part of a sample's record; the time limit is apart from it."""

    name: str
    layout: str
    cases: tuple[Case, ...]
    submissions: tuple[Submission, ...] = ()
    time: TimeLimit = TimeLimit()
    limits: Mapping[str, Any] = {}
    #: Files that go with every submission, by language: text by name.
    include: Mapping[str, Mapping[str, str]] = {}
    #: How points are counted; None where a submission passes or fails.
    scoring: Group | None = None
    #: What was found in the package that plays no part here, and may have been meant to.
    notes: tuple[str, ...] = ()

    def size(self) -> int:
        """Return the characters of all cases."""
        return sum(len(case.stdin) + len(case.stdout) for case in self.cases)

    def samples(
        self, submission: Submission, settings: Settings, *, time_limit_s: float, early_stop: bool = False
    ) -> list[Sample]:
        """Return the samples that verify a submission: one for all cases that are judged alike, most often just one.

        Their ids are the submission's name and a number, those of their tests the names of cases. The time limit is for
        one that has none of its own. Raises InputError.
        """
        if submission.source is None:
            return []
        source, judgings = submission.source, _alike(self.cases)
        cpu_s = submission.limits.get("cpu_s", time_limit_s)
        record = {
            "problem_id": self.name,
            "language": source.language,
            "code": source.code,
            "limits": {**self.limits, "cpu_s": cpu_s, **self._needed(cpu_s), **submission.limits},
        }
        if source.files:
            record["solution_files"] = source.files
        if source.language == "python" and source.files:
            record["main"] = source.main
        samples = []
        for number, cases in enumerate(judgings):
            tests = [_test(case) for case in cases]
            raw = {"id": f"{submission.name}#{number}", **record, **cases[0].judging, "tests": tests}
            samples.append(msgspec.structs.replace(parse_sample(raw, settings=settings), early_stop=early_stop))
        return samples

    def _needed(self, time_limit_s: float) -> dict[str, float]:
        largest = max(len(case.stdin.encode()) for case in self.cases)
        wall_s = min(_WALL_FACTOR * time_limit_s + _WALL_S, CEILINGS["wall_s"])
        return {"wall_s": wall_s, "stdin_mb": max(Limits().stdin_mb, math.ceil(largest / MIB))}


def _alike(cases: Sequence[Case]) -> list[list[Case]]:
    groups: dict[bytes, list[Case]] = {}
    for case in cases:
        groups.setdefault(msgspec.json.encode(case.judging, order="deterministic"), []).append(case)
    return list(groups.values())


def _test(case: Case) -> dict[str, Any]:
    test = {"id": case.name, "stdin": case.stdin, "stdout": case.stdout, "hidden": case.hidden, "weight": case.weight}
    return test | {"files": case.files} if case.files else test
