"""SandboxFusion's `/run_jupyter`: cells that share a namespace, each with what it printed, showed and raised."""

from __future__ import annotations

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.result import CaseResult
from scalebox.server.compat import in_python
from scalebox.server.compat.fusion import CellRunResult, RunJupyterRequest, RunJupyterResponse, response_of
from scalebox.server.compat.running import Runner
from scalebox.server.compat.sandboxfusion import fetch_files_of, files_of

#: Words that end an answer in which a cell was stopped.
_TIMEOUT = "CellTimeout"


async def run_jupyter(runner: Runner, request: RunJupyterRequest) -> RunJupyterResponse:
    """Run cells. Raises InputError, QueueFull."""
    if request.cell_timeout < 0:
        raise InputError("must not be negative", field="cell_timeout", mend="0 for no limit of its own")
    wanted = fetch_files_of(request.fetch_files)
    code, stdin, marker = in_python.notebook(
        request.cells, wanted, cell_timeout=request.cell_timeout, total_timeout=request.total_timeout
    )
    limits = runner.limits(request.total_timeout, request.total_timeout, request.memory_limit_MB)
    result = await runner.run("python", code, stdin, limits, files_of(request.files))
    case = result.cases[0]
    response = response_of(result, case, compiled=False)
    if response.status == "SandboxError":
        return RunJupyterResponse(status="SandboxError", message=response.message)
    driver = response.run_result
    answer = in_python.of_notebook(case.stdout, marker)
    if driver is None or answer is None:
        return RunJupyterResponse(status="Failed", message=response.message or _ended(case), driver=driver)
    driver.stdout, cells = "", _cells(answer[0])
    if any(error.get("ename") == _TIMEOUT for cell in cells for error in cell.error):
        driver.status, driver.return_code = "TimeLimitExceeded", None
        return RunJupyterResponse(status="Failed", message="time_out: a cell took too long", driver=driver)
    files = {name: data for name, data in answer[1].items() if name in wanted}
    return RunJupyterResponse(status="Success", driver=driver, cells=cells, files=files)


def _ended(case: CaseResult) -> str:
    return f"a cell ended the interpreter, with exit code {case.exit_code}"


def _cells(told: list[dict[str, object]]) -> list[CellRunResult]:
    """Return the cells as far as what was told is of their shape."""
    try:
        return msgspec.convert(told, list[CellRunResult])
    except msgspec.ValidationError:
        return []
