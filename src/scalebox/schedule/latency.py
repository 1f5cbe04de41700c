"""How long passing runs take: one sketch for each problem, and one for each batch.

A sketch counts times in buckets that grow by a tenth, so a quantile is right within a tenth, and it is bounded whatever
comes (in the manner of DDSketch, Masson, Rim and Lee, 2019). From it follows after how long a failure is suspect. That
labels nobody, so what is lost between processes that write the same sketch at the same time does no harm.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol

import msgspec

#: A failure is suspect after so many times the time that nine of ten passing runs took, but not sooner than the floor.
FACTOR, QUANTILE, FLOOR_S = 2.0, 0.9, 0.5
#: Fewer runs than this say nothing.
LEAST_RUNS = 10
_GROWTH = math.log(1.1)
_SHORTEST_S, _BUCKETS = 1e-4, 192  # up to more than an hour
#: Counts are halved when there are so many: programs get faster as a policy learns.
_MOST_COUNTED = 2000
_MOST_SKETCHES = 4096
#: Seconds between two times of writing, and what one write may take before the rest is left for the next time.
_FLUSH_S, _SLOW_S = 30.0, 0.02


class Shelf(Protocol):
    """Where sketches outlast the process."""

    def get(self, key: bytes) -> bytes | None:
        """Return what is kept under `key`."""

    def put(self, key: bytes, kind: str, data: bytes) -> None:
        """Keep `data` under `key`."""


class Sketch:
    """A distribution of times, in seconds."""

    def __init__(self, counts: dict[int, int] | None = None) -> None:
        self._counts = {} if counts is None else counts
        self._total = sum(self._counts.values())

    def __len__(self) -> int:
        return self._total

    def add(self, seconds: float) -> None:
        """Count a time."""
        bucket = min(_BUCKETS, math.ceil(math.log(max(seconds, _SHORTEST_S) / _SHORTEST_S) / _GROWTH))
        self._counts[bucket] = self._counts.get(bucket, 0) + 1
        self._total += 1
        if self._total > _MOST_COUNTED:
            self._counts = {at: count // 2 for at, count in self._counts.items() if count > 1}
            self._total = sum(self._counts.values())

    def quantile(self, share: float) -> float:
        """Return the time within which such a share of the runs had passed; 0 where there were none."""
        left = math.ceil(share * self._total)
        for bucket in sorted(self._counts):
            left -= self._counts[bucket]
            if left <= 0:
                return float(_SHORTEST_S * math.exp(bucket * _GROWTH))
        return 0.0

    def dump(self) -> bytes:
        """Return it as bytes."""
        return msgspec.msgpack.encode(self._counts)

    @classmethod
    def load(cls, data: bytes | None) -> Sketch:
        """Return what was dumped; an empty one for anything else."""
        try:
            counts = msgspec.msgpack.decode(data or b"\x80", type=dict[int, int])
        except (msgspec.MsgspecError, ValueError):
            return cls()
        return cls({at: count for at, count in counts.items() if 0 <= at <= _BUCKETS and 0 < count <= _MOST_COUNTED})


class Latencies:
    """The sketches of one engine; those of problems come from `shelf` and go there. For one thread."""

    def __init__(self, shelf: Shelf | None) -> None:
        self._shelf = shelf
        self._problems: OrderedDict[str, Sketch] = OrderedDict()
        self._batches: OrderedDict[str, Sketch] = OrderedDict()
        self._changed: set[str] = set()
        self._flushed = 0.0

    def soft_s(self, problem: str, batch: str) -> float:
        """Return after how many seconds a failure is suspect; 0 where too little is known.

        What is known of the problem counts, else what is known of the batch.
        """
        for sketch in (self._problem(problem), self._batches.get(batch)):
            if sketch is not None and len(sketch) >= LEAST_RUNS:
                return max(FLOOR_S, FACTOR * sketch.quantile(QUANTILE))
        return 0.0

    def learn(self, problem: str, batch: str, passed: Iterable[float]) -> None:
        """Take note of the times that passing runs took by the clock, in seconds."""
        sketches = self._problem(problem), _sketch(self._batches, batch)
        for seconds in passed:
            for sketch in sketches:
                sketch.add(seconds)
            self._changed.add(problem)

    def end(self, batch: str, now: float) -> None:
        """Forget a batch; what it has taught is kept now and then. `now` is in seconds of any clock."""
        self._batches.pop(batch, None)
        if now - self._flushed >= _FLUSH_S:
            self._flushed = now
            self.flush()

    def flush(self) -> None:
        """Have what was learnt outlast the process, unless the shelf is slow."""
        for problem in self._changed & self._problems.keys():
            begun = time.monotonic()
            self._keep(problem, self._problems[problem])
            self._changed.discard(problem)
            if time.monotonic() - begun > _SLOW_S:
                return

    def _problem(self, name: str) -> Sketch:
        known = self._problems.get(name)
        if known is not None:
            return known
        if len(self._problems) >= _MOST_SKETCHES:
            old, sketch = self._problems.popitem(last=False)
            if old in self._changed:
                self._changed.discard(old)
                self._keep(old, sketch)
        data = None if self._shelf is None else self._shelf.get(_key(name))
        sketch = self._problems[name] = Sketch.load(data)
        return sketch

    def _keep(self, name: str, sketch: Sketch) -> None:
        if self._shelf is not None:
            self._shelf.put(_key(name), "latency", sketch.dump())


def _sketch(sketches: OrderedDict[str, Sketch], name: str) -> Sketch:
    if name not in sketches and len(sketches) >= _MOST_SKETCHES:
        sketches.popitem(last=False)
    return sketches.setdefault(name, Sketch())


def _key(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
