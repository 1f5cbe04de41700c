"""The transport to a server: the same batches, elsewhere."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from scalebox.client.address import AUTO, Address, parse_address
from scalebox.client.batches import Batches, Stream
from scalebox.client.daemon import Daemon
from scalebox.client.http import Http, need_aiohttp
from scalebox.client.micro_batching import Gatherer, ShareStream
from scalebox.client.portal import Portal
from scalebox.client.records import body_of, encode_batch, encode_sample
from scalebox.client.waiting import Waiting
from scalebox.core.errors import EngineClosed, InputError
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.schedule.ledger import State

_T = TypeVar("_T")
#: Seconds by which a server may be late where a caller waits no longer than a given time.
_GRACE_S = 5.0

_lock = threading.Lock()
#: What forked children have from their parents, kept so that nobody closes it.
_parents: list[object] = []


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603  the old one may be held by a thread that a forked child does not have
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class _Side:
    """What belongs to one process: a thread for its input and output, connections, and batches."""

    def __init__(self, make_http: Callable[[], Http], settings: Settings) -> None:
        self.http = make_http()
        self.batches = Gatherer(Batches(self.http), settings.gather_samples, settings.gather_ms / 1000)
        self.portal = Portal(self.http.close)


class RemoteTransport:
    """Reaches a server from any thread and any event loop; a forked child gets connections of its own."""

    def __init__(
        self,
        address: Address,
        token: str,
        settings: Settings,
        waiting: Waiting,
        revive: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._settings = settings
        self._waiting = waiting
        self._make_http = lambda: Http(address, token, settings.client_retry_s, revive)
        self._own: _Side | None = None
        self._closed = False

    async def submit(
        self,
        samples: Sequence[Sample | Mapping[str, Any]],
        deadline_s: float | None,
        wait_s: float | None,
        batch_id: str | None = None,
    ) -> str:
        """Submit samples, and return the batch's id; waits up to `wait_s` seconds where the server is busy."""
        if batch_id is not None:
            raise InputError("is the server's to choose", field="batch_id", mend="leave it out")
        body = await self._waiting.call(lambda: encode_batch(samples, deadline_s))
        return await self._do(lambda batches: batches.submit(body, wait_s))

    async def submit_one(self, sample: Mapping[str, Any]) -> str:
        """Submit a sample as a batch of its own, in one request with those of others where they come together."""
        record = await self._waiting.call(lambda: encode_sample(sample, "samples[0]"))
        name = sample["id"]
        if self._settings.gather_samples == 1 or not isinstance(name, str):
            return await self._do(lambda batches: batches.submit(body_of([record], None), None))
        return await self._do(lambda batches: batches.submit_one(name, record))

    async def poll(self, batch_id: str) -> State:
        """Return where a batch is."""
        return await self._do(lambda batches: batches.poll(batch_id))

    async def fetch(self, batch_id: str, timeout: float | None) -> list[VerificationResult]:
        """Return a batch's results in the order of submission, once it is done; raises TimeoutError."""

        async def in_time(batches: Gatherer) -> list[VerificationResult]:
            try:
                async with asyncio.timeout(None if timeout is None else timeout + _GRACE_S):
                    return await batches.fetch(batch_id, timeout)
            except TimeoutError:
                message = f"batch {batch_id} was not done within {timeout:g} s (fetch it again later)"
                raise TimeoutError(message) from None

        return await self._do(in_time)

    async def stream(self, batch_id: str) -> AsyncIterator[VerificationResult]:
        """Yield a batch's results as they come."""

        async def begin(batches: Gatherer) -> Stream | ShareStream:
            return batches.stream(batch_id)

        portal = self._side.portal
        stream = await self._do(begin)
        try:
            while results := await self._waiting.result(portal.start(stream.more())):
                for result in results:
                    yield result
        finally:
            portal.soon(stream.close)

    async def cancel(self, batch_id: str) -> None:
        """Give up what is not finished of a batch."""
        await self._do(lambda batches: batches.cancel(batch_id))

    async def close(self) -> None:
        """Close the connections; the server goes on with the batches."""
        with _lock:
            self._closed = True
            side, self._own = self._own, None
        if side is not None and side.portal.pid == os.getpid():
            await self._waiting.call(side.portal.stop)

    def abandon(self) -> None:
        """Have the connections closed, without waiting for it."""
        side = self._own
        if side is not None:
            side.portal.abandon()

    async def _do(self, action: Callable[[Gatherer], Coroutine[Any, Any, _T]]) -> _T:
        side = self._side
        return await self._waiting.result(side.portal.start(action(side.batches)))

    @property
    def _side(self) -> _Side:
        """What this process has of the transport, made at its first use."""
        side = self._own
        if side is None or side.portal.pid != os.getpid():
            with _lock:
                if self._closed:
                    raise EngineClosed("the client was closed")
                if side is not None and side is self._own:
                    # Only the parent may touch these: its sockets are shared with this process.
                    _parents.append(side)
                if self._own is None or self._own is side:
                    self._own = _Side(self._make_http, self._settings)
                side = self._own
        return side


def connect(url: str, token: str, settings: Settings, waiting: Waiting) -> RemoteTransport:
    """Return the transport to the server that `url` names; raises InputError. Nothing is sent yet."""
    need_aiohttp()
    if url == AUTO:
        daemon = Daemon(settings)
        return RemoteTransport(daemon.address, "", settings, waiting, daemon.ensure)
    return RemoteTransport(parse_address(url), token, settings, waiting)
