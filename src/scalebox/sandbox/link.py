"""One direction of a conversation between two processes: the supervisor carries what one writes to the other."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios

from scalebox.sandbox.pipes import CHUNK, MODE


class Link:
    """Two pipes and what is on its way between them, 64 KiB at most: a writer that runs ahead waits.

    What is written for a reader that has gone is taken and thrown away, so that no writer dies of SIGPIPE for being
    the slower of the two. `size` counts what was written; more than `cap` bytes is `over`, and carried no further.
    """

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.size = 0
        #: Whether the last `take` is to be followed by nothing but the next, once there is something.
        self.plain = True
        #: Whether the writer has closed its end, and no more can come. The reader sees that once it is released.
        self.ended = False
        self._rest: memoryview = memoryview(b"")
        self._last = self._released = False
        self.source, self.writer_end = os.pipe2(os.O_CLOEXEC)
        self.reader_end, self.sink = os.pipe2(os.O_CLOEXEC)
        for fd in (self.source, self.sink):
            os.fchmod(fd, MODE)
            os.set_blocking(fd, False)

    def hand_over(self) -> None:
        """Close the two ends that are for the processes, once they have them."""
        for fd in (self.writer_end, self.reader_end):
            if fd >= 0:
                os.close(fd)
        self.writer_end = self.reader_end = -1

    @property
    def over(self) -> bool:
        """Whether more was written than may be."""
        return self.size > self.cap

    @property
    def finishing(self) -> bool:
        """Whether the writer is no more, and what it wrote is not all taken yet."""
        return self._last and not self.ended

    @property
    def held(self) -> bool:
        """Whether the writer has closed its end, which the reader is not to see yet."""
        return self.ended and not self._released

    @property
    def full(self) -> bool:
        """Whether nothing more is taken before the reader has read."""
        return bool(self._rest)

    def take(self) -> bytes:
        """Carry what the writer has written since, as far as the reader has room; return it, b"" for nothing."""
        try:
            data = os.read(self.source, CHUNK)
        except BlockingIOError:
            data, self.ended = b"", self._last
        else:
            self.ended = not data
        if not data:
            self._pass_end()
        self.size += len(data)
        if data and self.sink >= 0 and not self.over:
            self._rest = memoryview(data)
            self.push()
        self.plain = not (self._rest or self.ended or self._last or self.size > self.cap)
        return data

    def push(self) -> None:
        """Give the reader what is left, as far as there is room."""
        try:
            self._rest = self._rest[os.write(self.sink, self._rest) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.drop()
        if self.ended:
            self._pass_end()

    def finish(self) -> None:
        """The writer is no more: what is in the pipe is the last that comes, whoever else may hold its end."""
        self._last = True
        self.release()

    def release(self) -> None:
        """Let the reader see the end of what is written, once it has all of that."""
        self._released = True
        self._pass_end()

    def drop(self) -> None:
        """The reader is no more, or has closed its end: throw away what comes."""
        self._rest = memoryview(b"")
        self._close_sink()

    def unread(self) -> int:
        """Return how many bytes the reader has been sent and has not read."""
        if self.sink < 0:
            return 0
        answer = fcntl.ioctl(self.sink, termios.FIONREAD, bytes(4))
        return int(struct.unpack("=i", answer)[0]) + len(self._rest)

    def _pass_end(self) -> None:
        if self.ended and self._released and not self._rest:
            self._close_sink()

    def _close_sink(self) -> None:
        if self.sink >= 0:
            os.close(self.sink)
        self.sink = -1

    def close(self) -> None:
        """Let go of all descriptors; safe to call more than once."""
        self.hand_over()
        self._close_sink()
        if self.source >= 0:
            with contextlib.suppress(OSError):
                os.close(self.source)
        self.source = -1
