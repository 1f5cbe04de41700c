"""The heads of requests: whoever has no token can neither fill the memory nor keep the connections."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterator

import httpx
import pytest
from tests.server.conftest import Server

from scalebox.server import heads

ASK = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@contextlib.contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    address = httpx.URL(server.url)
    with socket.create_connection((address.host, address.port or 80), timeout=60) as raw:
        yield raw


@pytest.mark.parametrize("piece", [b"X-More: " + b"a" * 1000 + b"\r\n", b"a" * 1000])
@pytest.mark.parametrize("begin", [ASK, ASK + b"X-One: ", b"GET /"])
def test_a_head_without_end_is_refused(server: Server, begin: bytes, piece: bytes) -> None:
    sent = 0
    with connected(server) as raw:
        raw.sendall(begin)
        with contextlib.suppress(ConnectionError):
            while sent < 100 * heads.MOST_HEAD:
                raw.sendall(piece)
                sent += len(piece)
        with contextlib.suppress(ConnectionError):
            assert raw.recv(12) in (b"HTTP/1.1 400", b"")
    assert sent < 100 * heads.MOST_HEAD, "more was taken"


@pytest.mark.parametrize("begin", [b"", b"GET", ASK])
def test_a_head_that_does_not_come_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch, begin: bytes) -> None:
    monkeypatch.setattr(heads, "HEAD_S", 0.05)
    with connected(server) as raw:
        raw.sendall(begin)
        assert raw.recv(1) == b""


def test_long_bodies_and_many_requests_are_no_long_heads(server: Server) -> None:
    body = b" " * (5 * heads.MOST_HEAD) + b'{"samples": []}'
    post = b"POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with connected(server) as raw, raw.makefile("rb") as answers:
        for _ in range(3):
            raw.sendall(post + 2 * (ASK + b"\r\n"))
            found: list[bytes] = []
            while len(found) < 3:
                line = answers.readline()  # a body ends without a newline
                found += re.findall(rb"HTTP/1\.1 (\d+)", line)
                assert line, found
            while len(answers.readline()) > 2:
                """Pass over the last one's headers."""
            assert found == [b"202", b"200", b"200"]
