"""Judge0's submission of one program, whose result is waited for."""

from __future__ import annotations

import base64
import math
import secrets
import signal
from typing import Any

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import DOUBTFUL, Verdict
from scalebox.server.compat.running import Runner

#: Judge0's numbers of languages, of its versions 1.13 and later.
LANGUAGES = {
    46: "bash", 50: "c", 48: "c", 49: "c", 75: "c", 103: "c", 110: "c", 51: "csharp", 52: "cpp", 53: "cpp", 54: "cpp",
    76: "cpp", 105: "cpp", 56: "d", 60: "go", 95: "go", 106: "go", 107: "go", 61: "haskell", 62: "java", 91: "java",
    63: "javascript", 93: "javascript", 97: "javascript", 102: "javascript", 64: "lua", 68: "php", 98: "php",
    71: "python", 92: "python", 100: "python", 109: "python", 113: "python", 72: "ruby", 73: "rust", 108: "rust",
    74: "typescript", 94: "typescript", 101: "typescript", 78: "kotlin", 111: "kotlin", 80: "r", 99: "r", 81: "scala",
    112: "scala", 82: "sql", 83: "swift", 85: "perl",
}  # fmt: skip
STATUSES = {
    1: "In Queue", 2: "Processing", 3: "Accepted", 4: "Wrong Answer", 5: "Time Limit Exceeded", 6: "Compilation Error",
    7: "Runtime Error (SIGSEGV)", 8: "Runtime Error (SIGXFSZ)", 9: "Runtime Error (SIGFPE)",
    10: "Runtime Error (SIGABRT)", 11: "Runtime Error (NZEC)", 12: "Runtime Error (Other)", 13: "Internal Error",
    14: "Exec Format Error",
}  # fmt: skip
_BY_SIGNAL = {signal.SIGSEGV: 7, signal.SIGXFSZ: 8, signal.SIGFPE: 9, signal.SIGABRT: 10}
_COMPILE_S = 30.0
_CPU_S, _WALL_S, _MEMORY_KIB = 5.0, 10.0, 128_000.0
#: Fields that are not served: whoever sends them would be given labels of another program.
_NOT_SERVED = (
    "command_line_arguments",
    "compiler_options",
    "additional_files",
    "redirect_stderr_to_stdout",
    "enable_network",
)
_OTHER, _INTERNAL = 12, 13


class Submission(msgspec.Struct, kw_only=True):
    """A program. Times in seconds, memory in KiB; with `expected_output`, the output is judged."""

    source_code: str
    language_id: int
    stdin: str | None = None
    expected_output: str | None = None
    cpu_time_limit: float | None = None
    wall_time_limit: float | None = None
    memory_limit: float | None = None
    #: What would have the program run, or be judged, in another way than here; refused where it asks for something.
    command_line_arguments: str | None = None
    compiler_options: str | None = None
    additional_files: str | None = None
    redirect_stderr_to_stdout: bool | None = None
    enable_network: bool | None = None


class Named(msgspec.Struct, kw_only=True):
    """A status or a language."""

    id: int
    name: str = ""
    description: str = ""


class Judged(msgspec.Struct, kw_only=True):
    """What became of a submission. Time in seconds as text, memory in KiB."""

    status: Named
    token: str
    stdout: str | None = None
    stderr: str | None = None
    compile_output: str | None = None
    message: str | None = None
    time: str | None = None
    memory: int | None = None


async def judged(runner: Runner, request: Submission, *, encoded: bool) -> Judged:
    """Run a program and judge its output where one is expected; texts are base64 where `encoded`.

    Raises InputError, Refused, QueueFull.
    """
    language = LANGUAGES.get(request.language_id)
    if language is None:
        raise InputError(f"language with id {request.language_id} doesn't exist", field="language_id")
    for name in _NOT_SERVED:
        if getattr(request, name):
            raise InputError("is not supported by this server", field=name)
    code, stdin = _text(request.source_code, "source_code", encoded), _text(request.stdin, "stdin", encoded)
    expected = None if request.expected_output is None else _text(request.expected_output, "expected_output", encoded)
    limits = _limits(runner, request)
    if expected is None:
        result = await runner.run(language, code, stdin, limits)
    else:
        limits["processes"] = runner.processes_for(language, code, stdin)
        record = {
            "id": "submission", "language": language, "code": code, "limits": limits,
            "tests": [{"stdin": stdin, "stdout": expected}], "match": {"mode": "trailing_whitespace"},
        }  # fmt: skip
        result = await runner.verify(record)
    return _answer(result, judge=expected is not None, encoded=encoded)


def _limits(runner: Runner, request: Submission) -> dict[str, Any]:
    """Return the limits of a submission; where it says null, as Judge0's own examples do, the defaults count."""
    cpu_s = _CPU_S if request.cpu_time_limit is None else request.cpu_time_limit
    wall_s = _WALL_S if request.wall_time_limit is None else request.wall_time_limit
    memory_kib = _MEMORY_KIB if request.memory_limit is None else request.memory_limit
    return runner.limits(cpu_s, _COMPILE_S, _mib(memory_kib)) | {"wall_s": max(wall_s, cpu_s)}


def _answer(result: VerificationResult, *, judge: bool, encoded: bool) -> Judged:
    (case,) = result.cases
    number = _status(case, judge=judge)
    answer = Judged(status=Named(id=number, description=STATUSES[number]), token=secrets.token_hex(16))
    if case.verdict == Verdict.COMPILE_ERROR:
        answer.compile_output = _told(result.message, encoded)
        return answer
    answer.stdout, answer.stderr = _told(case.stdout, encoded), _told(case.stderr, encoded)
    answer.time, answer.memory = f"{case.cpu_s:.3f}", case.memory_bytes // 1024
    if number in (_OTHER, _INTERNAL):
        answer.message = _told(case.detail or result.message, encoded)
    return answer


def _status(case: CaseResult, *, judge: bool) -> int:
    if case.verdict in DOUBTFUL:
        return _INTERNAL
    if case.verdict == Verdict.PASSED or (case.verdict == Verdict.OUTPUT_MISMATCH and not judge):
        return 3
    known = {Verdict.OUTPUT_MISMATCH: 4, Verdict.TIME_OUT: 5, Verdict.COMPILE_ERROR: 6}
    if case.verdict in known:
        return known[case.verdict]
    if case.signal in _BY_SIGNAL:
        return _BY_SIGNAL[signal.Signals(case.signal)]
    return 11 if case.exit_code else _OTHER


def _mib(kib: float) -> int:
    """Return MiB, one at least. Raises InputError for what is no amount: a text may say infinity."""
    if not 0 < kib < math.inf:
        raise InputError(f"{kib} makes no sense", field="memory_limit", mend="KiB, more than 0")
    return max(1, round(kib / 1024))


def _text(text: str | None, field: str, encoded: bool) -> str:
    if not encoded:
        return text or ""
    try:
        return base64.b64decode(text or "").decode()
    except ValueError:
        raise InputError("is not base64 of text", field=field) from None


def _told(text: str, encoded: bool) -> str | None:
    """Return a text as Judge0 has it: nothing where there is none."""
    if not text:
        return None
    return base64.b64encode(text.encode()).decode() if encoded else text
