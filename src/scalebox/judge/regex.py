"""Regular expressions against hostile texts, within a bound that the kernel keeps.

A pattern that is harmless on honest output can backtrack for years on hostile output, and `re` cannot be
stopped from within. So matching happens in a child process with a limit on its CPU time per job and on
its memory. The child is started at the first job and serves all later ones.
"""

from __future__ import annotations

import contextlib
import re
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Literal

CPU_SECONDS = 2.0

Answer = Literal["match", "no match", "out of time", "out of memory"]

_CHILD = Path(__file__).with_name("regex_child.py")
_HEADER = struct.Struct("<III")
_ANSWERS: dict[bytes, Answer] = {b"1": "match", b"0": "no match", b"m": "out of memory"}


def pattern_problem(pattern: str) -> str:
    """Say why `pattern` is no regular expression; "" if it is one."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"the expected output is no regular expression: {error}"
    return ""


class Matcher:
    """Owns the child process. Safe to use from several threads, one job at a time."""

    def __init__(self, cpu_seconds: float = CPU_SECONDS) -> None:
        self._milliseconds = int(cpu_seconds * 1000)
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def match(self, pattern: str, text: bytes) -> Answer:
        """Match all of `text`, with or without the white space at its end.

        Raises OSError if the child cannot be started, RuntimeError if it ended for no reason of the job's.
        """
        data = pattern.encode("utf-8", "surrogatepass")
        job = _HEADER.pack(self._milliseconds, len(data), len(text)) + data + text
        with self._lock:
            if self._child is not None and self._child.poll() is not None:
                self._end()  # somebody has killed it since
            self._child = self._child or subprocess.Popen(
                [sys.executable, "-I", "-S", str(_CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
            )
            answer = _exchange(self._child, job)
            if answer in _ANSWERS:
                return _ANSWERS[answer]
            status = self._end()
        if status == -signal.SIGPROF:
            return "out of time"
        raise RuntimeError(f"the matching process answered {answer!r} and ended with status {status}")

    def close(self) -> None:
        """End the child process, if there is one."""
        with self._lock:
            self._end()

    def _end(self) -> int:
        """Let the child end by itself, which it does when its input does; return its status."""
        child, self._child = self._child, None
        if child is None:
            return 0
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(BrokenPipeError):
                if pipe:
                    pipe.close()
        return child.wait()


def _exchange(child: subprocess.Popen[bytes], job: bytes) -> bytes:
    """Return the child's answer to `job`, b"" if it has ended."""
    if child.stdin is None or child.stdout is None:
        return b""
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(job)
        child.stdin.flush()
    return child.stdout.read(1)
