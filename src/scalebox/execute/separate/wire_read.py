"""Plain data as it arrives from the other side: reading bytes that may be anything (the encoding is told in wire.py).

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import struct
import time
from typing import Any, Callable

from scalebox.execute.separate import wire_packed
from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN

MAX_DEPTH = 200
MAX_HEIGHT = 2_000
MAX_ITEMS = 4_000_000
MAX_SECONDS = 10.0
_unpack_q = struct.Struct("<q").unpack_from
_unpack_d = struct.Struct("<d").unpack_from
_unpack_u = struct.Struct("<I").unpack_from
_unpack_id = struct.Struct("<Q").unpack_from
_INT = ord("i")
_LIST = ord("l")


class MalformedValue(ValueError):
    """Bytes that are no encoding of a value, or break a bound."""


class Decoder:
    """Bytes of one message on their way in. Whatever they are, reading ends in a value or in MalformedValue.

    `owner.read_other(decoder, tag)` reads tags that are not plain data.
    """

    __slots__ = ("at", "data", "deadline", "depth", "heights", "left", "objects", "owner")

    def __init__(self, owner: Any, data: bytes, at: int = 0, objects: list[Any] | None = None) -> None:
        self.owner = owner
        self.data = data
        self.at = at
        self.depth = 0
        self.left = MAX_ITEMS
        self.deadline = 0.0
        self.heights: dict[int, int] = {}
        self.objects: list[Any] = [] if objects is None else objects

    def read(self) -> Any:
        data = self.data
        at = self.at
        if at >= len(data):
            raise MalformedValue("cut short")
        tag = data[at]
        self.at = at + 1
        reader = READERS.get(tag)
        if reader is None:
            return self.owner.read_other(self, tag)
        return reader(self)

    def count(self) -> int:
        at = self.at
        if at + 4 > len(self.data):
            raise MalformedValue("cut short")
        self.at = at + 4
        number: int = _unpack_u(self.data, at)[0]
        return number

    def id(self) -> int:
        at = self.at
        if at + 8 > len(self.data):
            raise MalformedValue("cut short")
        self.at = at + 8
        number: int = _unpack_id(self.data, at)[0]
        return number

    def byte(self) -> int:
        return self.take(1)[0]

    def take(self, size: int) -> bytes:
        start = self.at
        end = start + size
        if end > len(self.data):
            raise MalformedValue("cut short")
        self.at = end
        return self.data[start:end]

    def text(self) -> str:
        return self.take(self.count()).decode("utf-8", "surrogatepass")

    def counted(self, least_bytes: int = 1) -> int:
        """Read a number of items, of which each takes at least so many bytes; packed ones count for less."""
        count = self.count()
        self.left -= count if least_bytes < 4 else count >> 2
        if self.left < 0 or count * least_bytes > len(self.data) - self.at:
            raise MalformedValue("too many items")
        return count

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH + 1:
            raise MalformedValue("nested too deeply")

    def items_into(self, values: list[Any]) -> list[Any]:
        count = self.counted()
        self.enter()
        data = self.data
        get = READERS.get
        append = values.append
        for _ in range(count):
            at = self.at
            tag = data[at]
            if tag == _INT:  # as `_read_int` does, without the call
                append(_unpack_q(data, at + 1)[0])
                self.at = at + 9
                continue
            self.at = at + 1
            reader = get(tag)
            append(self.owner.read_other(self, tag) if reader is None else reader(self))
        self.depth -= 1
        return values

    def bare_list(self) -> list[Any]:
        """Read a list that has no number."""
        tag = self.byte()
        if tag == _LIST:
            return self.items_into([])
        reader = wire_packed.READERS.get(tag)
        if reader is None:
            raise MalformedValue("no list")
        return reader(self)

    def key(self, value: Any) -> Any:
        """Return `value`, to be hashed and compared; refuse what that could take seconds for."""
        kind = type(value)
        if kind is int:
            if value.bit_length() > 65_536:
                raise MalformedValue("an integer too long for a key")
        elif kind is tuple or kind is frozenset:
            # Parts may be shared, so that few bytes hold a tuple that takes for ever to hash.
            self.left -= len(value)
            if self.left < 0:
                raise MalformedValue("too many items")
            for item in value:
                self.key(item)
        return value

    def height(self, value: tuple[Any, ...]) -> int:
        """Return how deeply tuples are nested in a tuple: references can make that more than the bytes show.

        Hashing one recurses without a bound of the interpreter's.
        """
        known = self.heights.get(id(value))
        if known is None:
            known = 1
            for item in value:
                if isinstance(item, tuple):
                    known = max(known, 1 + self.height(item))
            self.heights[id(value)] = known
        return known

    def tick(self) -> None:
        """Keys made to collide turn each insertion into a walk; the clock bounds the sum of them."""
        now = time.monotonic()
        if not self.deadline:
            self.deadline = now + MAX_SECONDS
        elif now > self.deadline:
            raise MalformedValue("took too long to decode")

    def set_items(self) -> set[Any]:
        """Read the items of a set or frozenset."""
        result: set[Any] = set()
        self.fill_set(result)
        return result

    def fill_set(self, result: set[Any]) -> None:
        for number, item in enumerate(self.items_into([]), 1):
            result.add(self.key(item))
            if not number & 63:
                self.tick()

    def fill_dict(self, result: Any) -> None:
        """Read pairs into a dict, or a kind of it, which must be empty."""
        count = self.counted(2)
        self.enter()
        read = self.read
        for number in range(1, count + 1):
            key = self.key(read())
            result[key] = read()
            if not number & 63:
                self.tick()
        self.depth -= 1


#: What reading hostile bytes may raise.
ERRORS = (
    MalformedValue,
    struct.error,
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    RecursionError,
    AttributeError,
    MemoryError,
    ImportError,
)


def _read_int(decoder: Decoder) -> int:
    at = decoder.at
    if at + 8 > len(decoder.data):
        raise MalformedValue("cut short")
    decoder.at = at + 8
    value: int = _unpack_q(decoder.data, at)[0]
    return value


def _read_float(decoder: Decoder) -> float:
    at = decoder.at
    if at + 8 > len(decoder.data):
        raise MalformedValue("cut short")
    decoder.at = at + 8
    value: float = _unpack_d(decoder.data, at)[0]
    return value


def _kept(decoder: Decoder, value: Any) -> Any:
    decoder.objects.append(value)
    return value


def _read_list(decoder: Decoder) -> list[Any]:
    values: list[Any] = []
    decoder.objects.append(values)
    return decoder.items_into(values)


def _read_set(decoder: Decoder) -> set[Any]:
    result: set[Any] = set()
    decoder.objects.append(result)
    decoder.fill_set(result)
    return result


def _read_dict(decoder: Decoder) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    decoder.objects.append(result)
    decoder.fill_dict(result)
    return result


def _read_tuple(decoder: Decoder) -> tuple[Any, ...]:
    value = tuple(decoder.items_into([]))
    if value:
        decoder.objects.append(value)
    return value


def _read_reference(decoder: Decoder) -> Any:
    number = decoder.count()
    if number >= len(decoder.objects):
        raise MalformedValue("a reference to nothing")
    value = decoder.objects[number]
    if isinstance(value, tuple) and decoder.height(value) > MAX_HEIGHT:
        raise MalformedValue("nested too deeply")
    return value


def _read_shared(decoder: Decoder) -> Any:
    return _kept(decoder, decoder.owner.links.find(decoder.id(), decoder.count()))


def _read_again(decoder: Decoder) -> Any:
    decoder.items_into([])
    return _read_reference(decoder)


READERS: dict[int, Callable[[Decoder], Any]] = {
    ord("N"): lambda decoder: None,
    ord("E"): lambda decoder: Ellipsis,
    ord("U"): lambda decoder: NotImplemented,
    ord("T"): lambda decoder: True,
    ord("F"): lambda decoder: False,
    ord("i"): _read_int,
    ord("I"): lambda decoder: int.from_bytes(decoder.take(decoder.count()), "little", signed=True),
    ord("d"): _read_float,
    ord("c"): lambda decoder: complex(_read_float(decoder), _read_float(decoder)),
    ord("s"): lambda decoder: decoder.text(),
    ord("b"): lambda decoder: decoder.take(decoder.count()),
    ord("a"): lambda decoder: _kept(decoder, bytearray(decoder.take(decoder.count()))),
    ord("l"): _read_list,
    ord("t"): _read_tuple,
    ord("S"): _read_set,
    ord("Z"): lambda decoder: _kept(decoder, frozenset(decoder.set_items())),
    ord("D"): _read_dict,
    ord("r"): _read_reference,
    ord("R"): _read_again,
    ord("L"): _read_shared,
}


def _numbered(read: Callable[[Decoder], list[Any]]) -> Callable[[Decoder], list[Any]]:
    return lambda decoder: _kept(decoder, read(decoder))


for _tag, _reader in wire_packed.READERS.items():
    READERS[_tag] = _numbered(_reader)
