"""The supervisor's line into a jail: whatever the other end sends, the outcome is a message, HungUp or TimeoutError."""

from __future__ import annotations

import array
import os
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.sandbox.agent import program
from scalebox.sandbox.channel import Channel, HungUp

_MOST = 1 << 16
_SOON = 0.05


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def message(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


class Line:
    """A channel and the jail's end of it."""

    def __init__(self) -> None:
        ours, self.jail = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.channel = Channel(ours)

    def close(self) -> None:
        self.channel.close()
        self.jail.close()

    def send_fds(self, data: bytes, fds: list[int]) -> None:
        self.jail.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.close()


@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_bytes_are_a_message_or_an_end(data: bytes, closed: bool) -> None:
    line = Line()
    before = open_descriptors()
    try:
        if data:
            line.jail.sendall(data)
        if closed:
            line.jail.shutdown(socket.SHUT_WR)
        body, fds = line.channel.receive(0.0 if not closed else 5.0)
        assert message(body) == data
        assert fds == []
    except HungUp:
        assert closed or len(data) >= 4
    except TimeoutError:
        assert not closed
    finally:
        assert open_descriptors() == before
        line.close()


@pytest.mark.parametrize("size", [0, 1, 1000, _MOST - 4, _MOST])
def test_a_message_arrives_whole(line: Line, size: int) -> None:
    body = os.urandom(size)
    line.jail.sendall(message(body))
    assert line.channel.receive(5.0) == (body, [])


def test_a_message_in_pieces_arrives_whole(line: Line) -> None:
    body = bytes(range(256)) * 100
    data = message(body)
    line.jail.sendall(data[:2])

    def send_the_rest() -> None:
        for at in range(2, len(data), 999):
            line.jail.sendall(data[at : at + 999])

    later = threading.Thread(target=send_the_rest)
    later.start()
    assert line.channel.receive(30.0) == (body, [])
    later.join()


@pytest.mark.parametrize("data", [b"", b"\x01", b"\xff\x00\x00\x00", message(bytes(100))[:-1]])
def test_a_message_that_never_ends_times_out(line: Line, data: bytes) -> None:
    if data:
        line.jail.sendall(data)
    with pytest.raises(TimeoutError):
        line.channel.receive(_SOON)


@pytest.mark.parametrize(
    "data", [struct.pack("<I", _MOST + 1), b"\xff" * 4, message(b"a") + b"b", message(b"") * 2, message(b"a") * 1000]
)
def test_what_no_agent_sends_is_a_hang_up(line: Line, data: bytes) -> None:
    line.jail.sendall(data)
    with pytest.raises(HungUp):
        line.channel.receive(5.0)


def test_an_endless_stream_is_a_hang_up(line: Line) -> None:
    line.jail.setblocking(False)
    try:
        while True:
            line.jail.send(bytes([255]) * 65536)
    except BlockingIOError:
        pass
    with pytest.raises(HungUp):
        line.channel.receive(5.0)


@pytest.mark.parametrize("data", [message(b"")[:3], b"\xff" * 4, message(b"a") + b"b"])
def test_descriptors_that_come_with_rubbish_are_closed(line: Line, data: bytes) -> None:
    before = open_descriptors()
    line.send_fds(data, [line.jail.fileno()] * 3)
    with pytest.raises((HungUp, TimeoutError)):
        line.channel.receive(_SOON)
    assert open_descriptors() == before


def test_more_descriptors_than_an_agent_sends_do_not_pile_up(line: Line) -> None:
    before = open_descriptors()
    line.send_fds(message(b"x"), [line.jail.fileno()] * 200)
    _, fds = line.channel.receive(5.0)
    assert len(fds) <= 4
    for fd in fds:
        os.close(fd)
    assert open_descriptors() == before


def test_a_descriptor_that_comes_with_a_message_is_handed_over_closed_on_exec(line: Line) -> None:
    reader, writer = os.pipe()
    line.send_fds(message(b"x"), [writer])
    os.close(writer)
    body, (fd,) = line.channel.receive(5.0)
    assert body == b"x"
    assert not os.get_inheritable(fd)
    os.write(fd, b"through")
    assert os.read(reader, 99) == b"through"
    os.close(fd)
    os.close(reader)


def test_sending_to_nobody_is_a_hang_up(line: Line) -> None:
    line.jail.close()
    with pytest.raises(HungUp):
        line.channel.send({"op": "clean"})
    with pytest.raises(HungUp):
        line.channel.send({"op": "open"}, [line.channel.fileno()])


def test_an_end_that_dies_while_a_large_message_is_sent_is_a_hang_up(line: Line) -> None:
    def die_after_the_first_bytes() -> None:
        line.jail.recv(1000)
        line.jail.close()

    dying = threading.Thread(target=die_after_the_first_bytes)
    dying.start()
    with pytest.raises(HungUp):
        line.channel.send({"source": bytes(50_000_000)})
    dying.join()


def test_the_agent_reads_what_is_sent(line: Line) -> None:
    agent: Any = program.Channel(line.jail)
    order = {"source": bytes(100_000), "limits": {"a": 1.5}, "calls": [(0, "f", b"x")], "name": "\udcff"}
    reader, writer = os.pipe()
    sender = threading.Thread(target=line.channel.send, args=(order, [writer]))
    sender.start()
    found, fds = agent.receive()
    sender.join()
    assert found == order
    os.write(fds[0], b"x")
    assert os.read(reader, 1) == b"x"
    agent.send(b"answer", fds[0])
    body, (fd,) = line.channel.receive(5.0)
    assert body == b"answer"
    for number in (reader, writer, fds[0], fd):
        os.close(number)
    line.channel.close()
    assert agent.receive() == (None, [])
