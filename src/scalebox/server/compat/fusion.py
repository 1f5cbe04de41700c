"""The shapes of SandboxFusion: what its clients send, and what they expect."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import DOUBTFUL, Verdict

CommandStatus = Literal["Finished", "Error", "TimeLimitExceeded"]
RunStatus = Literal["Success", "Failed", "SandboxError"]

#: Verdicts of programs that we stopped, or whose result a limit voids.
_STOPPED = frozenset({Verdict.MEMORY_EXCEED, Verdict.OUTPUT_EXCEED})
_KILLED = 9


class RunCodeRequest(msgspec.Struct, kw_only=True):
    """A program to run. Times in seconds; `files` are base64 by name."""

    code: str
    language: str
    compile_timeout: float = 10
    run_timeout: float = 10
    memory_limit_MB: int = -1
    stdin: str | None = None
    files: dict[str, str | None] = {}
    fetch_files: list[str] = []
    args: list[str] = []


class CommandRunResult(msgspec.Struct, kw_only=True):
    """One command, the compiler or the program. Time in seconds."""

    status: CommandStatus
    execution_time: float | None = None
    return_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None


class RunCodeResponse(msgspec.Struct, kw_only=True):
    """What became of a program: `Success` is an end with exit code 0."""

    status: RunStatus
    message: str = ""
    compile_result: CommandRunResult | None = None
    run_result: CommandRunResult | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = {}


class RunJupyterRequest(msgspec.Struct, kw_only=True):
    """Cells to run one after another in one interpreter."""

    cells: list[str]
    cell_timeout: float = 0
    total_timeout: float = 45
    memory_limit_MB: int = -1
    kernel: Literal["python3"] = "python3"
    files: dict[str, str | None] = {}
    fetch_files: list[str] = []


class CellRunResult(msgspec.Struct, kw_only=True):
    """One cell: what it printed, what it showed, and how it failed."""

    stdout: str = ""
    stderr: str = ""
    display: list[dict[str, Any]] = []
    error: list[dict[str, Any]] = []


class RunJupyterResponse(msgspec.Struct, kw_only=True):
    """What became of the cells that were run."""

    status: RunStatus
    message: str = ""
    driver: CommandRunResult | None = None
    cells: list[CellRunResult] = []
    executor_pod_name: str | None = None
    files: dict[str, str] = {}


class TestConfig(msgspec.Struct, kw_only=True):
    """How a completion is judged. `provided_data` is the row of the data set, or its rows."""

    __test__ = False

    dataset_type: str | None = None
    language: str | None = None
    locale: str | None = None
    is_fewshot: bool | None = None
    compile_timeout: float | None = None
    run_timeout: float | None = None
    memory_limit_MB: int = -1
    custom_extract_logic: str | None = None
    provided_data: Any = None
    extra: dict[str, Any] | None = None


class SubmitRequest(msgspec.Struct, kw_only=True):
    """A completion to judge."""

    completion: str
    config: TestConfig
    dataset: str = ""
    id: int | str = 0


class EvalTestCase(msgspec.Struct, kw_only=True):
    """One test of a completion."""

    passed: bool
    exec_info: RunCodeResponse
    test_info: dict[str, Any] | None = None


class EvalResult(msgspec.Struct, kw_only=True):
    """A completion, judged. `extra` has our own verdict, and whether tests and program shared a process."""

    id: int | str
    accepted: bool
    extracted_code: str
    full_code: str | None = None
    test_code: str | None = None
    tests: list[EvalTestCase]
    extracted_type: Literal["fenced", "incomplete_fenced", "heuristic", "empty"] | None = None
    extra: dict[str, Any] | None = None


class PromptsRequest(msgspec.Struct, kw_only=True):
    """Which rows of a data set to make prompts of; without `id` all, from `offset` on."""

    config: TestConfig
    dataset: str = ""
    id: int | str | None = None
    offset: int = 0
    limit: int = 1_000_000


class Prompt(msgspec.Struct, kw_only=True):
    """What a model is asked."""

    id: int | str
    prompt: str
    labels: dict[str, Any] = {}


class MetricsRequest(msgspec.Struct, kw_only=True):
    """Results of a data set, to be summed up."""

    config: TestConfig
    dataset: str = ""
    results: list[dict[str, Any]] = []


class MetricsFunction(msgspec.Struct, kw_only=True):
    """The source of a function that sums results up; no data set here has one."""

    function: str | None = None


def response_of(result: VerificationResult, case: CaseResult, *, compiled: bool) -> RunCodeResponse:
    """Return what SandboxFusion would say of a case of a result, whose program was `compiled` or not."""
    if case.verdict in DOUBTFUL:
        return RunCodeResponse(status="SandboxError", message=f"{case.verdict}: {case.detail or result.message}")
    if case.verdict == Verdict.COMPILE_ERROR:
        return _not_built(case.detail or result.message, result.timings.build_s, compiled=compiled)
    run = CommandRunResult(
        status="Finished", execution_time=case.wall_s, return_code=_return_code(case), stdout=case.stdout,
        stderr=case.stderr,
    )  # fmt: skip
    message = ""
    if case.verdict == Verdict.TIME_OUT:
        run.status, run.return_code, message = "TimeLimitExceeded", None, f"time_out: {case.detail}"
    elif case.verdict in _STOPPED or (case.verdict == Verdict.RESOURCE_DENIED and run.return_code):
        message = f"{case.verdict}: {case.detail}"
    return RunCodeResponse(
        status="Success" if run.return_code == 0 else "Failed",
        message=message,
        compile_result=_built(result.timings.build_s) if compiled else None,
        run_result=run,
    )


def _built(seconds: float) -> CommandRunResult:
    return CommandRunResult(status="Finished", execution_time=seconds, return_code=0, stdout="", stderr="")


def _not_built(message: str, seconds: float, *, compiled: bool) -> RunCodeResponse:
    """Return the answer for a program that is none: in an interpreted language, running it says so."""
    failed = CommandRunResult(
        status="Finished", execution_time=seconds, return_code=1, stdout="", stderr=f"{message}\n"
    )
    if compiled:
        return RunCodeResponse(status="Failed", compile_result=failed)
    return RunCodeResponse(status="Failed", run_result=failed)


def _return_code(case: CaseResult) -> int:
    """Return an exit code as Python's `subprocess` has it; what failed a limit or its tests is never 0."""
    if case.signal:
        return -case.signal
    if case.exit_code:
        return case.exit_code
    if case.verdict in _STOPPED:
        return -_KILLED
    return 1 if case.verdict in (Verdict.RUNTIME_ERROR, Verdict.ASSERT_FAIL) else 0
