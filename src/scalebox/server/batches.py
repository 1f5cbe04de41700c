"""Batches as the clients see them: taken, verified in turn, kept for a while.

All runs on one event loop; the journal is asked on threads. A result is told only once it is in the journal.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from scalebox.core import codec, events
from scalebox.core.errors import BatchNotFound, ScaleBoxError
from scalebox.core.limits import MIB
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.core.views import trainer_view
from scalebox.server.bodies import Submission
from scalebox.server.errors import Refused
from scalebox.server.feed import Feed
from scalebox.server.journal import Ended, Entry, Finished, Journal

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

#: Seconds between two looks for what is too old, and after a journal that could not be written; for the last writes.
_CLEAN_EVERY_S, _AGAIN_S, _SETTLE_S = 30.0, 1.0, 10.0
#: Results that are read at once, and bytes of them.
_PAGE, _PAGE_BYTES = 256, MIB
_MAX_RETRY_S = 60.0


class Status(msgspec.Struct):
    """A batch in short; `error` is empty unless its state is FAILED."""

    batch_id: str
    state: str
    samples: int
    finished: int
    error: str


class Batch:
    """A batch that is not over, and what the feed calls its work."""

    at_hand = False

    def __init__(self, owner: Batches, entry: Entry, deadline: float | None, finished: int) -> None:
        self.entry, self.client, self.id, self.deadline = entry, entry.client, entry.id, deadline
        self.state, self.error = entry.state, entry.error
        #: Results that came, and results that are in the journal.
        self.given = self.finished = finished
        self.changed = asyncio.Event()
        self._owner = owner
        #: Samples under way whose tests the client may not see.
        self._held: dict[int, Sample] = {}

    def load(self, places: Sequence[int]) -> list[Sample]:
        samples = [codec.decode_sample(record) for record in self._owner.journal.records(self.entry.number, places)]
        self._held |= {place: sample for place, sample in zip(places, samples, strict=True) if sample.held}
        return samples

    def deliver(self, place: int, result: VerificationResult) -> None:
        sample = self._held.pop(place, None)
        self._owner.deliver(self, place, result if sample is None else trainer_view(result, sample))

    def fail(self, error: ScaleBoxError) -> None:
        self._owner.fail(self, error)

    def tell(self) -> None:
        """Wake those who wait for news of it."""
        self.changed.set()
        self.changed = asyncio.Event()

    @property
    def status(self) -> Status:
        return Status(self.id, self.state, self.entry.samples, self.finished, self.error)


class Batches:
    """Takes, verifies and keeps batches."""

    def __init__(
        self, settings: Settings, journal: Journal, feed: Feed, emit: Callable[[events.Event], None] = lambda _: None
    ) -> None:
        self.journal, self._settings, self._feed, self._emit = journal, settings, feed, emit
        self._open: dict[int, Batch] = {}
        self._numbers: dict[str, int] = {}
        self._pending: Counter[str] = Counter()
        self._rows: list[Finished] = []
        self._ends: list[Ended] = []
        self._wanted = asyncio.Event()
        self._written = asyncio.Event()
        self._written.set()
        self._stopped = False
        self._takings: set[asyncio.Task[Status]] = set()
        #: Whether the journal takes what is written.
        self.keeps = True
        self._writer = ThreadPoolExecutor(1, "scalebox-journal")
        self._reader = ThreadPoolExecutor(2, "scalebox-reader")
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Go on with what the journal says is not done."""
        for entry in await self._reading(self.journal.unfinished):
            waiting = await self._reading(self.journal.waiting, entry.number)
            _log.info(
                "batch taken up again", extra={"batch": entry.id, "client": entry.client, "samples": len(waiting)}
            )
            self._pending[entry.client] += len(waiting)
            self._emit(events.BatchResumed(time.time(), entry.id, len(waiting)))
            finished = await self._reading(self.journal.count, entry.number)
            self._begin(entry, finished, waiting)
        self._tasks = [asyncio.create_task(self._write_always()), asyncio.create_task(self._clean_always())]

    async def settle(self) -> None:
        """Begin nothing more, write what there is to write, and send those away who wait."""
        self._feed.stop()
        self._stopped = True
        await asyncio.gather(*self._takings, return_exceptions=True)
        try:
            async with asyncio.timeout(_SETTLE_S):
                await self._written.wait()
        except TimeoutError:
            _log.error("the journal cannot be written: some samples will be verified again")
        for batch in self._open.values():
            batch.tell()

    async def stop(self) -> None:
        """End, once nobody asks any more."""
        await self.settle()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._writer.shutdown()
        self._reader.shutdown()

    @property
    def pending(self) -> int:
        """Samples that have no result yet."""
        return self._pending.total()

    @property
    def idle(self) -> bool:
        """Whether every batch is over."""
        return not self._open

    # --- taking ----------------------------------------------------------------------------------

    async def known(self, client: str, key: str | None, digest: bytes) -> Status | None:
        """Return the batch that a client has submitted by a key; raises Refused (409) where that was another body."""
        entry = None if key is None else await self._reading(self.journal.find_key, client, key)
        return None if entry is None else await self._same(entry, digest)

    async def take(
        self, client: str, given: Submission, key: str | None, before: Callable[[str], None] = lambda _: None
    ) -> Status:
        """Take a batch, or return the one that the client has submitted by the same key; raises Refused.

        `before` is told the id of a new one, on another thread: where it raises, there is none, and its key is free.
        """
        # A client that hangs up must not leave a batch in the journal that nobody has begun.
        task = asyncio.create_task(self._take(client, given, key, before))
        self._takings.add(task)
        task.add_done_callback(self._takings.discard)
        return await asyncio.shield(task)

    async def _take(self, client: str, given: Submission, key: str | None, before: Callable[[str], None]) -> Status:
        count = len(given.records)
        self._check_room(client, count)
        self._pending[client] += count
        seconds = self._settings.batch_deadline_s if given.deadline_s is None else given.deadline_s
        deadline = time.time() + seconds if seconds else None
        try:
            entry, new = await self._writing(lambda: self._enter(client, given, key, deadline, before))
        except BaseException as error:
            self._release(client, count)
            if isinstance(error, sqlite3.Error):
                _log.error("the journal cannot be written: %s", error)
                raise Refused(503, "the journal cannot be written", retry_after_s=self._retry_s()) from None
            raise
        if not new:
            self._release(client, count)
            return await self._same(entry, given.digest)
        _log.info("batch accepted", extra={"batch": entry.id, "client": client, "samples": count})
        self._emit(events.BatchAccepted(time.time(), entry.id, count))
        if not count:
            self._emit(events.BatchFinished(time.time(), entry.id, "DONE"))
            return _status(entry, 0)
        return self._begin(entry, 0, range(count)).status

    def _enter(
        self, client: str, given: Submission, key: str | None, deadline: float | None, before: Callable[[str], None]
    ) -> tuple[Entry, bool]:
        """Write a batch into the journal, older ones make room; blocks. Raises Refused (503)."""
        room = self._settings.server_journal_mb * MIB - sum(map(len, given.records))
        if self.journal.size() > room:
            self.journal.clean(self._settings.server_keep_s, max(0, room))
        if self.journal.size() > room:
            mend = "try again later, or raise server_journal_mb"
            raise Refused(503, "the journal has no room for the batch", mend=mend, retry_after_s=_CLEAN_EVERY_S)
        if key is not None and (known := self.journal.find_key(client, key)) is not None:
            return known, False
        batch_id = uuid.uuid4().hex
        before(batch_id)
        return self.journal.accept(batch_id, client, given.records, key=key, digest=given.digest, deadline=deadline)

    async def _same(self, entry: Entry, digest: bytes) -> Status:
        if entry.digest != digest:
            mend = "take a new key for each batch"
            raise Refused(409, "this key was used for another batch", field="Idempotency-Key", mend=mend)
        return await self.status(entry.client, entry.id)

    def _begin(self, entry: Entry, finished: int, places: Sequence[int]) -> Batch:
        left = None if entry.deadline is None else max(0.0, entry.deadline - time.time())
        deadline = None if left is None else asyncio.get_running_loop().time() + left
        batch = Batch(self, entry, deadline, finished)
        self._open[entry.number] = batch
        self._numbers[entry.id] = entry.number
        self._feed.add(batch, places)
        return batch

    def _check_room(self, client: str, count: int) -> None:
        quota, most = self._settings.server_client_pending, self._settings.max_pending
        if self._pending[client] + count > quota:
            problem = f"{self._pending[client]} samples of {client} have no result yet, of at most {quota}"
            raise Refused(429, problem, mend="wait for results", retry_after_s=self._retry_s())
        if self.pending + count > most:
            problem = f"{self.pending} samples wait, of at most {most}"
            raise Refused(503, problem, mend="try again later", retry_after_s=self._retry_s())
        if not self.keeps:
            raise Refused(503, "the journal cannot be written", mend="try again later", retry_after_s=_CLEAN_EVERY_S)

    def _retry_s(self) -> float:
        return min(_MAX_RETRY_S, max(1.0, self._feed.pace.seconds_for(self.pending) / 4))

    def _release(self, client: str, count: int) -> None:
        self._pending[client] -= count
        if self._pending[client] <= 0:
            del self._pending[client]

    # --- results ---------------------------------------------------------------------------------

    def deliver(self, batch: Batch, place: int, result: VerificationResult) -> None:
        """Take a result of a batch; the feed says so."""
        self._rows.append(Finished(batch.entry.number, batch.given, place, codec.encode_result(result)))
        batch.given += 1
        self._release(batch.client, 1)
        _log.debug("sample finished", extra={"batch": batch.id, "sample": result.id, "verdict": result.verdict.value})
        if batch.given == batch.entry.samples:
            self._end(batch, "DONE", "")
        self._wake()

    def fail(self, batch: Batch, error: ScaleBoxError) -> None:
        """End a batch that will have no more results."""
        self._release(batch.client, batch.entry.samples - batch.given)
        self._end(batch, "FAILED", str(error))
        self._wake()

    def _end(self, batch: Batch, state: str, error: str) -> None:
        self._ends.append(Ended(batch.entry.number, state, error))
        self._feed.forget(batch.id)

    def _wake(self) -> None:
        self._wanted.set()
        self._written.clear()

    async def _write_always(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            rows, ends = self._rows, self._ends
            self._rows, self._ends = [], []
            while not await self._write(rows, ends):
                self._feed.pause(True)  # or results would fill the memory
                self.keeps = False
                await asyncio.sleep(_AGAIN_S)
            if not self.keeps:
                self.keeps = True
                self._feed.pause(False)
            self._tell(rows, ends)
            if not self._wanted.is_set():
                self._written.set()

    async def _write(self, rows: list[Finished], ends: list[Ended]) -> bool:
        try:
            await self._writing(lambda: self.journal.enter(rows, ends))
        except sqlite3.Error as error:
            _log.error("the journal cannot be written: %s; trying again", error)
            return False
        return True

    def _tell(self, rows: list[Finished], ends: list[Ended]) -> None:
        news = {row.number: self._open[row.number] for row in rows}
        for row in rows:
            news[row.number].finished += 1
        for end in ends:
            batch = self._open.pop(end.number)
            del self._numbers[batch.id]
            batch.state, batch.error = end.state, end.error
            news[end.number] = batch
            level = logging.INFO if end.state == "DONE" else logging.ERROR
            _log.log(level, "batch %s", end.state, extra={"batch": batch.id, "client": batch.client, "why": end.error})
            self._emit(events.BatchFinished(time.time(), batch.id, end.state))
        for batch in news.values():
            batch.tell()

    async def _clean_always(self) -> None:
        most = self._settings.server_journal_mb * MIB
        while True:
            try:
                await self._writing(lambda: self.journal.clean(self._settings.server_keep_s, most))
            except sqlite3.Error as error:
                _log.error("the journal cannot be cleaned: %s", error)
            await asyncio.sleep(_CLEAN_EVERY_S)

    # --- asking ----------------------------------------------------------------------------------

    async def status(self, client: str, batch_id: str) -> Status:
        """Return where a client's batch is; raises BatchNotFound, for those of others too."""
        batch = self._batch(batch_id)
        if batch is not None and batch.client == client:
            return batch.status
        entry = await self._entry(client, batch_id)
        return _status(entry, await self._reading(self.journal.count, entry.number))

    async def wait(self, client: str, batch_id: str, seconds: float) -> Status:
        """Return where a batch is as soon as it is over, or after so many seconds; raises BatchNotFound."""
        batch = self._batch(batch_id)
        try:
            async with asyncio.timeout(seconds):
                while batch is not None and batch.client == client and batch.state == "PENDING" and not self._stopped:
                    await batch.changed.wait()
        except TimeoutError:
            pass
        return await self.status(client, batch_id)

    async def cancel(self, client: str, batch_id: str) -> Status:
        """Give up what is not finished of a batch; raises BatchNotFound."""
        status = await self.status(client, batch_id)
        if status.state == "PENDING":
            _log.info("batch cancelled", extra={"batch": batch_id, "client": client})
            self._feed.cancel(batch_id)
        return status

    async def ordered(self, client: str, batch_id: str) -> AsyncIterator[list[bytes]]:
        """Yield a batch's results in the order of submission, page by page; raises BatchNotFound."""
        entry = await self._entry(client, batch_id)
        turns = await self._reading(self.journal.turns, entry.number)
        async for page in self._pages(entry.number, turns):
            yield page

    async def follow(
        self, client: str, batch_id: str, start: int, beat_s: float
    ) -> AsyncIterator[list[bytes] | Status]:
        """Yield results from number `start` on as they come, [] every `beat_s` seconds of silence, then the status.

        Raises BatchNotFound.
        """
        entry = await self._entry(client, batch_id)
        given = start
        while True:
            batch = self._batch(batch_id)
            changed = None if batch is None else batch.changed
            status = await self.status(client, batch_id)
            if given < status.finished:
                async for page in self._pages(entry.number, range(given, status.finished)):
                    given += len(page)
                    yield page
            elif status.state != "PENDING" or changed is None:
                yield status
                return
            elif not await _happens(changed.wait(), beat_s):
                yield []
            elif self._stopped:
                return

    async def _pages(self, number: int, turns: Sequence[int]) -> AsyncIterator[list[bytes]]:
        at = 0
        while at < len(turns):
            page = await self._reading(self.journal.results, number, turns[at : at + _PAGE], _PAGE_BYTES)
            if not page:
                return  # forgotten meanwhile
            at += len(page)
            yield page

    def _batch(self, batch_id: str) -> Batch | None:
        return self._open.get(self._numbers.get(batch_id, 0))

    async def _entry(self, client: str, batch_id: str) -> Entry:
        entry = await self._reading(self.journal.find, batch_id)
        if entry is None or entry.client != client:
            raise BatchNotFound(f"no batch has the id {batch_id!r}, or it was forgotten after server_keep_s")
        return entry

    async def _reading(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._reader, function, *arguments)

    async def _writing(self, function: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._writer, function)


async def _happens(event: Awaitable[Any], seconds: float) -> bool:
    try:
        await asyncio.wait_for(event, seconds)
    except TimeoutError:
        return False
    return True


def _status(entry: Entry, finished: int) -> Status:
    return Status(entry.id, entry.state, entry.samples, finished, entry.error)
