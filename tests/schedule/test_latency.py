"""Sketches of latencies: right within a tenth, bounded, kept, and of use from some runs on."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.cache import Store
from scalebox.schedule.latency import FACTOR, FLOOR_S, LEAST_RUNS, Latencies, Sketch

SECONDS = st.floats(1e-3, 600.0)


class Shelf(dict[bytes, bytes]):
    """One that is there for as long as the test."""

    def put(self, key: bytes, kind: str, data: bytes) -> None:
        assert kind == "latency"
        self[key] = data


@given(st.lists(SECONDS, min_size=1, max_size=200), st.floats(0.01, 1.0))
def test_a_quantile_is_right_within_a_tenth(times: list[float], share: float) -> None:
    sketch = Sketch()
    for seconds in times:
        sketch.add(seconds)
    exact = sorted(times)[math.ceil(share * len(times)) - 1]
    assert exact * 0.999 <= sketch.quantile(share) <= exact * 1.101
    assert Sketch.load(sketch.dump()).quantile(share) == sketch.quantile(share)


@given(st.lists(st.floats(0.0, 1e9), max_size=50))
def test_it_is_bounded_whatever_comes(times: list[float]) -> None:
    sketch = Sketch()
    for seconds in times * 100:
        sketch.add(seconds)
    assert len(sketch) <= 2000
    assert len(sketch.dump()) < 1200


@pytest.mark.parametrize("data", [None, b"", b"\xc1", b"rubbish", b"\x81\x01\xff", b"\x81\xcd\xff\xff\x01"])
def test_what_is_no_sketch_is_an_empty_one(data: bytes | None) -> None:
    assert len(Sketch.load(data)) == 0
    assert Sketch().quantile(0.9) == 0.0


def test_old_times_fade() -> None:
    sketch = Sketch()
    for seconds in [9.0] * 1000 + [1.0] * 40_000:
        sketch.add(seconds)
    assert sketch.quantile(0.99) < 1.2


def test_a_problem_counts_where_known_else_the_batch_and_there_is_a_floor() -> None:
    latencies = Latencies(None)
    latencies.learn("slow", "batch", [1.0] * (LEAST_RUNS - 1))
    assert latencies.soft_s("slow", "batch") == 0.0, "too few"
    latencies.learn("quick", "batch", [0.01] * LEAST_RUNS * 100)
    assert latencies.soft_s("new", "batch") == FLOOR_S
    assert latencies.soft_s("slow", "batch") == FLOOR_S, "that of the batch"
    latencies.learn("slow", "batch", [1.0] * LEAST_RUNS)
    assert latencies.soft_s("slow", "batch") == pytest.approx(FACTOR * 1.0, rel=0.1)
    latencies.end("batch", 1e6)
    assert latencies.soft_s("new", "batch") == 0.0, "the batch is forgotten"


def test_what_is_known_of_a_problem_outlasts_the_engine() -> None:
    shelf = Shelf()
    one = Latencies(shelf)
    one.learn("p", "batch", [1.0] * LEAST_RUNS)
    one.flush()
    assert Latencies(shelf).soft_s("p", "other") == one.soft_s("p", "batch") > FLOOR_S


@pytest.mark.parametrize("name", ["", "p", "p" * 64, "p" * 65, "\U0001f4a5" * 512, "\ud800", "a\0b"])
def test_a_problem_may_have_any_name(tmp_path: Path, name: str) -> None:
    """The engine ends where what it has learnt cannot be written."""
    with contextlib.closing(Store(str(tmp_path / "latencies"), 1 << 20)) as store:
        one = Latencies(store)
        one.learn(name, "batch", [1.0] * LEAST_RUNS)
        one.end("batch", 1e6)
        assert Latencies(store).soft_s(name, "other") == one.soft_s(name, "batch") > FLOOR_S


def test_problems_without_end_are_not_kept_in_memory() -> None:
    shelf = Shelf()
    latencies = Latencies(shelf)
    for number in range(5000):
        latencies.learn(f"p{number}", "batch", [0.1])
    assert len(latencies._problems) <= 4096
    assert b"p0" in shelf
