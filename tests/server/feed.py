"""A made-up training run, told to telemetry event by event: the same every time."""

from __future__ import annotations

import random
from collections.abc import Mapping

from scalebox.core import events
from scalebox.core.result import CaseResult, Timings, VerificationResult
from scalebox.core.verdicts import Verdict
from scalebox.server.telemetry import Telemetry

#: A usual mixture early in training: verdict → weight.
USUAL = {
    Verdict.PASSED: 46, Verdict.OUTPUT_MISMATCH: 17, Verdict.ASSERT_FAIL: 9, Verdict.RUNTIME_ERROR: 11,
    Verdict.COMPILE_ERROR: 7, Verdict.TIME_OUT: 5, Verdict.MEMORY_EXCEED: 1, Verdict.RESOURCE_DENIED: 2,
}  # fmt: skip
CODE = "def solve(n):\n    return sum(d for d in range(1, n) if n % d == 0)\n\n\nprint(solve(int(input())))\n"


class Clock:
    """A time that stands still until it is moved."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Feed:
    """Batches, one after another. `moving` clocks are moved on as samples finish."""

    def __init__(self, telemetry: Telemetry, clock: Clock, *, seed: int = 7) -> None:
        self.telemetry = telemetry
        self.clock = clock
        self.random = random.Random(seed)  # noqa: S311  no secret
        self.batches = 0

    def workers(self, count: int) -> None:
        for number in range(count):
            self.telemetry(events.WorkerStarted(self.clock.now, number, 4000 + number, "namespace"))

    def accept(self, samples: int) -> str:
        self.batches += 1
        batch_id = f"{self.random.getrandbits(64):016x}"
        self.telemetry(events.BatchAccepted(self.clock.now, batch_id, samples))
        return batch_id

    def finish(self, batch_id: str, index: int, mixture: Mapping[Verdict, float] = USUAL, **fields: float) -> None:
        (verdict,) = self.random.choices(list(mixture), [*mixture.values()])
        result = self.result(batch_id, index, verdict, **fields)
        self.telemetry(events.SampleFinished(self.clock.now, batch_id, result, index))

    def end(self, batch_id: str, state: str = "DONE") -> None:
        self.telemetry(events.BatchFinished(self.clock.now, batch_id, state))

    def batch(self, samples: int, *, seconds: float, mixture: Mapping[Verdict, float] = USUAL) -> str:
        """Tell of a whole batch that takes so long."""
        batch_id = self.accept(samples)
        for index in range(samples):
            self.clock.now += seconds / samples
            self.finish(batch_id, index, mixture)
        self.end(batch_id)
        return batch_id

    def result(self, batch_id: str, index: int, verdict: Verdict, *, slower: float = 1.0) -> VerificationResult:
        dice = self.random
        seconds = slower * dice.lognormvariate(-2.6, 0.8) + (2.0 if verdict == Verdict.TIME_OUT else 0.0)
        denied = verdict == Verdict.RESOURCE_DENIED
        failed = verdict != Verdict.PASSED
        cases = [self._case(number, Verdict.PASSED, seconds) for number in range(19)]
        cases.append(self._case(19, verdict, seconds))
        return VerificationResult(
            id=f"{batch_id[:4]}-{index}",
            problem_id=f"problem-{index // 8}",
            verdict=verdict,
            pass_rate=0.95 if failed else 1.0,
            reward=0.95 if failed else 1.0,
            tier="namespace",
            cached=dice.random() < 0.27,
            risk="high" if denied else "none",
            denied=["socket"] if denied else [],
            code=CODE,
            timings=Timings(
                queue_s=dice.expovariate(0.4), build_s=0.1 * seconds, run_s=0.8 * seconds, judge_s=0.1 * seconds
            ),
            cases=cases,
            meta={"trajectory": int(3 + dice.paretovariate(1.1) * 2), "answer": "the trainer's secret"},
        )

    def _case(self, number: int, verdict: Verdict, seconds: float) -> CaseResult:
        failed = verdict != Verdict.PASSED
        return CaseResult(
            id=str(number),
            verdict=verdict,
            cpu_s=seconds / 25,
            wall_s=seconds / 20,
            memory_bytes=9_437_184 + number * 4096,
            attempts=2 if verdict == Verdict.TIME_OUT else 1,
            exit_code=0,
            stdout="41\n",
            difference=0.5 if failed else 0.0,
            detail="line 1, token 1: expected '42', got '41'" if failed else "",
        )
