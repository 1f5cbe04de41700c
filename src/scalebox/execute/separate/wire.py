"""Values as bytes between the process of the tests and the process of the solution.

Tagged, total and bounded; plain data is copied with its exact type, and which containers are one and the same
object survives: every container has a number, in the order in which both sides meet them, and later mentions
are references. What is not plain data is left to the peer (`Hooks`). Nothing decoded is ever executed. Writing is here,
reading in wire_read.py.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.

    tag      value                                  body
    N T F E U  None, True, False, Ellipsis, NotImplemented
    i I      int within 64 bits / any other         <q / u32 length, two's complement little endian
    d c      float, complex                         <d / <dd
    s b a    str, bytes, bytearray                  u32 length, data (str as UTF-8 with surrogates passed)
    l t S Z  list, tuple, set, frozenset            u32 count, items
    q f      list of >= 4 64-bit ints / floats      u32 count, <q / <d each
    p        list of >= 4 str                       u32 count, u32 length of each in characters, str
    B        list of >= 4 bool                      u32 count, a byte each
    M        list of >= 4 64-bit ints and floats    u32 count, a byte each (1: a float), <q each, <d each
    D        dict                                   u32 count, key, value, ...
    r        a container met before                 u32 number
    R        a tuple met again inside of itself     u32 count, items, u32 number
    L        a container that both sides share      u64 number of the link, u32 number in it (links.py)
    w        value of a known library type          u8 number of the type, its content
"""

from __future__ import annotations

import struct
from typing import Any, Callable

from scalebox.execute.separate import wire_packed
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.wire_read import MAX_DEPTH

__builtins__ = OWN

_pack_q = struct.Struct("<q").pack
_pack_d = struct.Struct("<d").pack
_pack_dd = struct.Struct("<dd").pack
_pack_head = struct.Struct("<cI").pack
pack_u = struct.Struct("<I").pack
pack_id = struct.Struct("<Q").pack
_I64_MIN, _I64_MAX = -(1 << 63), (1 << 63) - 1
_REF, _SHARED = b"r", b"L"
_NOTHING: dict[int, tuple[int, int]] = {}


class TooDeep(ValueError):
    """A value nested more deeply than can be carried."""


class Encoder:
    """Bytes of one message on their way out.

    `objects` are its containers in the order of their numbers; a message that answers another begins with that one's.
    """

    __slots__ = ("depth", "errors", "memo", "objects", "out", "owner", "shared")

    def __init__(self, owner: Any, objects: list[Any] | None = None) -> None:
        self.owner = owner
        self.shared: dict[int, tuple[int, int]] = getattr(owner, "shared", _NOTHING)
        self.out: list[bytes] = []
        self.depth = 0
        self.errors: list[BaseException] = []  # being written
        self.objects: list[Any] = objects or []
        self.memo: dict[int, int] = {}
        if objects:
            self.memo = {id(value): number for number, value in enumerate(objects)}

    def put(self, value: Any) -> None:
        writer = WRITERS.get(type(value))
        if writer is None:
            self.owner.put_other(self, value)
        else:
            writer(self, value)

    def number(self, value: Any) -> None:
        """Give `value` the next number."""
        self.memo[id(value)] = len(self.objects)
        self.objects.append(value)

    def met(self, value: Any) -> bool:
        """Write a reference if `value` has a number, or is one that both sides have."""
        number = self.memo.get(id(value))
        if number is not None:
            self.out.append(_pack_head(_REF, number))
            return True
        place = self.shared.get(id(value))
        if place is None:
            return False
        self.number(value)
        self.out.append(_SHARED + pack_id(place[0]) + pack_u(place[1]))
        return True

    def put_or(self, value: Any, replacement: Any) -> None:
        """Write `value`; where it cannot be carried, replacement(value)."""
        size, numbers, depth, errors = len(self.out), len(self.objects), self.depth, len(self.errors)
        try:
            self.put(value)
        except Exception:
            for written in self.objects[numbers:]:
                self.memo.pop(id(written), None)
            del self.out[size:], self.objects[numbers:], self.errors[errors:]
            self.depth = depth
            self.put(replacement(value))

    def text(self, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self.out.append(pack_u(len(data)) + data)

    def bare_list(self, values: list[Any]) -> None:
        """Write a list that has no number, or has it already."""
        data = wire_packed.pack(values) if len(values) >= wire_packed.LEAST else None
        if data is None:
            self.items(b"l", values)
        else:
            self.out.append(data)

    def items(self, head: bytes, values: Any) -> None:
        if self.depth >= MAX_DEPTH:
            raise TooDeep("nested more than %d levels deep" % MAX_DEPTH)
        self.depth += 1
        out = self.out
        out.append(_pack_head(head, len(values)))
        get = WRITERS.get
        for value in values:
            kind = type(value)
            writer = get(kind)
            if kind is int and _I64_MIN <= value <= _I64_MAX:
                out.append(b"i" + _pack_q(value))
            elif writer is None:
                self.owner.put_other(self, value)
            else:
                writer(self, value)
        self.depth -= 1


def _put_int(encoder: Encoder, value: int) -> None:
    if _I64_MIN <= value <= _I64_MAX:
        encoder.out.append(b"i" + _pack_q(value))
    else:
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        encoder.out.append(_pack_head(b"I", len(data)) + data)


def _put_str(encoder: Encoder, value: str) -> None:
    data = value.encode("utf-8", "surrogatepass")
    encoder.out.append(_pack_head(b"s", len(data)) + data)


def _put_bytearray(encoder: Encoder, value: bytearray) -> None:
    if not encoder.met(value):
        encoder.number(value)
        encoder.out.append(_pack_head(b"a", len(value)) + bytes(value))


def _put_list(encoder: Encoder, value: list[Any]) -> None:
    number = encoder.memo.get(id(value))
    if number is not None:
        encoder.out.append(_pack_head(_REF, number))
        return
    if id(value) in encoder.shared and encoder.met(value):
        return
    encoder.memo[id(value)] = len(encoder.objects)
    encoder.objects.append(value)
    encoder.bare_list(value)


def put_frozen(encoder: Encoder, value: Any, head: bytes, before: Callable[[Encoder, Any], None] | None = None) -> None:
    """Write a tuple or frozenset, which gets its number after its items; it can be met again inside of itself."""
    if encoder.met(value):
        return
    out = encoder.out
    start = len(out)
    encoder.items(head, value)
    number = encoder.memo.get(id(value))
    if number is not None:
        # Written in full inside of itself, by way of a list: that one is it.
        out[start] = _pack_head(b"R", len(value))
        out.append(pack_u(number))
    else:
        encoder.number(value)


def _put_tuple(encoder: Encoder, value: tuple[Any, ...]) -> None:
    if value:
        put_frozen(encoder, value, b"t")
    else:
        encoder.out.append(b"t\0\0\0\0")


def _put_frozenset(encoder: Encoder, value: frozenset[Any]) -> None:
    put_frozen(encoder, value, b"Z")


def _put_set(encoder: Encoder, value: set[Any]) -> None:
    if not encoder.met(value):
        encoder.number(value)
        encoder.items(b"S", value)


def _put_dict(encoder: Encoder, value: dict[Any, Any]) -> None:
    if not encoder.met(value):
        encoder.number(value)
        put_pairs(encoder, value)


def put_pairs(encoder: Encoder, value: dict[Any, Any]) -> None:
    if encoder.depth >= MAX_DEPTH:
        raise TooDeep("nested more than %d levels deep" % MAX_DEPTH)
    encoder.depth += 1
    encoder.out.append(_pack_head(b"D", len(value)))
    put = encoder.put
    for key, item in dict.items(value):
        put(key)
        put(item)
    encoder.depth -= 1


#: How values of a type are written, by exact type. Library types are added when first met (`library`).
WRITERS: dict[type, Callable[[Encoder, Any], None]] = {
    type(None): lambda encoder, value: encoder.out.append(b"N"),
    type(Ellipsis): lambda encoder, value: encoder.out.append(b"E"),
    type(NotImplemented): lambda encoder, value: encoder.out.append(b"U"),
    bool: lambda encoder, value: encoder.out.append(b"T" if value else b"F"),
    int: _put_int,
    float: lambda encoder, value: encoder.out.append(b"d" + _pack_d(value)),
    complex: lambda encoder, value: encoder.out.append(b"c" + _pack_dd(value.real, value.imag)),
    str: _put_str,
    bytes: lambda encoder, value: encoder.out.append(_pack_head(b"b", len(value)) + value),
    bytearray: _put_bytearray,
    list: _put_list,
    tuple: _put_tuple,
    set: _put_set,
    frozenset: _put_frozenset,
    dict: _put_dict,
}
