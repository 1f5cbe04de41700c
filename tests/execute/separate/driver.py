"""Runs items in two processes, without a jail: jobs as JSON lines on the standard input, reports on the output."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from scalebox.execute.separate import frames, harness, rewrite, serve


def fork(other_end: socket.socket, function: Callable[[], int]) -> int:
    """Run `function` in a child, without the other child's end of the connection; return the child's number."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        other_end.close()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = function()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def solve(fd: int, source: str) -> int:
    module = type(sys)("solution")
    sys.modules["solution"] = module
    vars(module)["__file__"] = "solution.py"
    return serve.serve(fd, compile(source, "solution.py", "exec"), vars(module))


def work(job: dict[str, Any]) -> dict[str, Any]:
    built = rewrite.build_tests(job["test"], "tests.py", job.get("setup", ""))
    if not built["ok"] or job.get("only_build"):
        return {"built": {key: built[key] for key in ("ok", "message", "shared") if key in built}}
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as memory:
        memory.truncate(frames.BOARD_BYTES)
        return run(job, built, file, memory)


def run(job: dict[str, Any], built: dict[str, Any], file: Any, memory: Any) -> dict[str, Any]:
    ours, theirs = socket.socketpair()
    start = time.monotonic()
    solution = fork(ours, lambda: solve(theirs.detach(), job["solution"]))
    item = {**job.get("item", {}), "board_fd": memory.fileno(), "solution_pid": solution}
    tests = fork(theirs, lambda: harness.run(ours.detach(), file.fileno(), built, item))
    ours.close()
    theirs.close()
    status = wait(tests, start + job.get("seconds", 20))
    os.kill(solution, signal.SIGKILL)
    os.waitpid(solution, 0)
    report = frames.report(os.pread(file.fileno(), 1 << 26, 0), os.pread(memory.fileno(), frames.BOARD_BYTES, 0))
    return {
        "cases": report.cases,
        "reason": report.reason,
        "detail": report.detail,
        "status": status,
        "shared": built["shared"],
        "seconds": time.monotonic() - start,
    }


def wait(pid: int, deadline: float) -> int | None:
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.chdir(tempfile.mkdtemp())
    for line in sys.stdin:
        print(json.dumps(work(json.loads(line))), flush=True)
