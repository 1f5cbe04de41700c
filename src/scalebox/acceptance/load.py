"""Load: many trajectories of uneven length at a time, each of which waits for one verification after another."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import random
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from scalebox.acceptance.model import Failed, Finding, find
from scalebox.client import AsyncScaleBoxClient
from scalebox.core.errors import ScaleBoxError
from scalebox.core.limits import MIB
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict
from scalebox.sandbox.probes.host import descendants

#: Fewest and most steps of a trajectory.
SHORTEST, LONGEST = 3, 200
#: MiB that a run may add to the memory of this process and those below it.
_MOST_GROWTH_MB = 512
_LIMITS = {"memory_mb": 256}
_CASES = 3
_PAGE = os.sysconf("SC_PAGE_SIZE")
#: Steps whose text a trajectory carries: so a record stays small however long it is.
_STEPS_TOLD = 8


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """How much: so many trajectories at once, of at most `longest` steps; lengths and programs follow from `seed`."""

    trajectories: int = 16
    longest: int = LONGEST
    seed: int = 0
    #: A step that takes more seconds is lost.
    patience_s: float = 600.0
    #: Bounds on the 99th percentile of a step's latency, and on steps per second; None is no bound.
    most_p99_s: float | None = None
    least_steps_per_s: float | None = None


class Figures(msgspec.Struct, kw_only=True):
    """What a load came to. `latency_s` is from submission to result, by step."""

    trajectories: int
    steps: int
    shortest: int
    longest: int
    seconds: float
    steps_per_s: float
    cases_per_s: float
    latency_s: dict[str, float]
    program_memory_bytes: int
    resident_bytes_before: int
    resident_bytes_after: int


def lengths(load: Load) -> list[int]:
    """Return the number of steps of each trajectory: most are short, a few are long, and both ends occur."""
    shortest = min(SHORTEST, load.longest)
    chosen = random.Random(load.seed)  # noqa: S311 (nothing secret)
    drawn = [
        round(math.exp(chosen.uniform(math.log(shortest), math.log(load.longest)))) for _ in range(load.trajectories)
    ]
    return [shortest, load.longest, *drawn][: load.trajectories] if load.trajectories > 1 else [load.longest]


def step_of(prefix: str, trajectory: int, step: int, steps: int) -> tuple[dict[str, Any], Verdict]:
    """Return a step's sample and the verdict it must get: wrong until the last, which is right, as in self-repair."""
    last = step == steps - 1
    # No two steps are the same program, so that each is run, whatever cache there is.
    unique = 10**9 + zlib.crc32(f"{prefix}.{trajectory}.{step}".encode())
    shift = 1 if last else 2 + step
    told = [
        {"kind": "tool", "text": f"attempt {n}", "observation": "failed"}
        for n in range(max(0, step - _STEPS_TOLD), step)
    ]
    sample = {
        "id": f"{prefix}.load.{trajectory}.{step}",
        "code": f"n = int(input())\nprint(n * n + {shift} + n // {unique})\n",
        "tests": [{"stdin": f"{n}\n", "stdout": f"{n * n + 1}\n"} for n in range(_CASES)],
        "limits": _LIMITS,
        "reward": "pass_rate",
        "trajectory": told,
        "meta": {"trajectory_steps": steps},
    }
    return sample, Verdict.PASSED if last else Verdict.OUTPUT_MISMATCH


class _Run:
    """One load under way: what came of each step."""

    def __init__(self, client: AsyncScaleBoxClient, load: Load, prefix: str, tick: Callable[[int], None]) -> None:
        self._client = client
        self._load = load
        self._prefix = prefix
        self._tick = tick
        self.latencies: list[float] = []
        self.wrong: list[str] = []
        self.results: list[VerificationResult] = []

    async def trajectory(self, number: int, steps: int) -> None:
        """Go through one trajectory; an error ends it, and counts as a wrong label."""
        for step in range(steps):
            sample, expected = step_of(self._prefix, number, step, steps)
            begun = time.perf_counter()
            try:
                batch = await self._client.submit_batch([sample], wait_s=self._load.patience_s)
                (result,) = await self._client.fetch(batch, timeout=self._load.patience_s)
            except (ScaleBoxError, TimeoutError) as error:
                self.wrong.append(f"{sample['id']}: {error}")
                return
            self.latencies.append(time.perf_counter() - begun)
            self.results.append(result)
            if (result.id, result.verdict) != (sample["id"], expected):
                self.wrong.append(f"{sample['id']}: {result.verdict} as {result.id}, not {expected}; {result.message}")
            self._tick(1)


async def run(
    client: AsyncScaleBoxClient, load: Load, prefix: str, tick: Callable[[int], None] = lambda _: None
) -> tuple[list[Finding], Figures, list[VerificationResult]]:
    """Run the load, and return what it proves, its figures and all results. `tick` is called with 1 after each step."""
    steps = lengths(load)
    ongoing = _Run(client, load, prefix, tick)
    before, begun = _resident(), time.perf_counter()
    await asyncio.gather(*(ongoing.trajectory(number, count) for number, count in enumerate(steps)))
    seconds = time.perf_counter() - begun
    done = len(ongoing.results)
    figures = Figures(
        trajectories=len(steps),
        steps=sum(steps),
        shortest=min(steps),
        longest=max(steps),
        seconds=seconds,
        steps_per_s=done / seconds,
        cases_per_s=sum(len(result.cases) for result in ongoing.results) / seconds,
        latency_s={name: _percentile(ongoing.latencies, share) for name, share in _SHARES.items()},
        program_memory_bytes=max((result.summary.max_memory_bytes for result in ongoing.results), default=0),
        resident_bytes_before=before,
        resident_bytes_after=_resident(),
    )
    return list(_findings(load, figures, ongoing.wrong)), figures, ongoing.results


_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


def _findings(load: Load, figures: Figures, wrong: Sequence[str]) -> list[Finding]:
    return [
        find(
            "load.labels",
            "Under load a step must be labelled as it is alone, and none may be lost: time must never make a label.",
            "scalebox doctor; fewer workers than cores; then the guides on time-outs and on the queue",
            lambda: _labels(figures, wrong),
        ),
        find(
            "load.tail",
            "A trainer waits for its slowest step: the tail, not the mean, decides how long accelerators idle.",
            "more workers or replicas, shorter limits; raise the bound if this tail is fine",
            lambda: _tail(load, figures),
        ),
        find(
            "load.throughput",
            "Verification that is slower than the rollout makes the accelerators wait at every step.",
            "more workers or replicas; lower the bound if this rate is enough",
            lambda: _throughput(load, figures),
        ),
        find(
            "load.memory",
            "Uneven trajectories must not pile up: a machine out of memory kills the trainer beside it.",
            "fetch batches as they finish; lower recycle_after; look for a leak in this report's figures",
            lambda: _memory(figures),
        ),
    ]


def _labels(figures: Figures, wrong: Sequence[str]) -> str:
    if wrong:
        raise Failed(f"{len(wrong)} of {figures.steps} steps lost or wrongly labelled, such as {wrong[0]}")
    return (
        f"{figures.steps} steps of {figures.trajectories} trajectories ({figures.shortest} to {figures.longest} steps)"
    )


def _tail(load: Load, figures: Figures) -> str:
    told = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in figures.latency_s.items())
    if load.most_p99_s is not None and figures.latency_s["p99"] > load.most_p99_s:
        raise Failed(f"{told}: p99 is over {load.most_p99_s:g} s")
    return told


def _throughput(load: Load, figures: Figures) -> str:
    told = f"{figures.steps_per_s:.1f} steps/s, {figures.cases_per_s:.1f} cases/s"
    if load.least_steps_per_s is not None and figures.steps_per_s < load.least_steps_per_s:
        raise Failed(f"{told}: less than {load.least_steps_per_s:g} steps/s")
    return told


def _memory(figures: Figures) -> str:
    growth = (figures.resident_bytes_after - figures.resident_bytes_before) / MIB
    told = f"programs at most {figures.program_memory_bytes / MIB:.1f} MiB, this process and its own {growth:+.1f} MiB"
    if growth > _MOST_GROWTH_MB:
        raise Failed(f"{told}: more than {_MOST_GROWTH_MB} MiB")
    return told


def _percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all does not exceed (nearest rank); 0 where there is none."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else 0.0


def _resident() -> int:
    """Return the bytes in memory of this process and all below it: of an embedded engine, its workers too."""
    total = 0
    for pid in (os.getpid(), *descendants(os.getpid())):
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    return total
