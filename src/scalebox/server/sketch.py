"""Distributions in bounded memory: counts in buckets whose bounds grow by the same factor."""

from __future__ import annotations

import math

import msgspec

#: Upper bound of the first bucket, and of the last: what is beyond counts there.
LEAST, MOST = 1e-4, 1e4
PER_DECADE = 20
_LAST = round(math.log10(MOST / LEAST)) * PER_DECADE
_BELOW_BOUND = 1e-9  # so that 0.001 counts as at most 0.001, in spite of rounding


def bound(index: int) -> float:
    """Return the upper bound of a bucket."""
    return float(f"{LEAST * 10 ** (index / PER_DECADE):.6g}")


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """A distribution for a chart: `counts[i]` values lie above `bounds[i]` and up to `bounds[i + 1]`.

    Nothing lies outside. The quantiles are within 6 % of the true ones, None where there is nothing.
    """

    count: int
    sum: float
    p50: float | None
    p90: float | None
    p99: float | None
    bounds: list[float]
    counts: list[int]


class Sketch:
    """Counts values from 0.1 ms to 10,000 s (or any other unit), 20 buckets a decade."""

    __slots__ = ("count", "counts", "sum")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.count = 0
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count one value; one that is no positive number counts as zero."""
        index = 0
        if value > LEAST:
            index = min(_LAST, math.ceil(math.log10(min(value, MOST) / LEAST) * PER_DECADE - _BELOW_BOUND))
            self.sum += min(value, MOST)
        self.counts[index] = self.counts.get(index, 0) + 1
        self.count += 1

    def update(self, other: Sketch) -> None:
        """Count all that `other` has counted."""
        for index, count in other.counts.items():
            self.counts[index] = self.counts.get(index, 0) + count
        self.count += other.count
        self.sum += other.sum

    def quantile(self, share: float) -> float | None:
        """Return the value that `share` of all values do not pass: the middle of its bucket, None of nothing."""
        rank, seen = max(1, math.ceil(share * self.count)), 0
        for index in sorted(self.counts):
            seen += self.counts[index]
            if seen >= rank:
                return float(f"{bound(index) * 10 ** (-0.5 / PER_DECADE):.4g}")
        return None

    def cumulative(self, join: int) -> list[tuple[float, int]]:
        """Return (bound, how many are at most that), with `join` buckets in one."""
        steps, seen = [], 0
        for index in range(_LAST + 1):
            seen += self.counts.get(index, 0)
            if index % join == 0:
                steps.append((bound(index), seen))
        return steps

    def histogram(self, join: int = 4) -> Histogram:
        """Return what a chart shows, from the first bucket that is not empty to the last, `join` buckets in one."""
        grouped: dict[int, int] = {}
        for index, count in self.counts.items():
            group = math.ceil(index / join)
            grouped[group] = grouped.get(group, 0) + count
        groups = range(min(grouped, default=0), max(grouped, default=-1) + 1)
        bounds = [bound(group * join) if group >= 0 else 0.0 for group in (groups.start - 1, *groups)] if groups else []
        return Histogram(
            count=self.count,
            sum=round(self.sum, 6),
            p50=self.quantile(0.5),
            p90=self.quantile(0.9),
            p99=self.quantile(0.99),
            bounds=bounds,
            counts=[grouped.get(group, 0) for group in groups],
        )
