"""Values on the wire: plain data comes back as it was, with what it shares; bytes that are none are refused."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import pathlib
import struct
import sys
import uuid
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalebox.execute.separate import wire, wire_library, wire_read
from scalebox.execute.separate.wire import Encoder
from scalebox.execute.separate.wire_read import Decoder, MalformedValue


class Refuser:
    """A peer that carries plain data alone."""

    def put_other(self, encoder: Encoder, value: Any) -> None:
        writer = wire_library.writer_for(type(value))
        if writer is None:
            raise TypeError(type(value))
        writer(encoder, value)

    def read_other(self, _: Decoder, tag: int) -> Any:
        raise MalformedValue(f"tag {tag}")


def encode(value: object) -> bytes:
    encoder = Encoder(Refuser())
    encoder.put(value)
    return b"".join(encoder.out)


def decode(data: bytes) -> Any:
    decoder = Decoder(Refuser(), data)
    value = decoder.read()
    if decoder.at != len(data):
        raise MalformedValue("bytes after the value")
    return value


def same(a: Any, b: Any, met: dict[int, int] | None = None) -> bool:
    """Return whether two values have equal types, content, order and sharing of containers."""
    met = {} if met is None else met
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b)
    if isinstance(a, decimal.Decimal):
        return str(a) == str(b)
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if not isinstance(a, (list, tuple, dict, set, frozenset, deque, bytearray)) or a == ():
        return bool(a == b)
    if id(a) in met or id(b) in met.values():
        return met.get(id(a)) == id(b)
    met[id(a)] = id(b)
    if len(a) != len(b):
        return False
    if isinstance(a, (set, frozenset)):
        return bool(a == b)
    if isinstance(a, deque) and a.maxlen != b.maxlen:
        return False
    if isinstance(a, defaultdict) and a.default_factory != b.default_factory:
        return False
    if isinstance(a, dict):
        return all(same(k, m, met) and same(v, w, met) for (k, v), (m, w) in zip(a.items(), b.items(), strict=True))
    return all(same(x, y, met) for x, y in zip(a, b, strict=True))


_texts = st.text(st.characters(exclude_categories=()), max_size=8)
_hashable = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _texts, st.binary(max_size=8)),
    lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=3)),
    max_leaves=4,
)
_atoms = st.one_of(
    _hashable,
    st.floats(),
    st.complex_numbers(),
    st.just(...),
    st.just(NotImplemented),
    st.decimals(),
    st.fractions(),
    st.datetimes(timezones=st.one_of(st.none(), st.just(datetime.UTC))),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.uuids(),
    st.integers(-(2**70), 2**70),
    st.builds(range, st.integers(), st.integers(), st.integers(1, 9)),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=4),
    st.lists(st.floats(), min_size=4),
    st.lists(st.booleans(), min_size=4),
    st.lists(st.one_of(st.floats(), st.integers()), min_size=4),
    st.lists(_texts, min_size=4),
)


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """Draw a value whose containers may be met several times, also inside of themselves."""
    pool: list[Any] = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from([list, dict, set, tuple, deque, bytearray, Counter, OrderedDict, defaultdict]))
        parts: list[Any] = draw(st.lists(st.one_of(_atoms, st.integers(0, 5).map(_Place)), max_size=4))
        items = [pool[part.number % len(pool)] if type(part) is _Place and pool else part for part in parts]
        items = [0 if type(item) is _Place else item for item in items]
        if kind in (dict, OrderedDict, defaultdict, Counter):
            made: Any = kind()
            for item in items:
                made[draw(_hashable)] = item
            pool.append(made)
        elif kind is set:
            pool.append(set(draw(st.lists(_hashable, max_size=3))))
        elif kind is bytearray:
            pool.append(bytearray(draw(st.binary(max_size=5))))
        elif kind is deque:
            pool.append(deque(items, draw(st.one_of(st.none(), st.integers(4, 9)))))
        else:
            pool.append(kind(items))
    for value in pool:
        if isinstance(value, (list, deque)) and draw(st.booleans()):
            value.append(draw(st.sampled_from(pool)))  # a cycle, perhaps
    return draw(st.sampled_from([pool, pool[-1], tuple(pool)]))


class _Place:
    def __init__(self, number: int) -> None:
        self.number = number


@given(graphs())
def test_values_come_back_as_they_were_with_all_that_they_share(value: Any) -> None:
    assert same(value, decode(encode(value)))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    _decode_or_refuse(data)


@given(graphs(), st.data())
@settings(max_examples=300)
def test_damaged_bytes_are_a_value_or_refused(value: Any, data: st.DataObject) -> None:
    damaged = bytearray(encode(value))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        change = data.draw(st.sampled_from(["set", "cut", "copy"]))
        if change == "set":
            damaged[at] = data.draw(st.one_of(st.integers(0, 255), st.sampled_from(b"NTFilqtSZDwrR")))
        elif change == "cut":
            del damaged[at : at + data.draw(st.integers(1, 5))]
        else:
            damaged[at:at] = damaged[at : at + 9]
        if not damaged:
            break
    _decode_or_refuse(bytes(damaged))


def _decode_or_refuse(data: bytes) -> None:
    try:
        value = decode(data)
    except wire_read.ERRORS:
        return
    encode(value)


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        math.inf,
        math.nan,
        2**5000,
        -(2**63),
        2**63,
        complex(-0.0, math.nan),
        "\ud800",
        slice(1, None, 2),
        range(10**30),
        decimal.Decimal("-1.50"),
        decimal.Decimal("NaN"),
        fractions.Fraction(1, 3),
        datetime.timezone(datetime.timedelta(hours=2), "CEST"),
        datetime.datetime(2020, 1, 1, fold=1, tzinfo=datetime.timezone(datetime.timedelta(hours=-3))),
        datetime.time(1, 2, 3, tzinfo=datetime.UTC),
        uuid.UUID(int=5),
        pathlib.PurePosixPath("/a/b"),
        pathlib.Path("c"),
        array("d", [1.0, 2.0]),
        array("b", [1, -1]),
        {1: 2, 2.0: 3, "a": (1,)},
        [True, False, True, False],
        [1, 2, 3, True],
        [1.0, 2.0, 3.0, 4],
        [2**63] * 5,
    ],
    ids=repr,
)
def test_values_of_special_kinds(value: Any) -> None:
    back = decode(encode(value))
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_elements_of_xml_are_copied() -> None:
    text = '<a k="v">x<b>y</b>z<c /></a>'
    assert ElementTree.tostring(decode(encode(ElementTree.fromstring(text))), "unicode") == text  # noqa: S314


def test_views_of_dictionaries_are_views() -> None:
    value = {1: "a", 2: "b"}
    keys, values, items = decode(encode((value.keys(), value.values(), value.items())))
    assert keys == {1, 2}
    assert list(values) == ["a", "b"]
    assert items == {(1, "a"), (2, "b")}
    assert [type(view) for view in (keys, values, items)] == [type({}.keys()), type({}.values()), type({}.items())]


def test_a_tuple_that_contains_itself() -> None:
    inner: list[Any] = []
    value = (inner, (inner, 1))
    inner += [value, value[1]]
    back = decode(encode(value))
    assert back[0][0] is back
    assert back[0][1] is back[1]
    assert back[1][0] is back[0]


def test_what_is_nested_too_deeply_is_not_sent() -> None:
    value: list[Any] = []
    for _ in range(wire_read.MAX_DEPTH + 1):
        value = [value]
    with pytest.raises(wire.TooDeep):
        encode(value)


def test_a_chain_of_references_cannot_nest_tuples_without_bound() -> None:
    # Each item is a tuple of the one before: few bytes for something that hash() recurses into for ever.
    count = 100_000
    chain = b"t\1\0\0\0N" + b"".join(b"t\1\0\0\0r" + struct.pack("<I", number) for number in range(1, count))
    with pytest.raises(MalformedValue, match="nested"):
        decode(b"l" + struct.pack("<I", count) + chain)


def test_a_tuple_of_shared_parts_cannot_be_made_a_key_that_takes_for_ever() -> None:
    # 60 levels of pairs of one and the same tuple: 2 ** 60 parts to hash.
    chain = b"t\1\0\0\0N" + b"".join(b"t\2\0\0\0" + 2 * (b"r" + struct.pack("<I", n)) for n in range(1, 60))
    key = b"D\1\0\0\0" + b"r" + struct.pack("<I", 60) + b"N"
    with pytest.raises(MalformedValue, match="too many"):
        decode(b"l" + struct.pack("<I", 61) + chain + key)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"?",
        b"i\0",
        b"l\xff\xff\xff\xff",
        b"q\xff\xff\xff\x0f" + bytes(64),
        b"B\4\0\0\0\0\1\2\0",
        b"M\4\0\0\0\0\1\2\0" + bytes(32),
        b"M\4\0\0\0\0\1\1\0" + bytes(31),
        b"p\4\0\0\0" + struct.pack("<4I", 9, 9, 9, 9) + b"\1\0\0\0a",
        b"r\0\0\0\0",
        b"S\1\0\0\0l\0\0\0\0",
        b"D\1\0\0\0l\0\0\0\0N",
        b"s\2\0\0\0\xff\xff",
        b"w\xff",
        b"w\2s\3\0\0\0abc",
        b"w\3t\2\0\0\0i" + bytes(8) + b"i" + bytes(8),
        b"l\2\0\0\0t\1\0\0\0r\1\0\0\0N",
    ],
)
def test_what_is_no_value(data: bytes) -> None:
    with pytest.raises(wire_read.ERRORS):
        decode(data)


def test_keys_made_to_collide_do_not_hold_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_read, "MAX_SECONDS", 0.2)
    modulus = sys.hash_info.modulus
    keys = [number * modulus for number in range(1, 20_000)]  # all of one hash
    data = b"S" + struct.pack("<I", len(keys)) + b"".join(encode(key) for key in keys)
    with pytest.raises(MalformedValue, match="too long"):
        decode(data)
