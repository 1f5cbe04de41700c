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
