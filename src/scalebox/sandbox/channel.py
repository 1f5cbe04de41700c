"""Messages between the supervisor and the processes of a jail, with descriptors.

Into the jail messages are marshalled; out of it they are bytes, bounded here and decoded by the receiver.
"""

from __future__ import annotations

import array
import marshal
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

_HEAD = struct.Struct("<I")
_MOST = 1 << 16
_USUAL = 1 << 12
_MAX_FDS = 4


class HungUp(Exception):
    """The other end is gone, or sent what no agent sends."""


class Channel:
    """The supervisor's end of one line into a jail."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._fd = sock.fileno()
        self._space = socket.CMSG_SPACE(_MAX_FDS * 4)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        self._sock.close()

    def send(self, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
        """Send a message; raises HungUp if nobody is there to take it."""
        body = marshal.dumps(message, 2)
        data = _HEAD.pack(len(body)) + body
        try:
            if fds:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
                data = data[self._sock.sendmsg([data], rights) :]
            if data:
                self._sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise HungUp("it ended") from None

    def receive(self, seconds: float, *, ready: bool = False) -> tuple[bytes, list[int]]:
        """Return the next message and its descriptors; raises TimeoutError or HungUp.

        `ready` says that a poll has just found it there.
        """
        deadline = time.monotonic() + seconds
        if not ready:
            self._wait(deadline)
        fds: list[int] = []
        try:
            data, ancillary, _, _ = self._sock.recvmsg(_USUAL, self._space, socket.MSG_CMSG_CLOEXEC)
            for level, kind, payload in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    numbers = array.array("i", payload[: len(payload) - len(payload) % 4])
                    fds.extend(numbers)
            return self._rest(data, deadline), fds
        except BaseException as error:
            for fd in fds:
                os.close(fd)
            if isinstance(error, OSError) and not isinstance(error, TimeoutError):
                raise HungUp(str(error)) from None
            raise

    def _rest(self, data: bytes, deadline: float) -> bytes:
        while True:
            if len(data) >= 4:
                size = _HEAD.unpack_from(data)[0]
                if size > _MOST:
                    raise HungUp("a message too large to be an agent's")
                if len(data) == 4 + size:
                    return data[4:]
                if len(data) > 4 + size:
                    raise HungUp("more than one message")
            if data:
                self._wait(deadline)
            part = self._sock.recv(_MOST) if data else b""
            if not part:
                raise HungUp("it ended")
            data += part

    def _wait(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        readable, _, _ = select.select([self._fd], [], [], max(0.0, left))
        if not readable:
            raise TimeoutError("no answer in time")
