"""Two processes that run at the same time under one watch, each made by a compile process of its own."""

from __future__ import annotations

import functools
import os
import select
from collections.abc import Sequence
from typing import Any

from scalebox.sandbox.batch import MOST_DENIALS, PATIENCE, read_records, recorded
from scalebox.sandbox.channel import HungUp
from scalebox.sandbox.compiled import Compiled
from scalebox.sandbox.outcome import Cause, Outcome
from scalebox.sandbox.pipes import OutputPipe
from scalebox.sandbox.supervision import Supervision


class Side:
    """One of the two processes: its compile process, what it writes for the supervisor, and what it was refused."""

    def __init__(self, compiled: Compiled, outputs: list[OutputPipe]) -> None:
        self.compiled = compiled
        self.outputs = outputs
        self.denied: list[str] = []
        #: Whether it is over; and whether it then left nothing behind.
        self.over = self.ended = False
        #: Whether further copies were not run because of what an earlier one had left.
        self.broken = False
        self._copies = 1
        #: The ends of `outputs` that are for the process, until it has them.
        self.child_ends = [pipe.child_end for pipe in outputs]
        self._records = os.dup(compiled.records)  # the jail, and its own with it, may be gone before this is read

    def start(self, order: dict[str, Any], fds: Sequence[int], copies: int = 1) -> None:
        """Have it run what `order` says on `fds`; its own ends of `outputs` are closed here. Raises HungUp.

        Copies run one after another, each on its part of `fds`.
        """
        self._copies = copies
        os.ftruncate(self._records, 0)
        os.lseek(self._records, 0, os.SEEK_SET)
        try:
            self.compiled.channel.send({"cases": [order], "copies": copies}, fds)
        finally:
            self._hand_over()

    def _hand_over(self) -> None:
        while self.child_ends:
            os.close(self.child_ends.pop())

    def answer(self) -> None:
        """Answer what its filter asks, which a poll has found there; note what is refused."""
        listener = self.compiled.listener
        refused = listener.answer() if listener is not None else None
        if refused is not None and len(self.denied) < MOST_DENIALS and refused not in self.denied:
            self.denied.append(refused)

    def receive_end(self) -> Cause:
        """Take the word of its compile process that it is over."""
        try:
            body, fds = self.compiled.channel.receive(PATIENCE, ready=True)
        except (HungUp, TimeoutError):
            return "lost"
        for fd in fds:
            os.close(fd)
        self.over, self.ended, self.broken = True, body == b"E\0", body == b"E\2"
        return "exited" if body[:1] == b"E" else "lost"

    def outcome(self) -> Outcome:
        """Return what its record says, `lost` where there is none; `outputs` hold then all that it wrote there."""
        for pipe in self.outputs:
            pipe.drain(ended=True)
        found = read_records(self._records, self._copies)
        outcome = recorded(*found[-1]) if found else Outcome(cause="lost")
        outcome.denied = self.denied
        return outcome

    def close(self) -> None:
        """Let go of all descriptors."""
        self._hand_over()
        os.close(self._records)
        for pipe in self.outputs:
            pipe.close()


class Sides(Supervision):
    """A run of two sides under way."""

    def _hear_side(self, side: Side) -> None:
        self._hear(side.compiled.channel.fileno(), functools.partial(self._handle_end, side))
        if side.compiled.listener is not None:
            self._hear(side.compiled.listener.fileno(), functools.partial(self._handle_question, side))

    def _handle_question(self, side: Side, event: int) -> None:
        if event & select.POLLIN:
            side.answer()
        elif side.compiled.listener is not None:  # all who could ask are gone
            self._forget(side.compiled.listener.fileno())

    def _handle_end(self, side: Side, _: int) -> Cause | None:
        self._forget(side.compiled.channel.fileno())
        return self._on_end(side, side.receive_end())

    def _on_end(self, side: Side, cause: Cause) -> Cause | None:
        """Return how the run ends with that of one side, if it does."""
        raise NotImplementedError
