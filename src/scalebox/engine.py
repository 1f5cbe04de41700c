"""The control side, top to bottom: accept → join duplicates → schedule → collect → reward → events → sinks.

The caller's threads do the first two steps, in `Engine.submit`. The rest happens on one thread of the engine's own,
which sleeps until something happens.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import itertools
import logging
import os
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from scalebox import reward as rewards
from scalebox.cache import Store
from scalebox.core import events, wire
from scalebox.core.errors import EngineClosed, InputError, SandboxError, ScaleBoxError
from scalebox.core.limits import MIB, Limits
from scalebox.core.result import CaseResult, Summary, VerificationResult
from scalebox.core.sample import CallTest, PytestTest, Sample, StdinTest
from scalebox.core.settings import Settings
from scalebox.core.verdicts import DOUBTFUL, Verdict
from scalebox.execute.expected_builds import ExpectedBuilds
from scalebox.execute.separate.sabotage import KINDS
from scalebox.execute.tested import MAX_WALLS
from scalebox.schedule import events as ev
from scalebox.schedule.cores import worker_cores
from scalebox.schedule.latency import Latencies
from scalebox.schedule.ledger import CLOSED, Ledger
from scalebox.schedule.local import Pool
from scalebox.sinks import open_sinks

_log = logging.getLogger(__name__)

#: Seconds that a worker may need for a sample beyond what its limits add up to, before it counts as lost.
_SLACK_S = 60.0
_SLACK_PER_CASE_S = 1.0
#: More for languages with compilers: a build may take several times its limit of CPU time, and be made twice; and a
#: worker may wait for what another prepares for the compiler, once on each machine.
_BUILD_FACTOR, _PREPARATION_S = 8.0, 330.0
_JUDGE_RUNS = 4
#: What is kept of latencies, and how long the engine waits for its file: it is not worth more.
_LATENCY_BYTES, _LATENCY_BUSY_S = 16 * MIB, 0.05
_CLOSE_S = 15.0

_encode = msgspec.msgpack.Encoder().encode


class _Entry(msgspec.Struct):
    """One sample of a batch: what makes its result its own."""

    index: int
    id: str
    problem_id: str | None
    reward: str
    steps: int | None
    meta: Any


class _Task(msgspec.Struct):
    """What runs once: a sample, and those of its batch that are the same but for whose they are."""

    batch: str
    accepted: float
    entries: list[_Entry]
    payload: bytes
    code: str
    weights: dict[str, float]
    job: ev.Job
    build: bytes
    begun: float | None = None


class Engine:
    """Verifies batches of samples on a pool of workers. Every method may be called from any thread."""

    def __init__(
        self,
        settings: Settings,
        *,
        sinks: Sequence[events.Sink] = (),
        command: Sequence[str] = (),
        on_worker_gone: Callable[[int], None] | None = None,
    ) -> None:
        """Start the workers; returns before they are ready.

        `sinks` come beside those of the settings; `command` stands for the real worker's; `on_worker_gone` is
        called with the pid of each worker that has ended, to clean up what it may have left.
        """
        self._settings = settings
        self._sinks = [*open_sinks(settings), *sinks]
        self._failing_sinks: set[int] = set()
        self._ledger = Ledger(settings.max_pending)
        self._builds = ExpectedBuilds(kept=settings.build_cache_mb > 0)
        self._latencies = Latencies(None)
        self._tasks: dict[int, _Task] = {}
        self._numbers = itertools.count(1)
        cores = worker_cores(settings.workers)
        policy = ev.Policy(
            workers=len(cores),
            prefetch=settings.prefetch,
            recycle_after=settings.recycle_after,
            join=settings.cache == "on",
            alone_wait_s=settings.reverify_wait_s,
        )
        config = msgspec.json.encode(settings)
        self._pool = Pool(policy, self, cores=cores, config=config, command=command, on_worker_gone=on_worker_gone)
        self.pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="scalebox-engine", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def batches(self) -> Ledger:
        """The batches, for those who wait for them."""
        return self._ledger

    # --- accept, on the caller's thread ----------------------------------------------------------

    def submit(self, samples: Sequence[Sample], *, deadline_s: float | None = None, batch_id: str | None = None) -> str:
        """Take a batch, and return its id at once: `batch_id`, which nothing else may have, or a new one.

        Samples that are not finished `deadline_s` seconds from now (None: as set; 0: never) become `unknown`.
        Raises QueueFull, EngineClosed, or InputError; then nothing of the batch is taken.
        """
        batch_id = batch_id or uuid.uuid4().hex
        now = time.monotonic()
        tasks = self._join_duplicates(batch_id, samples, now)
        limit = self._settings.batch_deadline_s if deadline_s is None else deadline_s
        self._ledger.admit(batch_id, len(samples))
        self._tasks.update((task.job.id, task) for task in tasks)
        jobs = tuple(task.job for task in tasks)
        self._pool.post(ev.BatchSubmitted(batch_id, jobs, now + limit if limit else None))
        return batch_id

    def cancel(self, batch_id: str) -> None:
        """Give up what is not finished of a batch: `unknown`; raises BatchNotFound."""
        self._ledger.state(batch_id)
        self._pool.post(ev.BatchCancelled(batch_id))

    def abandon(self) -> None:
        """Begin to close without waiting; for finalizers, which may come at any time."""
        if self.pid == os.getpid():
            self._pool.post(ev.Shutdown())

    def close(self) -> None:
        """End the workers, and fail the batches that are not done. Does nothing a second time."""
        atexit.unregister(self.close)
        self.abandon()
        if self.pid == os.getpid() and threading.current_thread() is not self._thread:
            self._thread.join(_CLOSE_S)

    # --- join duplicates -------------------------------------------------------------------------

    def _join_duplicates(self, batch: str, samples: Sequence[Sample], now: float) -> list[_Task]:
        """Return one task for all samples that are the same program with the same tests."""
        tasks: dict[str, _Task] = {}
        for index, sample in enumerate(samples):
            payload = payload_of(sample, f"samples[{index}]")
            entry = _Entry(index, sample.id, sample.problem_id, sample.reward, sample.steps, sample.meta)
            fingerprint = hashlib.blake2b(payload, digest_size=16).hexdigest()
            if fingerprint in tasks:
                tasks[fingerprint].entries.append(entry)
                continue
            build = self._builds.key(sample)
            job = ev.Job(
                id=next(self._numbers),
                batch=batch,
                group=sample.problem_id or _digest_of_tests(sample),
                fingerprint=fingerprint,
                cases=len(sample.tests),
                budget_s=_budget_s(sample, self._settings.limits_of("judge")),
                builds=self._builds.expects(build),
            )
            weights = {test.id: test.weight for test in sample.tests}
            tasks[fingerprint] = _Task(batch, now, [entry], payload, sample.code or "", weights, job, build)
        return list(tasks.values())

    # --- schedule: the pool calls these, on the engine's thread -----------------------------------

    def _run(self) -> None:
        failure: ScaleBoxError = CLOSED
        try:
            folder = os.path.join(self._settings.cache_folder(), "latencies")
            with contextlib.closing(Store(folder, _LATENCY_BYTES, busy_s=_LATENCY_BUSY_S, missed=False)) as store:
                self._latencies = Latencies(store)
                self._pool.run()
                self._latencies.flush()
        except Exception as error:
            _log.exception("the engine is lost")
            failure = EngineClosed(f"the engine was lost: {type(error).__name__} (its log says more)")
        finally:
            self._ledger.close(failure)
            self._close_sinks()

    def frame_of(self, job: int, first: wire.Finished | None) -> bytes:
        """Return the message that hands a job to a worker, to settle what its `first` run, if any, left in doubt."""
        task = self._tasks[job]
        owner = task.entries[0]
        again = None if first is None else wire.Again(first.result, first.doubtful)
        soft_s = self._latencies.soft_s(task.job.group, task.batch)
        return wire.pack(wire.Run(job, owner.id, owner.problem_id, task.payload, soft_s, again))

    def worker_started(self, worker: int, pid: int, tier: str) -> None:
        """Tell the sinks."""
        self._emit(events.WorkerStarted(time.time(), worker, pid, tier))

    def worker_lost(self, worker: int, pid: int, reason: str, job: int | None) -> None:
        """Tell the sinks, and the log."""
        sample_id = self._tasks[job].entries[0].id if job is not None else None
        _log.warning("worker %d (process %d) was lost: %s; in flight: %s", worker, pid, reason, sample_id)
        self._emit(events.WorkerLost(time.time(), worker, pid, reason, sample_id))

    def carry_out(self, instruction: ev.Instruction) -> None:
        """Do what the scheduler says of jobs and batches."""
        match instruction:
            case ev.Accepted(batch):
                samples = self._ledger.size(batch)
                self._emit(events.BatchAccepted(time.time(), batch, samples))
            case ev.Begun(job):
                task = self._tasks[job]
                task.begun = task.begun or time.monotonic()
            case ev.Resolve(job, result, shared):
                self._collect(self._tasks.pop(job), _copied(result) if shared else result)
            case ev.Quarantine(job):
                self._quarantine(self._tasks[job])
            case ev.BatchDone(batch):
                self._end(batch, None)
            case ev.BatchFailed(batch, failure):
                self._end(batch, _error_of(failure))

    def _quarantine(self, task: _Task) -> None:
        first = task.entries[0]
        _log.error("sample %s lost two workers and is quarantined: somebody should look", first.id)
        self._emit(events.SampleQuarantined(time.time(), first.id, task.job.fingerprint))

    def _end(self, batch: str, failure: ScaleBoxError | None) -> None:
        if failure is not None:
            for job in [job for job, task in list(self._tasks.items()) if task.batch == batch]:
                del self._tasks[job]
        self._emit(events.BatchFinished(time.time(), batch, "DONE" if failure is None else "FAILED"))
        self._ledger.end(batch, failure)
        self._latencies.end(batch, time.monotonic())

    # --- collect ---------------------------------------------------------------------------------

    def _collect(self, task: _Task, outcome: wire.Finished | ev.Synthetic) -> None:
        """Give every sample of a task its own result, and pass it on."""
        result, extracted = _result_of(task, outcome)
        if result.verdict not in DOUBTFUL and result.verdict != Verdict.COMPILE_ERROR:
            self._builds.learn(task.build)
        if not result.cached:
            passed = [case.wall_s for case in result.cases if case.verdict == Verdict.PASSED]
            self._latencies.learn(task.job.group, task.batch, passed)
        begun = time.monotonic() if task.begun is None else task.begun
        result.timings.queue_s = begun - task.accepted
        result.summary = _summary(result.cases)
        copies = _encode(result) if len(task.entries) > 1 else b""
        for number, entry in enumerate(task.entries):
            own = result if number == 0 else msgspec.msgpack.decode(copies, type=VerificationResult)
            own.id, own.problem_id, own.meta = entry.id, entry.problem_id, entry.meta
            _reward(own, entry.reward, task.weights, extracted)
            self._emit(events.SampleFinished(time.time(), task.batch, own, entry.index, entry.steps))
            self._tell_of_denials(own)
            self._ledger.settle(task.batch, entry.index, own)

    def _tell_of_denials(self, result: VerificationResult) -> None:
        if result.denied and not result.cached:
            denied = next((case.id for case in result.cases if case.verdict == Verdict.RESOURCE_DENIED), "")
            self._emit(events.AccessDenied(time.time(), result.id, denied, tuple(result.denied)))

    # --- events to sinks -------------------------------------------------------------------------

    def _emit(self, event: events.Event) -> None:
        for number, sink in enumerate(self._sinks):
            try:
                sink(event)
            except Exception:
                if number not in self._failing_sinks:
                    self._failing_sinks.add(number)
                    _log.exception("sink %r fails; further failures of it are not logged", sink)

    def _close_sinks(self) -> None:
        for sink in self._sinks:
            try:
                getattr(sink, "close", lambda: None)()
            except Exception:
                _log.exception("sink %r cannot be closed", sink)


def payload_of(sample: Sample, field: str) -> bytes:
    """Return what decides a sample's result, as bytes; raises InputError."""
    if not sample.tests:
        raise InputError("no tests: nothing could be judged", field=f"{field}.tests", mend="give at least one")
    rewards.check_reward(sample.reward, f"{field}.reward")
    try:
        payload = _encode(sample.bare())
        _encode((sample.id, sample.problem_id))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"cannot be sent to a worker: {error}", field=field, mend="give plain, valid text") from None
    if len(payload) > wire.MAX_FRAME // 2:
        raise InputError(f"{len(payload)} bytes are too many", field=field, mend=f"at most {wire.MAX_FRAME // 2}")
    return payload


def _digest_of_tests(sample: Sample) -> str:
    return hashlib.blake2b(_encode(sample.tests), digest_size=16).hexdigest()


def _budget_s(sample: Sample, judge: Limits) -> float:
    """Return the seconds that a worker may hold a sample: each case twice, for one that is run again.

    Tests that are code may be built twice, for one process and for two, and once more for each sabotaged copy. A judge,
    whose limits are `judge`, is built too, and asked about each output and the jury's own, each twice.
    """
    limits, builds, walls = sample.limits, 1, 0
    for test in sample.tests:
        if isinstance(test, StdinTest | CallTest):
            walls += 2
        else:
            copies = len(KINDS) if isinstance(test, PytestTest) and test.mutant_control else 0
            builds = max(builds, 2) + copies
            walls += MAX_WALLS * (1 + copies)
    total = walls * limits.wall_s + len(sample.tests) * _SLACK_PER_CASE_S + _SLACK_S
    if (program := sample.checker or sample.interactor) is not None:
        total += _build_s(program.language, judge) + _JUDGE_RUNS * len(sample.tests) * judge.wall_s
    return builds * _build_s(sample.language, limits) + total


def _build_s(language: str, limits: Limits) -> float:
    """Return the seconds of a build that others slow down, and that is made once more for that."""
    return _BUILD_FACTOR * limits.build_s + (0 if language == "python" else _PREPARATION_S)


def _copied(outcome: wire.Finished | ev.Synthetic) -> wire.Finished | ev.Synthetic:
    if isinstance(outcome, ev.Synthetic):
        return outcome
    result = msgspec.msgpack.decode(_encode(outcome.result), type=VerificationResult)
    return msgspec.structs.replace(outcome, result=result)


def _result_of(task: _Task, outcome: wire.Finished | ev.Synthetic) -> tuple[VerificationResult, str]:
    """Return a result with every case on it, and how the code was found."""
    if isinstance(outcome, wire.Finished):
        result, extracted = outcome.result, outcome.extracted
    else:
        result = VerificationResult(
            id="", verdict=outcome.verdict, message=outcome.message, code=task.code, stage="execute"
        )
        extracted = "code" if task.code else ""
    if not result.cases:
        result.cases = [CaseResult(id=case, verdict=result.verdict, attempts=0) for case in task.weights]
    return result, extracted


def _summary(cases: Sequence[CaseResult]) -> Summary:
    counts = Counter(case.verdict for case in cases)
    return Summary(
        verdicts={verdict.value: count for verdict, count in counts.items()},
        mean_wall_s=sum(case.wall_s for case in cases) / max(len(cases), 1),
        max_memory_bytes=max((case.memory_bytes for case in cases), default=0),
    )


def _reward(result: VerificationResult, name: str, weights: Mapping[str, float], extracted: str) -> None:
    """Fill in pass rate and reward; a reward that cannot be computed is masked, never a number.

    That of a response that no worker has looked at, so that `extracted` is empty, is none.
    """
    result.reward, result.masked, result.reward_parts = None, True, {}
    try:
        result.pass_rate = rewards.pass_rate_of(result.cases, weights)
        if not extracted:
            return
        reward = rewards.reward_of(name, result, weights, extracted=extracted)
    except Exception:
        _log.exception("the reward %s of sample %s cannot be computed", name, result.id)
        return
    result.reward, result.masked, result.reward_parts = reward.value, reward.masked, reward.parts


def _error_of(failure: ev.Failure | None) -> ScaleBoxError:
    if failure is None:
        return CLOSED
    if failure.sandbox:
        return SandboxError(failure.reason, step=failure.step, errno=failure.errno, mend=failure.mend)
    return EngineClosed(f"the engine has no workers: {failure.reason}")
