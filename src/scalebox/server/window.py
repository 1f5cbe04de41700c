"""What happened in a stretch of time, or to a batch: counts and distributions that can be added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict
from scalebox.server.sketch import Sketch

_RISKY = frozenset({"medium", "high"})


class Facts:
    """What is worth counting of a result, found once.

    `steps` is the length of its trajectory, None for none; where the sample had none, `meta` may tell of it.

    A result from the cache tells of the run that was kept: its times and attempts are not counted again.
    """

    __slots__ = ("case_verdicts", "cases", "denied", "result", "reverified", "steps")

    def __init__(self, result: VerificationResult, steps: int | None = None) -> None:
        self.result = result
        self.denied = is_denied(result)
        ran = [] if result.cached else [case for case in result.cases if case.attempts]
        self.reverified = sum(case.attempts > 1 for case in ran)
        self.steps = trajectory_steps(result.meta) if steps is None else steps
        self.case_verdicts = Counter([case.verdict.value for case in result.cases])
        self.cases = Sketch()
        for case in ran:
            self.cases.add(case.wall_s)


@dataclass(slots=True)
class Window:
    """Counts of one stretch. Times in seconds; `work` is what a sample took once it had begun, those from the
    cache left out.

    `intercepted` are samples that were denied something, or look risky: the engine's catch of attempts to cheat.
    `queue` and `least_queue` are the most and the fewest samples that waited or ran at any time.
    """

    start: float = 0.0
    queue: int = 0
    least_queue: int = 0
    accepted: int = 0
    samples: int = 0
    batches_done: int = 0
    batches_failed: int = 0
    cached: int = 0
    reverified_samples: int = 0
    reverified_cases: int = 0
    denied: int = 0
    intercepted: int = 0
    masked: int = 0
    worker_starts: int = 0
    worker_losses: int = 0
    quarantined: int = 0
    build_s: float = 0.0
    run_s: float = 0.0
    judge_s: float = 0.0
    work: Sketch = field(default_factory=Sketch)
    waiting: Sketch = field(default_factory=Sketch)
    cases: Sketch = field(default_factory=Sketch)
    trajectories: Sketch = field(default_factory=Sketch)
    verdicts: Counter[str] = field(default_factory=Counter)
    case_verdicts: Counter[str] = field(default_factory=Counter)
    risks: Counter[str] = field(default_factory=Counter)

    @property
    def busy_s(self) -> float:
        """Return the seconds that workers spent on samples."""
        return self.build_s + self.run_s + self.judge_s

    def add(self, facts: Facts) -> None:
        """Count a sample's result."""
        result, timings = facts.result, facts.result.timings
        self.samples += 1
        self.verdicts[result.verdict.value] += 1
        self.risks[result.risk] += 1
        self.waiting.add(timings.queue_s)
        self.cached += result.cached
        if not result.cached:
            self.work.add(work_s(result))
            self.build_s += timings.build_s
            self.run_s += timings.run_s
            self.judge_s += timings.judge_s
        self.masked += result.masked
        self.denied += facts.denied
        self.intercepted += facts.denied or result.risk in _RISKY
        self.reverified_cases += facts.reverified
        self.reverified_samples += facts.reverified > 0
        self.cases.update(facts.cases)
        self.case_verdicts.update(facts.case_verdicts)
        if facts.steps is not None:
            self.trajectories.add(facts.steps)

    def update(self, other: Window) -> None:
        """Add what happened in a later stretch; `start` stays."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _PARTS:
            getattr(self, name).update(getattr(other, name))
        self.note_queue(max(self.queue, other.queue))
        self.note_queue(min(self.least_queue, other.least_queue))

    def note_queue(self, samples: int) -> None:
        """Note how many samples wait or run now."""
        self.queue = max(self.queue, samples)
        self.least_queue = min(self.least_queue, samples)


_PARTS = ("work", "waiting", "cases", "trajectories", "verdicts", "case_verdicts", "risks")
_SUMS = tuple(each.name for each in fields(Window) if each.name not in {*_PARTS, "start", "queue", "least_queue"})


def total(windows: Sequence[Window]) -> Window:
    """Return the sum of windows, the oldest first."""
    first = windows[0] if windows else Window()
    summed = Window(first.start, first.queue, first.least_queue)
    for window in windows:
        summed.update(window)
    return summed


def work_s(result: VerificationResult) -> float:
    """Return the seconds from a sample's start on a worker to its result."""
    return result.timings.build_s + result.timings.run_s + result.timings.judge_s


def is_denied(result: VerificationResult) -> bool:
    """Return whether the program was refused something forbidden, whatever became of it otherwise."""
    return bool(result.denied) or result.verdict == Verdict.RESOURCE_DENIED


def trajectory_steps(meta: Any) -> int | None:
    """Return the length of the trajectory that a sample's `meta` tells of, None where it tells of none.

    `meta["trajectory"]` is the list of steps, or their number.
    """
    steps = meta.get("trajectory") if isinstance(meta, dict) else None
    if isinstance(steps, list):
        return len(steps)
    return steps if isinstance(steps, int) and not isinstance(steps, bool) and steps >= 0 else None
