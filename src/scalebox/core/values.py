"""Plain Python data as bytes: what crosses the wall of a jail, in either direction.

The encoding is tagged, canonical (one value of one type has one encoding, dict and set order
apart), total and bounded. Nothing that it decodes is ever executed: no pickle, marshal or eval.

This file is also sent into the jail and run there by the sample's interpreter, so it imports the
standard library alone, nothing of ScaleBox, and is kept to what Python 3.8 understands.

    tag  value                      body
    N T F                           None, True, False: empty
    i    int within 64 bits         <q
    I    any other int              u32 length, two's complement little endian
    d    float                      <d (every NaN is written as one)
    c    complex                    <dd
    s b a  str, bytes, bytearray    u32 length, data (str as UTF-8 with surrogates passed)
    l t S Z  list, tuple, set, frozenset   u32 count, items
    q f  list of >= 4 64-bit ints / floats  u32 count, <q / <d each
    D    dict                       u32 count, key, value, ...
    w    value of a known library type      str name, encoding of its content
    x    anything else              str type name; never equal to anything
"""

from __future__ import annotations

import struct
import sys
import time
from array import array
from typing import Any, Callable, Collection

MAX_DEPTH = 200
_LITTLE = sys.byteorder == "little"
_pack_q = struct.Struct("<q").pack
_pack_d = struct.Struct("<d").pack
_pack_u = struct.Struct("<I").pack
_unpack_q = struct.Struct("<q").unpack_from
_unpack_d = struct.Struct("<d").unpack_from
_unpack_u = struct.Struct("<I").unpack_from
_NAN = _pack_d(float("nan"))
_I64_MIN, _I64_MAX = -(1 << 63), (1 << 63) - 1


class MalformedValue(ValueError):
    """Bytes that are no encoding of a value, or break a bound."""


class Opaque:
    """Stands for an object that is not plain data; equal to nothing, itself included."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<{self.type_name} object>"


class Wrapped:
    """A value of a library type that this side does not build, by name and plain content."""

    __slots__ = ("content", "type_name")

    def __init__(self, type_name: str, content: Any) -> None:
        self.type_name = type_name
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wrapped) and self.type_name == other.type_name and self.content == other.content

    def __hash__(self) -> int:
        return hash((self.type_name, repr(self.content)))

    def __repr__(self) -> str:
        return f"{self.type_name}({self.content!r})"


def encode(value: object) -> bytes:
    """Return `value` as bytes. Total: what is no plain data, too deep or cyclic is written as opaque."""
    out: list[bytes] = []
    _encode(value, out, 0)
    return b"".join(out)


def _encode(value: Any, out: list[bytes], depth: int) -> None:
    kind = type(value)
    writer = _WRITERS.get(kind)
    if writer is not None:
        writer(value, out, depth)
        return
    wrapped = _library_value(value, kind)
    if wrapped is None or depth >= MAX_DEPTH:
        out.append(b"x" + _text(_type_name(kind)))
    else:
        out.append(b"w" + _text(wrapped[0]))
        _encode(wrapped[1], out, depth + 1)


def _type_name(kind: type) -> str:
    name = type.__dict__["__name__"].__get__(kind)
    return name if type(name) is str else "object"


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return _pack_u(len(data)) + data


def _write_int(value: int, out: list[bytes], depth: int) -> None:
    if _I64_MIN <= value <= _I64_MAX:
        out.append(b"i" + _pack_q(value))
    else:
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        out.append(b"I" + _pack_u(len(data)) + data)


def _write_float(value: float, out: list[bytes], depth: int) -> None:
    out.append(b"d" + (_pack_d(value) if value == value else _NAN))


def _write_complex(value: complex, out: list[bytes], depth: int) -> None:
    out.append(b"c")
    for part in (value.real, value.imag):
        out.append(_pack_d(part) if part == part else _NAN)


def _write_list(value: list[Any], out: list[bytes], depth: int) -> None:
    if len(value) >= 4:
        kinds = set(map(type, value))
        if len(kinds) == 1:
            kind = kinds.pop()
            if kind is int and _write_packed(b"q", "q", value, out):
                return
            if kind is float and all(item == item for item in value) and _write_packed(b"f", "d", value, out):
                return
    _write_items(b"l", value, out, depth)


def _write_packed(tag: bytes, code: str, value: list[Any], out: list[bytes]) -> bool:
    try:
        packed: array[Any] = array(code, value)
    except OverflowError:
        return False
    if not _LITTLE:
        packed.byteswap()
    out.append(tag + _pack_u(len(packed)) + packed.tobytes())
    return True


def _write_items(tag: bytes, value: Collection[Any], out: list[bytes], depth: int) -> None:
    if depth >= MAX_DEPTH:
        out.append(b"x" + _text("too deep"))
        return
    out.append(tag + _pack_u(len(value)))
    for item in value:
        _encode(item, out, depth + 1)


def _write_dict(value: dict[Any, Any], out: list[bytes], depth: int) -> None:
    if depth >= MAX_DEPTH:
        out.append(b"x" + _text("too deep"))
        return
    out.append(b"D" + _pack_u(len(value)))
    for key, item in value.items():
        _encode(key, out, depth + 1)
        _encode(item, out, depth + 1)


_WRITERS: dict[type, Callable[[Any, list[bytes], int], None]] = {
    type(None): lambda value, out, depth: out.append(b"N"),
    bool: lambda value, out, depth: out.append(b"T" if value else b"F"),
    int: _write_int,
    float: _write_float,
    complex: _write_complex,
    str: lambda value, out, depth: out.append(b"s" + _text(value)),
    bytes: lambda value, out, depth: out.append(b"b" + _pack_u(len(value)) + value),
    bytearray: lambda value, out, depth: out.append(b"a" + _pack_u(len(value)) + bytes(value)),
    list: _write_list,
    tuple: lambda value, out, depth: _write_items(b"t", value, out, depth),
    set: lambda value, out, depth: _write_items(b"S", value, out, depth),
    frozenset: lambda value, out, depth: _write_items(b"Z", value, out, depth),
    dict: _write_dict,
}


def _library_value(value: Any, kind: type) -> tuple[str, Any] | None:
    """Return (name, plain content) for the library types that tests compare by content, else None."""
    name = _type_name(kind)
    if kind is range:
        return name, (value.start, value.stop, value.step)
    module = kind.__module__
    if module == "collections" and kind is getattr(sys.modules.get(module), name, None):
        if name == "deque":
            return name, list(value)
        if name in ("Counter", "OrderedDict", "defaultdict"):
            return name, {key: dict.__getitem__(value, key) for key in dict.keys(value)}
    if name == "Decimal" and module == "decimal":
        return name, str(value)
    if name == "Fraction" and module == "fractions":
        return name, (value.numerator, value.denominator)
    if module == "datetime" and name in ("date", "datetime", "time"):
        return name, value.isoformat()
    if module == "datetime" and name == "timedelta":
        return name, (value.days, value.seconds, value.microseconds)
    if module == "numpy":
        return _numpy_value(value, name)
    return None


def _numpy_value(value: Any, name: str) -> tuple[str, Any] | None:
    if name == "ndarray":
        return (name, value.tolist()) if value.dtype.kind in "biufcUS" else None
    item = getattr(value, "item", None)
    plain = item() if item is not None else value
    return ("numpy", plain) if type(plain) in (bool, int, float, complex, str, bytes) else None


def decode(data: bytes, max_items: int = 1_000_000, seconds: float = 5.0) -> Any:
    """Return the value that `data` encodes, bounded in items, depth and time.

    Library types come back as themselves where the standard library has them, else as `Wrapped`;
    what was opaque comes back as `Opaque`. Raises MalformedValue for anything else, trailing bytes included.
    """
    reader = _Reader(bytes(data), max_items, seconds)
    try:
        value = reader.read(0)
    except (struct.error, LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        if isinstance(error, MalformedValue):
            raise
        raise MalformedValue(str(error)) from None
    if reader.at != len(reader.data):
        raise MalformedValue("bytes after the value")
    return value


class _Reader:
    __slots__ = ("at", "data", "deadline", "left")

    def __init__(self, data: bytes, max_items: int, seconds: float) -> None:
        self.data = data
        self.at = 0
        self.left = max_items
        self.deadline = time.monotonic() + seconds

    def read(self, depth: int) -> Any:
        if depth > MAX_DEPTH + 1:
            raise MalformedValue("nested too deeply")
        self.left -= 1
        if self.left < 0:
            raise MalformedValue("too many items")
        tag = self.data[self.at]
        self.at += 1
        reader = _READERS.get(tag)
        if reader is None:
            raise MalformedValue(f"unknown tag {tag}")
        return reader(self, depth)

    def count(self) -> int:
        count: int = _unpack_u(self.data, self.at)[0]
        self.at += 4
        return count

    def take(self, size: int) -> bytes:
        start = self.at
        end = start + size
        if end > len(self.data):
            raise MalformedValue("cut short")
        self.at = end
        return self.data[start:end]

    def text(self) -> str:
        return self.take(self.count()).decode("utf-8", "surrogatepass")

    def items(self, depth: int) -> list[Any]:
        count = self.count()
        if count > self.left:
            raise MalformedValue("too many items")
        return [self.read(depth + 1) for _ in range(count)]

    def tick(self) -> None:
        # Keys made to collide turn each insertion into a walk; the clock bounds the sum of them.
        if time.monotonic() > self.deadline:
            raise MalformedValue("took too long to decode")


def _read_i(reader: _Reader, depth: int) -> int:
    value: int = _unpack_q(reader.data, reader.at)[0]
    reader.at += 8
    return value


def _read_d(reader: _Reader, depth: int) -> float:
    value: float = _unpack_d(reader.data, reader.at)[0]
    reader.at += 8
    return value


def _read_packed(reader: _Reader, code: str) -> list[Any]:
    count = reader.count()
    if count > reader.left:
        raise MalformedValue("too many items")
    reader.left -= count
    packed: array[Any] = array(code, reader.take(8 * count))
    if not _LITTLE:
        packed.byteswap()
    return packed.tolist()


def _key(value: Any) -> Any:
    """Return `value`, to be hashed and compared; refuse integers so long that one comparison takes seconds."""
    if type(value) is int and value.bit_length() > 65_536:
        raise MalformedValue("an integer too long for a key")
    return value


def _read_set(reader: _Reader, depth: int) -> set[Any]:
    result: set[Any] = set()
    for number, item in enumerate(reader.items(depth)):
        result.add(_key(item))
        if not number & 63:
            reader.tick()
    return result


def _read_dict(reader: _Reader, depth: int) -> dict[Any, Any]:
    count = reader.count()
    if count > reader.left:
        raise MalformedValue("too many items")
    result: dict[Any, Any] = {}
    for number in range(count):
        key = _key(reader.read(depth + 1))
        result[key] = reader.read(depth + 1)
        if not number & 63:
            reader.tick()
    return result


def _read_wrapped(reader: _Reader, depth: int) -> Any:
    name = reader.text()
    content = reader.read(depth + 1)
    builder = _BUILDERS.get(name)
    return Wrapped(name, content) if builder is None else builder(content)


def _build_collection(name: str) -> Callable[[Any], Any]:
    def build(content: Any) -> Any:
        import collections

        kind = getattr(collections, name)
        if type(content) is not (list if name == "deque" else dict):
            raise MalformedValue(f"bad content of a {name}")
        if name == "defaultdict":
            return kind(None, content)
        return kind(content)

    return build


def _modest(value: Any) -> bool:
    """Return whether a number is small enough for arithmetic that takes the square of its length."""
    return type(value) is int and value.bit_length() <= 16_384


def _build_decimal(content: Any) -> Any:
    from decimal import Decimal

    if type(content) is not str or len(content) > 10_000:
        raise MalformedValue("bad Decimal")
    return Decimal(content)


def _build_fraction(content: Any) -> Any:
    from fractions import Fraction

    numerator, denominator = content
    if not _modest(numerator) or not _modest(denominator) or denominator == 0:
        raise MalformedValue("bad Fraction")
    return Fraction(numerator, denominator)


def _build_time(name: str) -> Callable[[Any], Any]:
    def build(content: Any) -> Any:
        import datetime

        if name == "timedelta":
            days, seconds, microseconds = content
            return datetime.timedelta(days, seconds, microseconds)
        return getattr(datetime, name).fromisoformat(content)

    return build


def _build_range(content: Any) -> range:
    start, stop, step = content
    if not all(map(_modest, content)) or step == 0:
        raise MalformedValue("bad range")
    return range(start, stop, step)


_BUILDERS: dict[str, Callable[[Any], Any]] = {
    "range": _build_range,
    "Decimal": _build_decimal,
    "Fraction": _build_fraction,
    "numpy": lambda content: content,
}
for _name in ("deque", "Counter", "OrderedDict", "defaultdict"):
    _BUILDERS[_name] = _build_collection(_name)
for _name in ("date", "datetime", "time", "timedelta"):
    _BUILDERS[_name] = _build_time(_name)

_READERS: dict[int, Callable[[_Reader, int], Any]] = {
    ord("N"): lambda reader, depth: None,
    ord("T"): lambda reader, depth: True,
    ord("F"): lambda reader, depth: False,
    ord("i"): _read_i,
    ord("I"): lambda reader, depth: int.from_bytes(reader.take(reader.count()), "little", signed=True),
    ord("d"): _read_d,
    ord("c"): lambda reader, depth: complex(_read_d(reader, depth), _read_d(reader, depth)),
    ord("s"): lambda reader, depth: reader.text(),
    ord("b"): lambda reader, depth: reader.take(reader.count()),
    ord("a"): lambda reader, depth: bytearray(reader.take(reader.count())),
    ord("l"): lambda reader, depth: reader.items(depth),
    ord("t"): lambda reader, depth: tuple(reader.items(depth)),
    ord("S"): _read_set,
    ord("Z"): lambda reader, depth: frozenset(_read_set(reader, depth)),
    ord("D"): _read_dict,
    ord("q"): lambda reader, depth: _read_packed(reader, "q"),
    ord("f"): lambda reader, depth: _read_packed(reader, "d"),
    ord("w"): _read_wrapped,
    ord("x"): lambda reader, depth: Opaque(reader.text()),
}
