"""Runs of one program, one after another, under one watch: pipes, clock, denials and the compile process's records.

The compile process is given all cases of a batch at once, with their pipes, and writes a record of each to a file
that no case can reach. The supervisor sleeps meanwhile: it wakes for the end, to let the compile
process make the next case, for denied calls, for the engine, when a limit is near, and now and then to see that no pipe
is full.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scalebox.core.limits import MIB, Limits
from scalebox.sandbox import confinement, usage
from scalebox.sandbox.channel import HungUp
from scalebox.sandbox.compiled import Compiled
from scalebox.sandbox.outcome import Cause, Fault, Outcome
from scalebox.sandbox.pace import Pace
from scalebox.sandbox.pipes import EchoLine, InputPipe, OutputPipe, parse_frames
from scalebox.sandbox.supervision import Supervision, Watch

#: Most cases of one batch: three descriptors each, or four, have to fit into one message, of 192 in the jail.
MOST, MOST_FRAMED = 64, 48

_RECORD = struct.Struct("<HiIQQQ")
#: Most bytes of a note: its length is two bytes.
_NOTE_BYTES = 0xFFFF
_FRAME_FD = 3
_VALUE_BYTES = 16 * MIB
#: Most bytes that come back on the line of a token.
_ECHO_BYTES = MIB
MOST_DENIALS = 32
PATIENCE = 30.0


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One run to make: on `stdin`, or making `calls` (index, name, encoded arguments).

    `role` is what the jail's builder is to do on `stdin` instead of running a Python program, if anything; `more` is
    plain data for the builder, which the order of the case has beside the rest. A program of a role may have a fourth
    descriptor: `framed` makes it a pipe for frames, a `token` a line on which that waits to be sent back at the end.
    What it is refused of `tries`, once each, is its runtime's attempt, not its own.
    """

    stdin: bytes = b""
    files: Mapping[str, bytes] = {}
    calls: list[tuple[int, str, bytes]] | None = None
    role: str = ""
    more: Mapping[str, Any] = {}
    framed: bool = False
    token: bytes = b""
    tries: Sequence[str] = ()
    seed: int = 0
    output_bytes: int = MIB

    def order(self, limits: Limits) -> dict[str, Any]:
        """Return what the compile process is told of it."""
        processes = limits.processes > 0
        order: dict[str, Any] = {**self.more, "seed": self.seed, "files": dict(self.files), "processes": processes}
        if self.calls is not None:
            value_bytes = max(_VALUE_BYTES, self.output_bytes)
            order |= {"calls": self.calls, "value_bytes": value_bytes, "frame_fd": _FRAME_FD}
        elif self.role:
            order |= {"role": self.role, "lines": 4 if self.framed or self.token else 3}
        return order


class _Pipes:
    """The supervisor's ends of one case's pipes."""

    def __init__(self, case: Case) -> None:
        self.outputs = [OutputPipe(case.output_bytes), OutputPipe(case.output_bytes)]
        self.feed: InputPipe | None = None
        if case.calls is None:
            self.feed = InputPipe(case.stdin)
            if case.token:
                self.outputs.append(EchoLine(case.token, _ECHO_BYTES))
        if case.calls is not None or case.framed:
            values = max(_VALUE_BYTES, case.output_bytes)
            self.outputs.append(OutputPipe(values + 64 * len(case.calls or [0])))
        self.child_ends = [pipe.child_end for pipe in (self.feed, *self.outputs) if pipe is not None]

    def close(self) -> None:
        for pipe in self.outputs:
            pipe.close()
        if self.feed is not None:
            self.feed.close()


class Batch(Supervision):
    """One batch under way, of cases of one compiled program."""

    def __init__(
        self,
        cases: Sequence[Case],
        *,
        program: Compiled,
        watch: Watch | None,
        limits: Limits,
        pace: Pace,
        meter: usage.Cases,
    ) -> None:
        super().__init__(watch, limits, pace)
        self.cases = cases
        self._program = program.channel
        self._records = os.dup(program.records)  # the jail, and its own with it, may be gone before this is read
        self._listener = program.listener
        self._meter = meter
        self._pipes: list[_Pipes] = []
        self._denied: dict[int, list[str]] = {}
        self._tried: list[list[str]] = [list(case.tries) for case in cases]
        self._begun = time.process_time()
        #: Records seen so far, and their size.
        self._recorded = self._read_to = 0
        #: The case that ran at the last look, when that was, and whether it was known to be slow.
        self._looked_at, self._look, self._slow = -1, time.monotonic(), False
        #: Whether what ran left something behind that the agent must clear away.
        self.dirty = False

    def run(self) -> Cause:
        """Run the cases until the end, or one that must be stopped; return how it ended."""
        os.ftruncate(self._records, 0)
        os.lseek(self._records, 0, os.SEEK_SET)
        self._meter.begin()
        try:
            self._start()
        except HungUp:
            return "lost"
        return self._watch_over()

    @property
    def supervision_s(self) -> float:
        """CPU time that this process has spent on the batch."""
        return time.process_time() - self._begun

    def close(self) -> None:
        os.close(self._records)
        for pipes in self._pipes:
            pipes.close()

    def _start(self) -> None:
        self._pipes = [_Pipes(case) for case in self.cases]
        ends = [fd for pipes in self._pipes for fd in pipes.child_ends]
        orders = [case.order(self.limits) for case in self.cases]
        try:
            self._program.send({"cases": orders}, ends)
        finally:
            for fd in ends:
                os.close(fd)

    # -- what happens meanwhile -------------------------------------------------------------------------------

    def _watch_over(self) -> Cause:
        self._hear(self._program.fileno(), self._end)
        if self._listener is not None:
            self._hear(self._listener.fileno(), self._answer)
        for pipes in self._pipes:
            if pipes.feed is not None and pipes.feed.fd >= 0:
                self._attend(pipes.feed)
        return self._wait(min(self.clock.least_s, self.clock.soft_s))

    def _answer(self, event: int) -> None:
        """Answer what the filter asks; note what is refused."""
        assert self._listener is not None
        if not event & select.POLLIN:  # the end: all who could ask are gone
            return
        running = self._running()  # once answered, it may be over before we look
        refused = self._listener.answer()
        if refused is not None and running < len(self._tried) and refused in self._tried[running]:
            self._tried[running].remove(refused)
        elif refused is not None:
            denied = self._denied.setdefault(running, [])
            if len(denied) < MOST_DENIALS and refused not in denied:
                denied.append(refused)

    def _end(self, _: int) -> Cause:
        try:
            body, fds = self._program.receive(PATIENCE, ready=True)
        except (HungUp, TimeoutError):
            return "lost"
        for fd in fds:
            os.close(fd)
        self.dirty = body != b"E\0"
        return "exited" if body[:1] == b"E" else "lost"

    def _check_limits(self) -> tuple[Cause | None, float]:
        """Return which limit the running case has passed, or how long it cannot pass any."""
        running, now = self._running(), time.monotonic()
        since, self._look = now - self._look, now
        if running != self._looked_at:
            if self._looked_at >= 0:
                self._meter.begin()
            self._looked_at, self._slow = running, False
            if since + self.clock.soft_s <= self.clock.least_s:
                return None, self.clock.soft_s  # it began since: it is far from its limits, and costs no look at /proc
        elif not self._slow:
            self._slow = True
            self.clock.slow()
        return self.clock.check(*self._meter.seconds())

    def _outputs(self) -> list[OutputPipe]:
        """Return the pipes of the cases so far: the compile process holds those to come, and nobody writes there."""
        return [pipe for pipes in self._pipes[: self._running() + 1] for pipe in pipes.outputs]

    def _too_much(self, pipe: OutputPipe) -> bool:
        """Only the running case is stopped for what it wrote; others are over, and judged when all are."""
        if not pipe.over:
            return False
        running = self._running()
        return running < len(self._pipes) and pipe in self._pipes[running].outputs

    # -- results ----------------------------------------------------------------------------------------------

    def _running(self) -> int:
        """Return the index of the case that runs now."""
        more = read_records(self._records, len(self.cases) - self._recorded, self._read_to)
        self._recorded += len(more)
        self._read_to += sum(_RECORD.size + fields[0] for fields, _ in more)
        return self._recorded

    def outcomes(self, cause: Cause, stopped: Outcome) -> list[Outcome]:
        """Return what became of the cases, once nothing of them is alive; `stopped` is one that was cut off."""
        found = [recorded(*record) for record in read_records(self._records, len(self.cases))]
        if cause != "exited" and len(found) < len(self.cases):
            stopped.cause = cause
            found.append(stopped)
        for index, outcome in enumerate(found):
            self._read_outputs(index, outcome)
        return found

    def _read_outputs(self, index: int, outcome: Outcome) -> None:
        outputs = self._pipes[index].outputs if self._pipes else []
        for pipe in outputs:
            pipe.drain(ended=True)
        if outcome.cause == "exited":
            if outcome.cpu_s > self.limits.cpu_s and outcome.cpu_s > self.clock.cpu_s():
                outcome.cause = "cpu"
            elif any(pipe.over for pipe in outputs):
                outcome.cause = "output"
        outcome.doubt = self.clock.doubt(outcome)
        if outputs:
            outcome.stdout, outcome.stderr = outputs[0].data(), outputs[1].data()
        if len(outputs) > 2 and self.cases[index].token:
            outcome.echo = outputs[2].data()
        elif len(outputs) > 2:
            outcome.frames, outcome.broken_frames = parse_frames(outputs[2].data())
        outcome.denied = self._denied.get(index, [])


def read_records(file: int, most: int, start: int = 0) -> list[tuple[tuple[int, ...], bytes]]:
    """Return the records, at most so many, that a compile process has written to `file` from `start` on.

    Each comes with its note. A file made larger than they can be, which costs its writer nothing, is not read to the
    end; nor is one with a hole, for no case takes no time.
    """
    size = min(os.fstat(file).st_size - start, most * (_RECORD.size + _NOTE_BYTES))
    data = os.pread(file, max(0, size), start)
    records: list[tuple[tuple[int, ...], bytes]] = []
    at = 0
    while len(data) - at >= _RECORD.size and len(records) < most:
        fields = _RECORD.unpack_from(data, at)
        if not fields[-1]:
            break
        at += _RECORD.size + fields[0]
        records.append((fields, data[at - fields[0] : at]))
    return records


def recorded(fields: tuple[int, ...], note: bytes) -> Outcome:
    """Return what a record says of a case."""
    _, status, peak, user, system, wall = fields
    outcome = Outcome(
        cpu_s=(user + system) / 1e6,
        wall_s=wall / 1e6,
        memory_bytes=peak * 1024,
        fault=confinement.read_fault(note) if note else Fault(),
    )
    if os.WIFSIGNALED(status):
        outcome.signal = os.WTERMSIG(status)
    else:
        outcome.exit_code = os.WEXITSTATUS(status)
    return outcome


def blame_memory(outcomes: Sequence[Outcome], kills: int) -> None:
    """Mark as `memory` what the kernel killed for want of it: as many as it counted, the largest first."""
    killed = [outcome for outcome in outcomes if outcome.signal == signal.SIGKILL or outcome.cause == "lost"]
    if len(outcomes) == 1:  # the only one it can be, though perhaps a child of it was killed
        killed = list(outcomes)
    for outcome in sorted(killed, key=lambda outcome: -outcome.memory_bytes)[:kills]:
        outcome.cause = "memory"


def blame_machine(outcomes: Sequence[Outcome], *, no_memory: bool, no_disk: bool) -> None:
    """Mark as `lost` what ended for want of memory or disk that was not the program's to use up."""
    for outcome in outcomes:
        killed = outcome.signal == signal.SIGKILL and outcome.cause == "exited"
        if (no_memory and killed) or (no_disk and outcome.fault.errno in (errno.ENOSPC, errno.EDQUOT)):
            outcome.cause = "lost"
