"""Runs one-process tests and suites in a process of their own: what they do to it is no concern of the tests'.

`python apart.py` reads lines of {"what": "suite" | "together" | "script" | "pytest", ...} as JSON, and writes what came
of each.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from scalebox.execute.separate import frames, pytests, rewrite, serve, together
from scalebox.execute.separate.frames import Case
from scalebox.execute.separate.sabotage import sabotage
from scalebox.languages import python

SECONDS = 60


class Run(NamedTuple):
    cases: list[Case]
    reason: str
    detail: str
    status: int  # of the process, as os.waitpid gives it
    given: bool  # whether the process was given the descriptor for results

    @property
    def statuses(self) -> list[str]:
        return [case.status for case in self.cases]

    @property
    def passed(self) -> bool:
        return self.status == 0 and self.reason == "done" and set(self.statuses) == {"passed"}


_servers: list[subprocess.Popen[str]] = []


def _server() -> subprocess.Popen[str]:
    """Return the process that does it all, another one where it was killed meanwhile (as tests of engines may do)."""
    if not _servers or _servers[-1].poll() is not None:
        _servers.append(_start())
    return _servers[-1]


def _start() -> subprocess.Popen[str]:
    """Start the process: it loads what suites need once, as a jail does, and forks for every order."""
    hidden = ("PYTEST", "COV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    command = [sys.executable, "-P", __file__]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, stderr=subprocess.DEVNULL
    )

    def end() -> None:
        with server:
            server.kill()

    atexit.register(end)
    return server


def run(what: str, **how: Any) -> Run:
    """Do `what` in a fresh process, and return what its frames say."""
    server = _server()
    assert server.stdin
    assert server.stdout
    with tempfile.TemporaryDirectory() as place:
        server.stdin.write(json.dumps({"what": what, "place": place, **how}) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
    assert "error" not in answer, answer
    cases = [Case(*case) for case in answer.pop("cases")]
    return Run(cases, **answer)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def _child(act: Callable[[], int], *keep: int) -> int:
    """Fork; run `act` with no descriptors but `keep` and the standard ones, on nothing; return the process's id."""
    pid = os.fork()
    if pid:
        return pid
    status = 70
    try:
        _end_with_parent()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1):
            os.dup2(null, fd)
        for fd in {*range(3, 256)}.difference(keep):
            with contextlib.suppress(OSError):
                os.close(fd)
        status = act()
    finally:
        os._exit(status)


def _alone(order: Mapping[str, Any], fd: int) -> int:
    code = compile(order["solution"], "solution.py", "exec")
    if order["what"] == "script":
        return together.run_script(fd, code, {"__name__": "__main__"})
    if order["what"] == "pytest":
        item = {**order["item"], "kind": "pytest", "folder": order["place"]}
        built = pytests.build(item["files"], item["modules"])
    else:
        built, item = rewrite.build_tests(order["tests"], "tests.py"), {"kind": "assert"}
    module = ModuleType("solution")
    return together.run(fd, code, module, built, item)


def _one_process(order: Mapping[str, Any], memory: int) -> tuple[bool, int]:
    ours, theirs = together.open_gate()
    pid = _child(lambda: _alone(order, theirs), theirs)
    os.close(theirs)
    given = together.keep_gate(ours, memory)
    return given, os.waitpid(pid, 0)[1]


def _two_processes(order: Mapping[str, Any], memory: int) -> tuple[bool, int]:
    kind = order.get("sabotage")
    source = order["solution"]
    code = sabotage(source.encode(), "solution.py", kind) if kind else compile(source, "solution.py", "exec")
    assert code is not None
    module = ModuleType("solution")
    ours, theirs = socket.socketpair()
    end = ours.detach()

    def solve() -> int:
        sys.modules["solution"] = module
        sys.path.insert(0, "")
        return serve.serve(theirs.fileno(), code, vars(module))

    pid = _child(solve, theirs.fileno())
    theirs.close()
    item = {**order["item"], "folder": order["place"]}
    built = pytests.build(item["files"], item["modules"])
    tests = _child(lambda: pytests.run(end, memory, built, item), end, memory)
    os.close(end)
    status = os.waitpid(tests, 0)[1]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return True, status


def _answer(order: Mapping[str, Any]) -> dict[str, Any]:
    memory = os.memfd_create("frames")
    os.mkdir(os.path.join(order["place"], "work"))
    os.chdir(os.path.join(order["place"], "work"))
    for name, text in order.get("others", {}).items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    given, status = (_two_processes if order["what"] == "suite" else _one_process)(order, memory)
    report = frames.report(os.pread(memory, 1 << 24, 0))
    return {**report._asdict(), "status": status, "given": given}


def main() -> None:
    for name in python.PYTEST:
        __import__(name)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _end_with_parent()
            signal.alarm(SECONDS)
            try:
                print(json.dumps(_answer(json.loads(line))), flush=True)
            except BaseException:
                print(json.dumps({"error": traceback.format_exc()}), flush=True)
            finally:
                os._exit(0)
        if os.waitpid(pid, 0)[1]:
            print(json.dumps({"error": "it took too long"}), flush=True)


if __name__ == "__main__":
    main()
