"""Telemetry: listens to the engine, and answers what the dashboard and the metrics ask. Any thread, bounded memory.

Time is cut into windows of five seconds, of which the last hour is kept; a stretch is the sum of its windows.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from scalebox.core import events
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.server import alerts
from scalebox.server.alerts import Alert, Reading, Stretch
from scalebox.server.recent import BatchDetail, BatchRow, RecentBatches
from scalebox.server.sketch import Histogram
from scalebox.server.window import Facts, Window, total

WINDOW_S = 5
#: Longest stretch of the dashboard, and of the alerts: their window and what it is compared with.
MAX_RANGE_S = 3600
_WINDOWS = MAX_RANGE_S // WINDOW_S + 2
_MAX_POINTS = 90
_RECENT_BATCHES = 25


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process that is up; `since` is seconds since 1970."""

    worker: int
    pid: int
    tier: str
    since: float


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """What happened over time: one item for each step of `step_s` seconds, which begins at `at`.

    `rate` is samples per second, `queue` the most samples that waited or ran, `busy` the share of the workers' time
    spent on samples, `cached` the share of samples from the cache (None where none finished).
    """

    step_s: int
    at: list[float]
    verdicts: dict[str, list[int]]
    rate: list[float]
    queue: list[int]
    busy: list[float]
    cached: list[float | None]


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a stretch: numbers of samples, but for those that say otherwise."""

    accepted: int
    samples: int
    cases: int
    batches_done: int
    batches_failed: int
    verdicts: dict[str, int]
    cached: int
    reverified_samples: int
    reverified_cases: int
    denied: int
    risky: int
    intercepted: int
    masked: int
    worker_starts: int
    worker_losses: int
    quarantined: int


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """Everything on the dashboard's first page, of the last `range_s` seconds before `at` (seconds since 1970)."""

    at: float
    started_at: float
    range_s: int
    rate: float
    busy: float
    queue: int
    open_batches: int
    capacity: int
    workers: list[Worker]
    counts: Counts
    series: Series
    work: Histogram
    waiting: Histogram
    cases: Histogram
    trajectories: Histogram
    alerts: list[Alert]
    batches: list[BatchRow]


class Telemetry:
    """A sink of the engine's events. `capacity` is the number of workers; `clock` gives seconds since 1970."""

    def __init__(self, settings: Settings, *, capacity: int, clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._capacity = max(1, capacity)
        self._clock = clock
        self._lock = threading.Lock()
        self._started_at = clock()
        self._totals = Window()
        self._windows: deque[Window] = deque(maxlen=_WINDOWS)
        self._recent = RecentBatches(settings.server_telemetry_mb * 1024 * 1024)
        self._queue = 0
        self._pending: dict[str, int] = {}  # samples without a result, by open batch
        self._workers: dict[int, Worker] = {}
        self._alerts: tuple[Alert, ...] = ()
        self._alerts_at = 0.0

    def __call__(self, event: Any) -> None:
        """Take note of an event."""
        # Outside the lock.
        facts = Facts(event.result, event.steps) if isinstance(event, events.SampleFinished) else None
        with self._lock:
            window = self._window()
            if facts is not None:
                self._finished(window, event.batch_id, event.index, facts)
            else:
                self._count(window, event)
            window.note_queue(self._queue)

    def now(self) -> float:
        """Return the time by the clock that all times here are of."""
        return self._clock()

    def overview(self, range_s: int = 900) -> Overview:
        """Return what the dashboard shows of the last `range_s` seconds, up to an hour."""
        range_s = min(max(range_s, 60), MAX_RANGE_S)
        with self._lock:
            now = self._clock()
            self._refresh_alerts(now)
            windows = self._between(self._window().start - range_s + WINDOW_S, math.inf)
            stretch = total(windows)
            seconds = min(range_s, max(now - self._started_at, 1.0))
            return Overview(
                at=now,
                started_at=self._started_at,
                range_s=range_s,
                rate=stretch.samples / seconds,
                busy=min(1.0, stretch.busy_s / (seconds * self._capacity)),
                queue=self._queue,
                open_batches=len(self._pending),
                capacity=self._capacity,
                workers=list(self._workers.values()),
                counts=_counts(stretch),
                series=self._series(windows, now, range_s),
                work=stretch.work.histogram(),
                waiting=stretch.waiting.histogram(),
                cases=stretch.cases.histogram(),
                trajectories=stretch.trajectories.histogram(),
                alerts=list(self._alerts),
                batches=self._recent.rows(_RECENT_BATCHES),
            )

    def batches(self, limit: int, offset: int = 0) -> list[BatchRow]:
        """Return batches of late, the newest first."""
        with self._lock:
            return self._recent.rows(limit, offset)

    def batch(self, batch_id: str, *, verdict: str = "", offset: int = 0, limit: int = 100) -> BatchDetail | None:
        """Return a batch of late and a page of its samples (of `verdict` alone, unless empty), None for none."""
        with self._lock:
            return self._recent.detail(batch_id, verdict=verdict, offset=offset, limit=limit)

    def result(self, batch_id: str, index: int) -> VerificationResult | None:
        """Return the result of the sample at `index` of its batch, None where it is not kept (any more)."""
        with self._lock:
            return self._recent.result(batch_id, index)

    def alerts(self) -> tuple[Alert, ...]:
        """Return the alerts that are up."""
        with self._lock:
            self._refresh_alerts(self._clock())
            return self._alerts

    def totals(self) -> tuple[Window, int, int, int]:
        """Return all counts since the start, samples in the queue, open batches, and workers that are up."""
        with self._lock:
            return total([self._totals, self._window()]), self._queue, len(self._pending), len(self._workers)

    @property
    def capacity(self) -> int:
        """Return how many workers there should be."""
        return self._capacity

    # --- taking note, under the lock --------------------------------------------------------------

    def _window(self) -> Window:
        """Return the window of now, with one for each stretch since the last in which nothing happened."""
        now = self._clock() // WINDOW_S * WINDOW_S
        start = max(self._windows[-1].start + WINDOW_S, now - _WINDOWS * WINDOW_S) if self._windows else now
        while start <= now:
            if self._windows:
                self._totals.update(self._windows[-1])  # it is over
            self._windows.append(Window(start, self._queue, self._queue))
            start += WINDOW_S
        return self._windows[-1]

    def _count(self, window: Window, event: Any) -> None:
        match event:
            case events.BatchAccepted(at, batch_id, samples):
                window.accepted += samples
                self._follow(batch_id, samples, at)
            case events.BatchResumed(at, batch_id, samples):
                self._follow(batch_id, samples, at)
            case events.BatchFinished(at, batch_id, state):
                window.batches_done += state == "DONE"
                window.batches_failed += state != "DONE"
                self._recent.finish(batch_id, state, at)
                self._queue -= self._pending.pop(batch_id, 0)
            case events.WorkerStarted(at, worker, pid, tier):
                window.worker_starts += 1
                self._workers[worker] = Worker(worker=worker, pid=pid, tier=tier, since=at)
                if len(self._workers) > self._capacity:  # it takes the place of one that was recycled
                    del self._workers[min(self._workers)]
            case events.WorkerLost(worker=worker):
                window.worker_losses += 1
                self._workers.pop(worker, None)
            case events.SampleQuarantined():
                window.quarantined += 1

    def _follow(self, batch_id: str, samples: int, at: float) -> None:
        self._recent.accept(batch_id, samples, at)
        self._pending[batch_id] = self._pending.get(batch_id, 0) + samples
        self._queue += samples

    def _finished(self, window: Window, batch_id: str, index: int, facts: Facts) -> None:
        window.add(facts)
        self._recent.add(batch_id, index, facts)
        if self._pending.get(batch_id, 0) > 0:
            self._pending[batch_id] -= 1
            self._queue -= 1

    # --- answering, under the lock ----------------------------------------------------------------

    def _between(self, begin: float, end: float) -> list[Window]:
        return [window for window in self._windows if begin <= window.start < end]

    def _series(self, windows: list[Window], now: float, range_s: int) -> Series:
        step = max(WINDOW_S, math.ceil(range_s / _MAX_POINTS / WINDOW_S) * WINDOW_S)
        first = now // step * step - (range_s // step - 1) * step
        starts = [first + number * step for number in range(range_s // step)]
        steps: list[list[Window]] = [[] for _ in starts]
        for window in windows:
            if window.start >= first:
                steps[int((window.start - first) // step)].append(window)
        seconds = [min(step, max(now - start, 1.0)) for start in starts]
        samples = [sum(window.samples for window in group) for group in steps]
        busy = [sum(window.busy_s for window in group) for group in steps]
        return Series(
            step_s=step,
            at=starts,
            verdicts={
                verdict.value: [sum(window.verdicts[verdict] for window in group) for group in steps]
                for verdict in Verdict
            },
            rate=[round(count / span, 3) for count, span in zip(samples, seconds, strict=True)],
            queue=[max((window.queue for window in group), default=0) for group in steps],
            busy=[round(min(1.0, s / span / self._capacity), 4) for s, span in zip(busy, seconds, strict=True)],
            cached=[
                round(sum(window.cached for window in group) / count, 4) if count else None
                for group, count in zip(steps, samples, strict=True)
            ],
        )

    def _refresh_alerts(self, now: float) -> None:
        """Evaluate the rules, once a second at most."""
        if abs(now - self._alerts_at) < 1:
            return
        self._alerts_at = now
        settings = self._settings
        middle = self._window().start + WINDOW_S - settings.server_alert_window_s
        begin = middle - settings.server_alert_baseline_s
        recent = total(self._between(middle, math.inf))
        reading = Reading(
            at=now,
            recent=_seen(recent, now - max(middle, self._started_at)),
            baseline=_seen(total(self._between(begin, middle)), middle - max(begin, self._started_at)),
            least_queue=recent.least_queue,
        )
        self._alerts = alerts.evaluate(self._alerts, reading, settings)


def _seen(window: Window, span_s: float) -> Stretch:
    return Stretch(
        span_s=max(span_s, 0.0),
        samples=window.samples,
        verdicts=dict(window.verdicts),
        p99_s=window.work.quantile(0.99),
        intercepted=window.intercepted,
        quarantined=window.quarantined,
    )


def _counts(window: Window) -> Counts:
    same = {name: getattr(window, name) for name in Counts.__struct_fields__ if hasattr(window, name)}
    risky = window.samples - window.risks["none"]
    return Counts(**{**same, "cases": window.case_verdicts.total(), "verdicts": dict(window.verdicts), "risky": risky})
