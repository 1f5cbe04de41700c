"""The watch that a supervisor keeps while programs run: their clock, their pipes, and whoever wants to be heard."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import Protocol

from scalebox.core.limits import Limits
from scalebox.sandbox.outcome import Cause
from scalebox.sandbox.pace import Clock, Pace
from scalebox.sandbox.pipes import InputPipe, OutputPipe

_FIRST_LOOK_S, _LAST_LOOK_S = 0.01, 0.08
_READ_MORE = 1 << 16


class Cancelled(Exception):
    """The engine no longer wants the sample in hand."""


class Watch(Protocol):
    """The engine's line, looked at while a program runs."""

    def fileno(self) -> int: ...
    def cancelled(self) -> bool: ...


class Supervision:
    """What is common to runs under watch: sleeping until something is to be done, and doing that.

    A handler takes the poll events of its descriptor and returns how the run ended, if it did.
    """

    def __init__(self, watch: Watch | None, limits: Limits, pace: Pace = Pace()) -> None:  # noqa: B008 - immutable
        self.limits = limits
        self.clock = Clock(limits, pace)
        self._watch = watch
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[int], Cause | None]] = {}
        self._busy: set[int] = set()
        if watch is not None:
            self._hear(watch.fileno(), self._ask_watch)

    def _hear(self, fd: int, handler: Callable[[int], Cause | None], events: int = select.POLLIN) -> None:
        self._handlers[fd] = handler
        self._poll.register(fd, events)

    def _forget(self, fd: int) -> None:
        self._poll.unregister(fd)
        del self._handlers[fd]

    def _ask_watch(self, _: int) -> Cause | None:
        if self._watch is not None and self._watch.cancelled():
            raise Cancelled
        return None

    def _wait(self, limit_look_s: float) -> Cause:
        """Serve the handlers until one says how the run ended, or a limit is passed, first looked at after so long."""
        now = time.monotonic()
        limit_look = now + limit_look_s
        pause = _FIRST_LOOK_S
        pipe_look = now + pause
        while True:
            for fd, event in self._poll.poll(max(0.0, min(limit_look, pipe_look) - now) * 1000 + 0.5):
                handler = self._handlers.get(fd)  # another one of this round may have put an end to it
                cause = handler(event) if handler is not None else None
                if cause is not None:
                    return cause
            now = time.monotonic()
            if now >= limit_look:
                cause, rest = self._check_limits()
                if cause is not None:
                    return cause
                limit_look = now + rest
            if now >= pipe_look:
                if self._look_at_pipes():
                    return "output"
                pause = min(2 * pause, _LAST_LOOK_S)
                pipe_look = now + pause

    def _check_limits(self) -> tuple[Cause | None, float]:
        """Return which limit the running case has passed, or how long it cannot pass any."""
        raise NotImplementedError

    # -- pipes ------------------------------------------------------------------------------------------------

    def _outputs(self) -> list[OutputPipe]:
        """Return the pipes of all that may write."""
        raise NotImplementedError

    def _too_much(self, pipe: OutputPipe) -> bool:
        """Return whether the run ends because of what was written into `pipe`."""
        return pipe.over

    def _look_at_pipes(self) -> bool:
        """Take what is in the pipes; attend to those that were full; say whether the run ends for too much output."""
        for pipe in self._outputs():
            if pipe.fd not in self._busy and not pipe.ended:
                before = pipe.size
                more = pipe.drain()
                if self._too_much(pipe):
                    return True
                if more and pipe.size - before >= _READ_MORE:
                    self._attend(pipe)
        return False

    def _attend(self, pipe: OutputPipe | InputPipe) -> None:
        """Serve a pipe as soon as it is ready, until its end."""
        fd, more = (pipe.fd, pipe.feed) if isinstance(pipe, InputPipe) else (pipe.fd, pipe.drain)

        def serve(_: int) -> Cause | None:
            if more():
                return None
            self._forget(fd)
            self._busy.discard(fd)
            return "output" if isinstance(pipe, OutputPipe) and self._too_much(pipe) else None

        self._busy.add(fd)
        self._hear(fd, serve, select.POLLOUT if isinstance(pipe, InputPipe) else select.POLLIN)
