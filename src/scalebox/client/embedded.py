"""The transport to an engine in this very process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import msgspec

from scalebox.client.waiting import Waiting
from scalebox.core import codec
from scalebox.core.errors import InputError, QueueFull
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample, StdinTest
from scalebox.core.settings import Settings
from scalebox.engine import Engine
from scalebox.problems import Problems, sample_of
from scalebox.schedule.ledger import Ledger, State

_lock = threading.Lock()

#: Characters of a sample that is submitted where it is.
_SMALL = 16 * 1024


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603  the old one may be held by a thread that a forked child does not have
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class EmbeddedTransport:
    """Reaches the engine that `build` makes: one for each process that uses the transport, forked children too."""

    def __init__(
        self, build: Callable[[], Engine], settings: Settings, waiting: Waiting, problems: Problems | None = None
    ) -> None:
        self._build = build
        self._problems = problems
        self._settings = settings
        self._waiting = waiting
        self._engine = build()

    @property
    def engine(self) -> Engine:
        """The engine of this process. Batches that were submitted before a fork stay with the parent's."""
        if self._engine.pid != os.getpid():
            with _lock:
                if self._engine.pid != os.getpid():
                    self._engine = self._build()
        return self._engine

    @property
    def _ledger(self) -> Ledger:
        return self.engine.batches

    async def submit_one(self, sample: Mapping[str, Any]) -> str:
        """Submit a sample as a batch of its own."""
        return await self.submit([sample], None, None)

    async def submit(
        self,
        given: Sequence[Sample | Mapping[str, Any]],
        deadline_s: float | None,
        wait_s: float | None,
        batch_id: str | None = None,
    ) -> str:
        """Submit samples, and return the batch's id; waits up to `wait_s` seconds for room."""
        engine = self.engine
        ledger = engine.batches
        samples: list[Sample] = []
        give_up_at = time.monotonic() + (wait_s or 0.0)

        def attempt() -> str:
            samples[:] = samples or checked(given, self._settings, self._problems)
            return engine.submit(samples, deadline_s=deadline_s, batch_id=batch_id)

        def roomy() -> bool:
            return ledger.has_room(len(samples))

        at_once = _is_small(given)
        while True:
            try:
                return attempt() if at_once else await self._waiting.call(attempt)
            except QueueFull:
                if not ledger.ever_fits(len(samples)):
                    raise
                left = give_up_at - time.monotonic()
                if left <= 0 or not await self._waiting.until(roomy, ledger.watch_room, left):
                    raise

    async def poll(self, batch_id: str) -> State:
        """Return where a batch is."""
        return self._ledger.state(batch_id)

    async def fetch(self, batch_id: str, timeout: float | None) -> list[VerificationResult]:
        """Return a batch's results in the order of submission, once it is done; raises TimeoutError."""
        ledger = self._ledger
        done = await self._waiting.until(
            lambda: ledger.state(batch_id) != "PENDING",
            lambda watcher: ledger.watch(batch_id, watcher, each=False),
            timeout,
        )
        if not done:
            raise TimeoutError(f"batch {batch_id} was not done within {timeout:g} s (fetch it again later)")
        return ledger.hand_over(batch_id)

    async def stream(self, batch_id: str) -> AsyncIterator[VerificationResult]:
        """Yield a batch's results as they come."""
        ledger = self._ledger
        given = 0

        def changed() -> bool:
            return ledger.state(batch_id) != "PENDING" or ledger.progress(batch_id) > given

        while True:
            over = ledger.state(batch_id) != "PENDING"
            for result in ledger.finished(batch_id, given):
                given += 1
                yield result
            if over:
                ledger.hand_over(batch_id)
                return
            await self._waiting.until(changed, lambda watcher: ledger.watch(batch_id, watcher, each=True), None)

    async def cancel(self, batch_id: str) -> None:
        """Give up what is not finished of a batch."""
        self.engine.cancel(batch_id)

    async def close(self) -> None:
        """End the engine."""
        await self._waiting.call(self._engine.close)

    def abandon(self) -> None:
        """Have the engine end, without waiting for it."""
        self._engine.abandon()


def _is_small(given: Sequence[Sample | Mapping[str, Any]]) -> bool:
    """Return whether it takes less to submit samples than to have another thread do it: one short program to run."""
    if len(given) != 1 or not isinstance(given[0], Sample):
        return False
    sample, plain = given[0], given[0].checker is None and given[0].interactor is None and given[0].meta is None
    if not plain or sample.solution_files or not isinstance(sample.tests, tuple) or len(sample.tests) != 1:
        return False
    (test,) = sample.tests
    if not isinstance(test, StdinTest) or test.files or test.binary_files:
        return False
    texts = (sample.code or "", sample.response or "", sample.prompt, sample.setup, test.stdin, test.stdout)
    return all(isinstance(text, str) for text in texts) and sum(map(len, texts)) <= _SMALL


def checked(
    given: Sequence[Sample | Mapping[str, Any]], settings: Settings, problems: Problems | None = None
) -> list[Sample]:
    """Return checked samples; raises InputError, whose field begins with the place, such as `samples[3]`."""
    return [_check(item, f"samples[{index}]", settings, problems) for index, item in enumerate(given)]


def _check(item: Sample | Mapping[str, Any], place: str, settings: Settings, problems: Problems | None) -> Sample:
    """Return a checked sample; the error for a bad one names it by `place`."""
    try:
        if not isinstance(item, Sample):
            return sample_of(item, settings=settings, problems=problems)
        return _check_struct(item)
    except InputError as error:
        field = ".".join(part for part in (place, error.field) if part)
        raise InputError(error.problem, field=field, mend=error.mend) from None


def _check_struct(sample: Sample) -> Sample:
    """Return a sample that was made by hand, so may hold anything: what does not survive the wire is none."""
    if (sample.code is None) == (sample.response is None):
        raise InputError("exactly one of code and response is needed")
    codec.decode_sample(codec.encode_sample(msgspec.structs.replace(sample, meta=None)))
    return sample
