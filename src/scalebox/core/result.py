"""What comes back for a sample. Field names and meanings are docs/reference/formats.md."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from scalebox.core.verdicts import Verdict

Stage = Literal["gate", "build", "execute", "judge"]


class CaseResult(msgspec.Struct, kw_only=True):
    """One case. Times in seconds; `difference` is 0 for a match and up to 1 for nothing alike.

    `test` is the id of the test that the case is a part of, "" where the case is all of its test; `text` is the
    source of an assertion; `score` is what a judge gave, from 0 to 1, None where none gave any;
    `transcript` is what a program and its interactor said, where that is asked for.
    """

    id: str
    verdict: Verdict
    cpu_s: float = 0.0
    wall_s: float = 0.0
    memory_bytes: int = 0
    attempts: int = 1
    exit_code: int | None = None
    signal: int | None = None
    stdout: str = ""
    stderr: str = ""
    difference: float = 0.0
    score: float | None = None
    detail: str = ""
    test: str = ""
    text: str = ""
    transcript: str = ""

    @property
    def test_id(self) -> str:
        """The id of the case's test, which says what the case weighs and who may see it."""
        return self.test or self.id


class Timings(msgspec.Struct, kw_only=True):
    """Seconds spent on a sample, by stage."""

    queue_s: float = 0.0
    build_s: float = 0.0
    run_s: float = 0.0
    judge_s: float = 0.0


class Summary(msgspec.Struct, kw_only=True):
    """A sample's cases in short."""

    verdicts: dict[str, int] = {}
    mean_wall_s: float = 0.0
    max_memory_bytes: int = 0


class VerificationResult(msgspec.Struct, kw_only=True):
    """One sample. `reward` is None, and `masked` true, where it would rest on a doubtful case.

    `time_scale` is how many times the limits of time were, in a tier that makes programs slower.

    `integrity_reason` says why the tests had to share a process with the program, "" where they did not.
    """

    id: str
    problem_id: str | None = None
    verdict: Verdict
    pass_rate: float = 0.0
    reward: float | None = None
    masked: bool = False
    partial: bool = False
    stage: Stage = "judge"
    tier: str = ""
    time_scale: float = 1.0
    integrity: Literal["separate", "shared"] = "separate"
    integrity_reason: str = ""
    cached: bool = False
    risk: Literal["none", "low", "medium", "high"] = "none"
    code: str = ""
    message: str = ""
    reward_parts: dict[str, float] = {}
    timings: Timings = msgspec.field(default_factory=Timings)
    cases: list[CaseResult] = []
    summary: Summary = msgspec.field(default_factory=Summary)
    denied: list[str] = []
    meta: Any = None
