"""Piston's `/api/v2/execute` and `/api/v2/runtimes`."""

from __future__ import annotations

import base64
import signal as signals
from typing import Literal

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

#: What Piston says of a run that did not end by itself with an exit code.
_STATUS = {
    Verdict.TIME_OUT: "TO",
    Verdict.OUTPUT_EXCEED: "OL",
    Verdict.RUNTIME_ERROR: "RE",
    Verdict.RESOURCE_DENIED: "RE",
}


class File(msgspec.Struct, kw_only=True):
    """A file; the first one is the program."""

    content: str
    name: str = ""
    encoding: Literal["utf8", "base64", "hex"] = "utf8"


class ExecuteRequest(msgspec.Struct, kw_only=True):
    """A program to run. Times in milliseconds, memory in bytes, -1 for no limit of its own."""

    language: str
    files: list[File]
    version: str = "*"
    stdin: str = ""
    args: list[str] = []
    compile_timeout: float = 10_000
    run_timeout: float = 3_000
    run_memory_limit: int = -1


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
    names = paths_of([file.name for file in request.files[1:]], "files")
    memory_mb = max(1, request.run_memory_limit // MIB) if request.run_memory_limit > 0 else -1
    limits = runner.limits(request.run_timeout / 1000, request.compile_timeout / 1000, memory_mb)
    result = await runner.run(
        language.name, program.decode("utf-8", "replace"), request.stdin, limits, dict(zip(names, others, strict=True))
    )
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


def _stage(case: CaseResult) -> StageResult:
    known = case.signal in set(signals.Signals)
    name = signals.Signals(case.signal).name if case.signal is not None and known else None
    stopped = case.verdict in (Verdict.TIME_OUT, Verdict.MEMORY_EXCEED, Verdict.OUTPUT_EXCEED)
    return StageResult(
        stdout=case.stdout,
        stderr=case.stderr,
        output=case.stdout + case.stderr,
        code=None if stopped or name else case.exit_code,
        signal="SIGKILL" if stopped else name,
        message=case.detail if stopped else None,
        status="SG" if name and not stopped else _STATUS.get(case.verdict) if case.exit_code or stopped else None,
        cpu_time=case.cpu_s * 1000,
        wall_time=case.wall_s * 1000,
        memory=case.memory_bytes,
    )


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
