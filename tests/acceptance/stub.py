"""A deployment that verifies nothing: it answers what a sound one would, but for what a test has it do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from scalebox.acceptance import forgeries
from scalebox.core.errors import BatchNotFound
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import Verdict

Sample = dict[str, Any]
Spoil = Callable[[Sample, VerificationResult], None]


class Deployment:
    """The part of AsyncScaleBoxClient that the proof uses. `spoil` may change a result before anybody sees it."""

    def __init__(self, log: Path, spoil: Spoil | None = None) -> None:
        self.log = log
        self.spoil = spoil
        self.batches: dict[str, list[Sample]] = {}
        self.logged: Callable[[Sample], bool] = lambda _: True

    async def submit_batch(self, samples: list[Sample], *, wait_s: float | None = None) -> str:
        assert wait_s
        self.batches[name := f"b-{len(self.batches)}"] = samples
        return name

    async def fetch(self, batch: str, timeout: float | None = None) -> list[VerificationResult]:
        assert timeout
        samples = self.batches.pop(batch, None)
        if samples is None:
            raise BatchNotFound(batch)
        return [self._answer(sample) for sample in samples]

    def _answer(self, sample: Sample) -> VerificationResult:
        result = sound(sample)
        if self.spoil is not None:
            self.spoil(sample, result)
        if self.logged(sample):
            with self.log.open("ab") as file:
                file.write(msgspec.json.encode(result) + b"\n")
        return result


def name_of(sample: Sample) -> str:
    """Return the check's name, without the run's own prefix."""
    return str(sample["id"]).partition(".")[2]


def sound(sample: Sample) -> VerificationResult:
    """Return what a sound deployment answers."""
    name = name_of(sample)
    result = VerificationResult(id=sample["id"], verdict=Verdict.ASSERT_FAIL, reward=0.0, tier="namespace")
    if name.startswith("honest."):
        result.verdict, result.reward = Verdict.PASSED, 1.0
    elif name.startswith("load."):
        _, _, step = name.split(".")
        last = int(step) == sample["meta"]["trajectory_steps"] - 1
        result.verdict = Verdict.PASSED if last else Verdict.OUTPUT_MISMATCH
    elif name.startswith("forged."):
        result.verdict = forgeries.FORGED[name.removeprefix("forged.")].verdicts[0]
        if result.verdict is Verdict.RESOURCE_DENIED:
            result.denied, result.risk = ["network: socket(AF_INET)"], "high"
    elif name == "isolation.network":
        told = {target: "dropped: EACCES" for target, *_ in json.loads(sample["tests"][0]["stdin"])}
        result.verdict, result.denied = Verdict.RESOURCE_DENIED, ["network: socket(AF_INET)"]
        result.risk = "high"
        result.cases = [says(told)]
    elif name == "isolation.files":
        result.verdict = Verdict.OUTPUT_MISMATCH
        result.cases = [says(dict.fromkeys(paths_of(sample), "nothing: FileNotFoundError"))]
    return result


def paths_of(sample: Sample) -> list[str]:
    """Return the paths that the probe of files tries: it has them in a line of its own."""
    (line,) = [line for line in sample["code"].splitlines() if line.startswith("PATHS = ")]
    return [text for text in line.split("'") if text.startswith("/")]


def says(told: dict[str, str]) -> CaseResult:
    """Return a case whose program printed this."""
    return CaseResult(id="0", verdict=Verdict.OUTPUT_MISMATCH, stdout=json.dumps(told))
