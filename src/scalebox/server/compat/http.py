"""Answers to clients that wait, and errors in the shape that those of SandboxFusion know: `{"detail": …}`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException

from scalebox.core.errors import InputError, QueueFull, ScaleBoxError
from scalebox.server.context import Context
from scalebox.server.errors import Refused, too_deep

_T = TypeVar("_T")

_UNUSABLE, _UNAVAILABLE = 422, 503
_CLIENT_CLOSED_REQUEST = 499
#: Bytes of a request that is worked on where it came in: a few milliseconds, and the way to another thread saved.
_AT_ONCE = 1 << 14


async def waited_for(request: Request[Any, Any, Any], work: Coroutine[Any, Any, _T]) -> _T:
    """Return what `work` returns, and give it up where the client goes away before.

    A large request runs beside the server's loop, which it would hold up: many tests take long to parse.
    """
    context: Context = request.app.state["context"]
    large = len(await request.body()) > _AT_ONCE
    working = asyncio.ensure_future(context.aside.run(work) if large else work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise HTTPException(status_code=_CLIENT_CLOSED_REQUEST, detail="the client is gone")
        return working.result()
    finally:
        working.cancel()
        gone.cancel()


async def _gone(request: Request[Any, Any, Any]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _detail(status: int, detail: Any, headers: dict[str, str] | None = None) -> Response[Any]:
    body = msgspec.json.encode({"detail": detail})
    return Response(body, status_code=status, media_type="application/json", headers=headers or {})


def _of_input(_: Request[Any, Any, Any], error: InputError) -> Response[Any]:
    message = f"{error.problem} ({error.mend})" if error.mend else error.problem
    return _detail(_UNUSABLE, [_problem(error.field, message)])


def _problem(field: str, message: str) -> dict[str, Any]:
    return {"type": "value_error", "loc": ["body", *filter(None, field.split("."))], "msg": message}


def _of_http(_: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    if error.status_code != 400:
        return _detail(error.status_code, error.detail, dict(error.headers or {}))
    # A body that is no JSON, or not of the request's shape.
    found = error.extra if isinstance(error.extra, list) else [{"message": error.detail}]
    told = [(str(one.get("key", "")), _words(one)) for one in found if isinstance(one, dict)]
    return _detail(_UNUSABLE, [_problem(key, message) for key, message in told])


def _words(problem: dict[str, Any]) -> str:
    """Return what is wrong with a body; of one that is not there, Litestar says a name in quotes."""
    message = str(problem.get("message"))
    return "there is no body" if message == "'data'" else message


def _of_scalebox(_: Request[Any, Any, Any], error: ScaleBoxError) -> Response[Any]:
    return _detail(status_of(error), str(error), retry_of(error))


def status_of(error: ScaleBoxError) -> int:
    """Return the status of the answer to what was refused, or could not be done."""
    return error.status if isinstance(error, Refused) else _UNAVAILABLE


def retry_of(error: ScaleBoxError) -> dict[str, str]:
    """Return the header that says when to try again, where that helps."""
    if isinstance(error, Refused):
        return {"Retry-After": str(max(1, round(error.retry_after_s)))} if error.retry_after_s else {}
    return {"Retry-After": "1"} if isinstance(error, QueueFull) else {}


def _of_depth(request: Request[Any, Any, Any], error: RecursionError) -> Response[Any]:
    return _of_input(request, too_deep(request, error))


HANDLERS: Any = {
    InputError: _of_input, HTTPException: _of_http, ScaleBoxError: _of_scalebox, RecursionError: _of_depth,
}  # fmt: skip
