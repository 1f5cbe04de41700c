"""Micro-batching: single samples of many callers share requests, and each caller still has a batch of its own."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from scalebox.client.batches import Batches, Stream
from scalebox.client.records import body_of
from scalebox.core.errors import InputError, QueueFull, ScaleBoxError, ServerError
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict
from scalebox.schedule.ledger import State

#: Shares that can still be fetched again after they were handed over.
_REMEMBERED = 1024


class _Single(msgspec.Struct, eq=False):
    """A sample that waits to be sent; `taken` becomes the id of its batch."""

    name: str
    record: bytes
    taken: asyncio.Future[str]


class _Share(msgspec.Struct, eq=False):
    """One sample of a group."""

    group: Group
    name: str
    result: asyncio.Future[VerificationResult]


class Gatherer:
    """Batches of which single samples are sent together; lives on one event loop.

    A sample that comes while no request of singles is under way is sent at once. Others wait until that request is
    answered, until `most` of them are there, or for `wait_s` seconds, whichever is first.
    """

    def __init__(self, batches: Batches, most: int, wait_s: float) -> None:
        self._batches = batches
        self._most = most
        self._wait_s = wait_s
        self._queue: list[_Single] = []
        self._under_way: set[asyncio.Task[None]] = set()
        self._timer: asyncio.Handle | None = None
        self._shares: dict[str, _Share] = {}
        self._handed_over: OrderedDict[str, None] = OrderedDict()

    # --- singles into groups ----------------------------------------------------------------------

    async def submit_one(self, name: str, record: bytes) -> str:
        """Submit one sample, alone or with others; return the id of its own batch."""
        single = _Single(name, record, asyncio.get_running_loop().create_future())
        self._queue.append(single)
        self._plan()
        return await single.taken

    def _plan(self) -> None:
        """See to it that what waits is sent."""
        loop = asyncio.get_running_loop()
        if len(self._queue) >= self._most:
            self._send()
        elif self._queue and self._timer is None:
            # Whoever is ready to run now may still join.
            idle = not self._under_way
            self._timer = loop.call_soon(self._send) if idle else loop.call_later(self._wait_s, self._send)

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting = [single for single in self._queue if not single.taken.done()]
        group = {single.name: single for single in reversed(waiting[: self._most])}  # a name once: the first
        chosen = list(reversed(group.values()))
        self._queue = [single for single in waiting if group.get(single.name) is not single]
        if chosen:
            task = asyncio.get_running_loop().create_task(self._submit(chosen))
            self._under_way.add(task)
            task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if self._queue and not task.cancelled():
            self._send()

    async def _submit(self, singles: Sequence[_Single]) -> None:
        """Submit singles as one batch; a refused one in halves, so that no sample suffers for another."""
        try:
            batch_id = await self._batches.submit(body_of([single.record for single in singles], None), None)
        except (InputError, QueueFull) as error:
            if len(singles) > 1:
                middle = len(singles) // 2
                await self._submit(singles[:middle])
                await self._submit(singles[middle:])
            else:
                _refuse(singles, error)
        except ScaleBoxError as error:
            _refuse(singles, error)
        except asyncio.CancelledError:
            for single in singles:
                single.taken.cancel()
            raise
        else:
            self._take(batch_id, singles)

    def _take(self, batch_id: str, singles: Sequence[_Single]) -> None:
        ids = [batch_id]
        if len(singles) > 1:
            ids = [f"{batch_id}.{index}" for index in range(len(singles))]
            group = Group(self._batches, batch_id, [single.name for single in singles])
            self._shares.update(zip(ids, group.shares, strict=True))
        for single, own in zip(singles, ids, strict=True):
            if not single.taken.done():
                single.taken.set_result(own)

    # --- the batches, of groups and others --------------------------------------------------------

    async def submit(self, body: bytes, wait_s: float | None) -> str:
        """Submit a batch of its own."""
        return await self._batches.submit(body, wait_s)

    async def poll(self, batch_id: str) -> State:
        """Return where a batch is."""
        share = self._shares.get(batch_id)
        if share is None:
            return await self._batches.poll(batch_id)
        if not share.result.done():
            return "PENDING"
        return "DONE" if share.result.exception() is None else "FAILED"

    async def fetch(self, batch_id: str, timeout: float | None) -> list[VerificationResult]:
        """Return a batch's results in the order of submission, once it is done; raises TimeoutError."""
        share = self._shares.get(batch_id)
        if share is None:
            return await self._batches.fetch(batch_id, timeout)
        await asyncio.wait([share.result], timeout=timeout)
        if not share.result.done():
            raise TimeoutError(f"batch {batch_id} was not done within {timeout:g} s (fetch it again later)")
        self._hand_over(batch_id)
        return [share.result.result()]

    async def cancel(self, batch_id: str) -> None:
        """Give up what is not finished of a batch."""
        share = self._shares.get(batch_id)
        if share is None:
            await self._batches.cancel(batch_id)
        else:
            await share.group.cancel(share)

    def stream(self, batch_id: str) -> Stream | ShareStream:
        """Return the results of a batch as they finish."""
        return ShareStream(self, batch_id) if batch_id in self._shares else self._batches.stream(batch_id)

    def _hand_over(self, batch_id: str) -> None:
        self._handed_over[batch_id] = None
        self._handed_over.move_to_end(batch_id)
        while len(self._handed_over) > _REMEMBERED:
            del self._shares[self._handed_over.popitem(last=False)[0]]


class Group:
    """Samples of several callers that are one batch of the server: its stream is read once for all of them."""

    def __init__(self, batches: Batches, batch_id: str, names: Sequence[str]) -> None:
        loop = asyncio.get_running_loop()
        self._batches = batches
        self._batch_id = batch_id
        self.shares = [_Share(self, name, loop.create_future()) for name in names]
        for share in self.shares:
            share.result.add_done_callback(asyncio.Future.exception)  # a failure that nobody fetches is no news
        self._open = {share.name: share for share in self.shares}
        self._reader = loop.create_task(self._read())

    async def cancel(self, share: _Share) -> None:
        """Give up one sample. The server goes on with it as long as it has another of the group to do."""
        if share.result.done():
            return
        if len(self._open) == 1:
            await self._batches.cancel(self._batch_id)
            return
        del self._open[share.name]
        share.result.set_result(
            VerificationResult(
                id=share.name, verdict=Verdict.UNKNOWN, masked=True, stage="execute", message="the batch was cancelled"
            )
        )

    async def _read(self) -> None:
        failure: ScaleBoxError = ServerError("the server's batch ended without a result for this sample")
        stream = self._batches.stream(self._batch_id)
        try:
            while results := await stream.more():
                for result in results:
                    share = self._open.pop(result.id, None)
                    if share is not None:
                        share.result.set_result(result)
        except ScaleBoxError as error:
            failure = error
        finally:
            stream.close()
            for share in self._open.values():
                share.result.set_exception(failure)
            self._open.clear()


class ShareStream:
    """The one result of a share."""

    def __init__(self, gatherer: Gatherer, batch_id: str) -> None:
        self._gatherer = gatherer
        self._batch_id = batch_id
        self._given = False

    async def more(self) -> list[VerificationResult]:
        """Wait for the result, and return it; nothing at the end."""
        if self._given:
            return []
        results = await self._gatherer.fetch(self._batch_id, None)
        self._given = True
        return results

    def close(self) -> None:
        """Stop reading."""


def _refuse(singles: Sequence[_Single], error: ScaleBoxError) -> None:
    for single in singles:
        if not single.taken.done():
            single.taken.set_exception(error)
