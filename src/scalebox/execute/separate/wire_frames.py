"""pandas' series, frames, indices and moments, by content; the library only where it is already in use.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import re
import sys
from datetime import timezone
from typing import Any, Callable

from scalebox.execute.separate import wire_library
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.wire import Encoder
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

_SERIES, _FRAME, _INDEX, _RANGE_INDEX, _MULTI_INDEX = 122, 123, 124, 125, 127
_MOMENT, _DURATION, _MISSING = 128, 129, 130
_TYPES = frozenset("str string boolean Float32 Float64 Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64".split())
_ZONED = re.compile(r"datetime64\[(s|ms|us|ns), ([\w/+:-]{1,64})\]\Z", re.ASCII)
_CATEGORY = "category"
_MAX_FREQUENCY = 64
_ATOMS = frozenset([bytes, str, int, float, bool, type(None)])
_Writer = Callable[[Encoder, Any], None]


def _numpy() -> Any:
    return sys.modules.get("numpy") or __import__("numpy")


def _pandas() -> Any:
    return sys.modules.get("pandas") or __import__("pandas")


def _writer(kind: type) -> _Writer | None:
    pandas = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "DataFrame"):  # the module is about to be loaded
        return None
    writers: dict[Any, _Writer] = {
        pandas.RangeIndex: _put_range_index,
        pandas.MultiIndex: _put_multi_index,
        pandas.Series: _put_series,
        pandas.DataFrame: _put_frame,
        pandas.Timestamp: _put_moment,
        pandas.Timedelta: _put_duration,
        type(pandas.NaT): _put_missing,
        type(pandas.NA): _put_missing,
    }
    return _put_index if kind in _plain_indices() else writers.get(kind)


def _plain_indices() -> tuple[Any, ...]:
    pandas = _pandas()
    return pandas.Index, pandas.DatetimeIndex, pandas.TimedeltaIndex, pandas.CategoricalIndex


# --- writing ----------------------------------------------------------------------------------


def _values(column: Any) -> Any:
    """Return what rebuilds a column or an index: an array, (type, parts …) for pandas' own types, or None."""
    pandas = _pandas()
    if type(column) is not pandas.Series and type(column) not in _plain_indices():
        return None
    if isinstance(column.dtype, _numpy().dtype):
        return column.to_numpy()
    name = str(column.dtype)
    if name == _CATEGORY:
        own = column.array
        return (name, own.codes, own.categories, own.ordered) if _carried(own.categories) else None
    if _ZONED.match(name):
        return name, pandas.DatetimeIndex(column).tz_convert("UTC").tz_localize(None).to_numpy()
    if name not in _TYPES:
        return None
    return name, [None if pandas.isna(item) else item for item in column.astype(object).tolist()]


def _carried(*indices: Any) -> bool:
    return all(_is_carried(index) for index in indices)


def _is_carried(index: Any) -> bool:
    pandas = _pandas()
    if type(index) is pandas.MultiIndex:
        return all(_values(level) is not None for level in _levels(index))
    return type(index) is pandas.RangeIndex or _values(index) is not None


def _levels(index: Any) -> list[Any]:
    """Return the labels of each level; one of whole numbers is made a plain index, as all of them may be."""
    plain = _pandas().Index
    found = [index.get_level_values(number) for number in range(index.nlevels)]
    return [
        plain(level.to_numpy(), name=level.name) if type(level) is _pandas().RangeIndex else level for level in found
    ]


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
        _put_parts(encoder, value, _INDEX, values, value.name, getattr(value, "freqstr", None))
    else:
        encoder.owner.put_object(encoder, value)


def _put_multi_index(encoder: Encoder, value: Any) -> None:
    if _carried(value):
        _put_parts(encoder, value, _MULTI_INDEX, _levels(value))
    else:
        encoder.owner.put_object(encoder, value)


def _put_series(encoder: Encoder, value: Any) -> None:
    values = _values(value)
    if values is not None and _carried(value.index):
        _put_parts(encoder, value, _SERIES, values, value.index, value.name)
    else:
        encoder.owner.put_object(encoder, value)


def _put_frame(encoder: Encoder, value: Any) -> None:
    columns = _columns(value)
    if columns is not None:
        _put_parts(encoder, value, _FRAME, columns, value.index, value.columns)
    else:
        encoder.owner.put_object(encoder, value)


def _columns(frame: Any) -> list[Any] | None:
    """Return what rebuilds each column; None where the frame cannot be carried."""
    columns = [_values(frame.iloc[:, number]) for number in range(frame.shape[1])]
    whole = _carried(frame.index, frame.columns) and not any(values is None for values in columns)
    return columns if whole else None


def _put_moment(encoder: Encoder, value: Any) -> None:
    zone = value.tzinfo
    if zone is not None and type(zone) is not timezone and type(zone).__module__ != "zoneinfo":
        encoder.owner.put_object(encoder, value)
        return
    encoder.out.append(b"w" + bytes([_MOMENT]))
    encoder.put(value.to_datetime64())
    encoder.put(zone)


def _put_duration(encoder: Encoder, value: Any) -> None:
    encoder.out.append(b"w" + bytes([_DURATION]))
    encoder.put(value.to_timedelta64())


def _put_missing(encoder: Encoder, value: Any) -> None:
    encoder.out.append(b"w" + bytes([_MISSING]))
    encoder.put("NA" if value is _pandas().NA else "NaT")


# --- reading ----------------------------------------------------------------------------------


def _read_range_index(decoder: Decoder) -> Any:
    start, stop, step, name = (decoder.read() for _ in range(4))
    return _keep(decoder, _pandas().RangeIndex(start, stop, step, name=name))


def _read_index(decoder: Decoder) -> Any:
    values, name, frequency = (decoder.read() for _ in range(3))
    made = _pandas().Index(**_column(values), name=name)
    if frequency is not None:
        if type(frequency) is not str or len(frequency) > _MAX_FREQUENCY:
            raise MalformedValue("bad index")
        made.freq = frequency
    return _keep(decoder, made)


def _read_multi_index(decoder: Decoder) -> Any:
    levels = decoder.read()
    if type(levels) is not list or not all(type(level) in _plain_indices() for level in levels):
        raise MalformedValue("bad index")
    names = [level.name for level in levels]
    return _keep(decoder, _pandas().MultiIndex.from_arrays(levels, names=names))


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
    if type(values) is tuple and values:
        name, *parts = values
        if name == _CATEGORY:
            return {"data": _categorical(*parts)}
        if type(name) is str and len(parts) == 1:
            zoned = _ZONED.match(name)
            if zoned is not None and _is_flat(parts[0]) and parts[0].dtype.kind == "M":
                return {"data": _pandas().DatetimeIndex(parts[0]).tz_localize("UTC").tz_convert(zoned.group(2))}
            if name in _TYPES and type(parts[0]) is list:
                return {"data": parts[0], "dtype": name}
    elif _is_flat(values):
        return {"data": values, "dtype": values.dtype}
    raise MalformedValue("bad column")


def _categorical(codes: Any, categories: Any, ordered: Any) -> Any:
    if not _is_flat(codes) or codes.dtype.kind != "i" or type(ordered) is not bool:
        raise MalformedValue("bad column")
    return _pandas().Categorical.from_codes(codes, _index(categories), ordered=ordered)


def _is_flat(values: Any) -> bool:
    return type(values) is _numpy().ndarray and values.ndim == 1


def _index(value: Any) -> Any:
    if type(value) not in (*_plain_indices(), _pandas().RangeIndex, _pandas().MultiIndex):
        raise MalformedValue("bad index")
    return value


def _read_moment(decoder: Decoder) -> Any:
    when, zone = decoder.read(), decoder.read()
    if type(when) is not _numpy().datetime64:
        raise MalformedValue("bad moment")
    if zone is None:
        return _pandas().Timestamp(when)
    if type(zone) is not timezone and type(zone).__module__ != "zoneinfo":
        raise MalformedValue("bad moment")
    return _pandas().Timestamp(when, tz="UTC").tz_convert(zone)


def _read_duration(decoder: Decoder) -> Any:
    length = decoder.read()
    if type(length) is not _numpy().timedelta64:
        raise MalformedValue("bad duration")
    return _pandas().Timedelta(length)


def _read_missing(decoder: Decoder) -> Any:
    return _pandas().NA if decoder.read() == "NA" else _pandas().NaT


def _keep(decoder: Decoder, value: Any) -> Any:
    decoder.objects.append(value)
    return value


# --- changes in place -------------------------------------------------------------------------


def is_changing(kind: Any) -> bool:
    """Return whether objects of a class are series or frames: what a call may change in place."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and kind in (getattr(pandas, "Series", None), getattr(pandas, "DataFrame", None))


def snapshot(value: Any) -> list[Any] | None:
    """Return the content of a series or frame, to compare by `same`; None where it cannot be carried."""
    if type(value) is _pandas().DataFrame:
        columns, indices = _columns(value), [value.index, value.columns]
    else:
        values = _values(value)
        columns, indices = [values] if values is not None and _carried(value.index) else None, [value.index]
    if columns is None:
        return None
    found = [value.name] if len(indices) == 1 else []
    for part in columns:
        found += _leaves(part)
    for index in indices:
        found += _index_leaves(index)
    return found


def _index_leaves(index: Any) -> list[Any]:
    if type(index) is _pandas().RangeIndex:
        return [index.start, index.stop, index.step, index.name]
    levels = _levels(index) if type(index) is _pandas().MultiIndex else [index]
    return [leaf for level in levels for leaf in [level.name, *_leaves(_values(level))]]


def _leaves(values: Any) -> list[Any]:
    """Return what `_values` gave as one list of texts, numbers and whatever the program has put in."""
    if type(values) is tuple:
        return [leaf for part in values for leaf in _leaves(part)]
    if type(values) is list:
        return values
    if type(values) is _numpy().ndarray:
        return [values.dtype.str, *(values.tolist() if values.dtype.kind == "O" else [values.tobytes()])]
    return _index_leaves(values) if type(values) not in _ATOMS else [values]


def same(value: Any, before: list[Any] | None) -> bool:
    """Return whether a series or frame is as it was, or cannot be carried; equality is nobody's code here."""
    now = snapshot(value)
    if now is None or before is None:
        return True
    return len(now) == len(before) and all(
        one is other or (type(one) is type(other) and type(one) in _ATOMS and one == other)
        for one, other in zip(now, before)
    )


def change(value: Any, content: Any) -> None:
    """Make a series or frame equal to another one, in place."""
    if type(content) is not type(value):
        raise MalformedValue("content that does not fit")
    value._update_inplace(content)
    if type(value) is _pandas().Series:
        value.name = content.name


def register() -> None:
    """Have `wire` carry these types."""
    wire_library.FAMILIES["pandas"] = _writer
    for number, reader in _READERS.items():
        wire_library.add_reader(number, reader)


_READERS: dict[int, Callable[[Decoder], Any]] = {
    _SERIES: _read_series,
    _FRAME: _read_frame,
    _INDEX: _read_index,
    _RANGE_INDEX: _read_range_index,
    _MULTI_INDEX: _read_multi_index,
    _MOMENT: _read_moment,
    _DURATION: _read_duration,
    _MISSING: _read_missing,
}
