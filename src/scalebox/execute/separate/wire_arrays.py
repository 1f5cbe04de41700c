"""numpy arrays and scalars, pandas series, frames and indices, by content; both libraries only where already in use.

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

_ARRAY, _SCALAR, _SERIES, _FRAME, _INDEX, _RANGE_INDEX = 120, 121, 122, 123, 124, 125
_KINDS = "biufcUSMm"
_DTYPE = re.compile(r"[<>|=][biufcUSMm][0-9]{1,9}(\[[0-9]{0,9}[A-Za-z]{1,7}\])?\Z")
_PANDAS_TYPES = frozenset("str string Int8 Int16 Int32 Int64 Float32 Float64 boolean category".split())
_Writer = Callable[[Encoder, Any], None]


def _numpy() -> Any:
    return sys.modules.get("numpy") or __import__("numpy")


def _pandas() -> Any:
    return sys.modules.get("pandas") or __import__("pandas")


def _numpy_writer(kind: type) -> _Writer | None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if kind is numpy.ndarray:
        return _put_array
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


def _pandas_writer(kind: type) -> _Writer | None:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    if kind is getattr(pandas, "RangeIndex", None):
        return _put_range_index
    if kind is getattr(pandas, "Index", None):
        return _put_index
    if kind is getattr(pandas, "Series", None):
        return _put_series
    return _put_frame if kind is getattr(pandas, "DataFrame", None) else None


def _values(column: Any) -> Any:
    """Return what rebuilds a column or an index: an array, (type, list) for pandas' own types, or None."""
    pandas = _pandas()
    if type(column) not in (pandas.Index, pandas.Series):
        return None
    if isinstance(column.dtype, _numpy().dtype):
        return column.to_numpy()
    name = str(column.dtype)
    if name not in _PANDAS_TYPES:
        return None
    return name, [None if pandas.isna(item) else item for item in column.astype(object).tolist()]


def _carried(*indices: Any) -> bool:
    return all(type(index) is _pandas().RangeIndex or _values(index) is not None for index in indices)


def _put_parts(encoder: Encoder, value: Any, number: int, *parts: Any) -> None:
    if not encoder.met(value):
        encoder.out.append(b"w" + bytes([number]))
        for part in parts:
            encoder.put(part)
        encoder.number(value)


def _put_range_index(encoder: Encoder, value: Any) -> None:
    _put_parts(encoder, value, _RANGE_INDEX, value.start, value.stop, value.step, value.name)


def _put_index(encoder: Encoder, value: Any) -> None:
    values = _values(value)
    if values is not None:
        _put_parts(encoder, value, _INDEX, values, value.name)
    else:
        encoder.owner.put_object(encoder, value)


def _put_series(encoder: Encoder, value: Any) -> None:
    values = _values(value)
    if values is not None and _carried(value.index):
        _put_parts(encoder, value, _SERIES, values, value.index, value.name)
    else:
        encoder.owner.put_object(encoder, value)


def _put_frame(encoder: Encoder, value: Any) -> None:
    columns = [_values(value.iloc[:, number]) for number in range(value.shape[1])]
    if _carried(value.index, value.columns) and not any(values is None for values in columns):
        _put_parts(encoder, value, _FRAME, columns, value.index, value.columns)
    else:
        encoder.owner.put_object(encoder, value)


def _read_range_index(decoder: Decoder) -> Any:
    start, stop, step, name = (decoder.read() for _ in range(4))
    return _keep(decoder, _pandas().RangeIndex(start, stop, step, name=name))


def _read_index(decoder: Decoder) -> Any:
    values, name = decoder.read(), decoder.read()
    return _keep(decoder, _pandas().Index(**_column(values), name=name))


def _read_series(decoder: Decoder) -> Any:
    values, index, name = decoder.read(), decoder.read(), decoder.read()
    return _keep(decoder, _pandas().Series(**_column(values), index=_index(index), name=name))


def _read_frame(decoder: Decoder) -> Any:
    columns, index, names = decoder.read(), decoder.read(), decoder.read()
    if type(columns) is not list or len(columns) != len(_index(names)):
        raise MalformedValue("bad content of a frame")
    pandas = _pandas()
    series = {at: pandas.Series(**_column(values), index=_index(index)) for at, values in enumerate(columns)}
    frame = pandas.DataFrame(series, index=index)
    frame.columns = names
    return _keep(decoder, frame)


def _column(values: Any) -> dict[str, Any]:
    """Return the arguments that make a column or an index of what `_values` gave."""
    if type(values) is tuple:
        name, items = values
        if name in _PANDAS_TYPES and type(items) is list:
            return {"data": items, "dtype": name}
    elif type(values) is _numpy().ndarray and values.ndim == 1:
        return {"data": values, "dtype": values.dtype}
    raise MalformedValue("bad column")


def _index(value: Any) -> Any:
    if type(value) not in (_pandas().Index, _pandas().RangeIndex):
        raise MalformedValue("bad index")
    return value


def _keep(decoder: Decoder, value: Any) -> Any:
    decoder.objects.append(value)
    return value


def register() -> None:
    """Have `wire` carry these types."""
    wire_library.FAMILIES.update(numpy=_numpy_writer, pandas=_pandas_writer)
    for number, reader in _READERS.items():
        wire_library.add_reader(number, reader)


_READERS: dict[int, Callable[[Decoder], Any]] = {
    _ARRAY: _read_array,
    _SCALAR: _read_scalar,
    _SERIES: _read_series,
    _FRAME: _read_frame,
    _INDEX: _read_index,
    _RANGE_INDEX: _read_range_index,
}
