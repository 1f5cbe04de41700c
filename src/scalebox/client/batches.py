"""Batches on a server, as its HTTP interface has them (docs/guides/clients.md)."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from urllib.parse import quote

import msgspec

from scalebox.client.answers import MSGPACK, Accepted, Results, Status, Streamed, decode, failure_of
from scalebox.client.http import Http
from scalebox.core.errors import ScaleBoxError, ServerError
from scalebox.core.result import VerificationResult
from scalebox.schedule.ledger import State

#: For how long the server holds back its answer that a batch is not done yet.
_POLL_S = 30.0
_SOON_S = 0.2
#: What an answer may take beyond that.
_ANSWER_S = 60.0


class Batches:
    """The batches of one client on a server; lives on the loop of its `Http`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def submit(self, body: bytes, wait_s: float | None) -> str:
        """Submit a batch once, however often the request has to be sent; return its id."""
        headers = {"Content-Type": MSGPACK, "Idempotency-Key": uuid.uuid4().hex}
        answer = await self._http.request(
            "POST", "/v1/batches", body, headers, wait_s=wait_s or 0.0, answer_s=_ANSWER_S
        )
        return answer.read(Accepted).batch_id

    async def poll(self, batch_id: str) -> State:
        """Return where a batch is."""
        return (await self._http.request("GET", _path(batch_id))).read(Status).state

    async def fetch(self, batch_id: str, timeout: float | None) -> list[VerificationResult]:
        """Return a batch's results in the order of submission, once it is done; raises TimeoutError."""
        give_up_at = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _POLL_S if give_up_at is None else min(_POLL_S, max(0.0, give_up_at - time.monotonic()))
            path = f"{_path(batch_id)}/results?wait_s={left:.3f}"
            asked = time.monotonic()
            answer = await self._http.request("GET", path, answer_s=left + _ANSWER_S)
            if answer.status == 200:
                done = answer.read(Results)
                if done.state == "FAILED":
                    raise failure_of(done.error)
                return done.results
            now = time.monotonic()
            if give_up_at is not None and now >= give_up_at:
                raise TimeoutError(f"batch {batch_id} was not done within {timeout:g} s (fetch it again later)")
            if now - asked < min(left, _SOON_S):
                await asyncio.sleep(_SOON_S)  # it would not hold the answer back: it is about to end

    async def cancel(self, batch_id: str) -> None:
        """Give up what is not finished of a batch."""
        await self._http.request("DELETE", _path(batch_id))

    def stream(self, batch_id: str) -> Stream:
        """Return the results of a batch as they finish."""
        return Stream(self._http, batch_id)


class Stream:
    """Results as they come, each once, whatever happens to the connection."""

    def __init__(self, http: Http, batch_id: str) -> None:
        self._batch_id = batch_id
        self._given = 0
        self._objects = _Objects()
        self._pieces = http.stream(f"{_path(batch_id)}/stream", self._resume)
        self._over = False
        self._failure: ScaleBoxError | None = None

    async def more(self) -> list[VerificationResult]:
        """Wait for results, and return those that have come; none at the end. Raises why the batch FAILED."""
        results: list[VerificationResult] = []
        while not results and not self._over:
            piece = await anext(self._pieces)
            for streamed in self._objects.feed(piece):
                if streamed.result is not None:
                    results.append(streamed.result)
                if streamed.end is not None:
                    await self._pieces.aclose()
                    self._over = True
                    if streamed.end == "FAILED":
                        self._failure = failure_of(streamed.error)
        self._given += len(results)
        if not results and self._failure is not None:
            raise self._failure
        return results

    def _resume(self) -> dict[str, str]:
        """Return the headers of a stream that goes on behind what was given."""
        self._objects = _Objects()
        return {"Last-Event-ID": str(self._given)} if self._given else {}

    def close(self) -> None:
        """Stop reading."""
        if not self._over:
            self._over = True
            task = asyncio.ensure_future(self._pieces.aclose())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())


class _Objects:
    """Cuts a stream of MessagePack into its objects."""

    def __init__(self) -> None:
        import msgpack

        self._unpacker = msgpack.Unpacker(max_buffer_size=0)
        self._skip_error = msgpack.OutOfData
        self._data = bytearray()
        self._begin = 0

    def feed(self, piece: bytes) -> Iterator[Streamed]:
        """Take more bytes, and yield each object that is whole by then; raises ServerError."""
        self._unpacker.feed(piece)
        self._data += piece
        try:
            while True:
                self._unpacker.skip()
                end = self._unpacker.tell() - self._begin
                data = bytes(memoryview(self._data)[:end])
                del self._data[:end]
                self._begin += end
                yield decode(data, Streamed)
        except self._skip_error:
            return
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise ServerError(f"the server's stream cannot be understood: {error}") from None


def _path(batch_id: str) -> str:
    return f"/v1/batches/{quote(str(batch_id), safe='')}"
