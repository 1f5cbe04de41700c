"""numpy's and pandas' values go between the processes by content."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest
from tests.execute.separate.pair import solution

from scalebox.execute.separate import wire_library
from scalebox.execute.separate.remote import Solution
from scalebox.execute.separate.wire import Encoder
from scalebox.execute.separate.wire_read import ERRORS, Decoder

SOURCE = """
import numpy as np
try: import pandas as pd
except ImportError: pd = None
def same(x): return x
def kind(x): return type(x).__name__
def double(a): a *= 2
def first(a): return a[0]
def special(): return np.ma.array([1, 2], mask=[True, False])
def grow(df): return df.assign(z=df["x"] * 2)
def type_of(array): return array.dtype
def class_of(array): return type(array[0])
def add_column(df): df["z"] = df["x"] * 2; return df
def rename(df): df.columns = ["renamed"]; df.index.name = "i"
def drop_first(df): df.drop(index=df.index[0], inplace=True)
def set_first(series): series.iloc[0] = 9; series.name = "set"
def replace_item(df): df.at[0, "o"] = True
def leave(df): df.assign(z=1)
"""


class Plain:
    def put_other(self, encoder: Encoder, value: Any) -> None:
        writer = wire_library.writer_for(type(value))
        assert writer is not None
        writer(encoder, value)


@pytest.fixture(scope="module")
def sol() -> Iterator[Solution]:
    pytest.importorskip("numpy")
    with solution(SOURCE) as made:
        yield made


def test_arrays(sol: Solution) -> None:
    np = pytest.importorskip("numpy")
    same = sol.get("same")
    for array in (
        np.arange(5), np.eye(3), np.array([]), np.array(3.5), np.zeros((2, 0, 3)), np.array([1 + 2j]),
        np.array(["a", "bcd"]), np.array([b"x"]), np.array([True, False]), np.array(["2020-01-01"], "M8[D]"),
        np.array([1, None, "x"], object), np.arange(6).reshape(2, 3).T, np.array([1, 2], ">i2"), np.float32([1.5]),
    ):  # fmt: skip
        back = same([array])[0]
        assert type(back) is np.ndarray
        assert back.dtype == array.dtype
        assert back.shape == array.shape
        assert (back == array).all()
    for scalar in (np.int64(5), np.float32(0.5), np.bool_(True), np.str_("x"), np.datetime64("2020"), np.complex64(1)):
        assert same(scalar) == scalar
        assert type(same(scalar)) is type(scalar)
        assert sol.get("kind")(scalar) == type(scalar).__name__


def test_arrays_change_in_place(sol: Solution) -> None:
    np = pytest.importorskip("numpy")
    array = np.arange(3)
    sol.get("double")(array)
    assert array.tolist() == [0, 2, 4]
    assert sol.get("same")(array) is array
    assert sol.get("first")(array) == 0
    assert sol.get("np") is np


def test_other_kinds_of_arrays_are_objects_of_the_solution(sol: Solution) -> None:
    pytest.importorskip("numpy")
    masked = sol.get("special")()
    assert type(masked).__name__ == "MaskedArray"
    assert masked.sum() == 2


def test_series_and_frames(sol: Solution) -> None:
    pd = pytest.importorskip("pandas")
    same = sol.get("same")
    series = pd.Series([1.5, None], index=["a", "b"], name="s")
    pd.testing.assert_series_equal(same(series), series)
    frame = pd.DataFrame({"x": [1, 2], "y": ["a", None], "t": pd.to_datetime(["2020", "2021"])})
    pd.testing.assert_frame_equal(same(frame), frame)
    pd.testing.assert_frame_equal(sol.get("grow")(frame), frame.assign(z=[2, 4]))
    for index in (pd.RangeIndex(3, name="r"), pd.Index([3, 1]), pd.Index(["a"])):
        pd.testing.assert_index_equal(same(index), index)
    nullable = pd.Series([1, None], dtype="Int64")
    pd.testing.assert_series_equal(same(nullable), nullable)


def test_types_of_arrays(sol: Solution) -> None:
    np = pytest.importorskip("numpy")
    for name in ("int64", "float32", "bool", "U3", "datetime64[ns]", "object"):
        found = sol.get("type_of")(np.zeros(1, name))
        assert found == np.dtype(name)
        assert type(found) is type(np.dtype(name))
        assert sol.get("type_of")(np.zeros(1, name)) == name
    assert sol.get("class_of")(np.zeros(1, "f4")) is np.float32
    assert sol.get("same")(np.int16) is np.int16


def test_frames_with_any_common_index(sol: Solution) -> None:
    pd = pytest.importorskip("pandas")
    same = sol.get("same")
    days = pd.date_range("2020-01-01", periods=2)
    for index in (
        days, days.tz_localize("Europe/Paris"), days - days[0],
        pd.CategoricalIndex(["a", "b"], ["b", "a"], ordered=True),
        pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["s", None]), pd.RangeIndex(2), pd.Index(["a", None]),
    ):  # fmt: skip
        pd.testing.assert_index_equal(same(index), index)
        frame = pd.DataFrame({"x": [1, 2]}, index=index)
        pd.testing.assert_frame_equal(same(frame), frame)
    frame = pd.DataFrame({
        "zoned": pd.Series(days).dt.tz_localize("UTC"), "kind": pd.Categorical(["a", "a"], ["a", "b"]),
        "small": pd.Series([1, None], dtype="UInt8"), "length": days - days[0],
    })  # fmt: skip
    pd.testing.assert_frame_equal(same(frame), frame)


def test_moments(sol: Solution) -> None:
    pd = pytest.importorskip("pandas")
    same = sol.get("same")
    for value in (
        pd.Timestamp("2020-01-01 03:04:05.123456789"), pd.Timestamp("2020-07-01 12:00", tz="Europe/Paris"),
        pd.Timestamp("2020-01-01", tz="UTC"), pd.Timedelta("1 day 2 s"), pd.Timedelta(-1, "ns"),
    ):  # fmt: skip
        assert same(value) == value
        assert str(same(value)) == str(value)
        assert type(same(value)) is type(value)
    assert same(pd.NaT) is pd.NaT
    assert same(pd.NA) is pd.NA


def test_frames_change_in_place(sol: Solution) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1, 2]})
    assert sol.get("add_column")(frame) is frame
    assert frame.to_dict("list") == {"x": [1, 2], "z": [2, 4]}
    sol.get("drop_first")(frame)
    assert frame.to_dict("list") == {"x": [2], "z": [4]}
    named = pd.DataFrame({"x": [1]})
    sol.get("rename")(named)
    assert list(named.columns) == ["renamed"]
    assert named.index.name == "i"
    series = pd.Series([1, 2], name="before")
    sol.get("set_first")(series)
    assert series.tolist() == [9, 2]
    assert series.name == "set"
    objects = pd.DataFrame({"o": pd.Series([1, "a"], dtype=object)})
    sol.get("replace_item")(objects)
    assert objects["o"][0] is True
    untouched = pd.DataFrame({"x": [1.5, None], "y": ["a", None]})
    manager = untouched._mgr
    sol.get("leave")(untouched)
    assert untouched._mgr is manager


@pytest.mark.parametrize(
    "parts",
    [
        ("<i8", (2,), bytes(8)),
        ("<i8", (-1,), bytes(8)),
        ("<i8", (1 << 39, 1 << 39), bytes(8)),
        ("O", (1,), bytes(8)),
        ("|V8", (1,), bytes(8)),
        ("<i8,<i8", (1,), bytes(16)),
        ("|b1", (1,), b"\2"),
        ("<U1", (1,), b"\xff\xff\xff\xff"),
        ("<i8", (1,), "text"),
        ("<M8[nonsense]", (1,), bytes(8)),
        ("<i3", (1,), bytes(3)),
        (7, (1,), bytes(3)),
    ],
)
def test_arrays_that_are_none(parts: Any) -> None:
    pytest.importorskip("numpy")
    encoder = Encoder(Plain())
    for part in parts:
        encoder.put(part)
    data = b"w" + bytes([120]) + b"".join(encoder.out)
    with pytest.raises(ERRORS):
        Decoder(Plain(), data).read()


def test_objects_in_arrays_are_as_many_as_its_shape_says() -> None:
    pytest.importorskip("numpy")
    encoder = Encoder(Plain())
    encoder.put("|O")
    encoder.put((3,))
    data = b"w" + bytes([120]) + b"".join(encoder.out) + b"l" + struct.pack("<I", 1) + b"N"
    with pytest.raises(ERRORS):
        Decoder(Plain(), data).read()
