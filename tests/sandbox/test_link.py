"""What carries one side's words to the other: all of them, in order, bounded, and without waiting for anybody."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.sandbox.link import Link

CAP = 1 << 20


@contextlib.contextmanager
def link(cap: int = CAP) -> Iterator[tuple[Link, int, int]]:
    """Return a link, the writer's end and the reader's, neither of which ever blocks."""
    made = Link(cap)
    writer, reader = os.dup(made.writer_end), os.dup(made.reader_end)
    made.hand_over()
    for fd in (writer, reader):
        os.set_blocking(fd, False)
    try:
        yield made, writer, reader
    finally:
        made.close()
        for fd in (writer, reader):
            with contextlib.suppress(OSError):
                os.close(fd)


def read(fd: int, size: int = 1 << 20) -> bytes | None:
    """Return what is there, b"" at the end, None where there is nothing yet."""
    try:
        return os.read(fd, size)
    except BlockingIOError:
        return None


@given(pieces=st.lists(st.tuples(st.integers(1, 70_000), st.integers(0, 100_000)), max_size=8))
def test_all_arrives_in_order_however_it_is_written_and_read(pieces: list[tuple[int, int]]) -> None:
    sent = got = b""
    with link() as (made, writer, reader):
        for number, (size, wanted) in enumerate(pieces):
            with contextlib.suppress(BlockingIOError):
                data = bytes([number]) * size
                sent += data[: os.write(writer, data)]
            made.push() if made.full else made.take()
            got += read(reader, wanted) or b"" if wanted else b""
            assert made.unread() <= (1 << 16) * 2
        os.close(writer)
        made.release()
        while (found := read(reader)) != b"":
            got += found or b""
            made.push() if made.full else made.take()
    assert got == sent
    assert made.size == len(sent)


def test_the_end_is_seen_only_once_it_is_released() -> None:
    with link() as (made, writer, reader):
        os.write(writer, b"last")
        os.close(writer)
        assert (made.take(), made.take()) == (b"last", b"")
        assert made.held
        assert (read(reader), read(reader)) == (b"last", None)
        made.release()
        assert read(reader) == b""


def test_what_was_left_by_a_writer_that_is_no_more_is_all_though_another_holds_its_end() -> None:
    with link() as (made, writer, reader):
        os.write(writer, b"last")
        made.finish()
        assert made.finishing
        assert (made.take(), made.take()) == (b"last", b"")
        assert not made.finishing
        assert (read(reader), read(reader)) == (b"last", b"")


@pytest.mark.parametrize("before", [False, True])
def test_a_writer_whose_reader_has_gone_notices_nothing(before: bool) -> None:
    with link() as (made, writer, reader):
        os.close(reader)
        if before:
            made.drop()
        for _ in range(10):
            os.write(writer, b"x" * 10_000)
            assert made.take()
        assert (made.full, made.unread()) == (False, 0)


def test_beyond_its_cap_nothing_is_carried() -> None:
    with link(10) as (made, writer, reader):
        os.write(writer, b"x" * 10)
        made.take()
        assert (made.over, read(reader)) == (False, b"x" * 10)
        os.write(writer, b"x")
        made.take()
        assert (made.over, read(reader)) == (True, None)


def test_a_reader_that_does_not_read_stops_the_writer() -> None:
    with link() as (made, writer, _):
        for _ in range(10):
            with contextlib.suppress(BlockingIOError):
                os.write(writer, b"x" * 65536)
            if not made.full:
                made.take()
        assert made.full
        assert made.size <= 1 << 18
