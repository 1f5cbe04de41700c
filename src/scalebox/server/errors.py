"""Errors as answers: `{"error": {"code", "message", "field", "mend"}}` and a status, never a traceback."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from scalebox.core.errors import BatchNotFound, EngineClosed, InputError, QueueFull, SandboxError, ScaleBoxError

_log = logging.getLogger(__name__)

_STATUS: dict[type[ScaleBoxError], int] = {
    InputError: 400,
    BatchNotFound: 404,
    QueueFull: 503,
    EngineClosed: 503,
    SandboxError: 503,
}
_CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
    503: "unavailable",
}


#: What Litestar says, as an error of its own, of a client that goes in the middle of its body.
_HUNG_UP = "client disconnected prematurely"


class ErrorBody(msgspec.Struct):
    """What was wrong: `field` is a path such as `samples[3].tests` or empty, `mend` says what to do."""

    code: str
    message: str
    field: str = ""
    mend: str = ""


class ErrorAnswer(msgspec.Struct):
    """The body of every answer that is an error."""

    error: ErrorBody


class Refused(ScaleBoxError):
    """A request that is refused with a status of its own; `retry_after_s` says when to try again, 0 not to.

    `code` is that of the status unless given.
    """

    def __init__(
        self, status: int, problem: str, *, field: str = "", mend: str = "", retry_after_s: float = 0.0, code: str = ""
    ) -> None:
        self.status = status
        self.code = code or _CODES.get(status, "refused")
        self.problem = problem
        self.field = field
        self.mend = mend
        self.retry_after_s = retry_after_s
        super().__init__(problem)


def _answer(request: Request[Any, Any, Any], status: int, body: ErrorBody, headers: dict[str, str]) -> Response[Any]:
    accept = request.headers.get("accept", "*/*")
    packed = "msgpack" in accept or ("json" not in accept and "msgpack" in request.headers.get("content-type", ""))
    encode = msgspec.msgpack.encode if packed else msgspec.json.encode
    media = "application/msgpack" if packed else "application/json"
    return Response(encode(ErrorAnswer(body)), status_code=status, media_type=media, headers=headers)


def _of_scalebox(request: Request[Any, Any, Any], error: ScaleBoxError) -> Response[Any]:
    retry = {"Retry-After": "1"}
    if isinstance(error, Refused):
        body = ErrorBody(error.code, error.problem, error.field, error.mend)
        seconds = {"Retry-After": str(max(1, round(error.retry_after_s)))} if error.retry_after_s else {}
        return _answer(request, error.status, body, seconds)
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)
    if isinstance(error, InputError):
        return _answer(request, status, ErrorBody(_CODES[status], error.problem, error.field, error.mend), {})
    return _answer(request, status, ErrorBody(_CODES[status], str(error)), retry if status == 503 else {})


def _of_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    if error.detail == _HUNG_UP:
        return _answer(request, 400, ErrorBody(_CODES[400], _HUNG_UP), {})  # which nobody reads
    if error.status_code >= 500:
        return _of_bug(request, error)
    body = ErrorBody(_CODES.get(error.status_code, "refused"), error.detail)
    if isinstance(error, ValidationException) and isinstance(error.extra, list) and error.extra:
        first = error.extra[0]
        body.message, body.field = str(first.get("message", "")), str(first.get("key", ""))
    return _answer(request, error.status_code, body, dict(error.headers or {}))


def _of_bug(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _answer(request, 500, ErrorBody("internal_error", "the server failed; its log says more"), {})


def too_deep(request: Request[Any, Any, Any], error: RecursionError) -> InputError:
    """Return what is wrong with a request on which recursion had no end: what it sends is nested too deeply."""
    _log.warning("%s %s: %s", request.method, request.url.path, error)
    return InputError("nested too deeply", mend="send plainer JSON")


def _of_depth(request: Request[Any, Any, Any], error: RecursionError) -> Response[Any]:
    return _of_scalebox(request, too_deep(request, error))


HANDLERS: Any = {
    ScaleBoxError: _of_scalebox, HTTPException: _of_http, RecursionError: _of_depth, Exception: _of_bug,
}  # fmt: skip
