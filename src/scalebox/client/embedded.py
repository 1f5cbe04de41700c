"""The transport to an engine in this very process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeVar

from scalebox.client.waiting import Waiting
from scalebox.core.errors import QueueFull
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.engine import Engine
from scalebox.schedule.ledger import Ledger, State

_T = TypeVar("_T")
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603  the old one may be held by a thread that a forked child does not have
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class EmbeddedTransport:
    """Reaches the engine that `build` makes: one for each process that uses the transport, forked children too."""

    def __init__(self, build: Callable[[], Engine], waiting: Waiting) -> None:
        self._build = build
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

    async def submit(
        self,
        prepare: Callable[[], Sequence[Sample]],
        deadline_s: float | None,
        wait_s: float | None,
        batch_id: str | None = None,
    ) -> str:
        """Submit what `prepare` returns, and return the batch's id; waits up to `wait_s` seconds for room."""
        samples = await self._waiting.call(prepare)
        engine = self.engine
        ledger = engine.batches
        give_up_at = time.monotonic() + (wait_s or 0.0)

        def roomy() -> bool:
            return ledger.has_room(len(samples))

        while True:
            try:
                return await self._waiting.call(
                    lambda: engine.submit(samples, deadline_s=deadline_s, batch_id=batch_id)
                )
            except QueueFull:
                if not ledger.ever_fits(len(samples)):
                    raise
                left = give_up_at - time.monotonic()
                if left <= 0 or not await self._waiting.until(roomy, ledger.watch_room, left):
                    raise

    def poll(self, batch_id: str) -> State:
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

    def cancel(self, batch_id: str) -> None:
        """Give up what is not finished of a batch."""
        self.engine.cancel(batch_id)

    async def close(self) -> None:
        """End the engine."""
        await self._waiting.call(self._engine.close)

    def abandon(self) -> None:
        """Have the engine end, without waiting for it."""
        self._engine.abandon()
