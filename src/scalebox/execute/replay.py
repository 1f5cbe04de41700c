"""What a program did, written down while it runs and played back, so that it can be judged again without being run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from scalebox.core.limits import MIB, Limits
from scalebox.core.sample import CallTest, StdinTest
from scalebox.execute.runs import Program
from scalebox.sandbox.outcome import Build, Outcome

#: Most bytes of outputs and values that are written down.
_MOST = 1 * MIB


class NotRecorded(Exception):
    """A run is asked for that was not made then."""


class _Record(msgspec.Struct, array_like=True):
    """`alone` has the runs of one test, by its place, and the number of runs it took; `together` those of calls."""

    stateless: bool = False
    alone: dict[int, tuple[Outcome, int]] = {}
    together: list[tuple[list[int], Outcome]] = []


_decode = msgspec.msgpack.Decoder(_Record).decode


class Recorded(Program):
    """A program that is run, and what it does."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.limits = program.limits
        self._record: _Record | None = _Record()
        self._size = 0

    def build(self) -> Build:
        """As the program does."""
        build = self._program.build()
        if not build.ok:
            self._record = None
        elif self._record is not None:
            self._record.stateless = build.stateless
        return build

    def outcomes(
        self, tests: Sequence[tuple[int, StdinTest | CallTest]], *, alone: bool = False
    ) -> Iterator[tuple[Outcome, int]]:
        """As the program does."""
        for (index, _), (outcome, runs) in zip(tests, self._program.outcomes(tests, alone=alone), strict=False):
            if self._takes(outcome) and self._record is not None:
                self._record.alone[index] = outcome, runs
            yield outcome, runs

    def run_calls(self, numbered: Sequence[tuple[int, CallTest]]) -> Outcome:
        """As the program does."""
        outcome = self._program.run_calls(numbered)
        if self._takes(outcome) and self._record is not None:
            self._record.together.append(([index for index, _ in numbered], outcome))
        return outcome

    def _takes(self, outcome: Outcome) -> bool:
        """Count a run's size; a record that is too large, or has a run that is doubtful or says nothing, is none."""
        self._size += len(outcome.stdout) + len(outcome.stderr) + sum(len(frame.data) for frame in outcome.frames)
        if self._size > _MOST or outcome.doubt or outcome.cause in ("lost", "wall"):
            self._record = None
        return self._record is not None

    def recorded(self) -> bytes | None:
        """Return what was written down, None where that is nothing to rely on."""
        return None if self._record is None else msgspec.msgpack.encode(self._record)


class Replayed(Program):
    """A program that only does again what was written down. Raises NotRecorded for all else."""

    def __init__(self, limits: Limits, recorded: bytes) -> None:
        self.limits = limits
        try:
            self._record = _decode(recorded)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise NotRecorded from None

    def build(self) -> Build:
        """Return that of then."""
        return Build(ok=True, stateless=self._record.stateless)

    def outcomes(
        self,
        tests: Sequence[tuple[int, StdinTest | CallTest]],
        *,
        alone: bool = False,  # noqa: ARG002 - nothing is run, so nothing is run ahead
    ) -> Iterator[tuple[Outcome, int]]:
        """Yield the runs of then."""
        for index, _ in tests:
            if index not in self._record.alone:
                raise NotRecorded
            yield self._record.alone[index]

    def run_calls(self, numbered: Sequence[tuple[int, CallTest]]) -> Outcome:
        """Return the run of then."""
        wanted = [index for index, _ in numbered]
        for indices, outcome in self._record.together:
            if indices == wanted:
                return outcome
        raise NotRecorded
