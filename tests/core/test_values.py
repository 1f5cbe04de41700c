"""The encoding of what crosses a jail's wall: exact both ways, total and bounded on whatever bytes come."""

from __future__ import annotations

import ast
import collections
import contextlib
import datetime
import math
import random
import struct
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core import values
from scalebox.core.values import MAX_DEPTH, MalformedValue, Opaque, Wrapped
from scalebox.sandbox import agent

encode: Callable[[Any], bytes] = values.encode
decode: Callable[..., Any] = values.decode

_HASHABLE_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text(st.characters())
    | st.binary() | st.integers(-(1 << 66), 1 << 66) | st.text(st.characters(categories=["Cs"]))
)  # fmt: skip
_HASHABLE = st.recursive(
    _HASHABLE_SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4), max_leaves=8
)
_LIBRARY = (
    st.decimals() | st.fractions() | st.dates() | st.datetimes() | st.times() | st.timedeltas()
    | st.builds(range, st.integers(-99, 99), st.integers(-99, 99), st.integers(1, 9))
    | st.lists(st.integers()).map(collections.deque)
    | st.dictionaries(st.text(), st.integers()).map(collections.Counter)
    | st.dictionaries(st.text(), st.integers()).map(collections.OrderedDict)
    | st.dictionaries(st.text(), st.integers()).map(lambda items: collections.defaultdict(None, items))
)  # fmt: skip
_LISTS = st.lists(st.integers(-(1 << 63), (1 << 63) - 1)) | st.lists(st.floats()) | st.lists(st.integers())
_VALUES = st.recursive(
    _HASHABLE | st.binary().map(bytearray) | _LISTS | _LIBRARY,
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(_HASHABLE, inner, max_size=4)
    | st.sets(_HASHABLE, max_size=4),
    max_leaves=20,
)  # fmt: skip
_UNORDERED = (set, frozenset)


def same(left: Any, right: Any) -> bool:
    """Say whether two values are alike in type and content, NaN and the sign of zero included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or struct.pack("<d", left) == struct.pack("<d", right)
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, Decimal):
        return str(left) == str(right)
    if isinstance(left, (list, tuple, collections.deque)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return len(left) == len(right) and all(map(same, left.items(), right.items()))
    if isinstance(left, _UNORDERED):
        return len(left) == len(right) and all(any(same(one, other) for other in right) for one in left)
    return bool(left == right)


def has_set(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_set, value.items()))
    return isinstance(value, _UNORDERED) or (isinstance(value, (list, tuple)) and any(map(has_set, value)))


@given(_VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(decode(encode(value)), value)


@given(_VALUES.filter(lambda value: not has_set(value)))
def test_one_value_has_one_encoding(value: Any) -> None:
    assert encode(decode(encode(value))) == encode(value)


@given(_HASHABLE_SCALARS, _HASHABLE_SCALARS)
def test_different_values_have_different_encodings(left: Any, right: Any) -> None:
    assert (encode(left) == encode(right)) == same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, True), (0, False), (1, 1.0), (0.0, -0.0), ("a", b"a"), (b"a", bytearray(b"a")), ([1], (1,)), ({1}, [1]),
     ({1}, frozenset({1})), ([1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]), ([True] * 4, [1] * 4), (None, False),
     (collections.OrderedDict(a=1), {"a": 1}), (range(3), [0, 1, 2]), (Decimal("1.0"), Decimal("1.00"))],
)  # fmt: skip
def test_types_are_kept_apart(left: Any, right: Any) -> None:
    assert encode(left) != encode(right)


def test_every_nan_is_written_as_one() -> None:
    odd = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_DEAD_BEEF))[0]
    assert encode(odd) == encode(math.nan)
    assert encode(complex(odd, odd)) == encode(complex(math.nan, math.nan))


class _Odd:
    pass


class _Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize("value", [_Odd(), _Liar(3), len, _Odd, ..., iter([]), ValueError("x"), [1].append, int])
def test_what_is_no_plain_data_is_opaque_and_equals_nothing(value: Any) -> None:
    found = decode(encode(value))
    assert isinstance(found, Opaque)
    assert found != found  # noqa: PLR0124 - that it differs from itself is the promise
    assert found != value
    assert value != found or isinstance(value, _Liar)


def test_a_subclass_of_a_library_type_is_opaque() -> None:
    class Counter(collections.Counter[str]):
        pass

    assert isinstance(decode(encode(Counter("aab"))), Opaque)


def test_a_cycle_is_cut_off() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    found = decode(encode(cycle))
    for _ in range(MAX_DEPTH - 1):
        found = found[1]
    assert isinstance(found[1], Opaque)


def test_values_of_the_greatest_depth_come_back() -> None:
    value: Any = 7
    for _ in range(MAX_DEPTH):
        value = [value]
    assert decode(encode(value)) == value
    assert isinstance(_innermost(decode(encode([value]))), Opaque)


def _innermost(value: Any) -> Any:
    while isinstance(value, list):
        value = value[0]
    return value


def test_a_library_type_unknown_here_comes_back_by_name() -> None:
    found = decode(b"w" + _text("ndarray") + encode([1, 2]))
    assert isinstance(found, Wrapped)
    assert (found.type_name, found.content) == ("ndarray", [1, 2])


def _text(text: str) -> bytes:
    return struct.pack("<I", len(text.encode())) + text.encode()


def _count(tag: bytes, count: int) -> bytes:
    return tag + struct.pack("<I", count)


# -- hostile bytes -------------------------------------------------------------------------------------------------


def only_values_or_refusals(data: bytes, **bounds: Any) -> None:
    with contextlib.suppress(MalformedValue):
        decode(data, **bounds)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_a_value_or_malformed(data: bytes) -> None:
    only_values_or_refusals(data)


_TAGS = st.sampled_from(b"NTFiIdcsbaltSZDqfwx")
_PIECES = st.one_of(
    _TAGS.map(lambda tag: bytes([tag])),
    st.integers(0, 6).map(lambda count: struct.pack("<I", count)),
    st.sampled_from([0, 1, 255, 1 << 31, (1 << 32) - 1]).map(lambda count: struct.pack("<I", count)),
    st.sampled_from(["range", "Decimal", "Fraction", "numpy", "deque", "Counter", "OrderedDict", "defaultdict",
                     "date", "datetime", "time", "timedelta", "x"]).map(lambda name: b"w" + _text(name)),
    st.sampled_from([1, "1e9", "sNaN", "2020-01-01", (1, 2), (1, 0), (1, 2, 0), (1, 2, 3), [1], {"a": 1}, 10**40]).map(
        encode),
    st.binary(max_size=9),
)  # fmt: skip


@given(st.lists(_PIECES, max_size=30))
def test_pieces_of_encodings_are_a_value_or_malformed(pieces: list[bytes]) -> None:
    only_values_or_refusals(b"".join(pieces))


@given(_VALUES, st.data())
def test_a_damaged_encoding_is_a_value_or_malformed(value: Any, data: st.DataObject) -> None:
    damaged = bytearray(encode(value))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    only_values_or_refusals(bytes(damaged))


@given(_VALUES, st.data())
def test_an_encoding_cut_short_is_malformed(value: Any, data: st.DataObject) -> None:
    whole = encode(value)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(MalformedValue):
        decode(whole[:cut])


@given(_VALUES, st.binary(min_size=1, max_size=5))
def test_bytes_after_the_value_are_malformed(value: Any, rest: bytes) -> None:
    with pytest.raises(MalformedValue):
        decode(encode(value) + rest)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"?",
        _count(b"l", (1 << 32) - 1),
        _count(b"q", (1 << 32) - 1),
        _count(b"s", (1 << 32) - 1) + b"x",
        _count(b"D", (1 << 32) - 1),
        _count(b"s", 1) + b"\xff",
        _count(b"S", 1) + _count(b"l", 0),
        _count(b"D", 1) + _count(b"a", 0) + b"N",
        b"w" + _text("Fraction") + encode((1, 0)),
        b"w" + _text("range") + encode((1, 2, 0)),
        b"w" + _text("Decimal") + encode("abc"),
        b"w" + _text("Decimal") + encode("1" * 200_000),
        b"w" + _text("timedelta") + encode((10**18, 0, 0)),
        b"w" + _text("date") + encode(5),
        b"w" + _text("deque") + encode({}),
        b"w" + _text("Counter") + encode([1]),
    ],
)
def test_what_cannot_be_a_value_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedValue):
        decode(data)


@pytest.mark.parametrize("opening", [_count(b"l", 1), _count(b"t", 1), _count(b"D", 1) + b"N", b"w" + _text("x")])
def test_nesting_is_bounded(opening: bytes) -> None:
    with pytest.raises(MalformedValue):
        decode(opening * 100_000 + b"N")


def test_items_are_bounded() -> None:
    assert decode(encode([None] * 9), max_items=10) == [None] * 9
    for value in ([None] * 10, list(range(10)), [[None] * 4] * 3, dict.fromkeys(range(5), 1), [0.5] * 10):
        with pytest.raises(MalformedValue):
            decode(encode(value), max_items=10)


def test_keys_made_to_collide_are_bounded_in_time() -> None:
    step = (1 << 61) - 1  # the modulus of hash(int): all multiples of it share one hash
    keys = b"".join(encode(number * step) for number in range(1, 30_001))
    begun = time.monotonic()
    for tag in (b"S", b"Z"):
        with pytest.raises(MalformedValue, match="too long"):
            decode(_count(tag, 30_000) + keys, seconds=0.2)
    pairs = b"".join(encode(number * step) + b"N" for number in range(1, 30_001))
    with pytest.raises(MalformedValue, match="too long"):
        decode(_count(b"D", 30_000) + pairs, seconds=0.2)
    assert time.monotonic() - begun < 30


def test_huge_integers_come_back_and_cost_little() -> None:
    for value in (1 << 8_000_000, -(1 << 8_000_000), (1 << 63), -(1 << 63) - 1, (1 << 64) - 1):
        assert decode(encode(value)) == value


def test_nothing_that_is_decoded_is_executed() -> None:
    for name in ("eval", "os.system", "builtins.exec", "__import__", "Opaque", "subprocess"):
        assert isinstance(decode(b"w" + _text(name) + encode("raise SystemExit")), Wrapped)


def test_two_giants_do_not_make_a_fraction_that_takes_minutes() -> None:
    numbers = random.Random(1)  # noqa: S311 - only to be large and coprime
    data = b"w" + _text("Fraction") + encode((numbers.getrandbits(2_000_000), numbers.getrandbits(2_000_000)))
    begun = time.process_time()
    only_values_or_refusals(data, seconds=0.5)
    assert time.process_time() - begun < 1.0


def test_times_with_zones_come_back() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moment = datetime.datetime(2024, 2, 29, 12, 30, 5, 7, tzinfo=zone)
    assert decode(encode(moment)) == moment
    assert decode(encode(moment.timetz())) == moment.timetz()


def test_fractions_come_back_reduced() -> None:
    assert decode(encode(Fraction(6, 4))) == Fraction(3, 2)


# -- the files that are sent into the jail -------------------------------------------------------------------------

#: Came with 3.9 or later; the parser cannot tell.
_NEWER = {
    "removeprefix",
    "removesuffix",
    "is_relative_to",
    "bit_count",
    "with_stem",
    "pidfd_open",
    "waitstatus_to_exitcode",
}


_BUILDERS = ("jailed", "jailed_build", "jailed_judge")
_SHIPPED = sorted({module for name in _BUILDERS for module in agent.modules(f"scalebox.execute.{name}")})


@pytest.mark.parametrize("module", _SHIPPED)
def test_files_for_the_jail_are_python_38_and_need_nothing_but_it(module: str) -> None:
    package, _, name = module.rpartition(".")
    tree = ast.parse(
        resources.files(package).joinpath(f"{name}.py").read_text(encoding="utf-8"), feature_version=(3, 8)
    )
    nodes = list(ast.walk(tree))
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    parts = {part.rpartition(".")[0] for part in _SHIPPED} | set(_SHIPPED)
    assert {name.partition(".")[0] for name in imported - parts} <= {*sys.stdlib_module_names, "pytest"}  # for suites
    assert not {node.attr for node in nodes if isinstance(node, ast.Attribute)} & _NEWER
