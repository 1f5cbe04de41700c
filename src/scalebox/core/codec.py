"""Samples and results as bytes: MessagePack on the wire, JSON lines on disk, the same field names in both.

Encoding is total: lone surrogates become U+FFFD, and what `meta` holds beyond plain data is written as its
`repr`. Decoding raises InputError for anything that is not what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample

_T = TypeVar("_T")

#: MessagePack extension type of an integer beyond 64 bits (two's complement, little endian).
_BIG_INT = 1
_MAX_DEPTH = 100
_I64_MIN, _U64_MAX = -(1 << 63), (1 << 64) - 1


def read_extension(code: int, data: memoryview) -> Any:
    """Return what an extension of this project's MessagePack stands for; the `ext_hook` of its decoders."""
    if code == _BIG_INT:
        return int.from_bytes(data, "little", signed=True)
    raise ValueError(f"extension {code} is not known")


_pack = msgspec.msgpack.Encoder(enc_hook=repr)
_json = msgspec.json.Encoder(enc_hook=repr)
_unpack_results = msgspec.msgpack.Decoder(list[VerificationResult], ext_hook=read_extension)
_unpack_result = msgspec.msgpack.Decoder(VerificationResult, ext_hook=read_extension)
_unpack_sample = msgspec.msgpack.Decoder(Sample, ext_hook=read_extension)
_unpack_plain = msgspec.msgpack.Decoder(ext_hook=read_extension)
_read_result = msgspec.json.Decoder(VerificationResult)
_read_sample = msgspec.json.Decoder(Sample)


def encode_plain(value: Any) -> bytes:
    """Return any value as MessagePack: what is no plain data as its `repr`."""
    return _encode(_pack.encode, value, _big_int)


def encode_results(results: Sequence[VerificationResult]) -> bytes:
    """Return results as one MessagePack array."""
    return _encode(_pack.encode, list(results), _big_int)


def decode_results(data: bytes) -> list[VerificationResult]:
    """Return what `encode_results` wrote; raises InputError."""
    return _decode(_unpack_results.decode, data, "encoded results")


def encode_sample(sample: Sample) -> bytes:
    """Return a sample as MessagePack."""
    return _encode(_pack.encode, sample, _big_int)


def decode_sample(data: bytes) -> Sample:
    """Return what `encode_sample` wrote; raises InputError."""
    return _decode(_unpack_sample.decode, data, "an encoded sample")


def encode_result(result: VerificationResult) -> bytes:
    """Return one result as MessagePack: what an item of `encode_results` is."""
    return _encode(_pack.encode, result, _big_int)


def decode_result(data: bytes) -> VerificationResult:
    """Return what `encode_result` wrote; raises InputError."""
    return _decode(_unpack_result.decode, data, "an encoded result")


def decode_plain(data: bytes) -> Any:
    """Return plain data from MessagePack; raises InputError."""
    return _decode(_unpack_plain.decode, data, "MessagePack")


def encode_result_line(result: VerificationResult) -> bytes:
    """Return a result as one line of JSON, its newline included."""
    return _encode(_json.encode, result, int) + b"\n"


def decode_result_line(line: bytes) -> VerificationResult:
    """Return what `encode_result_line` wrote; raises InputError."""
    return _decode(_read_result.decode, line, "a result as a line of JSON")


def encode_sample_line(sample: Sample) -> bytes:
    """Return a checked sample as one line of JSON, its newline included (the arguments of calls as base64)."""
    return _encode(_json.encode, sample, int) + b"\n"


def decode_sample_line(line: bytes) -> Sample:
    """Return what `encode_sample_line` wrote; raises InputError."""
    return _decode(_read_sample.decode, line, "a sample as a line of JSON")


def make_plain(value: Any, big_int: Callable[[int], Any] = int) -> Any:
    """Return `value` as data that every encoder takes: clean text, string keys, bounded depth."""
    return _plain(value, big_int, 0)


def _encode(encode: Callable[[Any], bytes], value: Any, big_int: Callable[[int], Any]) -> bytes:
    try:
        return encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return encode(make_plain(value, big_int))


def _decode(decode: Callable[[bytes], _T], data: bytes, what: str) -> _T:
    try:
        return decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(f"not {what}: {error}") from None


def _big_int(value: int) -> Any:
    if _I64_MIN <= value <= _U64_MAX:
        return value
    return msgspec.msgpack.Ext(_BIG_INT, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))


def _plain(value: Any, big_int: Callable[[int], Any], depth: int) -> Any:
    if value is None or isinstance(value, (bool, float, bytes)):
        return value
    if isinstance(value, str):
        return value if value.isascii() else _clean(value)
    if isinstance(value, int):
        return big_int(value)
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, msgspec.Struct):
        fields: dict[str, Any] = {name: getattr(value, name) for name in value.__struct_fields__}
        if value.__struct_config__.tag is not None:
            fields[str(value.__struct_config__.tag_field)] = value.__struct_config__.tag
        return _plain(fields, big_int, depth)
    if isinstance(value, dict):
        return {_key(key): _plain(item, big_int, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item, big_int, depth + 1) for item in value]
    return _plain(repr(value), big_int, depth)


def _key(key: Any) -> str:
    return _clean(key if isinstance(key, str) else repr(key))


def _clean(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
