"""The pytest plugin that decides which tests run, and records what each came to.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax; pytest 7 or
later.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from scalebox.execute.separate.cases import from_solution, remote_status
from scalebox.execute.separate.frames import Frames
from scalebox.execute.separate.suite import Suite

_MOST_DETAIL = 2000
_MOST_TEXT = 300
_WHOLE = [("call", "passed"), ("setup", "passed"), ("teardown", "passed")]


class _Test:
    """A required test under way: what each phase of it came to."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, str]] = []
        self.problem: tuple[str, str, str] | None = None
        self.said: Any = None
        self.began = time.monotonic_ns()


class Recorder:
    """The plugin: runs the required tests and no other, and reports each as a case when it is over."""

    def __init__(self, suite: Suite, finder: Any, frames: Frames) -> None:
        self._suite = suite
        self._finder = finder
        self._frames = frames
        self._tops = {name.partition(".")[0] for name in finder.names}
        self._left = dict(suite.names)
        self._passed = 0
        self._collected: dict[str, int] = {}
        #: Why files, classes or packages yielded no tests: (status, detail, text) by their ids.
        self._barred: dict[str, tuple[str, str, str]] = {}
        self._fault = ""
        self._broken = ""
        self._session: Any = None
        self._test = _Test()

    # -- before and during collection ----------------------------------------------------------------------------

    def pytest_configure(self, config: Any) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            config.pluginmanager.unregister(reporter)

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session

    def pytest_itemcollected(self, item: Any) -> None:
        self._collected[item.nodeid] = self._collected.get(item.nodeid, 0) + 1

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "skipped":
            self._barred[report.nodeid] = ("skipped", _reason(report), "")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        # A test that is there twice would be two tests by one name: neither counts.
        items[:] = [item for item in items if item.nodeid in self._left and self._collected.get(item.nodeid) == 1]

    # -- a test --------------------------------------------------------------------------------------------------

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test = _Test()
        self._frames.put("began", self._suite.names[nodeid])

    def pytest_runtest_setup(self) -> None:
        # Explanations of how two values differ can take time that is quadratic in the size of what a solution returns.
        util = sys.modules.get("_pytest.assertion.util")
        if util is not None and hasattr(util, "_reprcompare"):
            vars(util)["_reprcompare"] = None

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        import inspect

        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        import asyncio

        names = pyfuncitem._fixtureinfo.argnames
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        test = self._test
        test.phases.append((report.when, report.outcome))
        if report.outcome == "failed":
            test.said = report.longrepr
        if test.problem is None and hasattr(report, "wasxfail"):
            expected = report.outcome == "skipped"
            said = f"expected to fail: {report.wasxfail}" if expected else "passed, though it is marked as failing"
            test.problem = ("skipped" if expected else "failed", said[:_MOST_DETAIL], "")
        elif test.problem is None and report.outcome == "skipped":
            test.problem = ("skipped", _reason(report), "")

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if report.when == "collect":
            self._bar(node.nodeid, call.excinfo.value)
        elif self._test.problem is None:
            self._test.problem = self._problem(call.excinfo.value, report.when)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        lost = self._finder.solution.lost
        if lost is not None:  # said anew, for the test may have caught what was raised
            self._session.shouldstop = str(lost) or type(lost).__name__
            return  # the case is left as it is, running: how the solution ended is seen from outside
        test = self._test
        status, detail, text = test.problem or ("passed", "", "")
        if not self._suite.intact():
            status, detail, text = "error", "the suite's files were changed while it ran", ""
        elif status == "passed" and sorted(test.phases) != _WHOLE:
            status, detail = "failed", str(test.said or "it did not run, once, from its setup to its teardown")
        self._give(nodeid, status, detail, text, test.began)

    def pytest_internalerror(self, excinfo: Any) -> None:
        self._broken = self._broken or f"pytest itself failed: {_message(excinfo.value)}"

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self._broken = self._broken or f"the run was interrupted: {_message(excinfo.value)}"

    # -- afterwards ----------------------------------------------------------------------------------------------

    def end(self, status: int) -> None:
        """Report what did not run, and end. `status` is pytest's exit status: from 3 on no verdict of tests."""
        lost = self._finder.solution.lost
        for nodeid in list(self._left) if lost is None else ():
            if not (self._suite.mentions(nodeid) or self._barred or self._broken or self._fault):
                self._fault = f"the suite has no test {nodeid!r}"
            self._give(nodeid, *self._why_not(nodeid), 0)
        if status in (3, 4) and not self._finder.touched():
            self._fault = self._fault or self._broken or "pytest could not start with the suite's files and options"
        if self._passed == len(self._suite.names) and not self._finder.used():
            self._fault = "the required tests passed without use of the solution"
        if self._fault:
            end(self._frames, "task", self._fault)
        elif lost is not None:
            end(self._frames, "solution ended", str(lost))
        else:
            end(self._frames, "done", "")

    def _give(self, nodeid: str, status: str, detail: str, text: str, began: int) -> None:
        self._passed += status == "passed"
        name = self._left.pop(nodeid, None)
        if name is not None:
            wall = time.monotonic_ns() - began if began else 0
            self._frames.case(name, status, detail[:_MOST_DETAIL], text[:_MOST_TEXT], wall)

    def _why_not(self, nodeid: str) -> tuple[str, str, str]:
        path = nodeid.partition("::")[0]
        for place, why in self._barred.items():
            if nodeid == place or nodeid.startswith((f"{place}::", f"{place}/")) or place in ("", ".", path):
                return why
        if self._collected.get(nodeid, 0) > 1:
            return "error", f"there are {self._collected[nodeid]} tests of this name", ""
        if self._broken:
            return "error", f"not run: {self._broken}", ""
        return ("skipped", "deselected", "") if nodeid in self._collected else ("error", "no such test was found", "")

    def _bar(self, nodeid: str, error: BaseException) -> None:
        """Note why a file yields no tests, and whether that is the task's fault whatever the solution is."""
        cause = error.__cause__ or error
        self._barred[nodeid] = self._problem(cause, "collect")
        if from_solution(cause):
            return
        if isinstance(cause, SyntaxError) and str(cause.filename).startswith(self._suite.root + os.sep):
            self._fault = f"{nodeid} does not compile: {_message(cause)}"
        missing_module = str(cause.name or "").partition(".")[0] if isinstance(cause, ModuleNotFoundError) else ""
        if missing_module and missing_module not in self._tops:
            self._fault = f"{nodeid} imports {missing_module!r}, which the interpreter does not have"

    def _problem(self, error: BaseException, when: str) -> tuple[str, str, str]:
        import pytest

        remote = from_solution(error)
        mine = isinstance(error, (AssertionError, pytest.fail.Exception)) and not remote
        if type(error).__name__ == "FixtureLookupError" and type(error).__module__.startswith("_pytest."):
            self._fault = self._fault or f"a fixture is missing: {_message(error)}"
        path, number = self._place(error)
        place = f"{path}:{number}: " if number else ""
        status = remote_status(error) if remote else "failed" if mine and when == "call" else "error"
        return status, f"{place}{_message(error)}"[:_MOST_DETAIL], self._suite.line(path, number)

    def _place(self, error: BaseException) -> tuple[str, int]:
        """Return the suite's file and its line in which the innermost frame of the suite stood, or ("", 0)."""
        found = "", 0
        trace = error.__traceback__
        while trace is not None:
            name = trace.tb_frame.f_code.co_filename
            if name.startswith(self._suite.root + os.sep):
                found = name[len(self._suite.root) + 1 :], trace.tb_lineno
            trace = trace.tb_next
        return found


#: How the plugin's hooks are called, beside those of others: after the suite's own hooks have had their say.
_ORDER = {
    "pytest_configure": "trylast",
    "pytest_collection_modifyitems": "trylast",
    "pytest_pyfunc_call": "tryfirst",
}


def arranged(pytest: Any) -> type[Recorder]:
    """Return the plugin's class, its hooks put in order by what this pytest has for that."""
    for name, when in _ORDER.items():
        pytest.hookimpl(**{when: True})(vars(Recorder)[name])
    return Recorder


def end(frames: Frames, reason: str, detail: str) -> None:
    frames.put("ended", reason, detail[:_MOST_DETAIL], [])


def _reason(report: Any) -> str:
    longrepr = report.longrepr
    said = str(longrepr[2] if isinstance(longrepr, tuple) and len(longrepr) == 3 else longrepr or "")[:_MOST_DETAIL]
    return said if said.startswith("Skipped") else f"skipped: {said}"


def _message(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:
        said = "?"
    name = type(error).__name__
    plain = isinstance(error, AssertionError) or name == "Failed"
    return said if plain and said else f"{name}: {said}" if said else name
