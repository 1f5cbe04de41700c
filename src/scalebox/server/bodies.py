"""Bodies of requests and of answers: JSON or MessagePack, with the same field names."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.types import ASGIApp, Receive, Scope, Send

from scalebox.client.embedded import checked
from scalebox.core import codec, wire
from scalebox.core.errors import InputError
from scalebox.core.jsonl import decode_object
from scalebox.core.settings import Settings
from scalebox.engine import payload_of
from scalebox.problems import Problems
from scalebox.server.errors import Refused
from scalebox.server.principal import Role

JSON, MSGPACK = "application/json", "application/msgpack"
_MSGPACK_TYPES = (MSGPACK, "application/x-msgpack", "application/vnd.msgpack")
_MAX_DEADLINE_S = 1e7

AnyRequest = Request[Any, Any, Any]


#: Bodies in memory at once, in the largest that one may be; and of policies, who would keep others from sending any.
_BODIES, _OF_POLICIES = 8, 2
#: Seconds that a body may take to come.
READ_S = 120.0


def bounded_bodies(app: ASGIApp, most: int) -> ASGIApp:
    """Return the application with all requests' bodies bounded together: what comes beyond is answered 503.

    One that takes too long to come is answered 408.
    """
    held: Counter[bool] = Counter()  # by whether it is a policy's

    async def bounded(scope: Scope, receive: Receive, send: Send) -> None:
        user = scope.get("user")
        is_policy = user is not None and user.role == Role.POLICY
        mine, give_up_at, whole = 0, asyncio.get_running_loop().time() + READ_S, False

        async def counted() -> Any:
            nonlocal mine, whole
            try:
                async with asyncio.timeout_at(None if whole else give_up_at):
                    message: Any = await receive()
            except TimeoutError:
                raise Refused(408, f"the body did not come within {READ_S:.0f} s") from None
            whole = not message.get("more_body", False)
            size = len(message.get("body", b""))
            over = is_policy and held[True] + size > most * _OF_POLICIES
            if over or held.total() + size > most * _BODIES:
                raise Refused(503, "too many bodies are being read", mend="try again later", retry_after_s=1)
            held[is_policy], mine = held[is_policy] + size, mine + size
            return message

        try:
            await app(scope, counted, send)
        finally:
            held[is_policy] -= mine

    return bounded


class Submission(msgspec.Struct):
    """Checked samples as bytes, in order, their ids, and seconds for all of them (None: as set, 0: no end)."""

    records: list[bytes]
    ids: list[str]
    deadline_s: float | None
    digest: bytes


def is_msgpack(header: str) -> bool:
    """Return whether a Content-Type or Accept header names MessagePack."""
    return any(part.partition(";")[0].strip().lower() in _MSGPACK_TYPES for part in header.split(","))


def sends_msgpack(request: AnyRequest) -> bool:
    """Return whether the body is MessagePack, and not JSON; raises Refused (415) for anything else."""
    header = request.headers.get("content-type", JSON)
    if is_msgpack(header):
        return True
    if header.partition(";")[0].strip().lower() != JSON:
        raise Refused(415, f"{header[:80]} is not read here", mend=f"send {JSON} or {MSGPACK}, and its Content-Type")
    return False


def wants_msgpack(request: AnyRequest) -> bool:
    """Return whether the answer is to be MessagePack: by Accept, else as the request is."""
    accept = request.headers.get("accept", "*/*")
    if is_msgpack(accept):
        return True
    return JSON not in accept and is_msgpack(request.headers.get("content-type", ""))


def answer(
    request: AnyRequest, value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[Any]:
    """Return plain data or a struct as the answer that the request wants."""
    packed = wants_msgpack(request)
    body = msgspec.msgpack.encode(value) if packed else msgspec.json.encode(value)
    return Response(body, status_code=status, media_type=MSGPACK if packed else JSON, headers=dict(headers or {}))


async def object_of(request: AnyRequest) -> dict[str, Any]:
    """Return the object that a request brings, an empty one where it brings nothing; raises InputError, Refused."""
    body = await request.body()
    return _decode(body, sends_msgpack(request)) if body else {}


def read_submission(body: bytes, *, packed: bool, settings: Settings, problems: Problems | None = None) -> Submission:
    """Return what a client submits; raises InputError, whose field is such as `samples[3].tests`, and Refused.

    Takes its time.
    """
    raw = _decode(body, packed)
    unknown = sorted(set(raw) - {"samples", "deadline_s"})
    if unknown:
        raise InputError("no such field", field=unknown[0][:80], mend="a batch has samples and deadline_s")
    samples = raw.get("samples")
    if not isinstance(samples, list):
        raise InputError("must be an array of samples", field="samples", mend='such as {"samples": [{"id": "s-1", …}]}')
    check_count(len(samples), settings)  # first: to look at so many takes minutes
    good = checked(samples, settings, problems)
    records = [_record(sample, f"samples[{at}]") for at, sample in enumerate(good)]
    return Submission(records, [sample.id for sample in good], _deadline(raw.get("deadline_s")), digest_of(body))


def check_count(count: int, settings: Settings) -> None:
    """Raise Refused (413) for more samples than are ever taken at once."""
    most = min(settings.server_client_pending, settings.max_pending)
    if count > most:
        raise Refused(413, f"{count} samples are too many", field="samples", mend=f"at most {most}")


def digest_of(body: bytes) -> bytes:
    """Return what stands for a body where two are compared."""
    return hashlib.blake2b(body, digest_size=16).digest()


def _decode(body: bytes, packed: bool) -> dict[str, Any]:
    if not packed:
        try:
            return decode_object(body)
        except InputError as error:
            raise InputError(error.problem, mend="send one whole JSON object") from None
    value = codec.decode_plain(body)
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InputError("must be a map whose keys are text")
    return value


def _record(sample: Any, field: str) -> bytes:
    payload_of(sample, field)
    record = codec.encode_sample(sample)
    if len(record) > wire.MAX_FRAME // 2:
        raise InputError(f"{len(record)} bytes are too many", field=field, mend=f"at most {wire.MAX_FRAME // 2}")
    return record


def _deadline(given: Any) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= _MAX_DEADLINE_S:
        mend = f"seconds from 0 (no end) to {_MAX_DEADLINE_S:.0f}"
        raise InputError("makes no sense", field="deadline_s", mend=mend)
    return float(given)
