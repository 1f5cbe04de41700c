"""The scheduler driven at random, against a model that knows only what it was told."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scalebox.core.verdicts import DOUBTFUL, Verdict
from scalebox.schedule import events as ev
from scalebox.schedule import state
from scalebox.schedule.state import Machine

RESULT, DOUBTFUL_RESULT = "a result", "a result that leaves something in doubt"
#: What a moment may last, and the longest time that passes here between two looks.
LONGEST_MOMENT_S = ev.Policy().moment_s + 40.0


class Scheduling(RuleBasedStateMachine):
    """Plays engine, workers and clock; carries out instructions as the pool would."""

    #: Whether jobs may now be given up.
    given_up = False

    @initialize(
        workers=st.integers(1, 4),
        prefetch=st.integers(0, 2),
        recycle_after=st.integers(1, 6),
        small_s=st.sampled_from([0.0, 0.1, 100.0]),
        alone_wait_s=st.sampled_from([0.0, 20.0, 600.0]),
    )
    def open(self, workers: int, prefetch: int, recycle_after: int, small_s: float, alone_wait_s: float) -> None:
        self.now = 0.0
        self.size = workers
        self.policy = ev.Policy(
            workers=workers,
            prefetch=prefetch,
            recycle_after=recycle_after,
            small_s=small_s,
            alone_wait_s=alone_wait_s,
        )
        self.machine = Machine(self.policy)
        self.jobs: dict[int, ev.Job] = {}
        self.open_jobs: set[int] = set()
        self.batches: dict[str, str] = {}
        self.workers: dict[int, str] = {}  # starting, up, stopping
        self.at: dict[int, list[int]] = {}  # jobs at each worker, in order; the first may be running
        self.running: dict[int, int] = {}
        self.mail: dict[int, list[Any]] = {}  # recalls and cancels that a worker has not read yet
        self.losses: dict[int, int] = {}
        self.doubtful: set[int] = set()  # jobs whose first run left something in doubt
        self.alone: set[int] = set()  # of these, those that are at a worker again
        self.held_back_since: float | None = None  # since when an idle worker got nothing though jobs are queued
        self.tell(ev.Opened())

    # --- the pool's part -------------------------------------------------------------------------

    def tell(self, event: ev.Event) -> None:
        for instruction in self.machine.handle(event, self.now):
            self.obey(instruction)

    def obey(self, instruction: ev.Instruction) -> None:
        match instruction:
            case ev.StartWorker(worker, slot):
                assert worker not in self.workers
                assert 0 <= slot < self.size
                self.workers[worker], self.at[worker], self.mail[worker] = "starting", [], []
            case ev.Send(worker, job, first):
                self.check_send(worker, job, first)
                self.at[worker].append(job)
            case ev.Recall(worker, job) | ev.Cancel(worker, job):
                assert job in self.at[worker]
                self.mail[worker].append(instruction)
            case ev.StopWorker(worker):
                assert self.workers[worker] in ("up", "starting")
                self.workers[worker] = "stopping"
            case ev.KillWorker(worker, reason):
                assert reason
                self.gone(worker)
            case ev.Resolve(job, result):
                self.check_result(job, result)
                self.open_jobs.discard(job)
                self.alone.discard(job)
            case ev.BatchDone(batch):
                assert self.batches[batch] == "open"
                assert not any(self.jobs[job].batch == batch for job in self.open_jobs)
                self.batches[batch] = "done"
            case ev.BatchFailed(batch):
                assert self.batches[batch] == "open"
                self.batches[batch] = "failed"
                self.open_jobs = {job for job in self.open_jobs if self.jobs[job].batch != batch}
                self.alone &= self.open_jobs
            case ev.Quarantine(job):
                assert self.losses[job] >= 8

    def check_send(self, worker: int, job: int, first: Any) -> None:
        assert first == (DOUBTFUL_RESULT if job in self.doubtful else None)
        assert not self.alone, "a job that runs alone has no company"
        if first is not None:
            assert not any(self.at.values()), "a job that is to run alone waits for all others"
            self.alone.add(job)
        assert self.workers[worker] == "up", "no work for a worker that is not up"
        assert job in self.open_jobs, "no work on what is resolved"
        assert all(job not in held for held in self.at.values()), "no job twice at the same time"
        assert len(self.at[worker]) <= self.policy.prefetch
        if first is None:
            self.check_builds(job)

    def check_result(self, job: int, result: Any) -> None:
        assert job in self.open_jobs, "exactly one result"
        if job in self.doubtful:
            assert not isinstance(result, ev.Synthetic) or result.verdict == Verdict.INTERNAL_ERROR
            assert result != DOUBTFUL_RESULT or job not in self.alone or self.given_up, "no run alone, no label"
        else:
            assert result == RESULT or isinstance(result, ev.Synthetic)

    def check_builds(self, job: int) -> None:
        """A job that builds gets no worker that is kept for the others, while one of those waits."""
        held = [other for jobs in self.at.values() for other in jobs]
        queued = self.open_jobs.difference(held, self.doubtful)
        others = [other for other in queued if not self.jobs[other].builds]
        up = sum(phase == "up" for phase in self.workers.values())
        if self.jobs[job].builds and others:
            assert sum(self.jobs[other].builds for other in held) < max(1, up - 1)

    def gone(self, worker: int) -> None:
        held = [job for job in self.at.pop(worker) if job in self.open_jobs]
        self.alone.difference_update(held)
        ran = self.running.pop(worker, None)
        first = held[0] if ran is None and held else ran
        if first is not None:
            self.losses[first] = self.losses.get(first, 0) + (1 if ran is None else 4)
        del self.workers[worker], self.mail[worker]
        self.tell(ev.WorkerDown(worker, ev.Failure(reason="it is gone")))

    def some(self, data: st.DataObject, *, busy: bool) -> int | None:
        """Return a worker that is up and has, or has not, a running job."""
        fit = [
            worker
            for worker, phase in self.workers.items()
            if phase == "up" and (worker in self.running) == busy and self.at[worker]
        ]
        return data.draw(st.sampled_from(fit)) if fit else None

    # --- what may happen -------------------------------------------------------------------------

    @rule(
        groups=st.lists(st.sampled_from("abcd"), max_size=6),
        deadline=st.none() | st.floats(0.1, 50),
        bad=st.booleans(),
        builds=st.integers(0, 63),
    )
    def submit(self, groups: list[str], deadline: float | None, bad: bool, builds: int) -> None:
        batch = f"batch {len(self.batches)}"
        first = len(self.jobs) + 1
        jobs = tuple(
            ev.Job(
                id=first + n,
                batch=batch,
                group=group,
                fingerprint=f"{group}{bad}",
                cases=n + 1,
                budget_s=30.0,
                builds=bool(builds >> n & 1),
            )
            for n, group in enumerate(groups)
        )
        self.jobs |= {job.id: job for job in jobs}
        self.open_jobs |= {job.id for job in jobs}
        self.batches[batch] = "open"
        self.tell(ev.BatchSubmitted(batch, jobs, None if deadline is None else self.now + deadline))

    @rule(data=st.data())
    def worker_comes_up(self, data: st.DataObject) -> None:
        starting = [worker for worker, phase in self.workers.items() if phase == "starting"]
        if starting:
            worker = data.draw(st.sampled_from(starting))
            self.workers[worker] = "up"
            self.tell(ev.WorkerUp(worker))

    @rule(data=st.data())
    def worker_begins(self, data: st.DataObject) -> None:
        worker = self.some(data, busy=False)
        if worker is not None:
            self.running[worker] = self.at[worker][0]
            self.tell(ev.SampleStarted(worker, self.at[worker][0]))

    @rule(data=st.data(), takes=st.floats(0, 5), doubtful=st.booleans())
    def worker_finishes(self, data: st.DataObject, takes: float, doubtful: bool) -> None:
        worker = self.some(data, busy=True)
        if worker is not None:
            self.now += takes
            self.finish(worker, self.running.pop(worker), doubtful=doubtful)

    def finish(self, worker: int, job: int, *, doubtful: bool = False) -> None:
        """A run alone settles what was in doubt; what comes of a job that is resolved by then is of no interest."""
        self.at[worker].remove(job)
        first = doubtful and job in self.open_jobs and job not in self.doubtful
        if first:
            self.doubtful.add(job)
        self.tell(ev.SampleDone(worker, job, DOUBTFUL_RESULT if first else RESULT, doubtful=doubtful))

    @rule(data=st.data())
    def worker_reads_its_mail(self, data: st.DataObject) -> None:
        workers = [worker for worker, mail in self.mail.items() if mail]
        if workers:
            worker = data.draw(st.sampled_from(workers))
            job = self.mail[worker].pop(0).job
            if job in self.at[worker] and self.running.get(worker) != job:
                self.at[worker].remove(job)
                self.alone.discard(job)
                self.tell(ev.SampleReturned(worker, job))

    @rule(data=st.data())
    def worker_dies(self, data: st.DataObject) -> None:
        if self.workers:
            self.gone(data.draw(st.sampled_from(sorted(self.workers))))

    @rule(data=st.data())
    def batch_is_cancelled(self, data: st.DataObject) -> None:
        if self.batches:
            self.given_up = True
            self.tell(ev.BatchCancelled(data.draw(st.sampled_from(sorted(self.batches)))))
            self.given_up = False

    @rule(seconds=st.floats(0, 40))
    def time_passes(self, seconds: float) -> None:
        until = self.now + seconds
        self.given_up = True  # deadlines pass
        while (due := self.machine.wake_at()) is not None and due <= until:
            self.now = max(self.now, due)
            self.tell(ev.Tick())
        self.given_up = False
        self.now = until

    @rule(worker=st.integers(0, 50), job=st.integers(1, 50))
    def stray_messages_do_nothing(self, worker: int, job: int) -> None:
        if worker not in self.workers:
            for event in (ev.WorkerUp(worker), ev.SampleStarted(worker, job), ev.SampleDone(worker, job, RESULT)):
                self.tell(event)

    # --- what always holds -----------------------------------------------------------------------

    @invariant()
    @precondition(lambda self: hasattr(self, "machine"))
    def no_worker_idles_while_jobs_wait(self) -> None:
        held = {job for jobs in self.at.values() for job in jobs}
        idle = [worker for worker, phase in self.workers.items() if phase == "up" and not self.at[worker]]
        queued, lane = self.open_jobs - held - self.doubtful, (self.doubtful & self.open_jobs) - held
        held_back = bool(queued and idle)
        assert not held_back or lane or self.alone, "only for one that is to run alone may others wait"
        assert not (lane and not queued and not held and idle), "nobody is to be waited for"
        if held_back and not self.alone:
            assert self.machine.wake_at() is not None
            if self.held_back_since is None:
                self.held_back_since = self.now
            assert self.now - self.held_back_since < LONGEST_MOMENT_S, "those in doubt starve the others"
        else:
            self.held_back_since = None

    @invariant()
    @precondition(lambda self: hasattr(self, "machine"))
    def a_batch_is_open_as_long_as_a_job_is(self) -> None:
        for batch, where in self.batches.items():
            assert (where == "open") == any(self.jobs[job].batch == batch for job in self.open_jobs)

    def teardown(self) -> None:
        """Let well-behaved workers finish: everything comes to rest, and every job has had its result."""
        if not hasattr(self, "machine"):
            return
        for _ in range(2000):
            if not self.step():
                break
        assert not self.open_jobs
        assert "open" not in self.batches.values()
        self.tell(ev.Shutdown())
        for worker in list(self.workers):
            self.gone(worker)
        assert self.machine.finished
        assert self.machine.wake_at() is None

    def step(self) -> bool:
        """Have each worker do one thing; false when nothing is left to do."""
        busy = False
        for worker, phase in list(self.workers.items()):
            if worker not in self.workers:
                continue
            if phase == "starting":
                self.workers[worker] = "up"
                self.tell(ev.WorkerUp(worker))
            elif phase == "stopping":
                self.gone(worker)
            elif self.at[worker]:
                job = self.at[worker][0]
                if self.running.get(worker) != job:
                    self.tell(ev.SampleStarted(worker, job))
                self.running.pop(worker, None)
                self.finish(worker, job)
            else:
                continue
            busy = True
        if not busy and self.open_jobs and self.workers and (due := self.machine.wake_at()) is not None:
            self.now = max(self.now, due)
            self.tell(ev.Tick())
            return True
        if not busy and self.open_jobs and not self.workers:
            self.batches["last"] = "open"  # a pool that gave up tries again with the next batch
            self.tell(ev.BatchSubmitted("last", ()))
            return True
        return busy


Scheduling.TestCase.settings = settings(max_examples=100, stateful_step_count=40)
TestScheduling = Scheduling.TestCase


def test_synthetic_results_are_doubtful() -> None:
    assert {state.CANCELLED.verdict, state.OVERDUE.verdict, state.QUARANTINED.verdict} <= DOUBTFUL
    assert state.QUARANTINED.verdict == Verdict.INTERNAL_ERROR
