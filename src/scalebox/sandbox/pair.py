"""A program and the tests that use it, in two processes of one jail, joined by a socket: one run under one watch.

The solution's process answers what the tests' process asks. The tests' process leaves frames of its cases in a file
that nobody reads meanwhile, and marks on a board, which the supervisor sees too, that a case has ended: so a limit is
kept for each case.
"""

from __future__ import annotations

import os
import select
import socket
import time
from typing import Any

import msgspec

from scalebox.core.limits import MIB, Limits
from scalebox.sandbox import usage
from scalebox.sandbox.channel import HungUp
from scalebox.sandbox.compiled import Compiled
from scalebox.sandbox.outcome import Cause, Outcome
from scalebox.sandbox.pace import Pace
from scalebox.sandbox.pipes import OutputPipe
from scalebox.sandbox.sides import Side, Sides
from scalebox.sandbox.supervision import Watch

#: All cases of one run together may take so many times the wall time of one.
RUN_WALLS = 12
#: Most bytes of frames that one run may report.
FRAME_BYTES = 16 * MIB
BOARD_BYTES = 4096
#: What changes on the board whenever a case ends: how many have, and when the last one did.
_MARKER_BYTES = 16
#: So many copies of the solution, one after another, one run may have at most.
MOST_COPIES = 17
#: After so long the running case is looked at for the first time, to know what it has had when it is next.
_FIRST_LOOK_S = 0.05
#: How long the solution's process may take to end, once the tests have hung up, before it is killed.
_GRACE_S = 0.2


class PairOutcome(msgspec.Struct, kw_only=True):
    """One run of tests against a solution. `cause` says how it ended; `cpu`, `wall`: at the limit of a case.

    `frames` and `board` are what the tests left; `cpu_s`, `wall_s`, `waited_s` are those of a case that was cut off,
    and `doubt` says why the run's end may be the fault of a busy machine. A case may have `allowed_cpu_s`.
    `solution` and `tests` are what became of the two processes; the solution's output is in the first. `broken`: a
    copy of it left something behind, so that no further one could be had.
    """

    cause: Cause
    frames: bytes
    board: bytes
    solution: Outcome
    tests: Outcome
    cpu_s: float = 0.0
    wall_s: float = 0.0
    waited_s: float = 0.0
    doubt: str = ""
    allowed_cpu_s: float = 0.0
    broken: bool = False


class Pair(Sides):
    """One run under way. `solution` and `tests` say what each process does, for the roles of the agent."""

    def __init__(
        self,
        solution: Compiled,
        tests: Compiled,
        *,
        watch: Watch | None,
        limits: Limits,
        pace: Pace,
        output_bytes: int,
        agent_pid: int,
    ) -> None:
        super().__init__(watch, limits, pace)
        self._solution = Side(solution, [OutputPipe(output_bytes), OutputPipe(output_bytes)])
        self._tests = Side(tests, [OutputPipe(output_bytes), OutputPipe(output_bytes)])
        self._agent_pid = agent_pid
        self._board = os.memfd_create("board", os.MFD_CLOEXEC)
        self._frames = os.memfd_create("frames", os.MFD_CLOEXEC)
        self._at = b""
        self._baseline = (0.0, 0.0, 0.0)
        self._spent = (0.0, 0.0, 0.0)
        #: Whether what ran left something behind that the agent must clear away.
        self.dirty = True

    def run(self, solution: dict[str, Any], tests: dict[str, Any], copies: int = 1) -> Cause:
        """Run both until the tests have ended, or must be stopped; return how it ended.

        With more than one of `copies` the tests get a line to each of them, behind their other descriptors: a copy
        starts when the one before it has ended.
        """
        os.ftruncate(self._board, BOARD_BYTES)
        lines = [socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(copies)]
        try:
            ours, theirs = [line[0].fileno() for line in lines], [line[1].fileno() for line in lines]
            ends = self._solution.child_ends
            self._solution.start(solution, [fd for end in theirs for fd in (*ends, end)], copies)
            self._tests.start(tests, [*self._tests.child_ends, ours[0], self._board, self._frames, *ours[1:]])
        except HungUp:
            return "lost"
        finally:
            for line in lines:
                for end in line:
                    end.close()
        cause = self._watch_over()
        if cause == "exited":
            self._await_solution()
        return cause

    def _watch_over(self) -> Cause:
        self._hear_side(self._solution)
        self._hear_side(self._tests)
        return self._wait(_FIRST_LOOK_S)

    def _on_end(self, side: Side, cause: Cause) -> Cause | None:
        return cause if side is self._tests or cause == "lost" else None

    def _await_solution(self) -> None:
        """Give the solution's process, whose line to the tests is cut, a moment to end by itself."""
        if not self._solution.ended:
            deadline = time.monotonic() + _GRACE_S
            poll = select.poll()
            channel = self._solution.compiled.channel
            poll.register(channel.fileno(), select.POLLIN)
            listener = self._solution.compiled.listener
            if listener is not None:
                poll.register(listener.fileno(), select.POLLIN)
            while not self._solution.ended and (left := deadline - time.monotonic()) > 0:
                for fd, event in poll.poll(left * 1000):
                    if fd == channel.fileno():
                        self._solution.receive_end()
                        deadline = 0.0
                    elif event & select.POLLIN:
                        self._solution.answer()
                    else:
                        poll.unregister(fd)
        self.dirty = not (self._solution.ended and self._tests.ended)

    # -- limits -----------------------------------------------------------------------------------------------

    def _check_limits(self) -> tuple[Cause | None, float]:
        """Compare what the running case has had.

        One that began since the last look is counted from this one: it gets more than its due by one interval at
        most, and what it really took is in its frame.
        """
        cpu, waited, age = usage.seconds_of(self._agent_pid)
        at = os.pread(self._board, _MARKER_BYTES, 0)
        if at != self._at:
            self._at, self._baseline = at, (cpu, age, waited)
            self.clock.slow()
        cpu, age, waited = (now - then for now, then in zip((cpu, age, waited), self._baseline, strict=True))
        self._spent = cpu, age, self.clock.others(cpu, waited, age)
        if self._baseline[1] + age > RUN_WALLS * self.limits.wall_s:
            return "wall", 0.0
        return self.clock.check(cpu, waited, age)

    def _outputs(self) -> list[OutputPipe]:
        return [*self._solution.outputs, *self._tests.outputs]

    # -- results ----------------------------------------------------------------------------------------------

    def outcome(self, cause: Cause, *, kills: int) -> PairOutcome:
        """Return what became of the run, once nothing of it is alive; `kills` by the kernel were for memory."""
        solution, tests = self._told(self._solution), self._told(self._tests)
        if kills:
            cause = "memory"
        elif cause == "exited" and any(pipe.over for pipe in self._outputs()):
            cause = "output"
        cpu, wall, waited = self._spent
        spent = Outcome(cause=cause, cpu_s=cpu, wall_s=wall, waited_s=waited)
        if cause == "exited":
            spent.cpu_s, spent.wall_s = solution.cpu_s + tests.cpu_s, max(solution.wall_s, tests.wall_s)
        doubt = self.clock.doubt(spent)
        if cause == "exited" and self.clock.granted:  # what a case took is in its frame
            doubt = doubt or self.clock.busy_text()
        return PairOutcome(
            cause=cause, frames=os.pread(self._frames, FRAME_BYTES, 0), board=os.pread(self._board, BOARD_BYTES, 0),
            solution=solution, tests=tests, cpu_s=cpu, wall_s=wall, waited_s=waited,
            doubt=doubt, allowed_cpu_s=self.clock.cpu_s(), broken=self._solution.broken,
        )  # fmt: skip

    def _told(self, side: Side) -> Outcome:
        outcome = side.outcome()
        outcome.stdout, outcome.stderr = (pipe.data() for pipe in side.outputs)
        return outcome

    def close(self) -> None:
        """Let go of all descriptors."""
        os.close(self._board)
        os.close(self._frames)
        self._solution.close()
        self._tests.close()
