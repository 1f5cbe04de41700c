"""Lists of one kind of plain value, packed: a tenth of the time that item by item takes.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import struct
import sys
from array import array
from typing import Any, Callable

from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN

LEAST = 4  # items from which on packing pays
_LITTLE = sys.byteorder == "little"
_pack_head = struct.Struct("<cI").pack
_pack_u = struct.Struct("<I").pack
_TRUTHS = (False, True)


def _bytes(code: str, values: Any) -> bytes:
    packed = array(code, values)
    if not _LITTLE:
        packed.byteswap()
    return packed.tobytes()


def _array(code: str, data: bytes) -> array[Any]:
    packed = array(code, data)
    if not _LITTLE:
        packed.byteswap()
    return packed


def _pack_ints(values: list[int]) -> bytes | None:
    try:
        return _pack_head(b"q", len(values)) + _bytes("q", values)
    except OverflowError:
        return None


def _pack_floats(values: list[float]) -> bytes | None:
    return _pack_head(b"f", len(values)) + _bytes("d", values)


def _pack_mixed(values: list[Any]) -> bytes | None:
    try:
        ints = _bytes("q", [value for value in values if type(value) is int])
    except OverflowError:
        return None
    floats = _bytes("d", [value for value in values if type(value) is float])
    return _pack_head(b"M", len(values)) + bytes([type(value) is float for value in values]) + ints + floats


def _pack_strs(values: list[str]) -> bytes | None:
    data = "".join(values).encode("utf-8", "surrogatepass")
    return _pack_head(b"p", len(values)) + _bytes("I", map(len, values)) + _pack_u(len(data)) + data


def _pack_bools(values: list[bool]) -> bytes | None:
    return _pack_head(b"B", len(values)) + bytes(values)


_PACKERS: dict[frozenset[type], Callable[[Any], bytes | None]] = {
    frozenset([int]): _pack_ints,
    frozenset([float]): _pack_floats,
    frozenset([int, float]): _pack_mixed,
    frozenset([str]): _pack_strs,
    frozenset([bool]): _pack_bools,
}


def pack(values: list[Any]) -> bytes | None:
    """Return a list as bytes, tag and all; None where it cannot be packed."""
    packer = _PACKERS.get(frozenset(map(type, values)))
    return None if packer is None else packer(values)


def _read_mixed(decoder: Any) -> list[Any]:
    kinds = decoder.take(decoder.counted(8))
    count = kinds.count(1)
    if count + kinds.count(0) != len(kinds):
        raise ValueError("unknown kinds of numbers")
    ints, floats = _array("q", decoder.take(8 * (len(kinds) - count))), _array("d", decoder.take(8 * count))
    next_int, next_float = iter(ints.tolist()).__next__, iter(floats.tolist()).__next__
    return [next_float() if kind else next_int() for kind in kinds]


def _read_strs(decoder: Any) -> list[str]:
    lengths = _array("I", decoder.take(4 * decoder.counted(4)))
    text = decoder.text()
    values = []
    at = 0
    for length in lengths:
        values.append(text[at : at + length])
        at += length
    if at != len(text):
        raise ValueError("lengths that do not add up")
    return values


#: How packed lists are read, by tag. The list has no number yet. What is wrong with the bytes is in `wire_read.ERRORS`.
READERS: dict[int, Callable[[Any], list[Any]]] = {
    ord("q"): lambda decoder: _array("q", decoder.take(8 * decoder.counted(8))).tolist(),
    ord("f"): lambda decoder: _array("d", decoder.take(8 * decoder.counted(8))).tolist(),
    ord("M"): _read_mixed,
    ord("p"): _read_strs,
    ord("B"): lambda decoder: list(map(_TRUTHS.__getitem__, decoder.take(decoder.counted()))),
}
