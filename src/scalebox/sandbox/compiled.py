"""The supervisor's line to one compile process: its answers, what its filter asks, and the records of its cases."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence
from typing import Any

from scalebox.core.limits import Limits
from scalebox.sandbox.channel import Channel
from scalebox.sandbox.linux.notifications import Notifications


class Compiled:
    """One compile process, reached over `channel`; `records` is the file that it writes a record of each case to."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.listener: Notifications | None = None
        self.records = os.memfd_create("records", os.MFD_CLOEXEC)
        os.fchmod(self.records, 0)  # nobody opens it anew, whose descriptor he may see

    def close(self) -> None:
        """Let go of the process, which ends with that."""
        if self.listener is not None:
            self.listener.close()
            self.listener = None
        self.channel.close()
        if self.records >= 0:
            os.close(self.records)
            self.records = -1

    def await_answer(self, limits: Limits, seconds: float, *, signal_others: bool) -> bytes:
        """Return what it says of its build, answering what its filter asks; raises as `Channel.receive`.

        Where that was no answer in time, it may be asked to be awaited longer.
        """
        deadline = time.monotonic() + seconds
        if self.listener is not None:
            return self._listen(deadline)
        body, fds = self.channel.receive(seconds)
        if not fds:
            return body
        for fd in fds[1:]:
            os.close(fd)
        self.listener = Notifications(fds[0], processes=limits.processes > 0, signal_others=signal_others)
        return self._listen(deadline)

    def ask(self, request: dict[str, Any], fds: Sequence[int], seconds: float) -> bytes:
        """Return its answer to a request; raises as `Channel.receive`."""
        self.channel.send({"request": request}, fds)
        return self._listen(time.monotonic() + seconds)

    def _listen(self, deadline: float) -> bytes:
        """Return the next message, answering what the filter asks meanwhile."""
        if self.listener is None:
            return self._receive(deadline)
        poll = select.poll()
        poll.register(self.channel.fileno(), select.POLLIN)
        poll.register(self.listener.fileno(), select.POLLIN)
        while True:
            events = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
            if self.channel.fileno() in events:
                return self._receive(deadline, ready=True)
            if not events:
                raise TimeoutError("no answer in time")
            if events[self.listener.fileno()] & select.POLLIN:
                self.listener.answer()

    def _receive(self, deadline: float, *, ready: bool = False) -> bytes:
        """Return the next message; descriptors that come with it are nothing that was asked for."""
        body, fds = self.channel.receive(deadline - time.monotonic(), ready=ready)
        for fd in fds:
            os.close(fd)
        return body
