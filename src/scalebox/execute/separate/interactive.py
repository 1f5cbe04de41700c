"""Runs an item that is an interactive session, as doctest does: each example is a case.

Runs inside the jail, on the tests' side: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import re
from typing import Any

from scalebox.execute.separate.cases import Recorder
from scalebox.execute.separate.show import shown

_PREFIX = re.compile(r"^solution\.(?=[\w.]+(?::|$))")


def _output(text: str) -> str:
    """Return what an example printed, of a traceback its last line."""
    if text.startswith("Traceback "):
        text = text.rstrip().rpartition("\n")[2] + "\n"
    return shown(text)


def run(
    recorder: Recorder, text: str, names: dict[str, Any], fatal: tuple[type[BaseException], ...]
) -> tuple[str, str]:
    """Run the examples in `text`. Returns ("", ""), or ("task", why) where the session cannot be read."""
    import doctest

    try:
        test = doctest.DocTestParser().get_doctest(text, names, "tests", None, 0)
    except ValueError as error:
        return "task", "the session cannot be read: %s" % str(error)[:200]
    test.globs = names

    class Checker(doctest.OutputChecker):
        example: Any = None

        def check_output(self, want: str, got: str, flags: int) -> bool:
            if super().check_output(want, got, flags):
                return True
            # An exception's class is named with its module, which is `__main__` where session and program are one.
            return want is self.example.exc_msg and super().check_output(want, _PREFIX.sub("", got, count=1), flags)

    class Runner(doctest.DocTestRunner):
        lost: BaseException | None = None

        def report_start(self, out: Any, test: Any, example: Any) -> None:
            checker.example = example

        def report_success(self, out: Any, test: Any, example: Any, got: str) -> None:
            if self.lost is None:
                recorder.one("passed", "", example.source.strip())

        def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
            if self.lost is None:
                detail = "expected %s, got %s" % (_output(example.want), _output(got))
                recorder.one("failed", detail, example.source.strip())

        def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
            error = exc_info[1]
            if isinstance(error, fatal):
                self.lost = self.lost or error
            if self.lost is None:
                recorder.one("error", recorder.judged(error)[1], example.source.strip())

    checker = Checker()
    runner = Runner(checker, verbose=False)
    runner.run(test, out=lambda text: None, clear_globs=False)
    if runner.lost is not None:
        raise runner.lost
    return "", ""
