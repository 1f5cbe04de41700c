"""Records the cases of a test item: the hooks that rewritten test code calls (rewrite.py).

A failing check is recorded and the run goes on behind it, but only where nothing around it could have ended the
exception in plain Python: between the check and the harness there must be none but frames of the test's own code, and
none of them inside of a `try` or `with` that may catch it (for a false assertion: that may catch an AssertionError).
Else the exception is raised as usual. So a test that would fail in plain Python has a case that did not pass, and one
that would not has none.

Runs inside the jail, on the tests' side: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import builtins
import errno
import re
import sys
import time
from types import FrameType
from typing import Any, Callable, Collection

from scalebox.execute.separate.frames import MAX_BYTES, Frames
from scalebox.execute.separate.show import exception, shown

MAX_CASES = 100_000
#: What the sandbox answers to what it does not allow, and to more files than it has room for.
_REFUSED = (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: After so many cases that did not pass, checks raise as usual: a loop that only a failure ends would have no end.
MAX_FAILURES = 10_000
_DETAIL_BYTES = 256 << 10  # of details and texts together
_TEXT = 300
#: The modules that define pytest's outcomes, which are exceptions.
_OUTCOMES = ("_pytest.", "builtins", __name__.rpartition(".")[0] + ".stand_in")
_PACKAGE = __name__.rpartition(".")[0] + "."
#: What of this package stands between a test and its runner, like any library; `functions` only calls. All else is what
#: the solution calls a test's functions through.
_LIBRARY = frozenset(_PACKAGE + name for name in ("stand_in", "classes", "interactive"))
_CALLER = _PACKAGE + "functions"
_FREE, _SHIELDED, _CALLED_BACK = "free", "shielded", "called back"
#: What ends more than one check when the test itself raises it. To go on deep in a recursion could take forever.
_LEAVING = (GeneratorExit, SystemExit, KeyboardInterrupt, RecursionError)
_HOOKS = ("begin", "keep", "passed", "failed", "raised", "check", "ran")


class PassedOver(BaseException):
    """The case ended an earlier run of the tests; this run is for those behind it."""


def remote_status(error: BaseException) -> str:
    """Return the status that an exception of the solution gives a case."""
    if isinstance(error, MemoryError):
        return "memory"
    number = error.errno if isinstance(error, OSError) else None
    return "refused" if type(number) is int and number in _REFUSED else "error"


def from_solution(error: BaseException) -> bool:
    """Return whether the solution raised `error`."""
    return getattr(error, "scalebox_remote", False) is True


class Recorder:
    """The cases of one item. `fatal` are the exceptions that mean that the solution is lost."""

    def __init__(
        self,
        frames: Frames,
        built: dict[str, Any],
        fatal: tuple[type[BaseException], ...] = (),
        skip: Collection[str] = (),
        skip_from: int = -1,
    ) -> None:
        self.frames = frames
        #: Names of cases that are not to be run, and the number from which on none is (-1: all are).
        self.skip = frozenset(skip)
        self.skip_from = skip_from
        self.count = 0
        #: No case is made of an assert: set-up, and methods of unittest.
        self.plain = True
        #: An exception has left a function or the item: what had not run by then was not reached.
        self.cut = False
        #: Names of the text's test functions that ran.
        self.tested: set[str] = set()
        self.made_named = False
        #: Detail and text of an assert that failed where the solution had called it, while no case is made of asserts.
        self.called_back: tuple[str, str] | None = None
        self._fatal = fatal
        self._built = built
        self._kept: dict[int, Any] = {}
        self._slots_of: dict[int, list[Any]] = {}
        self._start = time.monotonic_ns()
        self._budget = _DETAIL_BYTES
        self._own: tuple[BaseException, str] | None = None
        self._raising: BaseException | None = None
        self._recorded: BaseException | None = None
        self._failures = 0
        self._more = 0
        self._more_status = "passed"
        self._more_detail = ""

    def install(self) -> None:
        """Make the hooks known to rewritten code."""
        for name in _HOOKS:
            setattr(builtins, "@" + name, getattr(self, name))

    @staticmethod
    def remove() -> None:
        for name in _HOOKS:
            vars(builtins).pop("@" + name, None)

    # What rewritten code calls.

    def begin(self, site: int) -> None:
        """Say on the board that a case begins at a site."""
        frames = self.frames
        frames.board[3] = site + 1
        if site < len(frames.seen):
            frames.seen[site] = 1

    def guard(self) -> None:
        """Keep a call to the solution from being made in a case that is not to be run."""
        if self.plain or not self.frames.board[3]:  # between cases
            return
        if str(self.count) in self.skip or 0 <= self.skip_from <= self.count:
            raise PassedOver

    def keep(self, slot: int, value: Any) -> Any:
        self._kept[slot] = value
        return value

    def passed(self, site: int) -> None:
        self._kept.clear()
        if self.plain:
            return
        if self.count >= MAX_CASES - 1 or self.frames.written > MAX_BYTES // 2:
            self._add("passed", "", "", site)
            return
        now = time.monotonic_ns()
        self.frames.passed(self.count, site, now - self._start, now)
        self._start = now
        self.count += 1

    def failed(self, site: int, *message: Any) -> None:
        """Record a false assertion; raise AssertionError instead where that may be caught."""
        doubtful = self._built["sites"][site][-1] > 1
        place = _SHIELDED if doubtful else self._place(sys._getframe(1), whole=True)
        detail, text = self._why(site, message)
        self._kept.clear()
        if self.plain:
            self.called_back = (detail, text) if place is _CALLED_BACK else self.called_back
            place = _SHIELDED
        if place is not _SHIELDED:
            self._add("failed", detail, text, site)
        if place is _FREE:
            return
        error = AssertionError(*message)
        self._own = error, detail
        self._raising = error
        if place is _CALLED_BACK:
            self._recorded = error
        raise error

    def raised(self, site: int) -> bool:
        """Record the exception that the evaluation of an assert raised; return whether it must go on."""
        error = sys.exc_info()[1]
        self._kept.clear()
        if error is None or error is self._raising:  # this very assert's
            self._raising = None
            return True
        return not self._settle(error, sys._getframe(1), site, self._head(site) + ": ")

    def check(self, site: int) -> Check:
        return Check(self, site)

    def ran(self, name: str) -> None:
        self.tested.add(name)

    # What the harness calls.

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call `function`; checks below it are recorded. What they raise ends here, at the latest."""
        return function(*arguments)

    def settle(self, error: BaseException, text: str = "") -> None:
        """Record the exception that ended a piece of test code, if it is not recorded yet."""
        self.cut = True
        if isinstance(error, PassedOver):
            self._add("over", "", "", -1)
            return
        if error is not self._recorded:
            status, detail = self.judged(error)
            self._add(status, detail, self.source(error) or text, -1)

    def judged(self, error: BaseException) -> tuple[str, str]:
        """Return the (status, detail) that an exception means."""
        if self._own is not None and error is self._own[0]:
            return "failed", self._own[1]
        if from_solution(error):
            return remote_status(error), "the program raised " + exception(error)
        name, module = type(error).__name__, type(error).__module__
        missing = self.missing_name(error)
        if missing:
            return "error", "the program defines no %r" % missing
        if isinstance(error, SystemExit):
            return "error", "the test ended itself (exit status %s)" % shown(error.code, 50)
        outcomes = module.startswith(_OUTCOMES)
        if name == "SkipTest" or (name == "Skipped" and outcomes):
            return "skipped", exception(error)
        if isinstance(error, AssertionError) or (name == "Failed" and outcomes):
            return "failed", exception(error)
        return "error", exception(error)

    def missing_name(self, error: BaseException) -> str:
        """Return the name that the text takes from the solution in vain, if that is what `error` says, else ""."""
        if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and not from_solution(error):
            found = re.match(r"name '(\w+)' is not defined", str(error))
            if found and found.group(1) not in self._built["own"]:
                return found.group(1)
        return ""

    def is_missing_module(self, error: BaseException) -> bool:
        """Return whether `error` says that a module which the text imports is not installed: the task's fault."""
        if not isinstance(error, ModuleNotFoundError) or from_solution(error):
            return False
        return type(error.name) is str and error.name.partition(".")[0] in self._built["imports"]

    def one(self, status: str, detail: str, text: str) -> None:
        """Record one case of the harness's own."""
        self._add(status, detail, text, -1)

    def named(self, name: str, status: str, detail: str, text: str = "") -> None:
        """Record a case that has a name instead of a number."""
        detail, text = self._fit(detail, text)
        self.frames.case(name, status, detail, text, self._lap())
        self.made_named = True

    def source(self, error: BaseException) -> str:
        """Return the last line of the test that an exception passed through."""
        line = last_line(error, self._built["filename"])
        lines = self._built["lines"].get(self._built["filename"], [])
        return _cut(lines[line - 1].strip(), _TEXT) if 0 < line <= len(lines) else ""

    def finish(self) -> None:
        """Write the case that stands for all beyond the bound."""
        if self._more:
            text = "and %d more" % self._more
            self._write(self._more_status, self._more_detail, text, -1)
            self._more = 0

    def unreached(self, after_line: int = 0) -> list[int]:
        """Return the sites of asserts behind a line that never ran."""
        seen = self.frames.seen
        return [
            number
            for number, site in enumerate(self._built["sites"][: len(seen)])
            if site[0] == "assert" and site[1] == self._built["filename"] and not seen[number] and site[2] > after_line
        ]

    def text(self, site: int) -> str:
        """Return the source of a site."""
        sites = self._built["sites"]
        if not 0 <= site < len(sites):
            return ""
        _, filename, line, column, end_line, end_column, _ = sites[site]
        if end_column == 0:  # a compound statement, up to its body
            end_line, end_column = max(line, end_line - 1), 1 << 30
        return source_text(self._built["lines"][filename], line, column, end_line, end_column)

    # How.

    def _lap(self) -> int:
        now = time.monotonic_ns()
        wall, self._start = now - self._start, now
        return wall

    def _settle(self, error: BaseException, frame: FrameType, site: int, head: str = "") -> bool:
        """Record what left a check with an exception; return whether that was its end."""
        if isinstance(error, PassedOver):
            if self._place(frame, whole=False) is not _FREE:
                return False
            self._add("over", "", "", site)
            return True
        if self.plain or isinstance(error, self._fatal) or self.is_missing_module(error):
            return False
        if not from_solution(error) and (isinstance(error, _LEAVING) or _is_cancelled(error)):
            return False
        place = _SHIELDED if self._built["sites"][site][-1] else self._place(frame, whole=False)
        if place is _SHIELDED:
            return False
        if error is not self._recorded:
            status, detail = self.judged(error)
            own = self._own is not None and error is self._own[0]
            self._add(status, detail if own else head + detail, self.text(site), site)
            self._recorded = None if place is _FREE else error
        return place is _FREE

    def _place(self, frame: Any, whole: bool) -> str:
        """Return what would become of an exception raised in `frame`, whose own text does not catch it.

        `whole`: it is a failed assertion of the test's.
        """
        if self._failures >= MAX_FAILURES:
            return _SHIELDED
        shields, base, mine = self._built["shields"], _BASE, True
        while frame is not None:
            code = frame.f_code
            if code is base:
                return _FREE
            ranges = shields.get(code.co_filename)
            if ranges is None:
                module = str(frame.f_globals.get("__name__"))
                if module != _CALLER:
                    bridge = module.startswith(_PACKAGE) and module not in _LIBRARY
                    return _CALLED_BACK if bridge else _SHIELDED
            elif not mine:
                line = frame.f_lineno
                if any(first <= line <= last and (catches or not whole) for first, last, catches in ranges):
                    return _SHIELDED
            mine = False
            frame = frame.f_back
        return _SHIELDED

    def _why(self, site: int, message: tuple[Any, ...]) -> tuple[str, str]:
        """Return what a failed assertion says of itself, and its source."""
        text = self.text(site)
        if self._budget <= 0:
            return "", text
        parts, others = [], []
        for number, label, position, constant in self._slots(site):
            if position is None:
                parts += ["%s %s" % (label, constant)] if label else []
            elif number in self._kept and not _is_code(self._kept[number]):
                value = shown(self._kept[number])
                if label:
                    parts.append("%s %s" % (label, value))
                elif value not in ("True", "False"):
                    others.append("%s = %s" % (_cut(self._stretch(site, position), 60), value))
        values = ", ".join(parts + others)
        said = "".join(": " + _plain(part) for part in message)
        return self._head(site) + (": " if values else "") + values + said, text

    def _head(self, site: int) -> str:
        """Return the expression that an assert tests, the first line of it."""
        for _, label, position, _ in self._slots(site):
            if label == "test":
                first, newline, _ = self._stretch(site, position).partition("\n")
                return first + " …" if newline else first
        return self.text(site)

    def _stretch(self, site: int, position: tuple[int, int, int, int]) -> str:
        return source_text(self._built["lines"][self._built["sites"][site][1]], *position)

    def _slots(self, site: int) -> list[tuple[int, str, Any, str]]:
        if not self._slots_of:
            for number, (owner, *rest) in enumerate(self._built["slots"]):
                self._slots_of.setdefault(owner, []).append((number, *rest))
        return self._slots_of.get(site, [])

    def _add(self, status: str, detail: str, text: str, site: int) -> None:
        self._failures += status != "passed"
        if self.count >= MAX_CASES - 1 or self.frames.written > MAX_BYTES // 2:
            self._more += 1
            if status != "passed" and self._more_status == "passed":
                self._more_status, self._more_detail = status, detail
        else:
            self._write(status, detail, text, site)

    def _write(self, status: str, detail: str, text: str, site: int) -> None:
        detail, text = self._fit(detail, text)
        if status == "passed" and site >= 0:
            now = time.monotonic_ns()
            self.frames.passed(self.count, site, now - self._start, now)
            self._start = now
        else:
            self.frames.case(str(self.count), status, detail, text, self._lap(), self.count)
        self.count += 1

    def _fit(self, detail: str, text: str) -> tuple[str, str]:
        if self._budget <= 0:
            return "", ""
        detail, text = _cut(detail, 1200), _cut(text, _TEXT)
        self._budget -= len(detail) + len(text)
        return detail, text


_BASE = Recorder.call.__code__


class Check:
    """A statement that checks by itself: one case, if no case was made inside of it."""

    __slots__ = ("_before", "_recorder", "_site")

    def __init__(self, recorder: Recorder, site: int) -> None:
        self._recorder = recorder
        self._site = site

    def __enter__(self) -> None:
        # Never skipped as a whole: what ended an earlier run may be a case inside of it, of the same number.
        self._before = self._recorder.count
        self._recorder.begin(self._site)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        recorder = self._recorder
        if error is None:
            if recorder.count == self._before and not recorder.plain:
                recorder._add("passed", "", "", self._site)
            return False
        ended = recorder._settle(error, sys._getframe(1), self._site)
        recorder.cut = recorder.cut or ended
        return ended


def _is_cancelled(error: BaseException) -> bool:
    return type(error).__name__ == "CancelledError" and type(error).__module__.startswith(("asyncio", "concurrent"))


def _is_code(value: Any) -> bool:
    """Return whether a value would only say what the source says."""
    return isinstance(value, (type, type(sys))) or type(value).__name__ in ("function", "builtin_function_or_method")


def _plain(message: Any) -> str:
    return _cut(message, 200) if type(message) is str else shown(message)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def last_line(error: BaseException, filename: str) -> int:
    """Return the number of the last line of `filename` that an exception passed through, or 0."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def source_text(lines: list[str], line: int, column: int, end_line: int, end_column: int) -> str:
    """Return a stretch of source, cut; columns count bytes of UTF-8, as in syntax trees."""
    if not 0 < line <= len(lines):
        return ""
    first = lines[line - 1]
    if end_line > line:
        first = _columns(first, column, 1 << 30)
        return _cut("\n".join([first, *lines[line : min(end_line, line + 5)]]).strip(), _TEXT)
    return _cut(_columns(first, column, end_column).strip(), _TEXT)


def _columns(line: str, start: int, end: int) -> str:
    end = min(end, start + 5 * _TEXT)
    if line.isascii():
        return line[start:end]
    return line.encode("utf-8", "replace")[start:end].decode("utf-8", "replace")
