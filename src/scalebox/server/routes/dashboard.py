"""The dashboard: a page, and what it shows. Readers see how things went; operators also what programs said."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, Response, get
from litestar.params import Parameter
from litestar.response import ServerSentEvent, ServerSentEventMessage

from scalebox.core.codec import encode_result_line
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict
from scalebox.core.views import bare_cases, kinds_denied
from scalebox.server.authentication import OPEN
from scalebox.server.context import Context
from scalebox.server.errors import Refused
from scalebox.server.guards import needs
from scalebox.server.principal import Role
from scalebox.server.recent import BatchDetail, BatchRow
from scalebox.server.telemetry import MAX_RANGE_S, Overview, Telemetry

_RANGES_S = (300, 900, MAX_RANGE_S)
_TICK_S = 1.0
_GUARDS = [needs(Role.READER, Role.OPERATOR)]
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

RangeS = Annotated[int, Parameter(ge=1, le=MAX_RANGE_S, description="Seconds, rounded up to 300, 900 or 3600.")]

Index = Annotated[int, Parameter(ge=0, description="The sample's place in its batch, from 0.")]
BatchId = Annotated[str, Parameter(description="The id that the submission was answered with.")]


class Overviews:
    """What all who watch are sent: made once a second at most, however many they are."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._lock = threading.Lock()
        self._made: dict[int, Overview] = {}

    def latest(self, range_s: int) -> Overview:
        """Return an overview that is not older than a second."""
        range_s = min(each for each in _RANGES_S if each >= range_s)
        with self._lock:
            made = self._made.get(range_s)
            if made is None or abs(self._telemetry.now() - made.at) >= _TICK_S:
                made = self._made[range_s] = self._telemetry.overview(range_s)
            return made


def handlers(context: Context) -> list[Any]:
    """Return the handlers; there are none without telemetry."""
    if context.telemetry is None:
        return []
    return [*_pages(), *_live(context, context.telemetry), *_drill_down(context.telemetry)]


def _pages() -> list[Any]:
    """Return what everybody may load: it holds nothing but the form that asks for a token."""
    folder = files("scalebox.server").joinpath("dashboard")

    def page(path: str, name: str) -> Any:
        body = folder.joinpath(name).read_bytes()
        media_type = f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"

        @get(path, name=name, include_in_schema=False, sync_to_thread=False, opt={OPEN: True})
        def serve() -> Response[bytes]:
            return Response(body, headers={**_HEADERS, "Content-Type": media_type})

        return serve

    parts = sorted(part.name for part in folder.iterdir() if part.name != "dashboard.html")
    return [page("/dashboard", "dashboard.html"), *(page(f"/dashboard/{part}", part) for part in parts)]


def _live(context: Context, telemetry: Telemetry) -> list[Any]:
    overviews = Overviews(telemetry)

    @get("/v1/telemetry", tags=["telemetry"], summary="What happened of late", guards=_GUARDS, sync_to_thread=True)
    def overview(range_s: RangeS = 900) -> Overview:
        """Return counts, distributions, what happened over time, workers, alerts, and batches of late."""
        return overviews.latest(range_s)

    @get("/v1/telemetry/stream", tags=["telemetry"], summary="The same, every second", guards=_GUARDS)
    async def stream(range_s: RangeS = 900) -> ServerSentEvent:
        """Send an event `overview` every second until the server drains."""

        async def events() -> AsyncIterator[ServerSentEventMessage]:
            while not context.draining:
                seen = await asyncio.to_thread(overviews.latest, range_s)
                yield ServerSentEventMessage(event="overview", data=msgspec.json.encode(seen).decode())
                await asyncio.sleep(_TICK_S)

        return ServerSentEvent(events())

    return [overview, stream]


def _drill_down(telemetry: Telemetry) -> list[Any]:
    @get("/v1/telemetry/batches", tags=["telemetry"], summary="Batches of late", guards=_GUARDS, sync_to_thread=True)
    def batches(
        limit: Annotated[int, Parameter(ge=1, le=200)] = 50, offset: Annotated[int, Parameter(ge=0)] = 0
    ) -> list[BatchRow]:
        """Return the last batches of all clients, the newest first."""
        return telemetry.batches(limit, offset)

    @get(
        "/v1/telemetry/batches/{batch_id:str}",
        tags=["telemetry"],
        summary="A batch and its samples",
        guards=_GUARDS,
        sync_to_thread=True,
    )
    def batch(
        batch_id: BatchId,
        verdict: Annotated[Verdict | None, Parameter(description="Samples of this verdict alone.")] = None,
        limit: Annotated[int, Parameter(ge=1, le=500)] = 100,
        offset: Annotated[int, Parameter(ge=0)] = 0,
    ) -> BatchDetail:
        """Return a batch, its distributions, and a page of its samples (of one verdict, if asked for)."""
        found = telemetry.batch(batch_id, verdict=verdict or "", offset=offset, limit=limit)
        if found is None:
            raise Refused(404, "no such batch, or it has made room for newer ones", field="batch_id")
        return found

    @get(
        "/v1/telemetry/batches/{batch_id:str}/samples/{index:int}",
        tags=["telemetry"],
        summary="A sample and its cases",
        guards=_GUARDS,
        sync_to_thread=True,
    )
    def sample(request: Request[Any, Any, Any], batch_id: BatchId, index: Index) -> Response[bytes]:
        """Return `{"view", "result"}`: the whole result for an operator, one without texts of tests for a reader."""
        result = telemetry.result(batch_id, index)
        if result is None:
            raise Refused(404, "no such sample, or its result has made room for newer ones", field="index")
        view: Literal["operator", "reader"] = "operator" if request.user.role == Role.OPERATOR else "reader"
        seen = result if view == "operator" else reader_view(result)
        body = b'{"view":"%s","result":%s}' % (view.encode(), encode_result_line(seen).rstrip())
        return Response(body, headers={"Content-Type": "application/json", "Cache-Control": "no-store"})

    return [batches, batch, sample]


def reader_view(result: VerificationResult) -> VerificationResult:
    """Return a result with the program and the measures of its cases, and nothing that could tell of a hidden test.

    A program may print its input, exit with a part of it, or name a file after it; a message may quote the answer that
    was expected, `meta` is the trainer's own: so a reader sees none of these, of visible tests neither.
    """
    return msgspec.structs.replace(
        result, cases=bare_cases(result), denied=kinds_denied(result), message="", integrity_reason="", meta=None
    )
