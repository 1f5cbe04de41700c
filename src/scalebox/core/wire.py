"""The messages between an engine and a worker, and their frames: a length as u32, then MessagePack.

Reading is total: whatever bytes come, the outcome is messages or a WireError.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from scalebox.core.result import VerificationResult

#: Longest frame, in bytes. More than any sample that the limits allow, less than what would hurt the host.
MAX_FRAME = 512 * 1024 * 1024

_length = struct.Struct("<I")


class WireError(ValueError):
    """Bytes on a channel that are no frame, or no message."""


class Again(msgspec.Struct, frozen=True, array_like=True):
    """What a first run of a sample came to, and the places of the tests that it left in doubt."""

    result: VerificationResult
    doubtful: list[int]


class Run(msgspec.Struct, tag=True, frozen=True, array_like=True):
    """Verify a sample. `sample` is in the codec's MessagePack, without what says only whose it is.

    A failure after `soft_s` seconds is suspect; 0 is as set. `again` is what a first run gave, where this one, for
    which nothing else is run, is to settle what that left in doubt.
    """

    job: int
    id: str
    problem_id: str | None
    sample: bytes
    soft_s: float = 0.0
    again: Again | None = None


class Cancel(msgspec.Struct, tag=True, frozen=True, array_like=True):
    """Abandon a job: end it if it runs, give it back if it waits."""

    job: int


class Recall(msgspec.Struct, tag=True, frozen=True, array_like=True):
    """Give a job back, unless it has begun."""

    job: int


class Stop(msgspec.Struct, tag=True, frozen=True, array_like=True):
    """Abandon what runs, and exit."""


class Hello(msgspec.Struct, tag=True, frozen=True, array_like=True):
    """The worker is ready for samples; the first message."""

    pid: int
    tier: str


class Started(msgspec.Struct, tag=True, frozen=True, array_like=True):
    job: int


class Finished(msgspec.Struct, tag=True, frozen=True, array_like=True):
    """A job's result; `extracted` is how the code was found in the response, `doubtful` as in `Again`."""

    job: int
    result: VerificationResult
    extracted: str
    doubtful: list[int] = []


class Returned(msgspec.Struct, tag=True, frozen=True, array_like=True):
    """A job is given back unbegun, or was abandoned."""

    job: int


class Fatal(msgspec.Struct, tag=True, frozen=True, array_like=True):
    """The worker cannot go on; the last message. With `sandbox`, the fields are those of a SandboxError."""

    reason: str
    sandbox: bool = False
    step: str = ""
    errno: int = 0
    mend: str = ""


ToWorker = Run | Cancel | Recall | Stop
ToEngine = Hello | Started | Finished | Returned | Fatal

_encoder = msgspec.msgpack.Encoder(enc_hook=repr)
_T = TypeVar("_T")


def pack(message: ToWorker | ToEngine) -> bytes:
    """Return a message as a frame; raises WireError where it is too long or no data."""
    try:
        body = _encoder.encode(message)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise WireError(f"cannot be sent: {error}") from None
    if len(body) > MAX_FRAME:
        raise WireError(f"{len(body)} bytes, more than a frame holds ({MAX_FRAME})")
    return _length.pack(len(body)) + body


class Frames(Generic[_T]):
    """Turns a stream of bytes back into messages of one direction."""

    def __init__(self, decoder: msgspec.msgpack.Decoder[_T]) -> None:
        self._decoder = decoder
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[_T]:
        """Take more bytes, and yield each message that is whole by then; raises WireError."""
        self._data += data
        while len(self._data) >= _length.size:
            (size,) = _length.unpack_from(self._data)
            if size > MAX_FRAME:
                raise WireError(f"a frame of {size} bytes")
            end = _length.size + size
            if len(self._data) < end:
                return
            body = bytes(memoryview(self._data)[_length.size : end])
            del self._data[:end]
            try:
                message = self._decoder.decode(body)
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                raise WireError(f"not a message: {error}") from None
            yield message


def from_engine() -> Frames[ToWorker]:
    """Return the reader of what an engine sends."""
    return Frames(msgspec.msgpack.Decoder(ToWorker))


def from_worker() -> Frames[ToEngine]:
    """Return the reader of what a worker sends."""
    return Frames(msgspec.msgpack.Decoder(ToEngine))
