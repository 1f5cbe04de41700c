"""What stages say happened. Sinks listen; stages know no log and no metric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from scalebox.core.result import VerificationResult


class Event(msgspec.Struct, frozen=True, tag=True):
    """Base of all events; `at` is seconds since the epoch."""

    at: float


class BatchAccepted(Event, frozen=True):
    batch_id: str
    samples: int


class BatchResumed(Event, frozen=True):
    """A batch that an earlier server took goes on; `samples` of it have no result yet."""

    batch_id: str
    samples: int


class SampleFinished(Event, frozen=True):
    """A sample has its result; `index` is its place in the batch, `steps` the length of its trajectory, where known."""

    batch_id: str
    result: VerificationResult
    index: int = 0
    steps: int | None = None


class BatchFinished(Event, frozen=True):
    batch_id: str
    state: str


class WorkerStarted(Event, frozen=True):
    worker: int
    pid: int
    tier: str


class WorkerLost(Event, frozen=True):
    """A worker ended without being told to; `sample_id` was in flight, if any."""

    worker: int
    pid: int
    reason: str
    sample_id: str | None


class SampleQuarantined(Event, frozen=True):
    """The same sample lost two workers: it is `internal_error` from now on, and somebody should look."""

    sample_id: str
    fingerprint: str


class AccessDenied(Event, frozen=True):
    """The kernel refused something forbidden to a program under test (audit): the names of what that was.

    `case_id` is the first case that is `resource_denied`; empty where all cases have other labels all the same.
    """

    sample_id: str
    case_id: str
    what: tuple[str, ...]


Sink = Callable[[Any], None]
