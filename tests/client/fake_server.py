"""A small server that speaks the HTTP interface of batches and misbehaves as it is told."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Self

import msgspec
from aiohttp import web

from scalebox.core import codec
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict

MSGPACK = "application/msgpack"


class _Batch:
    def __init__(self, samples: list[dict[str, Any]]) -> None:
        self.samples = samples
        self.results: list[VerificationResult | None] = [None] * len(samples)
        self.finished: list[VerificationResult] = []
        self.state = "PENDING" if samples else "DONE"
        self.changed = asyncio.Condition()


class FakeServer:
    """Samples pass; those whose code is "fail" do not, and those whose code is "wait" do when they are released.

    `faults` are met by one request each, in turn: an answer, or "before" or "after" for a connection that is cut before
    or after the request had its effect. `refuse` says which batches are refused, and with what.
    """

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.headers: list[dict[str, str]] = []
        self.faults: list[web.StreamResponse | str | None] = []
        self.refuse: Callable[[list[dict[str, Any]]], web.Response | None] = lambda _: None
        #: Results after which a stream is cut, for each stream in turn.
        self.cuts: list[int] = []
        #: Whether submissions wait for their answers.
        self.held = False
        self.batches: dict[str, _Batch] = {}
        self.keys: dict[str, tuple[bytes, str]] = {}
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._runner: web.AppRunner | None = None

    # --- the test's side --------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._thread.start()
        self.listen()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def listen(self) -> None:
        """Listen, on the port of the last time where there was one."""
        self._run(self._listen()).result()

    def hang_up(self) -> None:
        """Close the port and all connections; batches are kept."""

        async def clean_up() -> None:
            if self._runner is not None:
                await self._runner.cleanup()
                self._runner = None

        self._run(clean_up()).result()

    def release(self) -> None:
        """Have all samples that wait pass."""
        self._run(self._settle(lambda _: True)).result()

    def fail(self) -> None:
        """Have all batches that are not done FAIL."""

        async def fail() -> None:
            for batch in self.batches.values():
                async with batch.changed:
                    batch.state = "FAILED" if batch.state == "PENDING" else batch.state
                    batch.changed.notify_all()

        self._run(fail()).result()

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    # --- the server's side ------------------------------------------------------------------------

    async def _listen(self) -> None:
        app = web.Application(middlewares=[self._misbehave], client_max_size=1 << 26)
        batch = "/v1/batches/{id}"
        app.add_routes(
            [
                web.post("/v1/batches", self._submit),
                web.get(batch, self._poll),
                web.get(f"{batch}/results", self._results),
                web.get(f"{batch}/stream", self._stream),
                web.delete(batch, self._cancel),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    @web.middleware
    async def _misbehave(self, request: web.Request, handler: Any) -> web.StreamResponse:
        what = request.path.split("/")[4:]
        self.requests[" ".join([request.method, *what])] += 1
        self.headers.append(dict(request.headers))
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, web.StreamResponse):
            return fault
        if "id" in request.match_info and request.match_info["id"] not in self.batches:
            return refusal(404, "not_found", "no such batch")
        response: web.StreamResponse = web.Response() if fault == "before" else await handler(request)
        if fault is not None:
            _cut(request)
        return response

    async def _submit(self, request: web.Request) -> web.Response:
        body = await request.read()
        key = request.headers["Idempotency-Key"]
        if key in self.keys:
            known, batch_id = self.keys[key]
            assert known == body
            return _answer(202, {"batch_id": batch_id})
        while self.held:
            await asyncio.sleep(0.001)
        given = msgspec.msgpack.decode(body, ext_hook=codec.read_extension)
        refusal = self.refuse(given["samples"])
        if refusal is not None:
            return refusal
        batch_id = f"b{len(self.batches)}"
        self.batches[batch_id] = _Batch(given["samples"])
        self.keys[key] = body, batch_id
        await self._settle(lambda sample: sample["code"] != "wait")
        return _answer(202, {"batch_id": batch_id, "samples": len(given["samples"])})

    async def _settle(self, ready: Callable[[dict[str, Any]], bool]) -> None:
        for batch in self.batches.values():
            async with batch.changed:
                for index, sample in enumerate(batch.samples):
                    if batch.results[index] is None and ready(sample):
                        result = batch.results[index] = _result_of(sample)
                        batch.finished.append(result)
                if None not in batch.results and batch.state == "PENDING":
                    batch.state = "DONE"
                batch.changed.notify_all()

    async def _poll(self, request: web.Request) -> web.Response:
        return _answer(200, {"state": self._batch(request).state})

    async def _results(self, request: web.Request) -> web.Response:
        batch = self._batch(request)
        try:
            async with asyncio.timeout(float(request.query["wait_s"])), batch.changed:
                await batch.changed.wait_for(lambda: batch.state != "PENDING")
        except TimeoutError:
            return _answer(202, {"state": "PENDING"})
        error = {"code": "unavailable", "message": "the engine was lost"} if batch.state == "FAILED" else None
        results = [] if error else batch.results
        return _answer(200, {"state": batch.state, "results": results, "error": error})

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        batch = self._batch(request)
        cut = self.cuts.pop(0) if self.cuts else None
        given = int(request.headers.get("Last-Event-ID", 0))
        response = web.StreamResponse(headers={"Content-Type": MSGPACK})
        await response.prepare(request)
        while True:
            async with batch.changed:
                while batch.state == "PENDING" and len(batch.finished) <= given:
                    await batch.changed.wait()
                new, state = batch.finished[given:], batch.state
            for result in new:
                data = msgspec.msgpack.encode({"result": result})
                if cut == 0:
                    await response.write(data[: len(data) // 2])
                    _cut(request)
                    return response
                await response.write(data)
                given, cut = given + 1, None if cut is None else cut - 1
            if state != "PENDING":
                await response.write(msgspec.msgpack.encode({"end": state}))
                return response

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self._batch(request)
        async with batch.changed:
            for index, sample in enumerate(batch.samples):
                if batch.results[index] is None:
                    result = batch.results[index] = VerificationResult(id=sample["id"], verdict=Verdict.UNKNOWN)
                    batch.finished.append(result)
            batch.state = "DONE"
            batch.changed.notify_all()
        return _answer(200, {"state": "DONE"})

    def _batch(self, request: web.Request) -> _Batch:
        return self.batches[request.match_info["id"]]


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def refusal(status: int, code: str, message: str, retry_after: str | None = None, **fields: str) -> web.Response:
    """Return the answer of a server that refuses."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return web.Response(status=status, body=_body(code, message, **fields), content_type=MSGPACK, headers=headers)


def _body(code: str, message: str, **fields: str) -> bytes:
    return msgspec.msgpack.encode({"error": {"code": code, "message": message, **fields}})


def _answer(status: int, value: Any) -> web.Response:
    return web.Response(status=status, body=codec.encode_plain(value), content_type=MSGPACK)


def _result_of(sample: dict[str, Any]) -> VerificationResult:
    verdict = Verdict.OUTPUT_MISMATCH if sample["code"] == "fail" else Verdict.PASSED
    return VerificationResult(
        id=sample["id"], verdict=verdict, reward=float(verdict == Verdict.PASSED), meta=sample.get("meta")
    )
