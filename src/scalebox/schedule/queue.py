"""The order in which jobs go to workers: batches by age, inside a batch the dearest group first."""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterable

from scalebox.schedule.cost import CostBook
from scalebox.schedule.events import Job

#: An estimate that moves by less than this share does not change the order.
_NOTABLE = 0.1


#: Jobs that are expected to cost alike, and whether they build.
_Key = tuple[str, bool]


class BatchQueue:
    """The jobs of one batch, group by group, the group that should take longest first; those that build apart."""

    def __init__(self, costs: CostBook) -> None:
        self._costs = costs
        self._groups: dict[_Key, deque[Job]] = {}
        self._ranks: dict[_Key, float] = {}
        self._heaps: dict[bool, list[tuple[float, int, _Key]]] = {False: [], True: []}

    def __bool__(self) -> bool:
        return bool(self._groups)

    @property
    def groups(self) -> set[str]:
        """The groups that have jobs here."""
        return {group for group, _ in self._groups}

    def has(self, group: str) -> bool:
        """Return whether a group has jobs here."""
        return (group, False) in self._groups or (group, True) in self._groups

    def add(self, job: Job) -> None:
        """Queue a job."""
        key = (job.group, job.builds)
        if key in self._groups:
            self._groups[key].append(job)
            return
        self._groups[key] = deque([job])
        self._rank(key, self._costs.estimate(job.group, job.cases))

    def learned(self, group: str) -> None:
        """Put a group in its new place, after its estimate has changed."""
        for key in ((group, False), (group, True)):
            if key in self._groups:
                rank = self._costs.estimate(group, self._groups[key][0].cases)
                if abs(rank - self._ranks[key]) > _NOTABLE * self._ranks[key]:
                    self._rank(key, rank)

    def peek(self, *, builds: bool = True) -> Job | None:
        """Return the next job, one that does not build unless `builds`, or None."""
        firsts = [self._first(kind) for kind in ((False, True) if builds else (False,))]
        best = min((first for first in firsts if first is not None), default=None)
        return None if best is None else self._groups[best[2]][0]

    def take(self, job: Job) -> None:
        """Take out a job that is the next one."""
        key = (job.group, job.builds)
        jobs = self._groups[key]
        jobs.popleft()
        if not jobs:
            del self._groups[key], self._ranks[key]

    def _first(self, builds: bool) -> tuple[float, int, _Key] | None:
        heap = self._heaps[builds]
        while heap:
            rank, _, key = heap[0]
            if key in self._groups and self._ranks[key] == -rank:
                return heap[0]
            heapq.heappop(heap)  # the group is used up, or has another place by now
        return None

    def _rank(self, key: _Key, rank: float) -> None:
        self._ranks[key] = rank
        heapq.heappush(self._heaps[key[1]], (-rank, self._groups[key][0].id, key))


class FairQueue:
    """The jobs of all batches. The oldest batch comes first, but every `fair_every`-th job is of each batch in turn."""

    def __init__(self, costs: CostBook, fair_every: int) -> None:
        self._costs = costs
        self._fair_every = fair_every
        self._batches: OrderedDict[str, BatchQueue] = OrderedDict()
        self._turns: deque[str] = deque()
        self._urgent: deque[Job] = deque()
        self._holders: dict[str, set[str]] = {}
        self._popped = 0

    def add(self, batch: str, jobs: Iterable[Job]) -> None:
        """Queue the jobs of a new batch."""
        queue = BatchQueue(self._costs)
        for job in jobs:
            queue.add(job)
        if not queue:
            return
        self._batches[batch] = queue
        self._turns.append(batch)
        for group in queue.groups:
            self._holders.setdefault(group, set()).add(batch)

    def hurry(self, job: Job) -> None:
        """Queue a job that has had its turn before: it comes next."""
        self._urgent.append(job)

    def drop(self, batch: str) -> None:
        """Forget the jobs of a batch."""
        queue = self._batches.pop(batch, None)
        for group in queue.groups if queue is not None else ():
            self._release(group, batch)
        self._urgent = deque(job for job in self._urgent if job.batch != batch)

    def learned(self, group: str) -> None:
        """Reorder, after the estimate of a group has changed."""
        for batch in self._holders.get(group, ()):
            self._batches[batch].learned(group)

    def peek(self, *, builds: bool = True) -> Job | None:
        """Return the job that `pop` would take, or None. Without `builds`, those that build come after all others."""
        job = self._peek(builds=builds)
        return self._peek(builds=True) if job is None and not builds else job

    def pop(self, *, builds: bool = True) -> Job:
        """Take the next job out, as `peek` says; raises LookupError when there is none."""
        job = self.peek(builds=builds)
        if job is None:
            raise LookupError("no job is queued")
        if job in self._urgent:
            self._urgent.remove(job)
            return job
        if self._fair_turn():
            self._turns.remove(job.batch)
            self._turns.append(job.batch)
        self._popped += 1
        queue = self._batches[job.batch]
        queue.take(job)
        if not queue.has(job.group):
            self._release(job.group, job.batch)
        if not queue:
            del self._batches[job.batch]
        return job

    def _fair_turn(self) -> bool:
        return self._popped % self._fair_every == self._fair_every - 1

    def _peek(self, *, builds: bool) -> Job | None:
        for urgent in self._urgent:
            if builds or not urgent.builds:
                return urgent
        while self._turns and self._turns[0] not in self._batches:
            self._turns.popleft()
        for batch in self._turns if self._fair_turn() else self._batches:
            queue = self._batches.get(batch)
            job = None if queue is None else queue.peek(builds=builds)
            if job is not None:
                return job
        return None

    def _release(self, group: str, batch: str) -> None:
        holders = self._holders[group]
        holders.discard(batch)
        if not holders:
            del self._holders[group]
