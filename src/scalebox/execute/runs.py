"""Runs of one sample's program: each test fresh, or calls of a program without state in one process."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator, Sequence

from scalebox.core.limits import MIB
from scalebox.core.sample import CallTest, Sample, StdinTest
from scalebox.sandbox.batch import MOST, Case
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.outcome import Build, Frame, Outcome

#: What a frame tells; the last, that the arguments do not fit the function's types, is told by drivers alone.
_VALUE, _TOO_LARGE, _UNFIT = 0, 3, 4
#: Characters that are shown of why arguments do not fit.
_MOST_WHY = 200
#: A program that ended the shared process this often gets a process per call from then on.
_STRIKES = 2
#: Bytes of input that are held at once for the cases of one batch.
_MOST_INPUT = 4 * MIB


class Lost(Exception):
    """The jail could not be brought to run the program."""


def build_surely(jail: Jail, build: Callable[[], Build]) -> Build:
    """Build in a jail, and once more in another where that was lost."""
    made = build()
    if made.lost or (made.tests is not None and made.tests.lost):
        jail.stop()
        made = build()
    return made


class Program:
    """A sample's program in a jail, built again whenever the jail had to be cleared."""

    #: Most cases of one batch.
    _most = MOST

    def __init__(self, jail: Jail, sample: Sample, source: bytes) -> None:
        self._jail = jail
        self._sample = sample
        self._source = source
        self.limits = sample.limits
        calls = sorted({test.call for test in sample.tests if isinstance(test, CallTest)})
        self._calls = calls or None

    def build(self) -> Build:
        """Build, once more where the first was lost."""
        return build_surely(self._jail, self._open)

    def _open(self) -> Build:
        return self._jail.open(self._source, self._sample.limits, self._calls)

    def outcomes(
        self, tests: Sequence[tuple[int, StdinTest | CallTest]], *, alone: bool = False
    ) -> Iterator[tuple[Outcome, int]]:
        """Run each test in a process of its own; yield (outcome, number of runs it took), in order.

        A run that was lost is made once more. `alone` says that the caller may not want the next one.
        """
        return self._run([functools.partial(self._case, index, test) for index, test in tests], alone=alone)

    def _case(self, index: int, test: StdinTest | CallTest) -> Case:
        return self._stdin_case(test) if isinstance(test, StdinTest) else self._call_case([(index, test)])

    def _run(self, left: Sequence[Callable[[], Case]], *, alone: bool = False) -> Iterator[tuple[Outcome, int]]:
        """Run the cases that these functions make, each in a process of its own, as `outcomes` says."""
        while left:
            cases = _first(left[:1] if alone else left[: self._most])
            self._reopen()
            found = self._jail.run_batch(cases)
            last = found[-1]
            left = left[len(found) :]
            if last.cause == "lost":
                yield from ((outcome, 1) for outcome in found[:-1])
                self._jail.stop()
                self._reopen()
                yield self._jail.run_batch([cases[len(found) - 1]])[0], 2
            else:
                yield from ((outcome, 1) for outcome in found)

    @property
    def jail(self) -> Jail:
        """The jail that it is in."""
        return self._jail

    def make_ready(self) -> None:
        """Have it stand ready in its jail for the next run. Raises `Lost` where it cannot be built again."""
        self._reopen()

    def _mark(self, outcome: Outcome) -> None:
        """Mend what an outcome says of how the run ended, where more is known of the language."""

    def run_calls(self, numbered: Sequence[tuple[int, CallTest]]) -> Outcome:
        """Make several calls in one process."""
        self._reopen()
        return self._jail.run_batch([self._call_case(numbered)])[0]

    def _stdin_case(self, test: StdinTest) -> Case:
        texts = {**self._modules(), **test.files}
        files = {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()}
        return Case(
            stdin=test.stdin.encode("utf-8", "surrogatepass"),
            files=files | test.binary_files,
            seed=seed_of(test.id),
            output_bytes=self._cap(len(test.stdout.encode("utf-8", "surrogatepass"))),
        )

    def _modules(self) -> dict[str, str]:
        """Return the program's further files, which it finds in its working directory."""
        return self._sample.solution_files

    def _call_case(self, numbered: Sequence[tuple[int, CallTest]]) -> Case:
        return Case(
            calls=[(index, test.call, test.arguments) for index, test in numbered],
            seed=seed_of(numbered[0][1].id),
            output_bytes=self._cap(max(len(test.expect) for _, test in numbered)),
        )

    def _reopen(self) -> None:
        if not self._jail.opened and not self.build().ok:
            raise Lost("the program could not be built again")

    def _cap(self, expected: int) -> int:
        return max(int(self._sample.limits.output_mb * MIB), 2 * expected)


def _first(makers: Sequence[Callable[[], Case]]) -> list[Case]:
    """Return the first of the cases, as many as it is wise to hold in memory at once."""
    cases: list[Case] = []
    size = 0
    for make in makers:
        case = make()
        size += len(case.stdin) + sum(map(len, case.files.values()))
        if cases and size > _MOST_INPUT:
            break
        cases.append(case)
    return cases


def seed_of(case_id: str) -> int:
    """Return what the generators of a case are seeded with: cases differ, runs do not."""
    return zlib.crc32(case_id.encode("utf-8", "surrogatepass"))


def value_of(outcome: Outcome, index: int) -> tuple[bytes | None, str]:
    """Return the value that a run of one call sent out, or None and why there is none."""
    if outcome.broken_frames or len(outcome.frames) > 1:
        return None, "the result was tampered with"
    if not outcome.frames:
        return None, "ended without returning a value"
    frame = outcome.frames[0]
    if frame.index == index and frame.status == _UNFIT:
        why = frame.data[: 4 * _MOST_WHY].decode("utf-8", "replace")[:_MOST_WHY]
        return None, f"the arguments do not fit the function: {why}"
    if frame.index != index or frame.status not in (_VALUE, _TOO_LARGE):
        return None, "the result was tampered with"
    return (frame.data, "") if frame.status == _VALUE else (None, "returned more than the output limit")


def share(
    program: Program, tests: Sequence[tuple[int, CallTest]], accept: Callable[[int, bytes], bool]
) -> Iterator[tuple[int, Frame, Outcome] | tuple[int, None, None]]:
    """Make the calls in shared processes; yield (index, frame, run) for each that `accept` finds right.

    (index, None, None) is a call that must be made again in a process of its own: it failed here, or the
    process ended at it. Only for programs that are proved to keep no state between calls.
    """
    left = list(tests)
    cpu_s = program.limits.cpu_s
    for _ in range(_STRIKES):
        if not left:
            return
        outcome = program.run_calls(left)
        frames = _in_order(outcome, [index for index, _ in left])
        for (index, _), frame in zip(left, frames, strict=False):
            if frame.status == _VALUE and frame.cpu_s <= cpu_s and accept(index, frame.data):
                yield index, frame, outcome
            else:
                yield index, None, None
        left = left[len(frames) :]
        if left:
            yield left.pop(0)[0], None, None
    for index, _ in left:
        yield index, None, None


def _in_order(outcome: Outcome, indices: Sequence[int]) -> list[Frame]:
    frames = []
    for frame, index in zip(outcome.frames, indices, strict=False):
        if frame.index != index:
            break
        frames.append(frame)
    return frames
