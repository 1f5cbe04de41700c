"""The supervisor's ends of a case's pipes: feeding, draining, and the cap on output."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct

from scalebox.sandbox.outcome import Frame

CHUNK = 1 << 16
_LARGE_PIPE = 1 << 20
#: A program may open /dev/stdin or /dev/stdout, and runs as another user than the supervisor, who owns the pipe.
MODE = 0o666
_FRAME = struct.Struct("<IIBff")


class OutputPipe:
    """Collects what a program writes, up to `cap` bytes; beyond that `over` is true and the rest is not kept."""

    __slots__ = ("_parts", "cap", "child_end", "ended", "fd", "over", "size")

    def __init__(self, cap: int) -> None:
        self.fd, self.child_end = self._ends()
        os.fchmod(self.fd, MODE)
        os.set_blocking(self.fd, False)
        self.cap = cap
        self.size = 0
        self.over = False
        self.ended = False
        self._parts: list[bytes] = []

    def _ends(self) -> tuple[int, int]:
        return os.pipe2(os.O_CLOEXEC)

    def drain(self, *, ended: bool = False) -> bool:
        """Read what is there; return False once the other end is closed or the cap is passed.

        `ended` says that no writer is left, so that a short read is the last.
        """
        while not self.over:
            try:
                part = os.read(self.fd, CHUNK)
            except BlockingIOError:
                return True
            except ConnectionResetError:  # a socket whose other end was closed unread
                part = b""
            if not part:
                self.ended = True
                return False
            self._parts.append(part)
            self.size += len(part)
            self.over = self.size > self.cap
            if ended and len(part) < CHUNK:
                break
        return False

    def data(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def close(self) -> None:
        os.close(self.fd)


class EchoLine(OutputPipe):
    """A socket on which `token` waits to be read, and which collects what is written back, `cap` bytes at most."""

    __slots__ = ()

    def __init__(self, token: bytes, cap: int) -> None:
        super().__init__(cap)
        os.write(self.fd, token)

    def _ends(self) -> tuple[int, int]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return ours.detach(), theirs.detach()


class InputPipe:
    """Feeds `data` to a program's standard input, as far as the program takes it."""

    __slots__ = ("_view", "child_end", "fd")

    def __init__(self, data: bytes) -> None:
        self.child_end, self.fd = os.pipe2(os.O_CLOEXEC)
        os.fchmod(self.fd, MODE)
        os.set_blocking(self.fd, False)
        self._view = memoryview(data)
        if len(data) > 65536:
            with contextlib.suppress(OSError):  # a smaller pipe is only slower
                fcntl.fcntl(self.fd, fcntl.F_SETPIPE_SZ, _LARGE_PIPE)
        self.feed()

    def feed(self) -> bool:
        """Write what fits; return False, with the pipe closed, once nothing is left or nobody reads."""
        try:
            while self._view:
                self._view = self._view[os.write(self.fd, self._view[:CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            pass
        self.close()
        return False

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def parse_frames(data: bytes) -> tuple[list[Frame], bool]:
    """Return the whole frames in `data`, and whether anything else was there."""
    frames: list[Frame] = []
    at, end = 0, len(data)
    while end - at >= _FRAME.size:
        size, index, status, cpu, wall = _FRAME.unpack_from(data, at)
        body = at + _FRAME.size
        at += 4 + size
        if size < _FRAME.size - 4 or at > end:
            return frames, True
        frames.append(Frame(index, status, data[body:at], _seconds(cpu), _seconds(wall)))
    return frames, at != end


def _seconds(told: float) -> float:
    """Return a time that the program tells of itself, and 0 for one that no clock shows (nan, inf, negative)."""
    return told if 0.0 <= told < 1e9 else 0.0
