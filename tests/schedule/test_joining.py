"""Equal jobs of several batches: they run once, and what befalls one of them is none of the others' business."""

from __future__ import annotations

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scalebox.core.verdicts import Verdict
from scalebox.schedule import events as ev
from scalebox.schedule.state import CANCELLED, OVERDUE, Machine


def _policy(workers: int = 2, *, join: bool = True) -> ev.Policy:
    return ev.Policy(workers=workers, prefetch=0, join=join)


class Joining(RuleBasedStateMachine):
    """Batches that share programs, on workers that come, finish, die and are slow; each run has a result of its own."""

    @initialize(workers=st.integers(1, 3), prefetch=st.integers(0, 2))
    def open(self, workers: int, prefetch: int) -> None:
        self.now = 0.0
        self.machine = Machine(ev.Policy(workers=workers, prefetch=prefetch, join=True, small_s=100.0))
        self.jobs: dict[int, ev.Job] = {}
        self.results: dict[int, object] = {}
        self.deadlines: dict[str, float] = {}
        self.cancelled: set[str] = set()
        self.ended: Counter[str] = Counter()
        self.up: set[int] = set()
        self.starting: set[int] = set()
        self.at: dict[int, list[int]] = {}
        self.runs = 0
        self.ran: dict[str, str] = {}  # what each run gave, and of which program
        self.tell(ev.Opened())

    def tell(self, event: ev.Event) -> None:
        for instruction in self.machine.handle(event, self.now):
            match instruction:
                case ev.StartWorker(worker):
                    self.starting.add(worker)
                    self.at[worker] = []
                case ev.Send(worker, job):
                    self.check_not_twice(job)
                    self.at[worker].append(job)
                case ev.Resolve(job, result, shared):
                    self.check_result(job, result, shared=shared)
                case ev.BatchDone(batch):
                    self.ended[batch] += 1
                case ev.KillWorker(worker):
                    self.gone(worker)

    def check_not_twice(self, job: int) -> None:
        """No two batches have the same program run at once, but for one that is given up and not let go of yet."""
        own = self.jobs[job]
        for other in (self.jobs[held] for jobs in self.at.values() for held in jobs):
            wanted = other.id not in self.results
            assert not (wanted and other.fingerprint == own.fingerprint and other.batch != own.batch)

    def check_result(self, job: int, result: object, *, shared: bool) -> None:
        assert job not in self.results, "exactly one result"
        own = self.jobs[job]
        if result is CANCELLED:
            assert own.batch in self.cancelled, "only what was asked for is cancelled"
        elif result is OVERDUE:
            assert self.deadlines[own.batch] <= self.now
        elif isinstance(result, ev.Synthetic):
            assert result.verdict == Verdict.INTERNAL_ERROR
        else:
            assert self.ran[str(result)] == own.fingerprint, "of the same program"
            given = [other for other, past in self.results.items() if past == result]
            assert shared or not any(self.jobs[other].batch == own.batch for other in given)
        self.results[job] = result

    def gone(self, worker: int) -> None:
        self.at.pop(worker)
        self.up.discard(worker)
        self.starting.discard(worker)
        self.tell(ev.WorkerDown(worker, ev.Failure(reason="it is gone")))

    # Equal ones of one batch are the engine's to join.
    @rule(programs=st.lists(st.sampled_from("abcd"), min_size=1, unique=True), deadline=st.none() | st.floats(0.1, 30))
    def submit(self, programs: list[str], deadline: float | None) -> None:
        batch = f"batch {len(self.deadlines)}"
        first = len(self.jobs) + 1
        jobs = tuple(
            ev.Job(id=first + n, batch=batch, group=program, fingerprint=program) for n, program in enumerate(programs)
        )
        self.jobs |= {job.id: job for job in jobs}
        self.deadlines[batch] = float("inf") if deadline is None else self.now + deadline
        self.tell(ev.BatchSubmitted(batch, jobs, None if deadline is None else self.now + deadline))

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        if self.deadlines:
            batch = data.draw(st.sampled_from(sorted(self.deadlines)))
            self.cancelled.add(batch)
            self.tell(ev.BatchCancelled(batch))

    @rule(data=st.data())
    def a_worker_goes_on(self, data: st.DataObject) -> None:
        if self.at:
            self.go_on(data.draw(st.sampled_from(sorted(self.at))))

    def go_on(self, worker: int) -> bool:
        if worker in self.starting:
            self.starting.discard(worker)
            self.up.add(worker)
            self.tell(ev.WorkerUp(worker))
        elif self.at[worker]:
            job = self.at[worker][0]
            self.tell(ev.SampleStarted(worker, job))
            self.at[worker].pop(0)
            self.runs += 1
            result = f"of run {self.runs}"
            self.ran[result] = self.jobs[job].fingerprint
            self.tell(ev.SampleDone(worker, job, result))
        else:
            return False
        return True

    @rule(data=st.data())
    def a_worker_dies(self, data: st.DataObject) -> None:
        if self.at:
            self.gone(data.draw(st.sampled_from(sorted(self.at))))

    @rule(seconds=st.floats(0, 20))
    def time_passes(self, seconds: float) -> None:
        until = self.now + seconds
        while (due := self.machine.wake_at()) is not None and due <= until:
            self.now = max(self.now, due)
            self.tell(ev.Tick())
        self.now = until

    @invariant()
    @precondition(lambda self: hasattr(self, "machine"))
    def no_worker_idles_while_a_program_waits(self) -> None:
        held = {self.jobs[job].fingerprint for jobs in self.at.values() for job in jobs if job not in self.results}
        waiting = {job.fingerprint for job in self.jobs.values() if job.id not in self.results} - held
        assert not (waiting and any(not self.at[worker] for worker in self.up))

    def teardown(self) -> None:
        """Every job comes to its result, and every batch to one end."""
        if not hasattr(self, "machine"):
            return
        for _ in range(2000):
            if not any(self.go_on(worker) for worker in list(self.at)):
                break
        if not self.at:  # the pool had given up; it tries again with the next batch
            self.tell(ev.BatchSubmitted("last", ()))
            self.deadlines["last"] = float("inf")
        assert set(self.results) == set(self.jobs)
        assert self.ended == Counter(dict.fromkeys(self.deadlines, 1))


Joining.TestCase.settings = settings(max_examples=80, stateful_step_count=30)
TestJoining = Joining.TestCase


def _job(number: int, batch: str) -> ev.Job:
    return ev.Job(id=number, batch=batch, group="g", fingerprint="same")


def _sent(instructions: list[ev.Instruction]) -> list[int]:
    return [one.job for one in instructions if isinstance(one, ev.Send)]


def _two_batches(*, join: bool = True) -> tuple[Machine, list[int]]:
    """Return a machine with one equal job of two batches each, and which were sent to a worker."""
    machine = Machine(_policy(join=join))
    for event in (ev.Opened(), ev.WorkerUp(0), ev.WorkerUp(1)):
        machine.handle(event, 0.0)
    sent = _sent(machine.handle(ev.BatchSubmitted("first", (_job(1, "first"),)), 0.0))
    return machine, sent + _sent(machine.handle(ev.BatchSubmitted("second", (_job(2, "second"),)), 0.0))


def test_without_joining_both_run() -> None:
    assert _two_batches(join=False)[1] == [1, 2]


def test_one_run_serves_both_and_the_copy_comes_first() -> None:
    machine, sent = _two_batches()
    assert sent == [1]
    given = [one for one in machine.handle(ev.SampleDone(0, 1, "it"), 1.0) if isinstance(one, ev.Resolve)]
    assert given == [ev.Resolve(2, "it", True), ev.Resolve(1, "it", False)]


def test_the_second_runs_where_the_first_is_cancelled() -> None:
    machine, _ = _two_batches()
    said = machine.handle(ev.BatchCancelled("first"), 1.0)
    assert ev.Resolve(1, CANCELLED) in said
    assert _sent(said) == [2]
    assert ev.Resolve(2, "it") in machine.handle(ev.SampleDone(1, 2, "it"), 2.0)


def test_the_first_goes_on_where_the_second_is_cancelled() -> None:
    machine, _ = _two_batches()
    said = machine.handle(ev.BatchCancelled("second"), 1.0)
    assert not any(isinstance(one, ev.Cancel) for one in said)
    assert machine.handle(ev.SampleDone(0, 1, "it"), 2.0) == [ev.Resolve(1, "it"), ev.BatchDone("first")]
