"""The book of batches: what was taken, what has come of it, who waits for it. Safe for threads."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

import msgspec

from scalebox.core.errors import BatchNotFound, EngineClosed, QueueFull, ScaleBoxError
from scalebox.core.result import VerificationResult

_log = logging.getLogger(__name__)

State = Literal["PENDING", "DONE", "FAILED"]
Watcher = Callable[[], None]

#: Batches that can still be fetched again after they were handed over.
_REMEMBERED = 16
#: Results that wait to be fetched, for each sample that may be pending.
_KEPT_PER_PENDING = 10


class _Account(msgspec.Struct):
    results: list[VerificationResult | None]
    finished: list[VerificationResult] = []
    state: State = "PENDING"
    failure: ScaleBoxError | None = None
    each: list[Watcher] = []
    end: list[Watcher] = []


class Ledger:
    """Batches by id. Samples that are pending are bounded, and so are results that nobody fetches."""

    def __init__(self, max_pending: int) -> None:
        self._max_pending = max_pending
        self._lock = threading.Lock()
        self._accounts: dict[str, _Account] = {}
        self._handed_over: OrderedDict[str, None] = OrderedDict()
        self._pending = 0
        self._kept = 0
        self._room: list[Watcher] = []
        self._closed: ScaleBoxError | None = None

    # --- the engine's side -----------------------------------------------------------------------

    def admit(self, batch_id: str, samples: int) -> None:
        """Open a batch; raises QueueFull, or what the ledger was closed with."""
        with self._lock:
            if self._closed is not None:
                raise self._closed.with_traceback(None)
            self._check_room(samples)
            self._accounts[batch_id] = _Account([None] * samples)
            self._pending += samples

    def settle(self, batch_id: str, index: int, result: VerificationResult) -> None:
        """Enter the result of a batch's sample number `index`."""
        with self._lock:
            account = self._accounts[batch_id]
            account.results[index] = result
            account.finished.append(result)
            self._pending -= 1
            self._kept += 1
            watchers = [*account.each, *self._room]
        _call(watchers)

    def end(self, batch_id: str, failure: ScaleBoxError | None = None) -> None:
        """Close a batch: DONE, or FAILED with the error that its reader gets."""
        with self._lock:
            watchers = self._end(self._accounts[batch_id], failure)
        _call(watchers)

    def close(self, failure: ScaleBoxError) -> None:
        """Take no more, and fail what is open."""
        with self._lock:
            self._closed = failure
            watchers = list(self._room)
            for account in self._accounts.values():
                if account.state == "PENDING":
                    watchers += self._end(account, failure)
        _call(watchers)

    def _end(self, account: _Account, failure: ScaleBoxError | None) -> list[Watcher]:
        account.state = "DONE" if failure is None else "FAILED"
        account.failure = failure
        self._pending -= len(account.results) - len(account.finished)
        return [*account.each, *account.end, *self._room]

    def _check_room(self, samples: int) -> None:
        if self._pending + samples > self._max_pending:
            raise QueueFull(
                f"{samples} samples do not fit: {self._pending} are pending, of at most {self._max_pending} "
                "(wait for results, submit smaller batches, or raise max_pending)"
            )
        if self._kept + samples > self._max_pending * _KEPT_PER_PENDING:
            raise QueueFull(f"{self._kept} results wait to be fetched (fetch or stream the batches that are done)")

    # --- the reader's side -----------------------------------------------------------------------

    def ever_fits(self, samples: int) -> bool:
        """Return whether an empty queue would take so many samples at once."""
        return samples <= self._max_pending

    def has_room(self, samples: int) -> bool:
        """Return whether `admit` would not raise QueueFull now."""
        with self._lock:
            try:
                self._check_room(samples)
            except QueueFull:
                return self._closed is not None
            return True

    def state(self, batch_id: str) -> State:
        """Return where a batch is; raises BatchNotFound."""
        with self._lock:
            return self._account(batch_id).state

    def size(self, batch_id: str) -> int:
        """Return how many samples a batch has; raises BatchNotFound."""
        with self._lock:
            return len(self._account(batch_id).results)

    def progress(self, batch_id: str) -> int:
        """Return how many results a batch has; raises BatchNotFound."""
        with self._lock:
            return len(self._account(batch_id).finished)

    def finished(self, batch_id: str, start: int = 0) -> list[VerificationResult]:
        """Return the results so far in the order in which they came, from number `start` on."""
        with self._lock:
            return self._account(batch_id).finished[start:]

    def hand_over(self, batch_id: str) -> list[VerificationResult]:
        """Return all results in the order of submission; the batch is remembered for a while only from then on.

        Raises the batch's error where it FAILED, and ValueError while it is PENDING.
        """
        with self._lock:
            account = self._account(batch_id)
            if account.failure is not None:
                raise account.failure.with_traceback(None)
            results = [result for result in account.results if result is not None]
            if account.state == "PENDING":
                raise ValueError(f"batch {batch_id} is pending")
            if batch_id not in self._handed_over:
                self._kept -= len(results)
                self._handed_over[batch_id] = None
            while len(self._handed_over) > _REMEMBERED:
                del self._accounts[self._handed_over.popitem(last=False)[0]]
            watchers = list(self._room)
        _call(watchers)
        return results

    def watch(self, batch_id: str, watcher: Watcher, *, each: bool) -> Callable[[], None]:
        """Have `watcher` called, on any thread, at the batch's end, and at `each` result; returns how to stop it."""
        with self._lock:
            account = self._account(batch_id)
            return self._join(account.each if each else account.end, watcher)

    def watch_room(self, watcher: Watcher) -> Callable[[], None]:
        """Have `watcher` called whenever there may be room again; returns how to stop it."""
        with self._lock:
            return self._join(self._room, watcher)

    def _join(self, watchers: list[Watcher], watcher: Watcher) -> Callable[[], None]:
        watchers.append(watcher)

        def leave() -> None:
            with self._lock:
                watchers.remove(watcher)

        return leave

    def _account(self, batch_id: str) -> _Account:
        account = self._accounts.get(batch_id)
        if account is None:
            raise BatchNotFound(f"no batch has the id {batch_id!r}, or it was fetched long ago")
        return account


def _call(watchers: list[Watcher]) -> None:
    for watcher in watchers:
        try:
            watcher()
        except Exception:
            _log.exception("one who waits for a batch cannot be told")


CLOSED = EngineClosed("the engine was closed before the batch was done (submit it again to a new client)")
