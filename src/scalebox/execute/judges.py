"""Programs of a task's author that judge: built as any program is, run in jails that no solution ever enters.

A judge stays ready in its jail from one sample to the next. Every run of it is fresh: a process, a working directory.
"""

from __future__ import annotations

import functools
import math
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from scalebox.core import values
from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.core.limits import MIB, Limits
from scalebox.core.sample import JudgeProgram, Sample, StdinTest
from scalebox.core.verdicts import Verdict
from scalebox.execute.builds import Builds
from scalebox.execute.label import label
from scalebox.execute.native import Native
from scalebox.execute.runs import Program, value_of
from scalebox.languages import python, registry
from scalebox.languages.toolchain import Toolchain
from scalebox.sandbox.batch import Case
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.outcome import Build, Outcome
from scalebox.sandbox.supervision import Watch

#: The function that a judge of the protocol `python` defines.
FUNCTION = "check"
_ENTRY = struct.Struct("<II")
_MOST_ITEMS = 1000


class Unbuilt(Exception):
    """A judge cannot be had: its text says why. `verdict` is that of the samples that it was to judge."""

    def __init__(self, build: Build) -> None:
        super().__init__(f"the task's judge cannot be built: {build.message}")
        self.verdict = Verdict.UNKNOWN if build.starved else Verdict.INTERNAL_ERROR


class _Collected:
    """The files that runs left, as their jail hands them out: one file for each time that the judge was opened."""

    def __init__(self) -> None:
        self._files: list[int] = []

    def open(self) -> int:
        """Return a new file for a jail to write to."""
        self._files.append(os.memfd_create("collected", os.MFD_CLOEXEC))
        return self._files[-1]

    def take(self) -> dict[int, dict[str, tuple[bytes, bool]]]:
        """Return by number of the run what has come since last time; the last file goes on being written to."""
        found: dict[int, dict[str, tuple[bytes, bool]]] = {}
        for file in self._files:
            found.update(_entries(os.pread(file, os.fstat(file).st_size, 0)))
        for file in self._files[:-1]:
            os.close(file)
        del self._files[:-1]
        for file in self._files:
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        return found

    def close(self) -> None:
        """Let go of all files."""
        for file in self._files:
            os.close(file)
        self._files.clear()


def _entries(data: bytes) -> Iterator[tuple[int, dict[str, tuple[bytes, bool]]]]:
    """Yield what is whole and well-formed in what a jail wrote."""
    at = 0
    while len(data) - at >= _ENTRY.size:
        number, size = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size
        try:
            files = values.decode(data[at : at + size], _MOST_ITEMS)
            yield number, msgspec.convert(files, dict[str, tuple[bytes, bool]])
        except ValueError:  # msgspec's error is one, too
            return
        at += size


class Judge(Program):
    """A judge program in a jail of the judges. `build` it, then `run` it any number of times."""

    #: What its jail's builder does for a run.
    role = ""

    def __init__(self, jail: Jail, judge: JudgeProgram, limits: Limits, **more: Any) -> None:
        sample = Sample(id="judge", tests=(), language=judge.language, code=judge.code, limits=limits)
        super().__init__(jail, sample, judge.code.encode("utf-8", "replace"), **more)
        self.judge = judge
        self.collected = _Collected()

    @property
    def beside(self) -> dict[str, bytes]:
        """The files that its author wants beside it."""
        return files_beside(self.judge)

    def run(self, runs: Sequence[JudgeRun]) -> list[JudgeEnd]:
        """Make these runs, each fresh, and return how they ended. Raises `Lost` where it cannot be built again."""
        found = []
        for outcome, _ in self._run([functools.partial(self.case, number, run) for number, run in enumerate(runs)]):
            self._mark(outcome)
            found.append(outcome)
        files = self.collected.take()
        return [self.end(outcome, files.get(number, {})) for number, outcome in enumerate(found)]

    def case(self, number: int, run: JudgeRun) -> Case:
        """Return a run as a case of the jail; what it leaves is then in `collected` under `number`."""
        output_bytes = int(self.limits.output_mb * MIB)
        if run.arguments is not None:
            calls = [(0, FUNCTION, run.arguments)]
            return Case(calls=calls, files={**self.beside, **run.files}, output_bytes=output_bytes)
        more = {"number": number, "argv": list(run.argv), "collect": list(run.collect)}
        return Case(stdin=run.stdin, files=run.files, role=self.role, more=more, output_bytes=output_bytes)

    def end(self, outcome: Outcome, files: dict[str, tuple[bytes, bool]]) -> JudgeEnd:
        """Return how a run ended, from what its jail says of it and the files that it left."""
        verdict, why = label(outcome, self.limits)
        answered = outcome.cause == "exited" and outcome.signal is None and not outcome.fault.kind
        value = value_of(outcome, 0)[0] if outcome.frames else None
        return JudgeEnd(
            exit_code=outcome.exit_code,
            fault="" if answered else why,
            doubt=verdict if verdict in (Verdict.UNKNOWN, Verdict.INTERNAL_ERROR) else None,
            stdout=outcome.stdout,
            stderr=outcome.stderr,
            files={name: data for name, (data, _) in files.items()},
            cut=frozenset(name for name, (_, whole) in files.items() if not whole),
            value=value,
        )

    def close(self) -> None:
        """Let go of it; its jail is left as it is."""
        self.collected.close()


class NativeJudge(Judge, Native):
    """A judge that is built by a toolchain, or run by another interpreter than the jail's own."""

    role = "program"

    def _place(self, spec: dict[str, Any], fds: list[int]) -> Build:
        spec |= {"collected": True, "beside": list(self.beside)}
        return super()._place(spec, [*fds, self.collected.open()])

    _mark = Native._mark

    def close(self) -> None:
        """Let go of it, and of what was built."""
        Judge.close(self)
        Native.close(self)


class PythonJudge(Judge):
    """A judge in the language of the jails themselves."""

    role = "script"

    def _open(self) -> Build:
        if self.judge.protocol == "python":
            return self._jail.open(self._source, self.limits, None)
        spec = {
            "collected": True, "source": self._source, "files": self.beside, "beside": list(self.beside),
            "argv": [], "env": {},
        }  # fmt: skip
        return self._jail.open(b"", self.limits, None, spec=spec, fds=[self.collected.open()])


def files_beside(judge: JudgeProgram) -> dict[str, bytes]:
    """Return the files that a judge's author wants beside it, as bytes."""
    return {name: text.encode("utf-8", "surrogatepass") for name, text in judge.files.items()}


class Home(NamedTuple):
    """Where a native judge is at home: its jail, its toolchain, and what was prepared for it."""

    jail: Jail
    tools: Toolchain
    prepared: str


class Judges:
    """The judges of one worker: in each of their jails, the one used last stays ready.

    `native` and `python` return the jail for a judge in that language, or with that set of preloaded modules; the
    former raises Missing where the toolchain is not here.
    """

    def __init__(
        self, limits: Limits, builds: Builds, native: Callable[[str], Home], python: Callable[[str], Jail]
    ) -> None:
        self._limits = limits
        self._builds = builds
        self._native = native
        self._python = python
        self._ready: dict[int, Judge] = {}

    def get(self, judge: JudgeProgram, watch: Watch | None, disk_mb: int = 0) -> tuple[Judge, Build]:
        """Return a judge and what became of building it, which takes no time where it is the one used last.

        `disk_mb` is the least that its runs need for their files. Raises Missing, SandboxError.
        """
        limits = msgspec.structs.replace(self._limits, disk_mb=max(disk_mb, self._limits.disk_mb), processes=0)
        home = None if judge.language == python.LANGUAGE.name else self._native(judge.language)
        jail = home.jail if home else self._python(judge.code)
        jail.watch = watch
        last = self._ready.get(id(jail))
        if last is not None and last.judge == judge and last.limits == limits and jail.opened:
            return last, Build(ok=True)
        if last is not None:
            del self._ready[id(jail)]
            last.close()
        made = _make(judge, limits, jail, home, self._builds)
        build = made.build()
        if build.ok:
            self._ready[id(jail)] = made
        else:
            made.close()
        return made, build

    def for_sample(self, judge: JudgeProgram, sample: Sample, watch: Watch | None) -> Judge:
        """Return a judge of this sample's outputs, ready to run. Raises Unbuilt, Missing, SandboxError."""
        made, build = self.get(judge, watch, _disk_mb(sample))
        if not build.ok:
            raise Unbuilt(build)
        return made

    def close(self) -> None:
        """Let go of all judges; their jails are the caller's."""
        for judge in self._ready.values():
            judge.close()
        self._ready.clear()


def _disk_mb(sample: Sample) -> int:
    """Return what the files of one run may need: the test's texts and the output, and as much again to work with."""
    tests = [test for test in sample.tests if isinstance(test, StdinTest)]
    most = max(len(test.stdin) + 3 * len(test.stdout) for test in tests) * 4  # bytes of a character
    return math.ceil(2 * (most / MIB + sample.limits.output_mb))


def _make(judge: JudgeProgram, limits: Limits, jail: Jail, home: Home | None, builds: Builds) -> Judge:
    if home is None:
        return PythonJudge(jail, judge, limits)
    language, files = registry.languages()[judge.language], files_beside(judge)
    return NativeJudge(
        jail, judge, limits, tools=home.tools, language=language, prepared=home.prepared, builds=builds,
        files=files, beside=files,
    )  # fmt: skip
