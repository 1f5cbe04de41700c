"""Runs the `unittest.TestCase` classes of an item: each test method is a case, `Class.method`.

Runs inside the jail, on the tests' side: standard library alone, Python 3.8 syntax. `unittest` is imported only
where the test has done so.
"""

from __future__ import annotations

import sys
from typing import Any, Iterator

from scalebox.execute.separate.cases import Recorder, from_solution


def run(recorder: Recorder, module: Any, built: dict[str, Any], fatal: tuple[type[BaseException], ...]) -> None:
    """Run all test cases of the module as unittest does. What must not be swallowed (`fatal`) is raised in the end."""
    unittest: Any = sys.modules.get("unittest")
    if unittest is None:
        return
    suite = unittest.TestLoader().loadTestsFromModule(module)
    names = [_name(test) for test in _tests(suite)]
    if not names:
        return
    recorder.frames.put("expected", names)
    for test in _tests(suite):
        if _name(test) in recorder.skip:
            setattr(test, test._testMethodName, unittest.skip("")(lambda: None))
    recorder.plain = True
    result = _result(unittest.TestResult, recorder, built, fatal)
    try:
        suite.run(result)
    finally:
        recorder.plain = False
    if result.lost is not None:
        raise result.lost


def _tests(suite: Any) -> Iterator[Any]:
    for test in suite:
        if hasattr(test, "_tests"):
            yield from _tests(test)
        else:
            yield test


def _name(test: Any) -> str:
    """Return `Class.method` of a test, `Class.setUpClass` of what stands for a fixture that failed."""
    parts = str(test.id()).split(".")
    if parts[0].startswith("setUp") or parts[0].startswith("tearDown"):  # "setUpClass (__main__.TestX)"
        fixture, _, place = str(test.id()).partition(" (")
        return "%s.%s" % (place.rstrip(")").rpartition(".")[2], fixture)
    return ".".join(parts[-2:])


def _result(base: Any, recorder: Recorder, built: dict[str, Any], fatal: tuple[type[BaseException], ...]) -> Any:
    """Return a test result that records; a class made here, for `unittest` is not always loaded."""

    class Result(base):  # type: ignore[misc]  # the base is known when it runs
        def __init__(self) -> None:
            super().__init__()
            self.lost: BaseException | None = None
            self._status = self._detail = self._text = ""

        def startTest(self, test: Any) -> None:
            super().startTest(test)
            self._status = self._detail = self._text = ""
            recorder.called_back = None
            recorder.frames.put("began", _name(test))

        def stopTest(self, test: Any) -> None:
            super().stopTest(test)
            if self._status == "passed" and recorder.called_back is not None:
                self._status = "failed"  # the solution has swallowed it
                self._detail, self._text = recorder.called_back
            if self.lost is None:
                # A method that nothing was said of has not passed.
                status, detail = (self._status, self._detail) if self._status else ("error", "it gave no result")
                recorder.named(_name(test), status, detail, self._text)

        def _say(self, test: Any, status: str, detail: str, text: str = "") -> None:
            if not hasattr(test, "_testMethodName"):  # stands for a fixture of a class or module
                recorder.named(_name(test), status, detail, text)
            elif self._status in ("", "passed"):
                self._status, self._detail, self._text = status, detail, text

        def _say_error(self, test: Any, error: BaseException) -> None:
            if isinstance(error, fatal):
                self.lost = self.lost or error
                self.stop()
            status, detail = recorder.judged(error)
            self._say(test, status, detail, recorder.source(error))

        def addSuccess(self, test: Any) -> None:
            self._say(test, "passed", "")

        def addError(self, test: Any, err: Any) -> None:
            self._say_error(test, err[1])

        addFailure = addError

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
            if err is not None:
                self._say_error(test, err[1])

        def addSkip(self, test: Any, reason: str) -> None:
            error = sys.exc_info()[1]
            if error is not None and from_solution(error):
                self._say_error(test, error)
            else:
                self._say(test, "skipped", "skipped: %s" % str(reason)[:200])

        def addExpectedFailure(self, test: Any, err: Any) -> None:
            self._say(test, "skipped", "failed as expected: a test that must fail shows nothing")

        def addUnexpectedSuccess(self, test: Any) -> None:
            self._say(test, "failed", "passed, but is marked as failing")

    return Result()
