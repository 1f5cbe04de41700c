"""A solution in the tests' own process, with the interface that the protocol's has: enough to test what calls it."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable
from typing import Any

from scalebox.execute.separate import frames, harness, rewrite

SOLUTION = """
calls = []
LIMIT = 3
def f(x):
    calls.append(x)
    if x == 99:
        raise ValueError("no")
    return x + 1
def skip():
    import unittest
    raise unittest.SkipTest("skip me")
def end():
    raise SystemError("gone")
class Solution:
    def twice(self, x):
        return 2 * x
"""


class DidNotStart(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind, self.message = kind, message


class Lost(BaseException):
    """The solution's process has ended."""


class Solution:
    """Runs `source`; its functions mark what they raise as the solution's. A SystemError means that it is lost."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._namespace: dict[str, Any] = {"__name__": "solution"}
        self.names: frozenset[str] = frozenset()
        self.requests = 0
        self.lost: BaseException | None = None

    def start(self) -> None:
        try:
            exec(self._source, self._namespace)  # noqa: S102 - solutions of these tests
        except BaseException as error:
            raise DidNotStart(type(error).__name__, str(error)) from None
        self.names = frozenset(name for name in self._namespace if not name.startswith("__"))

    def get(self, name: str) -> Any:
        value = self._namespace[name]
        return self._wrap(value) if type(value).__name__ == "function" else value

    def close(self) -> None:
        self._namespace = {}

    def _wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.requests += 1
            if self.lost is not None:
                raise self.lost
            try:
                return function(*args, **kwargs)
            except SystemError as error:  # what these solutions raise to be lost
                self.lost = Lost(str(error))
                raise self.lost from None
            except BaseException as error:
                error.scalebox_remote = True  # type: ignore[attr-defined]
                raise

        return call


def build(test: str, setup: str = "") -> dict[str, Any]:
    return rewrite.build_tests(test, "tests.py", setup)


def run(test: str, solution: str, setup: str = "", *, board: bool = False, **item: Any) -> frames.Report:
    """Build and run one item against a solution; return what the worker would read."""
    built = build(test, setup)
    assert built["ok"], built
    return run_built(built, Solution(solution), board=board, **item)


def run_built(built: dict[str, Any], solution: Any, *, board: bool = False, **item: Any) -> frames.Report:
    side = harness.Side(solution, (DidNotStart,), (Lost,))
    with tempfile.TemporaryFile(buffering=0) as file, tempfile.TemporaryFile(buffering=0) as memory:
        memory.truncate(frames.BOARD_BYTES)
        out = frames.Frames(file.fileno(), memory.fileno() if board else -1)
        harness.run_item(side, out, built, item)
        seen = os.pread(memory.fileno(), frames.BOARD_BYTES, 0) if board else b""
        return frames.report(os.pread(file.fileno(), 1 << 26, 0), seen)


def statuses(report: frames.Report) -> list[str]:
    return [case.status for case in report.cases]


def named(report: frames.Report) -> dict[str, str]:
    """Return the status of each case by its name."""
    return {case.name: case.status for case in report.cases}
