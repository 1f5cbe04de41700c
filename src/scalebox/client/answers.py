"""What a server answers, as data and as the errors that the embedded client would raise."""

from __future__ import annotations

import contextlib
from typing import TypeVar

import msgspec

from scalebox.core import codec
from scalebox.core.errors import (
    AuthenticationError,
    BatchNotFound,
    EngineClosed,
    InputError,
    QueueFull,
    SandboxError,
    ScaleBoxError,
    ServerError,
)
from scalebox.core.result import VerificationResult
from scalebox.schedule.ledger import State

_T = TypeVar("_T")

MSGPACK = "application/msgpack"
JSON = "application/json"


class Problem(msgspec.Struct):
    """The `error` of an answer."""

    code: str = ""
    message: str = ""
    field: str | None = None
    mend: str | None = None


class Accepted(msgspec.Struct):
    """Answer to a batch that was taken."""

    batch_id: str


class Status(msgspec.Struct):
    """Where a batch is; `error` says why it FAILED."""

    state: State
    error: Problem | str | None = None


class Results(msgspec.Struct):
    """A batch that is DONE or FAILED."""

    state: State
    results: list[VerificationResult] = []
    error: Problem | str | None = None


class Streamed(msgspec.Struct):
    """One object of a stream: a result, or the state with which the stream ends."""

    result: VerificationResult | None = None
    end: State | None = None
    error: Problem | str | None = None


class _Refusal(msgspec.Struct):
    error: Problem


class Answer(msgspec.Struct, frozen=True):
    """An answer that was read to its end. `retry_after_s` is None where the server does not say."""

    status: int
    kind: str
    body: bytes
    retry_after_s: float | None = None

    def read(self, kind: type[_T]) -> _T:
        """Return the body as `kind`; raises ServerError."""
        try:
            return decode(self.body, kind, self.kind)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise ServerError(f"the server's answer cannot be understood: {error}") from None

    def problem(self) -> Problem:
        """Return what a refusal says, in the server's words where it has any; its `code` is "" where it has none."""
        with contextlib.suppress(msgspec.MsgspecError, ValueError, RecursionError):
            return decode(self.body, _Refusal, self.kind).error
        text = self.body[:200].decode(errors="replace").strip()
        return Problem(message=f"HTTP {self.status}" + (f": {text}" if text.isprintable() and text else ""))


def decode(data: bytes | memoryview, kind: type[_T], content_type: str = MSGPACK) -> _T:
    """Return a body as `kind`; raises what msgspec raises."""
    if content_type == MSGPACK:
        return msgspec.msgpack.decode(data, type=kind, ext_hook=codec.read_extension)
    return msgspec.json.decode(data, type=kind)


def error_of(status: int, problem: Problem) -> ScaleBoxError:
    """Return the error that an answer of this status stands for."""
    field, mend = problem.field or "", problem.mend or ""
    text = f"{problem.message} ({mend})" if mend else problem.message
    match status:
        case 401 | 403:
            return AuthenticationError(text)
        case 404:
            return BatchNotFound(text)
        case 429 | 503:
            return QueueFull(text)
        case 400 | 409 | 413 | 415 | 422:
            return InputError(problem.message, field=field, mend=mend)
    return ServerError(f"the server answered {status}: {text}")


def failure_of(error: Problem | str | None) -> ScaleBoxError:
    """Return why a batch FAILED."""
    problem = Problem(message=error) if isinstance(error, str) else error or Problem(message="the engine was closed")
    if problem.code == "sandbox_error":
        return SandboxError(problem.message, mend=problem.mend or "")
    return EngineClosed(problem.message)
