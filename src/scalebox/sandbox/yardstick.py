"""How fast a CPU is now, against what it can do: CPU time is no fixed measure where cores and caches are shared.

Beside a busy sibling thread, or on a host that is busy itself, the same work takes up to twice the CPU time, and the
kernel counts none of that as waiting. So a piece of work of known size is timed now and then, on the worker's own core.
"""

from __future__ import annotations

import time

#: Some two milliseconds of work.
_ROUNDS = 15_000


class Yardstick:
    """Times the same work again and again; the best ever is what the CPU can do."""

    def __init__(self) -> None:
        self._best = float("inf")

    def slowness(self) -> float:
        """Return how many times the CPU time of its best the work takes now; at least 1."""
        begun = time.thread_time()
        _work(_ROUNDS)
        took = time.thread_time() - begun
        self._best = min(self._best, took)
        return max(1.0, took / self._best)


def _work(rounds: int) -> int:
    state = 1
    for _ in range(rounds):
        state = (state * 1103515245 + 12345) % 2147483648
    return state
