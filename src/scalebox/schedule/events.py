"""What the scheduler is told, and what it answers. Plain data: a log of events replays a run."""

from __future__ import annotations

from typing import Any

import msgspec

from scalebox.core.verdicts import Verdict


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduler's numbers; times in seconds."""

    workers: int = 1
    #: Jobs that wait at a worker behind the one it runs, and how small they have to be for that.
    prefetch: int = 1
    small_s: float = 0.1
    #: A job that waits longer than this behind a running one is taken back, if another worker may have it.
    stuck_s: float = 0.25
    recycle_after: int = 2000
    #: What a worker may take to start, to stop, and to let go of a cancelled job.
    start_s: float = 300.0
    stop_s: float = 5.0
    cancel_s: float = 5.0
    #: Starts that fail in a row, with nothing verified in between, until the pool gives up.
    max_failed_starts: int = 3
    #: Every so many jobs, one comes from the batches in turn and not from the oldest.
    fair_every: int = 4
    #: Whether a job waits for an equal one of another batch that is under way, and gets its result.
    join: bool = False
    #: Jobs in doubt are run again when no other runs. How long they wait for that; how long the others wait for them at
    #: a time; and how long they are gathered before.
    alone_wait_s: float = 600.0
    moment_s: float = 5.0
    gather_s: float = 1.0
    #: A job that runs alone has so many times its budget.
    alone_budget: float = 8.0


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A sample, as the scheduler sees it.

    Jobs of one `group` are expected to cost alike. A worker that holds the job for more than
    `budget_s` counts as lost. Jobs of one `fingerprint` are the same program and tests. One that `builds` is expected
    to keep its worker with a compiler first.
    """

    id: int
    batch: str
    group: str
    fingerprint: str
    cases: int = 1
    budget_s: float = 60.0
    builds: bool = False


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a worker could not start or go on; with `sandbox`, the fields are those of a SandboxError."""

    reason: str
    sandbox: bool = False
    step: str = ""
    errno: int = 0
    mend: str = ""


class Opened(msgspec.Struct, frozen=True):
    """The first event."""


class BatchSubmitted(msgspec.Struct, frozen=True):
    """`deadline` is on the clock of `now`."""

    batch: str
    jobs: tuple[Job, ...]
    deadline: float | None = None


class BatchCancelled(msgspec.Struct, frozen=True):
    batch: str


class WorkerUp(msgspec.Struct, frozen=True):
    worker: int


class WorkerDown(msgspec.Struct, frozen=True):
    """The worker's process is gone, whyever."""

    worker: int
    failure: Failure


class SampleStarted(msgspec.Struct, frozen=True):
    worker: int
    job: int


class SampleDone(msgspec.Struct, frozen=True):
    """`result` is passed on as it is; one that is `doubtful` only if no run alone can be had."""

    worker: int
    job: int
    result: Any
    doubtful: bool = False


class SampleReturned(msgspec.Struct, frozen=True):
    worker: int
    job: int


class Tick(msgspec.Struct, frozen=True):
    """Time has passed: `Machine.wake_at` says when one is due."""


class Shutdown(msgspec.Struct, frozen=True):
    pass


Event = (
    Opened | BatchSubmitted | BatchCancelled | WorkerUp | WorkerDown | SampleStarted | SampleDone | SampleReturned
    | Tick | Shutdown
)  # fmt: skip


class StartWorker(msgspec.Struct, frozen=True):
    """`slot` is the worker's place, counted from 0, that it shares with those that it replaces."""

    worker: int
    slot: int


class StopWorker(msgspec.Struct, frozen=True):
    worker: int


class KillWorker(msgspec.Struct, frozen=True):
    worker: int
    reason: str


class Send(msgspec.Struct, frozen=True):
    """`first` is what came with a SampleDone that was doubtful: the job is run again, alone."""

    worker: int
    job: int
    first: Any = None


class Recall(msgspec.Struct, frozen=True):
    worker: int
    job: int


class Cancel(msgspec.Struct, frozen=True):
    worker: int
    job: int


class Begun(msgspec.Struct, frozen=True):
    job: int


class Resolve(msgspec.Struct, frozen=True):
    """The job's one result: what came with SampleDone, or a Synthetic.

    One that is `shared` is given to other jobs, too: nobody may change it. Those that share it come first.
    """

    job: int
    result: Any
    shared: bool = False


class Synthetic(msgspec.Struct, frozen=True):
    """Stands for the result of a job that no worker gave one."""

    verdict: Verdict
    message: str


class Accepted(msgspec.Struct, frozen=True):
    batch: str


class BatchDone(msgspec.Struct, frozen=True):
    batch: str


class BatchFailed(msgspec.Struct, frozen=True):
    """The batch gets no more results; `failure` is None where the engine was shut down."""

    batch: str
    failure: Failure | None


class Lost(msgspec.Struct, frozen=True):
    """A worker ended that was not told to; `job` was in flight, if any."""

    worker: int
    reason: str
    job: int | None


class Quarantine(msgspec.Struct, frozen=True):
    """The job lost two workers; comes just before its Resolve."""

    job: int


Instruction = (
    StartWorker | StopWorker | KillWorker | Send | Recall | Cancel | Begun | Resolve | Accepted | BatchDone
    | BatchFailed | Lost | Quarantine
)  # fmt: skip
