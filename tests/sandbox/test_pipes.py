"""The supervisor's ends of a case's pipes, whatever the other end does."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.sandbox.outcome import Frame
from scalebox.sandbox.pipes import InputPipe, OutputPipe, parse_frames

_FRAME = struct.Struct("<IIBff")


def frame(index: int, status: int, data: bytes, cpu: float = 0.0, wall: float = 0.0) -> bytes:
    return _FRAME.pack(len(data) + _FRAME.size - 4, index, status, cpu, wall) + data


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


# -- output --------------------------------------------------------------------------------------------------------


@pytest.fixture
def output() -> Iterator[OutputPipe]:
    pipe = OutputPipe(10)
    yield pipe
    pipe.close()


def test_output_up_to_the_cap_is_kept(output: OutputPipe) -> None:
    os.write(output.child_end, b"01234")
    assert output.drain()
    os.write(output.child_end, b"56789")
    os.close(output.child_end)
    assert not output.drain()
    assert (output.data(), output.over) == (b"0123456789", False)


def test_output_beyond_the_cap_is_over(output: OutputPipe) -> None:
    os.write(output.child_end, b"0123456789a")
    assert not output.drain()
    assert output.over
    os.close(output.child_end)


def test_an_output_nobody_writes_to_does_not_block(output: OutputPipe) -> None:
    assert output.drain()
    assert output.data() == b""
    os.close(output.child_end)
    assert not output.drain()


def test_endless_output_is_not_collected_without_end() -> None:
    pipe = OutputPipe(1000)
    os.set_blocking(pipe.child_end, False)
    written = 0
    while not pipe.over:
        written += os.write(pipe.child_end, bytes(65536))
        pipe.drain()
    pipe.drain()
    assert len(pipe.data()) <= 65536
    os.close(pipe.child_end)
    pipe.close()


# -- input ---------------------------------------------------------------------------------------------------------


def read_all(pipe: InputPipe) -> bytes:
    data = b""
    while part := os.read(pipe.child_end, 1 << 16):
        data += part
        if pipe.fd >= 0:
            pipe.feed()
    os.close(pipe.child_end)
    return data


@pytest.mark.parametrize("size", [0, 1, 65536, 65537, 3_000_000])
def test_input_of_any_size_arrives_whole_and_ends(size: int) -> None:
    data = os.urandom(size)
    pipe = InputPipe(data)
    assert read_all(pipe) == data
    assert pipe.fd == -1
    pipe.close()


def test_input_that_nobody_reads_is_given_up() -> None:
    before = open_descriptors()
    pipe = InputPipe(bytes(10_000_000))
    assert pipe.fd >= 0
    os.close(pipe.child_end)
    assert not pipe.feed()
    assert pipe.fd == -1
    assert open_descriptors() == before


def test_feeding_a_full_pipe_does_not_block() -> None:
    pipe = InputPipe(bytes(10_000_000))
    assert pipe.feed()
    assert pipe.feed()
    os.close(pipe.child_end)
    pipe.close()
    pipe.close()


# -- frames --------------------------------------------------------------------------------------------------------

_SECONDS = st.floats(0, 1e6, width=32)
_FRAMES = st.lists(
    st.builds(
        Frame, st.integers(0, (1 << 32) - 1), st.integers(0, 255), st.binary(max_size=50), _SECONDS, _SECONDS
    )
)  # fmt: skip


@given(_FRAMES)
def test_frames_come_back_as_they_were(frames: list[Frame]) -> None:
    data = b"".join(frame(item.index, item.status, item.data, item.cpu_s, item.wall_s) for item in frames)
    assert parse_frames(data) == (frames, False)


@given(_FRAMES, st.binary(min_size=1, max_size=16))
def test_a_rest_too_short_for_a_frame_is_broken(frames: list[Frame], rest: bytes) -> None:
    data = b"".join(frame(item.index, item.status, item.data, item.cpu_s, item.wall_s) for item in frames)
    assert parse_frames(data + rest) == (frames, True)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_frames_or_broken(data: bytes) -> None:
    frames, broken = parse_frames(data)
    used = sum(_FRAME.size + len(item.data) for item in frames)
    assert broken == (used != len(data))


@given(st.integers(0, (1 << 32) - 1), st.binary(max_size=60))
def test_a_length_that_lies_is_broken(size: int, body: bytes) -> None:
    data = struct.pack("<I", size) + bytes(_FRAME.size - 4) + body
    frames, broken = parse_frames(data)
    honest = size == len(data) - 4
    assert broken == (not honest) or bool(frames)
    assert sum(len(item.data) for item in frames) <= len(body)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, -1.0, 1e30])
def test_times_that_no_clock_shows_count_as_none(odd: float) -> None:
    frames, broken = parse_frames(frame(0, 0, b"N", odd, odd))
    assert not broken
    assert (frames[0].cpu_s, frames[0].wall_s) == (0.0, 0.0)
