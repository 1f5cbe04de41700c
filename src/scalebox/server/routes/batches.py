"""Batches over HTTP: submit, poll, fetch, stream, cancel."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from litestar import Response, delete, get, post
from litestar.params import Parameter
from litestar.response import Stream

from scalebox.core import codec
from scalebox.core.errors import InputError
from scalebox.server.audit import record_batch
from scalebox.server.batches import Status
from scalebox.server.bodies import (
    JSON,
    MSGPACK,
    AnyRequest,
    answer,
    digest_of,
    is_msgpack,
    read_submission,
    sends_msgpack,
    wants_msgpack,
)
from scalebox.server.context import Context
from scalebox.server.errors import Refused
from scalebox.server.guards import needs
from scalebox.server.operations import FetchOperation, SubmitOperation
from scalebox.server.principal import Role

_MAX_WAIT_S, _BEAT_S = 300.0, 15.0
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_EVENTS = "text/event-stream"

BatchId = Annotated[str, Parameter(description="The id that the submission was answered with.")]
WaitS = Annotated[
    float, Parameter(ge=0, le=_MAX_WAIT_S, description="Seconds to wait for the batch to be over, at most 300.")
]


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""
    batches, trainers = context.batches, [needs(Role.TRAINER)]

    @post(
        "/v1/batches",
        guards=trainers,
        tags=["batches"],
        summary="Submit a batch",
        status_code=202,
        operation_class=SubmitOperation,
    )
    async def submit(request: AnyRequest) -> Response[Any]:
        """Take samples to verify, all or none, and answer 202 with the batch's id at once.

        `Idempotency-Key` makes it safe to send the same again: the same key with the same body is the same batch.
        """
        if context.draining:
            mend = "try again, here or elsewhere"
            raise Refused(503, "the server is about to end", mend=mend, retry_after_s=5, code="draining")
        key, packed = _key(request), sends_msgpack(request)
        body = await request.body()
        client = request.user.client
        status = await batches.known(client, key, digest_of(body))
        if status is None:
            given = await asyncio.to_thread(
                read_submission, body, packed=packed, settings=context.settings, problems=context.problems
            )
            status = await batches.take(
                client, given, key, lambda batch_id: record_batch(context, request.user, batch_id, given.ids)
            )
        return answer(request, {"batch_id": status.batch_id, "samples": status.samples}, 202)

    @get("/v1/batches/{batch_id:str}", guards=trainers, tags=["batches"], summary="Where a batch is")
    async def poll(request: AnyRequest, batch_id: BatchId) -> Response[Any]:
        """Say its `state`, PENDING, DONE (every sample has a result) or FAILED, and how many samples are finished."""
        return answer(request, await batches.status(request.user.client, batch_id))

    @get(
        "/v1/batches/{batch_id:str}/results",
        guards=trainers,
        tags=["batches"],
        summary="All results of a batch",
        operation_class=FetchOperation,
    )
    async def fetch(request: AnyRequest, batch_id: BatchId, wait_s: WaitS = 30.0) -> Response[Any]:
        """Wait for the batch to be over, and answer with all results in the order of submission.

        202 and the state alone where it is still PENDING after `wait_s` seconds.
        """
        status = await batches.wait(request.user.client, batch_id, wait_s)
        if status.state == "PENDING":
            return answer(request, status, 202)
        results = batches.ordered(request.user.client, batch_id)
        if wants_msgpack(request):
            return Stream(_packed(status, results), media_type=MSGPACK)
        return Stream(_json(status, results), media_type=JSON)

    @get("/v1/batches/{batch_id:str}/stream", guards=trainers, tags=["batches"], summary="Results as they finish")
    async def stream(request: AnyRequest, batch_id: BatchId) -> Response[Any]:
        """Send each result as it comes: server-sent events `result` and at last `end`, or MessagePack objects.

        `Last-Event-ID` (the number of results that are there already) goes on where another stream broke off. With
        Accept: application/msgpack, objects `{"result": …}` follow one another, and at last `{"end": state}`.
        """
        start = _start(request)
        await batches.status(request.user.client, batch_id)  # that it is there is said before the stream begins
        news = batches.follow(request.user.client, batch_id, start, _BEAT_S)
        if is_msgpack(request.headers.get("accept", "")):
            return Stream(_packed_stream(news), media_type=MSGPACK)
        return Stream(_event_stream(news, start), media_type=_EVENTS, headers={"Cache-Control": "no-store"})

    @delete("/v1/batches/{batch_id:str}", guards=trainers, tags=["batches"], summary="Cancel a batch", status_code=202)
    async def cancel(request: AnyRequest, batch_id: BatchId) -> Response[Any]:
        """Give up what is not finished: those samples become `unknown`, and the batch DONE."""
        return answer(request, await batches.cancel(request.user.client, batch_id), 202)

    return [submit, poll, fetch, stream, cancel]


def _key(request: AnyRequest) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise InputError("must be 1 to 200 visible ASCII characters", field="Idempotency-Key", mend="such as a UUID")
    return key


def _start(request: AnyRequest) -> int:
    given = request.headers.get("last-event-id", "0")
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise InputError(f"must be a number, not {given[:40]!r}", field="Last-Event-ID")
    return int(given)


# Results are in the journal as MessagePack, and are passed on as they are where that is wanted.


async def _packed(status: Status, pages: AsyncIterator[list[bytes]]) -> AsyncIterator[bytes]:
    head = {"state": status.state, "error": status.error, "results": []}
    start = msgspec.msgpack.encode(head)
    yield start[:-1] + b"\xdd" + status.finished.to_bytes(4, "big")  # the empty array, written as one of so many
    async for page in pages:
        yield b"".join(page)


async def _json(status: Status, pages: AsyncIterator[list[bytes]]) -> AsyncIterator[bytes]:
    head = msgspec.json.encode({"state": status.state, "error": status.error})
    yield head[:-1] + b',"results":['
    first = True
    async for page in pages:
        lines = await asyncio.to_thread(_lines, page)
        yield (b"" if first else b",") + b",".join(lines)
        first = False
    yield b"]}"


async def _packed_stream(news: AsyncIterator[list[bytes] | Status]) -> AsyncIterator[bytes]:
    async for each in news:
        if isinstance(each, Status):
            yield msgspec.msgpack.encode({"end": each.state, "error": each.error})
        elif each:
            yield b"".join(b"\x81\xa6result" + result for result in each)


async def _event_stream(news: AsyncIterator[list[bytes] | Status], start: int) -> AsyncIterator[bytes]:
    number = start
    async for each in news:
        if isinstance(each, Status):
            yield b"event: end\ndata: " + msgspec.json.encode({"state": each.state, "error": each.error}) + b"\n\n"
        elif not each:
            yield b": waiting\n\n"
        else:
            lines = await asyncio.to_thread(_lines, each)
            yield b"".join(
                b"id: %d\nevent: result\ndata: %b\n\n" % (number + at, line) for at, line in enumerate(lines, 1)
            )
            number += len(lines)


def _lines(page: list[bytes]) -> list[bytes]:
    return [codec.encode_result_line(codec.decode_result(result))[:-1] for result in page]
