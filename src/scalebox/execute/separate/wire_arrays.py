"""numpy arrays, scalars and their types, by content; the library only where it is already in use.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Callable

from scalebox.execute.separate import wire_library
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.wire import Encoder
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

_ARRAY, _SCALAR, _TYPE = 120, 121, 126
_KINDS = "biufcUSMm"
_DTYPE = re.compile(r"[<>|=][biufcUSMm][0-9]{1,9}(\[[0-9]{0,9}[A-Za-z]{1,7}\])?\Z")
_Writer = Callable[[Encoder, Any], None]


def _numpy() -> Any:
    return sys.modules.get("numpy") or __import__("numpy")


def _numpy_writer(kind: type) -> _Writer | None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if kind is numpy.ndarray:
        return _put_array
    if issubclass(kind, numpy.dtype):
        return _put_type
    return _put_scalar if issubclass(kind, numpy.generic) and not issubclass(kind, numpy.void) else None


def _put_array(encoder: Encoder, value: Any) -> None:
    kind = value.dtype.kind
    if kind not in _KINDS and kind != "O":
        encoder.owner.put_object(encoder, value)
    elif not encoder.met(value):
        encoder.number(value)
        encoder.out.append(b"w" + bytes([_ARRAY]))
        encoder.put(value.dtype.str)
        encoder.put(value.shape)
        if kind == "O":
            encoder.items(b"l", value.ravel().tolist())
        else:
            encoder.put(value.tobytes())


def _put_scalar(encoder: Encoder, value: Any) -> None:
    if value.dtype.kind not in _KINDS:
        encoder.owner.put_object(encoder, value)
        return
    encoder.out.append(b"w" + bytes([_SCALAR]))
    encoder.put(value.dtype.str)
    encoder.put(value.tobytes())


def _put_type(encoder: Encoder, value: Any) -> None:
    if value.str != "|O" and not _DTYPE.match(value.str):
        encoder.owner.put_object(encoder, value)
        return
    encoder.out.append(b"w" + bytes([_TYPE]))
    encoder.put(value.str)


def _read_type(decoder: Decoder) -> Any:
    text = decoder.read()
    return _numpy().dtype("O") if text == "|O" else _dtype(text)


def _dtype(text: Any) -> Any:
    if type(text) is not str or not _DTYPE.match(text):
        raise MalformedValue("bad type of an array")
    return _numpy().dtype(text)


def _from_bytes(dtype: Any, data: Any) -> Any:
    """Return a flat array of its own memory; bytes that are no values of its type are refused."""
    numpy = _numpy()
    if type(data) is not bytes:
        raise MalformedValue("bad content of an array")
    if not dtype.itemsize:
        raise MalformedValue("items of no size")
    flat = numpy.frombuffer(data, dtype).copy()
    if dtype.kind == "b" and flat.size and flat.view("u1").max() > 1:
        raise MalformedValue("bad truth values in an array")
    if (
        dtype.kind == "U"
        and flat.size
        and numpy.frombuffer(data, dtype.byteorder.replace("|", "=") + "u4").max() > 0x10FFFF
    ):
        raise MalformedValue("bad characters in an array")
    return flat


def _read_array(decoder: Decoder) -> Any:
    number = len(decoder.objects)
    decoder.objects.append(None)
    text = decoder.read()
    shape = decoder.read()
    if (
        type(shape) is not tuple
        or len(shape) > 32
        or not all(type(size) is int and 0 <= size < 1 << 40 for size in shape)
    ):
        raise MalformedValue("bad shape of an array")
    numpy = _numpy()
    if text == "|O":
        size = 1
        for length in shape:
            size *= length
        if decoder.byte() != ord("l") or size > len(decoder.data):
            raise MalformedValue("bad content of an array")
        flat = numpy.empty(size, object)
        value = decoder.objects[number] = flat.reshape(shape)
        items = decoder.items_into([])
        if len(items) != size:
            raise MalformedValue("bad content of an array")
        for at, item in enumerate(items):
            flat[at] = item
        return value
    dtype = _dtype(text)
    data = decoder.read()
    flat = numpy.empty(0, dtype) if not dtype.itemsize else _from_bytes(dtype, data)
    value = decoder.objects[number] = flat.reshape(shape)
    return value


def _read_scalar(decoder: Decoder) -> Any:
    dtype = _dtype(decoder.read())
    data = decoder.read()
    if not dtype.itemsize and data == b"":
        return _numpy().zeros(1, dtype)[0]
    flat = _from_bytes(dtype, data)
    if flat.size != 1:
        raise MalformedValue("bad content of a scalar")
    return flat[0]


def register() -> None:
    """Have `wire` carry these types."""
    wire_library.FAMILIES["numpy"] = _numpy_writer
    for number, reader in _READERS.items():
        wire_library.add_reader(number, reader)


_READERS: dict[int, Callable[[Decoder], Any]] = {
    _ARRAY: _read_array,
    _SCALAR: _read_scalar,
    _TYPE: _read_type,
}
