"""Bodies of requests and of answers: JSON or MessagePack, with the same field names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from litestar import Request, Response

from scalebox.client.embedded import checked
from scalebox.core import codec, wire
from scalebox.core.errors import InputError
from scalebox.core.jsonl import decode_object
from scalebox.core.settings import Settings
from scalebox.engine import payload_of
from scalebox.server.errors import Refused

JSON, MSGPACK = "application/json", "application/msgpack"
_MSGPACK_TYPES = (MSGPACK, "application/x-msgpack", "application/vnd.msgpack")
_MAX_DEADLINE_S = 1e7

AnyRequest = Request[Any, Any, Any]


class Submission(msgspec.Struct):
    """Checked samples as bytes, in order, and seconds for all of them (None: as set, 0: no end)."""

    records: list[bytes]
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


def read_submission(body: bytes, *, packed: bool, settings: Settings) -> Submission:
    """Return what a client submits; raises InputError, whose field is such as `samples[3].tests`. Takes its time."""
    raw = _decode(body, packed)
    unknown = sorted(set(raw) - {"samples", "deadline_s"})
    if unknown:
        raise InputError("no such field", field=unknown[0][:80], mend="a batch has samples and deadline_s")
    samples = raw.get("samples")
    if not isinstance(samples, list):
        raise InputError("must be an array of samples", field="samples", mend='such as {"samples": [{"id": "s-1", …}]}')
    records = [_record(sample, f"samples[{at}]") for at, sample in enumerate(checked(samples, settings))]
    return Submission(records, _deadline(raw.get("deadline_s")), digest_of(body))


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
