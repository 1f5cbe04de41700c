"""Programs that are built by a toolchain and run as processes of their own: any language but the jail's."""

from __future__ import annotations

import math
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from scalebox.core.limits import MIB, Limits
from scalebox.core.sample import CallTest, Sample, StdinTest
from scalebox.execute import drivers
from scalebox.execute.builds import Builds, Built, key_of, places_in
from scalebox.execute.resident import Resident
from scalebox.execute.runs import Program, seed_of
from scalebox.languages.language import Language
from scalebox.languages.toolchain import Missing, Toolchain
from scalebox.sandbox.batch import MOST_FRAMED, Case
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.linux.tree import inside
from scalebox.sandbox.outcome import Build, Outcome

#: Largest built program.
_MOST_BYTES = 64 * MIB
#: Processes and threads that compilers may have.
_BUILD_PROCESSES = 64
#: A build's limit is on the CPU time of each of its processes, which others on the machine hardly change; by the clock
#: it has so many times as long.
_WALL_FACTOR = 4.0
#: Bytes of a compiler's words that a message shows where no error can be made out in them.
_SHOWN = 500


class Native(Program):
    """A sample's program in a jail of its language, built once and kept in `builds`."""

    def __init__(
        self, jail: Jail, sample: Sample, source: bytes, *, tools: Toolchain, language: Language, prepared: str,
        builds: Builds, files: Mapping[str, bytes] | None = None, beside: Mapping[str, bytes] | None = None,
        resident: Resident | None = None,
    ) -> None:  # fmt: skip
        """`files` lie beside the source when it is built, `beside` beside the program when it is run."""
        super().__init__(jail, sample, source)
        self._more = dict(files or {})
        self._beside = dict(beside or {})
        #: Why the program cannot be called, if so.
        self._fault = ""
        self._tools = tools
        self._prepared = prepared
        self._builds = builds
        self._resident = resident
        #: The program's files, once they are there: where they lie in `_built`, or what is in them.
        self._files: dict[str, bytes | tuple[int, int]] = {}
        self._built: Built | None = None
        self._token = b""
        text = source.decode("utf-8", "replace")
        layout = {"source": language.source, **(language.layout(text) if language.layout else {})}
        self._sources = {layout["source"]: source}
        if self._calls:
            self._most = MOST_FRAMED
            try:
                language, self._sources, words = drivers.drive(language, text, self._calls)
                layout |= words
            except drivers.NoFunction as error:
                self._fault = str(error)
        self._language = language
        self._words = {
            "program": "{program}",  # where these two are, is known in the jail alone
            "tmp": "{tmp}",
            "memory_mb": str(sample.limits.memory_mb),
            "home": tools.home,
            "prepared": prepared,
            **tools.tools,
            **layout,
        }

    def _open(self) -> Build:
        """Build, unless that was done before, and have the jail ready to run what came of it. Raises Missing."""
        if self._language.needs_proc and not (self._jail.moved and self._jail.facts.get("proc")):
            raise Missing(f"toolchain missing: {self._language.title} does not work without /proc, as in this tier")
        build_s = 0.0
        if self._fault:
            return Build(ok=False, message=self._fault)
        if not self._files:
            build = self._made()
            if not build.ok:
                return build
            build_s = build.seconds
        ours = {name: text.encode() for name, text in self._language.beside.items()}
        files = {**ours, **self._beside, **self._files}
        spec = {"files": files, "argv": self._line(self._language.run), "env": self._env()}
        opened = self._place(spec, [self._built.fd] if self._built else [])
        opened.seconds += build_s
        return opened

    def _place(self, spec: dict[str, Any], fds: list[int]) -> Build:
        """Have the jail put the program where it can be run."""
        return self._jail.open(b"", self._run_limits(), None, spec=spec, fds=fds)

    def _made(self) -> Build:
        """Have the program's files, from the cache or from the compiler."""
        main, more = self._words["source"], self._more
        if main in more:
            return Build(ok=False, message=f"{main} is the program's own file and one of those beside it")
        source = {**more, **self._sources}
        # Those that are the sample's own, and not of what is put around it.
        linked = [name for name in more if name in self._beside and name.endswith(self._language.links)]
        commands = [self._line(_with(linked, command)) for command in self._language.build]
        key = key_of(self._language.name, self._tools.version, commands, source)
        self._built = self._builds.get(key)
        build = Build(ok=True)
        if self._built is None:
            made = os.memfd_create("build", os.MFD_CLOEXEC)
            try:
                build = self._compile(source, commands, made)
                if build.ok and self._language.keep:
                    places = places_in(made) if os.fstat(made).st_size <= 2 * _MOST_BYTES else None
                    if places is None:
                        return Build(ok=False, message="the build made no program")
                    self._builds.put(key, made)
                    # Not to be written to by whoever gets it next.
                    readable = os.open(f"/proc/self/fd/{made}", os.O_RDONLY | os.O_CLOEXEC)
                    self._built = Built(readable, places)
            finally:
                os.close(made)
        if build.ok:
            self._files = dict(self._built.places) if self._built else dict(source)
        return build

    def _modules(self) -> dict[str, str]:
        return {}  # they are where the program is

    def close(self) -> None:
        """Let go of the built program."""
        if self._built is not None:
            self._built.close()
            self._built = None

    def _compile(self, source: dict[str, bytes], commands: list[list[str]], made: int) -> Build:
        """Have the packed files written to `made` by a compiler; return what it said."""
        begun = time.monotonic()
        files = {"files": source, "keep": self._language.keep, "most": _MOST_BYTES}
        build = self._ask_resident(files, commands, made) or self._run_commands(files, commands, made)
        build.seconds = time.monotonic() - begun
        if "missing" in build.facts:
            raise Missing(f"toolchain missing: {str(build.facts['missing'])[:200]}")
        if not build.ok and not build.message:
            build.message, build.line = self._complaint(build.facts)
        return build

    def _ask_resident(self, files: dict[str, Any], commands: list[list[str]], made: int) -> Build | None:
        """Build by the compiler that stays; None where there is none that does its work."""
        declared = self._language.resident
        if self._resident is None or declared is None:
            return None
        head = self._line(declared.stands_for)
        if len(commands) != 1 or commands[0][: len(head)] != head:
            return None
        request = {**files, "words": commands[0][len(head) :]}
        limits = msgspec.structs.replace(
            self.limits,
            wall_s=self.limits.build_s * _WALL_FACTOR,
            processes=_BUILD_PROCESSES,
            build_memory_mb=max(self.limits.memory_mb, self.limits.build_memory_mb),
        )
        build = self._resident.build(self._line(declared.start), self._env(), request, limits, made)
        if build is None:
            os.ftruncate(made, 0)
        return build

    def _run_commands(self, files: dict[str, Any], commands: list[list[str]], made: int) -> Build:
        """Build by the compiler's commands, in the jail in which the program will run."""
        spec = {**files, "commands": commands, "env": self._env(), "cpu_s": math.ceil(self.limits.build_s)}
        limits = msgspec.structs.replace(
            self.limits,
            memory_mb=max(self.limits.memory_mb, self.limits.build_memory_mb),
            processes=_BUILD_PROCESSES,
            build_s=self.limits.build_s * _WALL_FACTOR,
            cpus=1.0,
        )
        build = self._jail.open(b"", limits, None, spec=spec, tools=True, fds=[made])
        # Whatever of the build is still alive must not write any more.
        self._jail.close()
        return build

    def _complaint(self, answer: dict[str, Any]) -> tuple[str, int]:
        """Return the first error in the compiler's words, and its line, or 0."""
        log, status = answer.get("log"), answer.get("status")
        text = log if isinstance(log, str) else ""
        found = re.search(self._language.error, text, re.MULTILINE) if self._language.error else None
        if found is not None:
            line = int(found["line"]) if found["line"] and len(found["line"]) < 10 else 0
            line = line if line <= self._source.count(b"\n") + 1 else 0  # beyond is what a driver has put there
            message = found["message"].strip()[:_SHOWN]
            return (f"line {line}: {message}" if line else message), line
        if status == -signal.SIGXCPU or (isinstance(status, int) and "CPU time limit exceeded" in text):
            return f"the build took more than {self.limits.build_s:g} s of CPU time", 0
        if isinstance(status, int) and status < 0:
            return f"the compiler was stopped by signal {-status}", 0
        return text.strip()[:_SHOWN] or f"the compiler ended with exit code {status}", 0

    def _line(self, words: Sequence[str]) -> list[str]:
        """Return a command with its placeholders filled in, as the jail has the paths."""
        place = inside if self._jail.moved else str
        known = {name: place(text) if text.startswith("/") else text for name, text in self._words.items()}
        # Where nothing was prepared, the words that would use it are left out; so is a word that comes out empty.
        used = [word for word in words if self._prepared or "{prepared}" not in word]
        return [line for word in used if (line := word.format_map(known))]

    def _env(self) -> dict[str, str]:
        return dict(zip(self._language.env, self._line(tuple(self._language.env.values())), strict=True))

    def _run_limits(self) -> Limits:
        language, limits = self._language, self.limits
        mapped = 0 if self._jail.counts_memory else language.mapped_mb
        return msgspec.structs.replace(limits, memory_mb=limits.memory_mb + language.overhead_mb + mapped)

    def outcomes(
        self, tests: Sequence[tuple[int, StdinTest | CallTest]], *, alone: bool = False
    ) -> Iterator[tuple[Outcome, int]]:
        """As `Program.outcomes`; a run that its run-time system has ended for want of memory is marked as such."""
        for outcome, runs in super().outcomes(tests, alone=alone):
            self._mark(outcome)
            yield outcome, runs

    def _mark(self, outcome: Outcome) -> None:
        if outcome.fault.kind:  # it was never started: the program itself raises nothing here
            outcome.cause = "memory" if outcome.fault.builtin == "MemoryError" else "lost"
        elif self._out_of_memory(outcome):
            outcome.cause = "memory"

    def _out_of_memory(self, outcome: Outcome) -> bool:
        language = self._language
        ended = (outcome.exit_code, outcome.signal) == (language.memory_exit, language.memory_signal)
        sign = language.memory_text.encode()
        return bool(sign) and outcome.cause == "exited" and ended and sign in outcome.stderr + outcome.stdout[-500:]

    def run_to_end(self, token: bytes) -> tuple[Outcome, int]:
        """Run the program once, reading nothing, with a token that it is to send back at its end; as `outcomes`."""
        self._token = token
        return next(self.outcomes([(0, StdinTest(id="", stdin="", stdout=""))]))

    def _stdin_case(self, test: StdinTest) -> Case:
        return msgspec.structs.replace(
            super()._stdin_case(test), role="program", token=self._token, tries=self._language.tries
        )

    def _call_case(self, numbered: Sequence[tuple[int, CallTest]]) -> Case:
        """Return the case of one call, which its driver reads from its standard input."""
        ((index, test),) = numbered
        assert self._calls is not None
        return Case(
            stdin=drivers.HEAD.pack(index, self._calls.index(test.call)) + test.arguments,
            role="program",
            framed=True,
            tries=self._language.tries,
            seed=seed_of(test.id),
            output_bytes=self._cap(len(test.expect)),
        )


def _with(linked: Sequence[str], command: Sequence[str]) -> list[str]:
    """Return a command with the program's other sources after the first."""
    return [word for given in command for word in ([given, *linked] if given == "{source}" else [given])]
