"""The tests' side of one assert or harness item: set-up, the test's own code, and what it leaves to be run.

Runs inside the jail, in a process of its own that holds nothing of the solution but stand-ins: standard library alone,
Python 3.8 syntax.
"""

from __future__ import annotations

import builtins
import sys
from types import ModuleType
from typing import Any, Callable, Iterable, NamedTuple

from scalebox.execute.separate import classes, fresh, functions, interactive, remote, stand_in
from scalebox.execute.separate.cases import PassedOver, Recorder, from_solution, last_line
from scalebox.execute.separate.facts import BUILTINS, LIBRARY
from scalebox.execute.separate.frames import Frames

_COPIED = (type(None), bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
#: Exceptions that a test brings about by itself. Others may come of what a solution has left: files, locks, threads.
_OWN_FAULTS = (TypeError, AttributeError, ArithmeticError, SyntaxError, UnboundLocalError, RecursionError)
_RAN = ("", "")  # no reason to end yet


class Side(NamedTuple):
    """The solution as the tests' side sees it, and the exceptions that say that it did not start, or was lost.

    `solution` has what remote.Solution has: start, names, get, set, requests, lost.
    """

    solution: Any
    did_not_start: tuple[type[BaseException], ...]
    lost: tuple[type[BaseException], ...]


def run(solution_fd: int, frames_fd: int, built: dict[str, Any], item: dict[str, Any]) -> int:
    """Run one item (see `run_item`) against the solution at the other end of `solution_fd`; return the exit status.

    `item` holds besides: "board_fd", the shared memory of `frames`, and "solution_pid", whose CPU time counts too;
    optionally "copies", the lines to further copies of the solution (fresh.py).
    """
    solution = fresh.connect([solution_fd, *item.get("copies", ())], ("__main__",), built["value_classes"])
    remote.install_modules(solution, free_names(item.get("modules") or ("solution",)))
    frames = Frames(frames_fd, item.get("board_fd", -1), item.get("solution_pid", 0))
    run_item(Side(solution, (remote.SolutionFailed,), (remote.SolutionEnded,)), frames, built, item)
    solution.close()
    return 0


def free_names(modules: Iterable[str]) -> list[str]:
    """Return the modules that the interpreter has not: no file of a solution takes the place of a library."""
    return [name for name in modules if name == "solution" or not _is_there(name.partition(".")[0])]


def _is_there(name: str) -> bool:
    if name in sys.modules:
        return True
    import importlib.util

    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def run_item(side: Side, frames: Frames, built: dict[str, Any], item: dict[str, Any]) -> None:
    """Run one item that `rewrite.build_tests` has built; write its cases to `frames`, and how it ended.

    `item` is plain data: "entry_points", the names of the function under test, the first that the solution defines
    is the candidate; "modules", the names by which the solution may be imported; "skip", names of cases that are not to
    be run, and "skip_from", the number from which on none is (absent, or -1: all are).
    """
    recorder = Recorder(frames, built, side.lost, item.get("skip", ()), item.get("skip_from", -1))
    recorder.install()
    if recorder.skip:
        side.solution.guard(recorder.guard)
    module = _Main(side.solution)
    before = sys.modules.get("__main__")
    sys.modules["__main__"] = module
    try:
        work = _Item(side, recorder, module, built, item)
        try:
            reason, detail = work.run()
        except side.lost as error:
            reason, detail = "solution ended", str(error)[:300]
            recorder.cut = True
    finally:
        recorder.remove()
        if before is not None:
            sys.modules["__main__"] = before
    recorder.finish()
    frames.put("ended", reason, detail, work.unreached())


class _Main(ModuleType):
    """The module of the test. `patch("__main__.f")` means the solution's function: its own calls have to see that."""

    def __init__(self, solution: Any) -> None:
        super().__init__("__main__")
        self.__dict__["__scalebox__"] = solution

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in self.__scalebox__.names and not name.startswith("__"):
            self.__scalebox__.set(name, value)


class _Item:
    def __init__(
        self, side: Side, recorder: Recorder, module: Any, built: dict[str, Any], item: dict[str, Any]
    ) -> None:
        self._side = side
        self._solution = side.solution
        self._recorder = recorder
        self._module = module
        self._names: dict[str, Any] = module.__dict__
        self._built = built
        self._entries: list[str] = list(item.get("entry_points") or ())
        self._copied = False
        self._requests = 0
        self._fetches = 0  # requests that only fetched the candidate
        self._checks = item.get("kind") != "program"  # a program may pass by ending
        self._left_at = 0  # the line at which the text ended itself

    def run(self) -> tuple[str, str]:
        """Run everything; return how the item ended, and a detail."""
        try:
            self._solution.start()
        except self._side.did_not_start as error:
            return "solution failed", self._why_not(error)
        self._recorder.frames.sites(
            [
                (site[0] if site[1] == self._built["filename"] else "", self._recorder.text(number))
                for number, site in enumerate(self._built["sites"])
            ]
        )
        self._names.update({"__builtins__": builtins, "__file__": "tests.py", "__spec__": None})
        for name in {"asyncio", "inspect"}.intersection(self._built["imports"]):
            __import__(name)  # with these loaded, functions of the solution have signatures and are known as coroutines
        self._take_names()
        stand_in.install(self._built["imports"])
        for step in (self._set_up, self._text, self._check_candidate, self._classes, self._functions, self._sessions):
            end = step()
            if end != _RAN:
                return end
        return self._finish()

    def unreached(self) -> list[int]:
        if self._recorder.cut:
            return self._recorder.unreached()
        return self._recorder.unreached(self._left_at) if self._left_at else []

    @staticmethod
    def _why_not(error: Any) -> str:
        kind, message = getattr(error, "kind", ""), getattr(error, "message", "")
        return (("%s: %s" % (kind, message)) if message else str(kind))[:300]

    # Names.

    def _take_names(self) -> None:
        """Give the test the solution's names that it uses; what it defines itself comes on top of them."""
        defined = {name for name in self._solution.names if not name.startswith("__")}
        used = self._built["names"]
        wanted = defined if used is None else defined.intersection(used)
        heads = {_head(entry) for entry in self._entries}
        for name in sorted(wanted - (BUILTINS - self._shadowed(wanted, heads))):
            try:
                value = self._solution.get(name)
            except KeyError:
                continue
            if name in LIBRARY and name not in heads and not _is_library(value):
                continue
            self._names[name] = value
            self._copied = self._copied or type(value) in _COPIED
        self._requests = self._solution.requests

    def _shadowed(self, wanted: set[str], heads: set[str]) -> set[str]:
        """Return the builtins that the solution may replace for the test: the function under test may be called `sum`.

        Any other, and a solution could pass by giving the test an `abs` or `all` of its own.
        """
        candidates = wanted & BUILTINS
        if heads:
            return candidates & heads
        # Nobody has named the function. It is a builtin's namesake only if the text uses nothing else of the solution.
        others = wanted - BUILTINS - {*self._built["own"], *self._built["imports"]}
        return candidates if len(candidates) == 1 and not others else set()

    # Steps. Each returns how the item ends with it, or _RAN.

    def _attempt(self, function: Callable[..., Any], *arguments: Any) -> BaseException | None:
        """Call test code; return what it raised, unless the solution was lost."""
        try:
            self._recorder.call(function, *arguments)
        except self._side.lost:
            raise
        except BaseException as error:
            return error
        return None

    def _set_up(self) -> tuple[str, str]:
        if self._built["setup"] is not None:
            error = self._attempt(exec, self._built["setup"], self._names)
            if error is not None:
                return self._stop(error, "set-up: ")
        self._recorder.plain = False
        return _RAN

    def _text(self) -> tuple[str, str]:
        if self._built["doctest"]:
            return interactive.run(self._recorder, self._built["doctest"], self._names, self._side.lost)
        error = self._attempt(exec, self._built["code"], self._names)
        if error is None:
            return _RAN
        if isinstance(error, SystemExit) and not from_solution(error) and error.code in (None, 0):
            self._left_at = last_line(error, self._built["filename"])
            return _RAN
        return self._stop(error)

    def _stop(self, error: BaseException, head: str = "") -> tuple[str, str]:
        """Record what ended test code; return whose fault it was."""
        if isinstance(error, PassedOver):
            self._recorder.settle(error)
            return "stopped", ""
        detail = self._recorder.judged(error)[1]
        if self._recorder.is_missing_module(error):
            return "toolchain", head + detail
        if self._is_tasks(error):
            return "task", head + detail
        self._recorder.settle(error)
        return "stopped", head + detail

    def _is_tasks(self, error: BaseException) -> bool:
        """Return whether an exception can only be the test's own fault.

        Nothing that the solution does may bring that about, or it could have its failures masked: until the test has
        used the solution it has no influence, but by the names that it defines and by what it leaves on the machine.
        """
        if self._recorder.is_missing_module(error):
            return True
        if self._used() or self._recorder.count or from_solution(error):
            return False
        return isinstance(error, _OWN_FAULTS)

    def _used(self) -> bool:
        """Return whether anything but the solution's names has reached the test."""
        return self._copied or self._solution.requests > self._requests

    def _tried(self) -> bool:
        """Return whether the test has done more with the solution than to take the candidate."""
        return self._copied or self._solution.requests - self._fetches > self._requests

    def _check_candidate(self) -> tuple[str, str]:
        check = self._names.get("check")
        if not self._entries or self._built["calls_check"] or "check" not in self._built["own"] or not callable(check):
            return _RAN
        entry = next((entry for entry in self._entries if _head(entry) in self._solution.names), None)
        if entry is None:
            return "solution failed", "the program defines no %r" % self._entries[0]
        error = self._attempt(functions.call, check, (lambda: self._fetch(entry),))
        if error is None:
            return _RAN
        if isinstance(error, SystemExit) and not from_solution(error) and error.code in (None, 0):
            self._recorder.cut = True
            return _RAN
        return self._stop(error)

    def _candidate(self, entry: str) -> Any:
        through = getattr(self._solution, "through", None)
        if through is None or "." not in entry:
            return self._resolve(entry)
        return through(lambda: self._resolve(entry))

    def _fetch(self, entry: str) -> Any:
        """Return the candidate, and count the requests that it takes."""
        before = self._solution.requests
        value = self._candidate(entry)
        if type(value) in _COPIED:
            self._copied = True
        else:
            self._fetches = self._solution.requests - before
        return value

    def _resolve(self, entry: str) -> Any:
        """Return what an entry point names: `f`, `Class`, `Class().method`, `Class.method`."""
        head, *rest = entry.split(".")
        target = self._solution.get(_head(head))
        if head.endswith("()"):
            target = target()
        for name in rest:
            target = getattr(target, name)
        return target

    def _classes(self) -> tuple[str, str]:
        if self._built["unittest"]:
            classes.run(self._recorder, self._module, self._built, self._side.lost)
        return _RAN

    def _functions(self) -> tuple[str, str]:
        return functions.run(self._recorder, self._names, self._built, self._attempt, self._is_tasks)

    def _sessions(self) -> tuple[str, str]:
        for text in self._built["sessions"]:
            how = interactive.run(self._recorder, text, self._names, self._side.lost)
            if how != _RAN:
                return how
        return _RAN

    def _finish(self) -> tuple[str, str]:
        recorder = self._recorder
        if self._solution.lost is not None:  # a test that catches everything has not noticed
            return "solution ended", str(self._solution.lost)[:300]
        if recorder.count == 0 and not recorder.made_named:
            if not self._tried():
                return "task", "the test checks nothing: no assert ran, and the program was not used"
            if self._checks and self._built["dropped"]:
                return "task", "the test checks nothing: no assert before %s" % self._built["dropped"]
            recorder.one("passed", "", "")
        return "done", ""


def _is_library(value: Any) -> bool:
    """Return whether `value` is a module or a class of a library, and nothing of the solution's."""
    if type(value) is type(sys):
        return True
    module = sys.modules.get(value.__module__) if isinstance(value, type) else None
    return type(module) is type(sys) and getattr(module, value.__name__, None) is value


def _head(entry: str) -> str:
    head = entry.partition(".")[0]
    return head[:-2] if head.endswith("()") else head
