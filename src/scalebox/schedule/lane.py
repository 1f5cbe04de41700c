"""The lane of jobs that are to be run again alone, and the moments in which the pool is theirs. No I/O, no clock.

A moment begins when no other job is queued, or when those have had their time. Then nothing new is sent; as soon as no
worker holds a job, one from the lane is sent, and the next when that is done. While others wait a moment is bounded,
and so is their wait: after it they have at least as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from scalebox.schedule.events import Job, Policy


class _Entry(msgspec.Struct):
    job: Job
    first: Any
    since: float
    sent: bool = False


class Lane:
    """Jobs by id, with what their first run gave; the one that came first is next."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._entries: dict[int, _Entry] = {}
        #: When the moment began, if there is one; whether a job was sent in it; and when the next one may begin.
        self._begun: float | None = None
        self._used = False
        self._rest_until = 0.0

    def __bool__(self) -> bool:
        """Whether anything hangs on it: a job that waits or runs, or a moment that has not ended."""
        return bool(self._entries) or self._begun is not None

    def __contains__(self, job: int) -> bool:
        return job in self._entries

    def add(self, job: Job, first: Any, now: float) -> None:
        """Take a job whose first run gave `first`. A few are gathered before the others are made to wait."""
        if not self._entries:
            self._rest_until = max(self._rest_until, now + self._policy.gather_s)
        self._entries[job.id] = _Entry(job, first, now)

    def put_back(self, job: int) -> None:
        """Have a job that was sent wait again: its worker is gone, or gave it back."""
        self._entries[job].sent = False

    def drop(self, job: int) -> Any:
        """Forget a job; return what its first run gave, None where it is not here."""
        entry = self._entries.pop(job, None)
        return None if entry is None else entry.first

    def first_of(self, job: int) -> Any:
        """Return what the first run of a job gave, None where it is not here."""
        entry = self._entries.get(job)
        return None if entry is None else entry.first

    def expired(self, now: float) -> Iterator[Job]:
        """Yield the jobs that have waited too long for their moment."""
        for entry in list(self._entries.values()):
            if not entry.sent and now >= entry.since + self._policy.alone_wait_s:
                yield entry.job

    def holds(self, now: float, *, others: bool) -> bool:
        """Return whether the pool is the lane's now; `others` says that other jobs are queued."""
        if not any(not entry.sent for entry in self._entries.values()):
            self._end(now)
            return False
        if self._begun is None:
            if others and now < self._rest_until:
                return False
            self._begun, self._used = now, False
        elif others and now >= self._begun + self._policy.moment_s:
            self._end(now)
            return False
        return True

    def _end(self, now: float) -> None:
        if self._begun is not None:
            # One that came to nothing, since a worker did not get done, is not tried again so soon.
            rest = (now - self._begun) * (1 if self._used else _PATIENCE)
            self._rest_until = now + max(rest, self._policy.gather_s)
            self._begun = None

    def take(self) -> tuple[Job, Any]:
        """Return the next job and what its first run gave: it is sent now."""
        entry = next(entry for entry in self._entries.values() if not entry.sent)
        entry.sent = self._used = True
        return entry.job, entry.first

    def wake_at(self, *, others: bool) -> float | None:
        """Return when a moment is to begin or to end, or a job has waited too long; None where nothing is due."""
        waiting = [entry for entry in self._entries.values() if not entry.sent]
        if not waiting:
            return None
        times = [waiting[0].since + self._policy.alone_wait_s]
        if others:
            times.append(self._rest_until if self._begun is None else self._begun + self._policy.moment_s)
        return min(times)


#: A moment that came to nothing is followed by so many times its length for the others.
_PATIENCE = 4
