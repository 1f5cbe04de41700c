"""Piston's `/api/v2/execute` and `/api/v2/runtimes`."""

from __future__ import annotations

import base64
import math
import signal as signals
from typing import Any, Literal

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB
from scalebox.core.result import CaseResult
from scalebox.core.verdicts import DOUBTFUL, Verdict
from scalebox.languages import registry
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.server.compat.languages import compiled
from scalebox.server.compat.running import Runner
from scalebox.server.compat.sandboxfusion import paths_of
from scalebox.server.errors import Refused

#: Milliseconds, where a request says nothing.
_COMPILE_MS, _RUN_MS = 10_000.0, 3_000.0
#: What Piston says of a run that a limit stopped, where it does not say only that it was killed.
_STATUS = {Verdict.TIME_OUT: "TO", Verdict.OUTPUT_EXCEED: "OL"}


class File(msgspec.Struct, kw_only=True):
    """A file; the first one is the program."""

    content: str
    name: str = ""
    encoding: Literal["utf8", "base64", "hex"] = "utf8"


class ExecuteRequest(msgspec.Struct, kw_only=True):
    """A program to run. Times in milliseconds, memory in bytes; null and 0 are the default, and -1 of memory."""

    language: str
    files: list[File]
    version: str = "*"
    stdin: str | None = None
    args: list[str] | None = None
    compile_timeout: float | None = None
    run_timeout: float | None = None
    run_cpu_time: float | None = None
    run_memory_limit: int | None = None


class StageResult(msgspec.Struct, kw_only=True):
    """The compiler's run, or the program's. Times in milliseconds, memory in bytes."""

    stdout: str = ""
    stderr: str = ""
    output: str = ""
    code: int | None = None
    signal: str | None = None
    message: str | None = None
    status: str | None = None
    cpu_time: float | None = None
    wall_time: float | None = None
    memory: int | None = None


class ExecuteResponse(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How a program ended; `compile` is there where it was built."""

    language: str
    version: str
    run: StageResult | None = None
    compile: StageResult | None = None


class Runtime(msgspec.Struct, kw_only=True):
    """A language that is served."""

    language: str
    version: str
    aliases: tuple[str, ...]


async def execute(runner: Runner, request: ExecuteRequest) -> ExecuteResponse:
    """Run a program. Raises InputError, Refused, QueueFull."""
    language = registry.find(request.language)
    if language is None:
        raise InputError(f"{request.language}-{request.version} runtime is unknown", field="language")
    if not request.files:
        raise InputError("files array is required", field="files")
    if request.args:
        raise InputError("is not supported by this server", field="args")
    program, *others = [_content(file, f"files[{number}]") for number, file in enumerate(request.files)]
    names = paths_of([file.name or f"file{number}.code" for number, file in enumerate(request.files)][1:], "files")
    files = dict(zip(names, others, strict=True))
    code = program.decode("utf-8", "replace")
    result = await runner.run(language.name, code, request.stdin or "", _limits(runner, request), files)
    (case,) = result.cases
    if case.verdict in DOUBTFUL:
        raise Refused(500, f"{case.verdict}: {case.detail or result.message}")
    answer = ExecuteResponse(language=language.name, version=request.version)
    if case.verdict == Verdict.COMPILE_ERROR:
        failed = StageResult(stderr=result.message, output=result.message, code=1)
        answer.compile, answer.run = (failed, None) if compiled(language) else (None, failed)
        return answer
    answer.compile = StageResult(code=0, wall_time=result.timings.build_s * 1000) if compiled(language) else None
    answer.run = _stage(case)
    return answer


def _limits(runner: Runner, request: ExecuteRequest) -> dict[str, Any]:
    memory = request.run_memory_limit or -1
    run_ms = min(request.run_timeout or _RUN_MS, request.run_cpu_time or math.inf)
    compile_ms = request.compile_timeout or _COMPILE_MS
    return runner.limits(run_ms / 1000, compile_ms / 1000, max(1, memory // MIB) if memory > 0 else -1)


def _stage(case: CaseResult) -> StageResult:
    name = _name_of(case.signal) if case.signal is not None else None
    stopped = case.verdict in (Verdict.TIME_OUT, Verdict.MEMORY_EXCEED, Verdict.OUTPUT_EXCEED)
    return StageResult(
        stdout=case.stdout,
        stderr=case.stderr,
        output=case.stdout + case.stderr,
        code=None if stopped or name else case.exit_code,
        signal="SIGKILL" if stopped else name,
        message=case.detail if stopped else None,
        status=_STATUS.get(case.verdict, "SG") if stopped else "SG" if name else "RE" if case.exit_code else None,
        cpu_time=case.cpu_s * 1000,
        wall_time=case.wall_s * 1000,
        memory=case.memory_bytes,
    )


def _name_of(number: int) -> str:
    """Return the name of a signal; those of real time have none, and still end a program."""
    known = number in set(signals.Signals)
    return signals.Signals(number).name if known else f"SIG{number}"


def _content(file: File, field: str) -> bytes:
    try:
        if file.encoding == "base64":
            return base64.b64decode(file.content, validate=True)
        return bytes.fromhex(file.content) if file.encoding == "hex" else file.content.encode()
    except ValueError:
        raise InputError(f"is not {file.encoding}", field=f"{field}.content") from None


def runtimes() -> list[Runtime]:
    """Return the languages whose toolchains are here; asks each for its version, once."""
    found = []
    for name, language in registry.languages().items():
        try:
            version = toolchain(name).version if language.tools else "3"
        except Missing:
            continue
        found.append(Runtime(language=name, version=version, aliases=language.aliases))
    return found
