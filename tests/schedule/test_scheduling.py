"""What the scheduler promises, one promise at a time."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.verdicts import Verdict
from scalebox.schedule import events as ev
from scalebox.schedule.cost import CostBook
from scalebox.schedule.queue import FairQueue
from scalebox.schedule.state import Machine


class Bench:
    """A machine with a clock, and what it said."""

    def __init__(self, **policy: Any) -> None:
        self.machine = Machine(ev.Policy(**policy))
        self.now = 0.0
        self.said: list[ev.Instruction] = []
        self.number = 0
        self.tell(ev.Opened())

    def tell(self, event: ev.Event, after: float = 0.0) -> list[ev.Instruction]:
        self.now += after
        said = self.machine.handle(event, self.now)
        self.said += said
        return said

    def up(self, *workers: int) -> None:
        for worker in workers:
            self.tell(ev.WorkerUp(worker))

    def submit(self, batch: str, *groups: str, deadline: float | None = None, **fields: Any) -> list[int]:
        jobs = []
        facts: Any
        for group in groups:
            self.number += 1
            facts = {"cases": 1, "fingerprint": f"f{self.number}"} | fields
            jobs.append(ev.Job(id=self.number, batch=batch, group=group, **facts))
        self.tell(ev.BatchSubmitted(batch, tuple(jobs), deadline))
        return [job.id for job in jobs]

    def run(self, worker: int, job: int, takes: float) -> None:
        self.tell(ev.SampleStarted(worker, job))
        self.tell(ev.SampleDone(worker, job, "r"), after=takes)

    def sent(self) -> list[tuple[int, int]]:
        return [(said.worker, said.job) for said in self.said if isinstance(said, ev.Send)]

    def results(self) -> dict[int, Any]:
        return {said.job: said.result for said in self.said if isinstance(said, ev.Resolve)}


def test_long_groups_go_first_and_together() -> None:
    bench = Bench(workers=1, prefetch=0)
    bench.up(0)
    for group, takes in (("short", 0.1), ("long", 9.0), ("middle", 1.0)):
        (job,) = bench.submit(f"past {group}", group)
        bench.run(0, job, takes)
    bench.said.clear()
    jobs = bench.submit("now", "short", "long", "middle", "long", "short")
    for job in (jobs[1], jobs[3], jobs[2], jobs[0], jobs[4]):
        assert bench.sent()[-1] == (0, job)
        bench.run(0, job, 0.1)


def test_what_is_learnt_reorders_what_waits() -> None:
    bench = Bench(workers=1, prefetch=0)
    bench.up(0)
    first, slow, quick = bench.submit("batch", "slow", "slow", "quick", cases=1)[:3]
    assert bench.sent() == [(0, first)]
    bench.run(0, first, 5.0)
    assert bench.sent()[-1] == (0, slow)
    bench.run(0, slow, 5.0)
    assert bench.sent()[-1] == (0, quick)


def test_an_unknown_problem_costs_what_cases_cost_on_the_whole() -> None:
    costs = CostBook()
    for _ in range(40):
        costs.learn("known", 10, 20.0)
    assert costs.estimate("known", 10) == 20.0
    assert abs(costs.estimate("other", 5) - 10.0) < 0.01


def test_a_later_batch_gets_its_turns() -> None:
    queue = FairQueue(CostBook(), fair_every=4)
    big = [ev.Job(id=number, batch="big", group="g", fingerprint="") for number in range(1000)]
    tiny = [ev.Job(id=1000 + number, batch="tiny", group="g", fingerprint="") for number in range(3)]
    queue.add("big", big)
    queue.add("tiny", tiny)
    order = [queue.pop().batch for _ in range(40)]
    assert order.count("tiny") == 3
    assert order[:3] == ["big"] * 3


def test_small_jobs_are_prefetched_and_long_ones_are_not() -> None:
    bench = Bench(workers=1, prefetch=1, small_s=0.1)
    bench.up(0)
    bench.submit("small", "a", "a", "a", cases=1)
    assert len(bench.sent()) == 2
    bench = Bench(workers=1, prefetch=1, small_s=0.1)
    bench.up(0)
    bench.submit("large", "a", "a", "a", cases=1000)
    assert len(bench.sent()) == 1


def test_an_idle_worker_gets_what_waits_behind_another() -> None:
    bench = Bench(workers=2, prefetch=1)
    bench.up(0)
    first, second = bench.submit("batch", "a", "a")
    assert bench.sent() == [(0, first), (0, second)]
    bench.tell(ev.SampleStarted(0, first))
    bench.up(1)
    assert bench.said[-1] == ev.Recall(0, second)
    bench.tell(ev.SampleReturned(0, second))
    assert bench.sent()[-1] == (1, second)


def test_a_straggler_holds_nothing_back() -> None:
    bench = Bench(workers=2, prefetch=1, stuck_s=0.25)
    bench.up(0, 1)
    jobs = bench.submit("batch", *"aaaaaaaa")
    stuck = [job for worker, job in bench.sent() if worker == 0]
    bench.tell(ev.SampleStarted(0, stuck[0]))
    done = 0
    bench.tell(ev.Tick(), after=0.3)
    assert ev.Recall(0, stuck[1]) in bench.said
    bench.tell(ev.SampleReturned(0, stuck[1]))
    while True:
        mine = [job for worker, job in bench.sent() if worker == 1]
        if done == len(mine):
            break
        bench.run(1, mine[done], 0.01)
        done += 1
    assert set(bench.results()) == set(jobs) - {stuck[0]}


def test_a_lost_sample_is_tried_once_more_then_quarantined() -> None:
    bench = Bench(workers=2, prefetch=0)
    bench.up(0, 1)
    (job,) = bench.submit("batch", "a", fingerprint="bad")
    bench.tell(ev.SampleStarted(0, job))
    said = bench.tell(ev.WorkerDown(0, ev.Failure(reason="it is gone")))
    assert ev.Lost(0, "it is gone", job) in said
    assert ev.Send(1, job) in said
    assert any(isinstance(one, ev.StartWorker) for one in said)
    bench.tell(ev.SampleStarted(1, job))
    said = bench.tell(ev.WorkerDown(1, ev.Failure(reason="it is gone")))
    assert ev.Quarantine(job) in said
    assert bench.results()[job].verdict == Verdict.INTERNAL_ERROR
    (again,) = bench.submit("later", "a", fingerprint="bad")
    assert bench.results()[again].verdict == Verdict.INTERNAL_ERROR
    assert ev.BatchDone("later") in bench.said


def test_what_only_waited_at_a_lost_worker_is_not_blamed() -> None:
    bench = Bench(workers=1, prefetch=1)
    bench.up(0)
    first, second = bench.submit("batch", "a", "a")
    bench.tell(ev.SampleStarted(0, first))
    bench.tell(ev.WorkerDown(0, ev.Failure(reason="gone")))
    bench.up(1)
    assert bench.sent()[-1] == (1, first), "one that has lost a worker goes alone"
    bench.tell(ev.WorkerDown(1, ev.Failure(reason="gone")))
    assert first not in bench.results(), "it had not begun there"
    bench.up(2)
    bench.run(2, second, 0.1)
    bench.tell(ev.SampleStarted(2, first))
    bench.tell(ev.WorkerDown(2, ev.Failure(reason="gone")))
    assert bench.results()[first].verdict == Verdict.INTERNAL_ERROR
    assert bench.results()[second] == "r"


def test_workers_are_recycled_without_loss() -> None:
    bench = Bench(workers=1, prefetch=0, recycle_after=2)
    bench.up(0)
    jobs = bench.submit("batch", "a", "a", "a")
    bench.run(0, jobs[0], 0.1)
    bench.run(0, jobs[1], 0.1)
    assert bench.said[-1] == ev.StopWorker(0)
    said = bench.tell(ev.WorkerDown(0, ev.Failure(reason="ended")))
    assert said == [ev.StartWorker(1, 0)]
    bench.up(1)
    bench.run(1, jobs[2], 0.1)
    assert set(bench.results()) == set(jobs)


def test_a_deadline_makes_what_is_left_unknown_and_frees_the_worker() -> None:
    bench = Bench(workers=1, prefetch=0, cancel_s=5.0)
    bench.up(0)
    running, waiting = bench.submit("batch", "a", "a", deadline=2.0)
    bench.tell(ev.SampleStarted(0, running))
    assert bench.machine.wake_at() == 2.0
    said = bench.tell(ev.Tick(), after=2.0)
    assert ev.Cancel(0, running) in said
    assert {job: result.verdict for job, result in bench.results().items()} == {
        running: Verdict.UNKNOWN, waiting: Verdict.UNKNOWN,
    }  # fmt: skip
    assert ev.BatchDone("batch") in said
    said = bench.tell(ev.Tick(), after=5.0)
    assert isinstance(said[0], ev.KillWorker), "one that does not let go is killed"
    said = bench.tell(ev.WorkerDown(0, ev.Failure(reason="killed")))
    assert not any(isinstance(one, ev.Quarantine) for one in said)


def test_a_worker_that_does_not_report_is_killed() -> None:
    bench = Bench(workers=1, prefetch=0)
    bench.up(0)
    (job,) = bench.submit("batch", "a", budget_s=12.0)
    bench.tell(ev.SampleStarted(0, job))
    assert bench.machine.wake_at() == 12.0
    (said,) = bench.tell(ev.Tick(), after=12.0)
    assert said == ev.KillWorker(0, "it did not report within 12 s")


def test_a_pool_of_which_no_worker_starts_gives_up_and_tries_again_when_asked() -> None:
    bench = Bench(workers=2, max_failed_starts=3)
    (job,) = bench.submit("batch", "a")
    for worker in range(4):
        bench.tell(ev.WorkerDown(worker, ev.Failure(reason="no such module")))
    assert "no such module" in bench.results()[job].message
    assert bench.results()[job].verdict == Verdict.INTERNAL_ERROR
    assert bench.machine.wake_at() is None
    bench.said.clear()
    bench.submit("next", "a")
    assert sum(isinstance(said, ev.StartWorker) for said in bench.said) == 2


def test_a_machine_without_a_sandbox_fails_the_batch_at_once() -> None:
    bench = Bench(workers=1)
    bench.submit("batch", "a")
    failure = ev.Failure(reason="no user namespaces", sandbox=True)
    assert bench.tell(ev.WorkerDown(0, failure))[-1] == ev.BatchFailed("batch", failure)


def test_shutdown_fails_what_is_open_and_drops_late_results() -> None:
    bench = Bench(workers=1, prefetch=0)
    bench.up(0)
    (job,) = bench.submit("batch", "a")
    bench.tell(ev.SampleStarted(0, job))
    said = bench.tell(ev.Shutdown())
    assert said == [ev.BatchFailed("batch", None), ev.StopWorker(0)]
    assert bench.tell(ev.SampleDone(0, job, "late")) == []
    assert not bench.machine.finished
    bench.tell(ev.WorkerDown(0, ev.Failure(reason="ended")))
    assert bench.machine.finished


def test_an_empty_batch_is_done() -> None:
    bench = Bench(workers=1)
    bench.submit("nothing")
    assert bench.said[-1] == ev.BatchDone("nothing")


def test_builds_leave_a_worker_to_others_that_wait() -> None:
    bench = Bench(workers=3, prefetch=0)
    bench.up(0, 1, 2)
    builds = bench.submit("builds", *"abcdef", builds=True)
    assert bench.sent() == [(0, builds[0]), (1, builds[1]), (2, builds[2])], "nobody else waits"
    quick = bench.submit("quick", "g", "g")
    bench.run(1, builds[1], 9.0)
    assert bench.sent()[-1] == (1, quick[0])
    bench.run(0, builds[0], 1.0)
    assert bench.sent()[-1] == (0, builds[3]), "two may build, and the older batch comes first"
    bench.run(1, quick[0], 0.1)
    assert bench.sent()[-1] == (1, quick[1])
    bench.run(1, quick[1], 0.1)
    assert bench.sent()[-1] == (1, builds[4]), "nobody else waits any more"


@given(workers=st.integers(1, 4), build_first=st.booleans(), takes=st.lists(st.integers(1, 5), min_size=6, max_size=6))
def test_neither_builds_nor_others_starve(workers: int, build_first: bool, takes: list[int]) -> None:
    """Whichever kind never ends to come, the six jobs of the other one have their turn."""
    bench = Bench(workers=workers, prefetch=0, fair_every=4)
    bench.up(*range(workers))
    few = bench.submit("few", *"abcdef", builds=build_first)
    rounds = 0
    while not set(few) <= bench.results().keys():
        bench.submit(f"stream {rounds}", "x", "y", "z", "u", builds=not build_first)
        at = {worker: job for worker, job in bench.sent() if job not in bench.results()}
        for worker, job in at.items():
            bench.run(worker, job, takes[job % 6])
        rounds += 1
        assert rounds < 30


@given(
    jobs=st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("gh"), st.booleans()), max_size=12),
    ways=st.lists(st.booleans(), min_size=24, max_size=24),
    again=st.sets(st.integers(0, 11)),
)
def test_whoever_takes_from_the_queue_gets_every_job_once(
    jobs: list[tuple[str, str, bool]], ways: list[bool], again: set[int]
) -> None:
    queue = FairQueue(CostBook(), fair_every=2)
    made = [
        ev.Job(id=number, batch=batch, group=group, fingerprint="", builds=builds)
        for number, (batch, group, builds) in enumerate(jobs)
    ]
    for batch in "AB":
        queue.add(batch, [job for job in made if job.batch == batch])
    left = {job.id: job for job in made}
    while left:
        builds = ways.pop()
        peeked, job = queue.peek(builds=builds), queue.pop(builds=builds)
        assert job is peeked
        assert job is left.pop(job.id)
        assert builds or not job.builds or all(other.builds for other in left.values())
        if job.id in again:
            again.remove(job.id)
            queue.hurry(job)
            left[job.id] = job
    assert queue.peek() is None
    assert queue.peek(builds=False) is None


# --- jobs in doubt ---------------------------------------------------------------------------------


def doubt(bench: Bench, worker: int, job: int, takes: float = 0.01) -> None:
    """Have a worker finish a job with doubts."""
    bench.tell(ev.SampleStarted(worker, job))
    bench.tell(ev.SampleDone(worker, job, "first", doubtful=True), after=takes)


def test_a_job_in_doubt_is_run_again_when_nobody_else_runs() -> None:
    bench = Bench(workers=2, prefetch=0)
    bench.up(0, 1)
    one, other = bench.submit("batch", "a", "b")
    doubt(bench, 0, one)
    assert bench.results() == {}
    assert bench.said.count(ev.Send(0, one, "first")) == 0, "the other runs still"
    bench.run(1, other, 3.0)
    assert bench.said[-1] == ev.Send(0, one, "first")
    bench.run(0, one, 1.0)
    assert bench.results() == {one: "r", other: "r"}
    assert ev.BatchDone("batch") in bench.said


def test_nothing_is_sent_beside_a_job_that_runs_alone() -> None:
    bench = Bench(workers=2, prefetch=1)
    bench.up(0, 1)
    (one,) = bench.submit("batch", "a")
    doubt(bench, 0, one)
    assert bench.said[-1] == ev.Send(0, one, "first")
    (late,) = bench.submit("later", "b")
    assert late not in [job for _, job in bench.sent()]
    bench.run(0, one, 1.0)
    assert late in [job for _, job in bench.sent()]


def test_others_wait_for_a_bounded_moment_and_then_have_as_long() -> None:
    bench = Bench(workers=1, prefetch=0, moment_s=5.0, gather_s=1.0)
    bench.up(0)
    jobs = bench.submit("batch", *"a" * 40)
    for job in jobs[:10]:
        doubt(bench, 0, job, takes=0.5)
    alone = [said.job for said in bench.said if isinstance(said, ev.Send) and said.first is not None]
    assert alone == [jobs[0]], "others had their time, then one of those in doubt its moment"


def test_a_moment_that_does_not_come_is_given_up_for_a_while() -> None:
    bench = Bench(workers=2, prefetch=0, moment_s=5.0, gather_s=1.0)
    bench.up(0, 1)
    endless, one, *others = bench.submit("batch", *"abcdef")
    bench.tell(ev.SampleStarted(0, endless))
    doubt(bench, 1, one, takes=2.0)
    assert bench.sent()[-1] == (1, others[0]), "a few are gathered before others have to wait"
    bench.run(1, others[0], 1.0)
    assert bench.sent()[-1] == (1, others[0]), "the moment has begun, but one runs still"
    due = bench.machine.wake_at()
    assert due == 3.0 + 5.0
    bench.tell(ev.Tick(), after=5.0)
    assert bench.sent()[-1] == (1, others[1])
    for job in others[1:]:
        bench.run(1, job, 1.0)
    assert set(others) <= set(bench.results())


def test_a_job_in_doubt_that_waits_too_long_keeps_what_its_first_run_gave() -> None:
    bench = Bench(workers=2, prefetch=0, alone_wait_s=60.0)
    bench.up(0, 1)
    endless, one = bench.submit("batch", "a", "b", budget_s=1e6)
    bench.tell(ev.SampleStarted(0, endless))
    doubt(bench, 1, one)
    assert bench.results() == {}
    bench.tell(ev.Tick(), after=60.0)
    assert bench.results() == {one: "first"}


def test_a_deadline_and_a_lost_pool_keep_what_the_first_run_gave() -> None:
    bench = Bench(workers=2, prefetch=0)
    bench.up(0, 1)
    endless, one = bench.submit("batch", "a", "b", deadline=30.0)
    bench.tell(ev.SampleStarted(0, endless))
    doubt(bench, 1, one)
    bench.tell(ev.Tick(), after=30.0)
    assert bench.results()[one] == "first"
    assert bench.results()[endless].verdict == Verdict.UNKNOWN


def test_a_job_that_loses_its_worker_alone_goes_back_to_its_lane() -> None:
    bench = Bench(workers=1, prefetch=0)
    bench.up(0)
    (one,) = bench.submit("batch", "a")
    doubt(bench, 0, one)
    bench.tell(ev.SampleStarted(0, one))
    bench.tell(ev.WorkerDown(0, ev.Failure(reason="it is gone")))
    bench.up(1)
    assert bench.said[-1] == ev.Send(1, one, "first")


def test_a_job_alone_has_more_time_to_report() -> None:
    bench = Bench(workers=1, prefetch=0, alone_budget=8.0)
    bench.up(0)
    (one,) = bench.submit("batch", "a", budget_s=10.0)
    doubt(bench, 0, one)
    bench.tell(ev.SampleStarted(0, one))
    assert not [said for said in bench.tell(ev.Tick(), after=79.0) if isinstance(said, ev.KillWorker)]
    assert [said for said in bench.tell(ev.Tick(), after=1.5) if isinstance(said, ev.KillWorker)]
