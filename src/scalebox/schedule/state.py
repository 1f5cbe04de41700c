"""The scheduler: a state machine without I/O, clock or thread.

`handle(event, now)` returns instructions; whoever carries them out reports what comes of it as further events.
Each job gets exactly one Resolve, unless its batch gets a BatchFailed; each batch exactly one BatchDone or BatchFailed.

    job      queued ──Send──▶ waiting at a worker ──SampleStarted──▶ running ──SampleDone──▶ resolved
                ▲                     │ Recall, SampleReturned          │ WorkerDown (once)
                └─────────────────────┴─────────────────────────────────┘
             a SampleDone that is doubtful ──▶ in the lane ──Send, when no other job is at a worker──▶ running alone
    worker   starting ──WorkerUp──▶ up ──recycled──▶ draining ──StopWorker──▶ stopping ──WorkerDown──▶ (a new one)

With `join`, a job that is equal to one of another batch waits for that one's result, and runs only if it comes to none.

A job that is resolved before its worker has let go of it (cancelled, past its deadline) stays with the worker as a
ghost: nothing is sent there that would wait for it, and its late result is dropped.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from scalebox.core.verdicts import Verdict
from scalebox.schedule import events as ev
from scalebox.schedule.cost import CostBook
from scalebox.schedule.joins import Joins
from scalebox.schedule.lane import Lane
from scalebox.schedule.queue import FairQueue

_MAX_QUARANTINED = 10_000

#: Blame for a lost worker: the sample that ran there has all of it, one that was about to has some. Two full blames end
#: a sample; a machine that kills workers as they come does not end one that never ran.
_RAN, _WAITED, _ENOUGH = 4, 1, 8

CANCELLED = ev.Synthetic(Verdict.UNKNOWN, "cancelled before it was verified")
OVERDUE = ev.Synthetic(Verdict.UNKNOWN, "the batch's deadline passed before it was verified")
QUARANTINED = ev.Synthetic(
    Verdict.INTERNAL_ERROR, "quarantined: this program with these tests has lost two workers before"
)


class _Held(msgspec.Struct):
    """A job at a worker."""

    job: ev.Job
    since: float
    started: float | None = None
    ghost: bool = False
    recalled: bool = False
    alone: bool = False


class _Worker(msgspec.Struct):
    slot: int
    since: float
    phase: Literal["starting", "up", "draining", "stopping", "killed"] = "starting"
    held: dict[int, _Held] = {}
    done: int = 0
    kill_reason: str = ""

    def first(self) -> _Held | None:
        """Return the job that runs, or is about to."""
        return next(iter(self.held.values()), None)


class Machine:
    """Decides which worker does what, and what becomes of each job."""

    def __init__(self, policy: ev.Policy) -> None:
        self._policy = policy
        self._costs = CostBook()
        self._queue = FairQueue(self._costs, policy.fair_every)
        self._joins = Joins()
        self._lane = Lane(policy)
        self._open: dict[str, dict[int, ev.Job]] = {}  # jobs without a result, by batch
        self._deadlines: list[tuple[float, str]] = []
        self._blame: dict[int, int] = {}
        self._quarantined: OrderedDict[str, None] = OrderedDict()
        self._workers: dict[int, _Worker] = {}
        self._next_worker = 0
        self._failed_starts = 0
        self._closed = False
        self._out: list[ev.Instruction] = []
        self._handlers: dict[type, Callable[[Any, float], None]] = {
            ev.Opened: self._on_opened,
            ev.BatchSubmitted: self._on_submitted,
            ev.BatchCancelled: self._on_cancelled,
            ev.WorkerUp: self._on_up,
            ev.WorkerDown: self._on_down,
            ev.SampleStarted: self._on_started,
            ev.SampleDone: self._on_done,
            ev.SampleReturned: self._on_returned,
            ev.Tick: self._on_tick,
            ev.Shutdown: self._on_shutdown,
        }

    def handle(self, event: ev.Event, now: float) -> list[ev.Instruction]:
        """Return what is to be done, in order. `now` never goes back."""
        self._out = []
        self._handlers[type(event)](event, now)
        if not self._closed and type(event) is not ev.SampleStarted:  # which frees no worker and queues no job
            self._dispatch(now)
            self._rebalance()
        return self._out

    def wake_at(self) -> float | None:
        """Return when a Tick is due, or None where nothing waits for time to pass."""
        while self._deadlines and self._deadlines[0][1] not in self._open:
            heapq.heappop(self._deadlines)
        times = [deadline for deadline, _ in self._deadlines[:1]]
        for worker in self._workers.values():
            times += (alarm for alarm, _ in self._alarms(worker))
        if self._lane and (due := self._lane.wake_at(others=self._queue.peek() is not None)) is not None:
            times.append(due)
        return min(times, default=None)

    @property
    def finished(self) -> bool:
        """True when it is shut down and the last worker is gone."""
        return self._closed and not self._workers

    # --- batches ---------------------------------------------------------------------------------

    def _on_opened(self, _event: ev.Opened, now: float) -> None:
        self._fill_slots(now)

    def _on_submitted(self, event: ev.BatchSubmitted, now: float) -> None:
        self._say(ev.Accepted(event.batch))
        if self._closed:
            self._say(ev.BatchFailed(event.batch, None))
            return
        self._open[event.batch] = {job.id: job for job in event.jobs}
        if event.deadline is not None:
            heapq.heappush(self._deadlines, (event.deadline, event.batch))
        known_bad = [job for job in event.jobs if job.fingerprint in self._quarantined]
        wanted = [job for job in event.jobs if job.fingerprint not in self._quarantined]
        self._queue.add(event.batch, [job for job in wanted if not (self._policy.join and self._joins.joins(job))])
        for job in known_bad:
            self._resolve(job, QUARANTINED)
        if not event.jobs:
            self._end(event.batch)
        if not self._workers:
            self._failed_starts = 0
        self._fill_slots(now)

    def _on_cancelled(self, event: ev.BatchCancelled, now: float) -> None:
        self._abandon(event.batch, CANCELLED, now)

    def _abandon(self, batch_id: str, outcome: ev.Synthetic, now: float) -> None:
        """Resolve what is open of a batch; workers let go of it as they can."""
        if batch_id not in self._open:
            return
        self._queue.drop(batch_id)
        for number, worker in self._workers.items():
            for held in worker.held.values():
                if held.job.batch == batch_id and not held.ghost:
                    held.ghost, held.since = True, now
                    self._say(ev.Cancel(number, held.job.id))
        for job in list(self._open[batch_id].values()):
            self._give(job, outcome)

    def _give(self, job: ev.Job, outcome: ev.Synthetic) -> None:
        """Resolve a job that gets no other run: with what its first gave, if it had one."""
        first = self._lane.first_of(job.id)
        self._resolve(job, outcome if first is None else first)

    def _finish(self, job: ev.Job, result: Any) -> None:
        """Resolve a job that was run, and those that waited for its result."""
        for other in self._joins.leave(job):
            self._resolve(other, result, shared=True)
        self._resolve(job, result)

    def _resolve(self, job: ev.Job, result: Any, *, shared: bool = False) -> None:
        self._blame.pop(job.id, None)
        self._lane.drop(job.id)
        jobs = self._open[job.batch]
        del jobs[job.id]
        self._say(ev.Resolve(job.id, result, shared))
        if not jobs:
            self._end(job.batch)
        for other in self._joins.leave(job):  # what ended this one is no business of theirs: one of them runs
            if not self._joins.joins(other):
                self._queue.hurry(other)

    def _end(self, batch_id: str) -> None:
        del self._open[batch_id]
        self._say(ev.BatchDone(batch_id))

    def _fail_batches(self, failure: ev.Failure | None) -> None:
        for worker in self._workers.values():
            for held in worker.held.values():
                held.ghost = True
        for batch_id in list(self._open):
            for job in self._open.pop(batch_id):
                self._lane.drop(job)
            self._queue.drop(batch_id)
            self._say(ev.BatchFailed(batch_id, failure))
        self._blame.clear()
        self._joins.clear()

    # --- jobs at workers -------------------------------------------------------------------------

    def _on_started(self, event: ev.SampleStarted, now: float) -> None:
        held = self._held(event.worker, event.job)
        if held is not None:
            held.started, held.recalled = now, False
            if not held.ghost:
                self._say(ev.Begun(event.job))

    def _on_done(self, event: ev.SampleDone, now: float) -> None:
        held = self._held(event.worker, event.job)
        if held is None:
            return
        self._let_go(event, now)
        worker = self._workers[event.worker]
        worker.done += 1
        self._failed_starts = 0
        if not held.ghost:
            self._take(held, event, now)
        self._retire_if_due(event.worker, now)

    def _take(self, held: _Held, event: ev.SampleDone, now: float) -> None:
        job = held.job
        if held.alone:
            self._finish(job, event.result)
            return
        self._costs.learn(job.group, job.cases, now - (held.since if held.started is None else held.started))
        self._queue.learned(job.group)
        if event.doubtful:
            self._lane.add(job, event.result, now)
        else:
            self._finish(job, event.result)

    def _on_returned(self, event: ev.SampleReturned, now: float) -> None:
        held = self._held(event.worker, event.job)
        if held is None:
            return
        self._let_go(event, now)
        if not held.ghost:
            self._wait_again(held.job)
        self._retire_if_due(event.worker, now)

    def _wait_again(self, job: ev.Job) -> None:
        if job.id in self._lane:
            self._lane.put_back(job.id)
        else:
            self._queue.hurry(job)

    def _let_go(self, event: ev.SampleDone | ev.SampleReturned, now: float) -> None:
        """Take a job from a worker; the time of the one that now comes first begins."""
        worker = self._workers[event.worker]
        was_first = worker.first()
        del worker.held[event.job]
        first = worker.first()
        if first is not None and first is not was_first:
            first.since = now

    def _retire_if_due(self, number: int, now: float) -> None:
        worker = self._workers[number]
        if worker.phase == "up" and worker.done >= self._policy.recycle_after:
            worker.phase = "draining"
        if worker.phase == "draining" and not worker.held:
            worker.phase, worker.since = "stopping", now
            self._say(ev.StopWorker(number))

    def _held(self, number: int, job: int) -> _Held | None:
        worker = self._workers.get(number)
        return None if worker is None else worker.held.get(job)

    # --- sending ---------------------------------------------------------------------------------

    def _dispatch(self, now: float) -> None:
        for late in list(self._lane.expired(now)):
            self._finish(late, self._lane.first_of(late.id))
        while self._lane and self._lane.holds(now, others=self._queue.peek() is not None):
            idle = [number for number, worker in self._workers.items() if worker.phase == "up"]
            if not idle or any(worker.held for worker in self._workers.values()):
                return
            again, first = self._lane.take()
            self._workers[idle[0]].held[again.id] = _Held(again, now, alone=True)
            self._say(ev.Send(idle[0], again.id, first))
        if any(held.alone and not held.ghost for worker in self._workers.values() for held in worker.held.values()):
            return
        while (job := self._queue.peek(builds=(builds := self._may_build()))) is not None:
            if job.fingerprint in self._quarantined:
                self._queue.pop(builds=builds)
                self._resolve(job, QUARANTINED)
                continue
            number = self._taker(job, now)
            if number is None:
                return
            self._queue.pop(builds=builds)
            self._workers[number].held[job.id] = _Held(job, now)
            self._say(ev.Send(number, job.id))

    def _may_build(self) -> bool:
        """Return whether jobs that build may have one more worker, though others wait: one is kept from them."""
        up = sum(worker.phase == "up" for worker in self._workers.values())
        building = sum(held.job.builds for worker in self._workers.values() for held in worker.held.values())
        return building < max(1, up - 1)

    def _taker(self, job: ev.Job, now: float) -> int | None:
        """Return an idle worker, else, for a small job, one that is soon done, else None."""
        small = self._is_small(job)
        best: tuple[int, int] | None = None
        for number, worker in self._workers.items():
            if worker.phase != "up":
                continue
            if not worker.held:
                return number
            if small and len(worker.held) <= self._policy.prefetch and self._is_brisk(worker, now):
                best = min(best or (len(worker.held), number), (len(worker.held), number))
        return None if best is None else best[1]

    def _is_small(self, job: ev.Job) -> bool:
        if job.id in self._blame:
            return False  # it has lost a worker: nothing may wait with it
        return self._costs.estimate(job.group, job.cases) <= self._policy.small_s

    def _is_brisk(self, worker: _Worker, now: float) -> bool:
        first = worker.first()
        if first is not None and now - first.since > self._policy.stuck_s:
            return False
        return all(not held.ghost and self._is_small(held.job) for held in worker.held.values())

    def _rebalance(self) -> None:
        """Recall jobs that wait behind others, one for each idle worker."""
        if self._queue.peek() is not None:
            return
        idle = sum(worker.phase == "up" and not worker.held for worker in self._workers.values())
        for number, worker in self._workers.items():
            for held in list(worker.held.values())[1:]:
                if idle <= 0:
                    return
                idle -= 1
                if not held.recalled and not held.ghost:
                    held.recalled = True
                    self._say(ev.Recall(number, held.job.id))

    # --- workers ---------------------------------------------------------------------------------

    def _fill_slots(self, now: float) -> None:
        taken = {worker.slot for worker in self._workers.values()}
        for slot in range(self._policy.workers):
            if slot not in taken:
                self._start(slot, now)

    def _start(self, slot: int, now: float) -> None:
        number = self._next_worker
        self._next_worker += 1
        self._workers[number] = _Worker(slot, now)
        self._say(ev.StartWorker(number, slot))

    def _on_up(self, event: ev.WorkerUp, _now: float) -> None:
        worker = self._workers.get(event.worker)
        if worker is not None and worker.phase == "starting":
            worker.phase = "up"

    def _on_down(self, event: ev.WorkerDown, now: float) -> None:
        worker = self._workers.pop(event.worker, None)
        if worker is None:
            return
        expected = worker.phase == "stopping"
        failure = ev.Failure(reason=worker.kill_reason) if worker.kill_reason else event.failure
        suspect = worker.first()
        if not expected:
            known = suspect is not None and not suspect.ghost
            self._say(ev.Lost(event.worker, failure.reason, suspect.job.id if suspect and known else None))
        for held in worker.held.values():
            if not held.ghost:
                self._take_back(held, held is suspect, failure)
        if self._closed:
            return
        if expected or suspect is not None or worker.done:
            self._start(worker.slot, now)
        else:
            self._on_failed_start(worker.slot, failure, now)

    def _take_back(self, held: _Held, suspect: bool, failure: ev.Failure) -> None:
        """Queue a lost worker's job again; the one that ran, and had run at another lost one, is given up."""
        job = held.job
        if suspect:
            self._blame[job.id] = self._blame.get(job.id, 0) + (_WAITED if held.started is None else _RAN)
        if self._blame.get(job.id, 0) < _ENOUGH:
            self._wait_again(job)
            return
        self._quarantined[job.fingerprint] = None
        if len(self._quarantined) > _MAX_QUARANTINED:
            self._quarantined.popitem(last=False)
        self._say(ev.Quarantine(job.id))
        message = f"the worker was lost twice while it verified this sample: {failure.reason}"
        self._resolve(job, ev.Synthetic(Verdict.INTERNAL_ERROR, message))

    def _on_failed_start(self, slot: int, failure: ev.Failure, now: float) -> None:
        """Try again, but not for ever: a pool of which no worker starts gives up what is queued."""
        self._failed_starts += 1
        hopeless = failure.sandbox or self._failed_starts >= self._policy.max_failed_starts
        if not hopeless:
            self._start(slot, now)
        elif not self._workers:
            self._give_up(failure)

    def _give_up(self, failure: ev.Failure) -> None:
        if failure.sandbox:
            self._fail_batches(failure)
            return
        outcome = ev.Synthetic(Verdict.INTERNAL_ERROR, f"no worker can be started: {failure.reason}")
        for batch_id, jobs in list(self._open.items()):
            self._queue.drop(batch_id)
            for job in list(jobs.values()):
                self._give(job, outcome)

    def _on_shutdown(self, _event: ev.Shutdown, now: float) -> None:
        self._closed = True
        self._fail_batches(None)
        for number, worker in self._workers.items():
            if worker.phase in ("up", "draining", "starting"):
                worker.phase, worker.since = "stopping", now
                self._say(ev.StopWorker(number))

    # --- time ------------------------------------------------------------------------------------

    def _on_tick(self, _event: ev.Tick, now: float) -> None:
        while self._deadlines and self._deadlines[0][0] <= now:
            self._abandon(heapq.heappop(self._deadlines)[1], OVERDUE, now)
        for number, worker in list(self._workers.items()):
            for alarm, reason in list(self._alarms(worker)):
                if now >= alarm:
                    self._ring(number, worker, reason)

    def _ring(self, number: int, worker: _Worker, reason: str) -> None:
        if reason:
            worker.phase, worker.kill_reason = "killed", reason
            self._say(ev.KillWorker(number, reason))
            return
        for held in list(worker.held.values())[1:]:
            if not held.recalled and not held.ghost:
                held.recalled = True
                self._say(ev.Recall(number, held.job.id))

    def _alarms(self, worker: _Worker) -> Iterator[tuple[float, str]]:
        """Yield when a worker has had its time, and why it is to be killed then; "" is only to be relieved."""
        policy = self._policy
        if worker.phase == "killed":
            return
        if worker.phase == "starting":
            yield worker.since + policy.start_s, f"it was not ready within {policy.start_s:g} s"
        if worker.phase == "stopping":
            yield worker.since + policy.stop_s, f"it did not stop within {policy.stop_s:g} s"
        first = worker.first()
        if first is None:
            return
        if first.ghost:
            yield first.since + policy.cancel_s, f"it did not let go of a cancelled sample within {policy.cancel_s:g} s"
        else:
            budget = first.job.budget_s * (policy.alone_budget if first.alone else 1.0)
            yield first.since + budget, f"it did not report within {budget:g} s"
        if len(self._workers) > 1 and any(
            not held.recalled and not held.ghost for held in list(worker.held.values())[1:]
        ):
            yield first.since + policy.stuck_s, ""

    def _say(self, instruction: ev.Instruction) -> None:
        self._out.append(instruction)
