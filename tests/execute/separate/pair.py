"""A solution in a process of its own, for tests of the protocol."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scalebox.execute.separate.remote import Solution

_CHILD = Path(__file__).with_name("child.py")


@contextmanager
def process(source: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run `source` as the solution; yield our end's descriptor, which is the caller's to close, and the process."""
    ours, theirs = socket.socketpair()
    with theirs:
        child = subprocess.Popen(
            [sys.executable, str(_CHILD), str(theirs.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
        )
    with child:
        assert child.stdin is not None
        child.stdin.write(source.encode())
        child.stdin.close()
        try:
            yield ours.detach(), child
        finally:
            child.kill()


@contextmanager
def solution(source: str, **options: Any) -> Iterator[Solution]:
    """Run `source` as the solution; yield the tests' view of it, started."""
    with process(source) as (fd, _):
        made = Solution(fd, **{"own_modules": (_own_module(),), **options})
        try:
            made.start()
            yield made
        finally:
            made.close()


def _own_module() -> str:
    """Return the name of the module that the test is in."""
    frame = sys._getframe()
    while frame.f_globals["__name__"] in (__name__, "contextlib"):
        frame = frame.f_back  # type: ignore[assignment]
    return str(frame.f_globals["__name__"])
