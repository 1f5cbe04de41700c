"""What all compatible interfaces share: a request becomes a sample of our own format, and the engine verifies it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB, Limits
from scalebox.core.result import VerificationResult
from scalebox.core.sample import StdinTest
from scalebox.core.settings import Settings
from scalebox.parse import parse_sample
from scalebox.server.aside import on_loop
from scalebox.server.context import Context
from scalebox.server.errors import Refused

#: Seconds that a request waits for its turn, beyond what its limits add up to.
_TURN_S = 60.0
#: What programs get that the request says nothing of: as much as the other sandboxes give, but never without bounds.
_OUTPUT_MB, _MEMORY_MB, _PROCESSES = 8.0, 1024, 64
#: A program that waits is stopped so many seconds, or as long again, after the time that a busy one may use: others
#: may keep it from running.
_WALL_SLACK_S = 5.0
#: More than a limit of time can be, so a program that may use all of it has no slack.
_MOST_WALL_S = 3600.0
#: How programs start others, in some language: those that do not say so have none, which is faster.
_STARTS_OTHERS = re.compile(
    r"subprocess|multiprocessing|ProcessPool|child_process|\b(?:pty|fork|popen|system|spawn\w*|exec[vl]\w*|ProcessBuilder"
    r"|getRuntime|Command|Process|shell_exec|proc_open)\b"
)
#: One of these is in whatever the expression finds; to look for them first takes a tenth of the time in most programs.
_PARTS_OF_THEM = (
    "process",
    "Process",
    "pty",
    "fork",
    "popen",
    "system",
    "spawn",
    "exec",
    "getRuntime",
    "Command",
    "proc_",
)
_SHELLS = frozenset({"bash", "r", "perl", "ruby"})


class Runner(NamedTuple):
    """Runs programs and verifies samples for one request of a client, when it is the client's turn."""

    context: Context
    client: str

    @property
    def settings(self) -> Settings:
        """The settings of the engine."""
        return self.context.settings

    def limits(self, run_s: float, compile_s: float, memory_mb: int = -1) -> dict[str, Any]:
        """Return the limits of a program that may run for `run_s` seconds; no `memory_mb` below 1 is a limit."""
        base = self.settings.limits_of(self.settings.profile)
        return {
            "cpu_s": run_s,
            "wall_s": min(run_s + max(run_s, _WALL_SLACK_S), max(run_s, _MOST_WALL_S)),
            "memory_mb": memory_mb if memory_mb > 0 else max(base.memory_mb, _MEMORY_MB),
            "output_mb": max(base.output_mb, _OUTPUT_MB),
            "build_s": compile_s,
        }

    def processes_for(self, language: str, *texts: str) -> int:
        """Return how many processes a program of these texts may start."""
        base = self.settings.limits_of(self.settings.profile)
        starts = language in _SHELLS or any(map(starts_others, texts))
        return max(base.processes, _PROCESSES) if starts else base.processes

    async def verify(
        self,
        record: Mapping[str, Any],
        *,
        early_stop: bool = False,
        files: Mapping[str, bytes] | None = None,
        total_s: float | None = None,
        beside: int = 1,
    ) -> VerificationResult:
        """Verify one sample, of `beside` of the same request, with all that its programs print on the result.

        `files` lie beside the program of a test by stdin, which is then the only one. What is not finished after the
        samples' limits and a fair wait, or after `total_s` seconds and the limits of one test, is `unknown`. Raises
        InputError, Refused, QueueFull.
        """
        sample = parse_sample(_named(record, files), settings=self.settings)
        limits = sample.limits
        more: dict[str, Any] = {"early_stop": early_stop, "text_limit": round(limits.output_mb * MIB)}
        if files:
            more["tests"] = _with_files(sample.tests[0], files, limits)
        budget = beside * (limits.build_s + len(sample.tests) * limits.wall_s) + _TURN_S
        if total_s is not None:
            budget = min(budget, total_s + limits.build_s + limits.wall_s)
        if self.context.draining:
            raise Refused(503, "the server is about to end", mend="try again, here or elsewhere", retry_after_s=5)
        sample = msgspec.structs.replace(sample, **more)
        feed = self.context.feed
        return (await on_loop(feed.loop, feed.run(self.client, [sample], deadline_s=budget)))[0]

    async def run(
        self, language: str, code: str, stdin: str, limits: Mapping[str, Any], files: Mapping[str, bytes] | None = None
    ) -> VerificationResult:
        """Run a program; its one case says how it ended. Raises InputError, Refused, QueueFull."""
        record = {
            "id": "run",
            "language": language,
            "code": code,
            # With nothing expected, output is a mismatch: to a program that is only run, both are an end in good order.
            "tests": [{"id": "0", "stdin": stdin, "stdout": ""}],
            "match": {"mode": "exact"},
            "limits": {**limits, "processes": self.processes_for(language, code, stdin)},
        }
        return await self.verify(record, files=files)


def starts_others(text: str) -> bool:
    """Return whether a program of this text may start other processes."""
    return any(part in text for part in _PARTS_OF_THEM) and _STARTS_OTHERS.search(text) is not None


def _named(record: Mapping[str, Any], files: Mapping[str, bytes] | None) -> Mapping[str, Any]:
    """Return the record with the names of the files on its test, so that they are checked."""
    if not files:
        return record
    (test,) = record["tests"]
    return {**record, "tests": [{**test, "files": dict.fromkeys(files, "")}]}


def _with_files(test: Any, files: Mapping[str, bytes], limits: Limits) -> tuple[StdinTest]:
    size = sum(map(len, files.values()))
    if size > limits.disk_mb * MIB:
        raise InputError(f"{size} bytes are more than {limits.disk_mb} MiB", field="files", mend="send less")
    return (msgspec.structs.replace(test, files={}, binary_files=dict(files)),)
