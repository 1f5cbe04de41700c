"""The batches of late and their results, in bounded memory: what the dashboard drills down into."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

import msgspec

from scalebox.core.codec import decode_result_line, encode_result_line
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict
from scalebox.server.sketch import Histogram
from scalebox.server.window import Facts, Window, work_s

_MAX_BATCHES = 200
#: Bytes that a row costs beside its result.
_ROW_BYTES = 1000


class SampleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a batch's table. `index` is the sample's place in the batch, from 0."""

    index: int
    id: str
    problem_id: str | None
    verdict: Verdict
    pass_rate: float
    reward: float | None
    masked: bool
    cases: int
    work_s: float
    queue_s: float
    cached: bool
    risk: str
    denied: bool
    reverified: int


class BatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table of batches. `state` is PENDING, DONE or FAILED; `kept` results of it remain here."""

    batch_id: str
    state: str
    accepted_at: float
    finished_at: float | None
    samples: int
    finished: int
    kept: int
    verdicts: dict[str, int]
    p50_s: float | None
    p99_s: float | None
    cached: int
    reverified: int
    denied: int
    masked: int


class BatchDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A batch, its distributions, and one page of its samples; `matching` is how many there are on all pages."""

    batch: BatchRow
    work: Histogram
    waiting: Histogram
    cases: Histogram
    trajectories: Histogram
    offset: int
    matching: int
    rows: list[SampleRow]


@dataclass(slots=True)
class _Batch:
    batch_id: str
    accepted_at: float
    samples: int
    state: str = "PENDING"
    finished_at: float | None = None
    window: Window = field(default_factory=Window)
    rows: dict[int, tuple[SampleRow, bytes]] = field(default_factory=dict)


class RecentBatches:
    """Keeps the last 200 batches, and as many of their results as `max_bytes` holds, the newest. Not thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._batches: OrderedDict[str, _Batch] = OrderedDict()
        self._kept: deque[tuple[_Batch, int, int]] = deque()  # oldest first: batch, index, bytes

    @property
    def kept_bytes(self) -> int:
        """Return what the results kept here take."""
        return self._bytes

    def accept(self, batch_id: str, samples: int, at: float) -> None:
        """Begin to follow a batch; one that is followed already grows by `samples`."""
        batch = self._batches.get(batch_id)
        if batch is not None:
            batch.samples += samples
            return
        self._batches[batch_id] = _Batch(batch_id, at, samples)
        if len(self._batches) > _MAX_BATCHES:
            self._batches.popitem(last=False)[1].rows.clear()

    def add(self, batch_id: str, index: int, facts: Facts) -> None:
        """Count a sample of a batch, and keep its result; does nothing for a batch that is not followed."""
        batch = self._batches.get(batch_id)
        if batch is None:
            return
        batch.window.add(facts)
        line = encode_result_line(facts.result)
        cost = len(line) + _ROW_BYTES
        if cost <= self._max_bytes:
            batch.rows[index] = (_row(index, facts), line)
            self._kept.append((batch, index, cost))
            self._bytes += cost
        while self._bytes > self._max_bytes:
            old, gone, freed = self._kept.popleft()
            old.rows.pop(gone, None)
            self._bytes -= freed

    def finish(self, batch_id: str, state: str, at: float) -> None:
        """Note a batch's end."""
        if (batch := self._batches.get(batch_id)) is not None:
            batch.state, batch.finished_at = state, at

    def rows(self, limit: int, offset: int = 0) -> list[BatchRow]:
        """Return batches, the newest first."""
        newest = list(reversed(self._batches.values()))
        return [_batch_row(batch) for batch in newest[offset : offset + limit]]

    def detail(self, batch_id: str, *, verdict: str, offset: int, limit: int) -> BatchDetail | None:
        """Return a batch with a page of its samples, those of `verdict` alone unless that is empty; None for none."""
        batch = self._batches.get(batch_id)
        if batch is None:
            return None
        kept = (row for _, (row, _) in sorted(batch.rows.items()))
        rows = [row for row in kept if not verdict or row.verdict == verdict]
        return BatchDetail(
            batch=_batch_row(batch),
            work=batch.window.work.histogram(),
            waiting=batch.window.waiting.histogram(),
            cases=batch.window.cases.histogram(),
            trajectories=batch.window.trajectories.histogram(),
            offset=offset,
            matching=len(rows),
            rows=rows[offset : offset + limit],
        )

    def result(self, batch_id: str, index: int) -> VerificationResult | None:
        """Return a sample's result by its place in the batch, None where it is not kept (any more)."""
        batch = self._batches.get(batch_id)
        kept = batch.rows.get(index) if batch is not None else None
        return decode_result_line(kept[1]) if kept is not None else None


def _row(index: int, facts: Facts) -> SampleRow:
    result = facts.result
    return SampleRow(
        index=index,
        id=result.id,
        problem_id=result.problem_id,
        verdict=result.verdict,
        pass_rate=result.pass_rate,
        reward=result.reward,
        masked=result.masked,
        cases=len(result.cases),
        work_s=work_s(result),
        queue_s=result.timings.queue_s,
        cached=result.cached,
        risk=result.risk,
        denied=facts.denied,
        reverified=facts.reverified,
    )


def _batch_row(batch: _Batch) -> BatchRow:
    window = batch.window
    return BatchRow(
        batch_id=batch.batch_id,
        state=batch.state,
        accepted_at=batch.accepted_at,
        finished_at=batch.finished_at,
        samples=max(batch.samples, window.samples),
        finished=window.samples,
        kept=len(batch.rows),
        verdicts=dict(window.verdicts),
        p50_s=window.work.quantile(0.5),
        p99_s=window.work.quantile(0.99),
        cached=window.cached,
        reverified=window.reverified_samples,
        denied=window.denied,
        masked=window.masked,
    )
