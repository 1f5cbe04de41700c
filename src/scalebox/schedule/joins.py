"""Equal jobs of several batches that are under way at once: the first runs, the others wait for its result."""

from __future__ import annotations

from scalebox.schedule.events import Job


class Joins:
    """Which jobs wait for which. Plain bookkeeping: who runs, and what becomes of whom, the scheduler decides."""

    def __init__(self) -> None:
        self._first: dict[str, Job] = {}  # by fingerprint
        self._waiting: dict[int, list[Job]] = {}  # by the first one's id

    def joins(self, job: Job) -> bool:
        """Take note of a job without a result; return whether it waits for an equal one of another batch."""
        first = self._first.setdefault(job.fingerprint, job)
        if first.batch == job.batch:  # itself, or an equal one beside it, which is the engine's to join
            return False
        self._waiting.setdefault(first.id, []).append(job)
        return True

    def leave(self, job: Job) -> list[Job]:
        """Forget a job; return those that waited for it, the oldest first."""
        first = self._first.get(job.fingerprint)
        if first is None:
            return []
        if first.id == job.id:
            del self._first[job.fingerprint]
            return self._waiting.pop(job.id, [])
        waiting = self._waiting.get(first.id, [])
        if job in waiting:
            waiting.remove(job)
        return []

    def clear(self) -> None:
        """Forget all."""
        self._first.clear()
        self._waiting.clear()
