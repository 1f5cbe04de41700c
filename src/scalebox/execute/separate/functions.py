"""Runs the test functions of an item that its text has not called itself, as pytest would, without fixtures.

Runs inside the jail, on the tests' side: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import itertools
import sys
from types import CodeType, CoroutineType, FunctionType, MethodType
from typing import Any, Callable, Iterator, NamedTuple

from scalebox.execute.separate.cases import Recorder

_MAX_DECORATORS = 100
Attempt = Callable[..., "BaseException | None"]


def call(function: Callable[..., Any], thunks: tuple[Callable[[], Any], ...] = (), **named: Any) -> None:
    """Call `function` with what the thunks return; run what it returns if that is a coroutine."""
    result = function(*[thunk() for thunk in thunks], **named)
    if type(result) is CoroutineType:
        import asyncio

        asyncio.run(result)


def run(
    recorder: Recorder,
    names: dict[str, Any],
    built: dict[str, Any],
    attempt: Attempt,
    is_tasks: Callable[[BaseException], bool],
) -> tuple[str, str]:
    """Run each test function, and each method of test classes. Returns ("", ""), or how the item ends with them."""
    for test in list(_tests(names, built["filename"], recorder.tested)):
        missing, name = test.missing, test.name
        if missing:
            return "task", "%s takes %s: fixtures need a test of the pytest kind" % (name, ", ".join(sorted(missing)))
        if test.skipped:
            recorder.one("skipped", "%s: %s" % (name, test.skipped), name)
            continue
        before = recorder.count
        error = attempt(test.call, test.values)
        if error is not None and is_tasks(error):
            return "task", recorder.judged(error)[1]
        if error is not None:
            recorder.settle(error, name)
        elif recorder.count == before:
            recorder.one("passed", "", name)
    return "", ""


class _Test(NamedTuple):
    name: str
    values: dict[str, Any]  # arguments
    missing: set[str]  # names of parameters that get none
    skipped: str  # why it is not to be counted on, or ""
    call: Callable[[dict[str, Any]], None]


def _tests(names: dict[str, Any], filename: str, ran: set[str]) -> Iterator[_Test]:
    """Yield each test that pytest would find in the text."""
    once = _Once(names.get("setup_module"), names, filename)
    for name, value in list(names.items()):
        if name.startswith("test") and name not in ran and _is_own(value, filename):
            prepare = (once, _Each(names.get("setup_function"), value, filename))
            yield from _each(name, value, _marks(value), False, _caller(value, prepare))
        elif name.startswith("Test") and _is_test_class(value):
            yield from _of_class(name, value, filename, (once,))


def _of_class(label: str, kind: Any, filename: str, before: tuple[Callable[[], None], ...]) -> Iterator[_Test]:
    """Yield the tests of a class, those that it inherits and those of classes inside of it."""
    prepare: tuple[Callable[[], None], ...] = (*before, _Once(getattr(kind, "setup_class", None), kind, filename))
    for name in dict.fromkeys(name for base in reversed(kind.__mro__) for name in vars(base)):
        static = isinstance(next(vars(base)[name] for base in kind.__mro__ if name in vars(base)), staticmethod)
        value = getattr(kind, name)
        function = value.__func__ if type(value) is MethodType else value
        if name.startswith("test") and _is_own(function, filename):
            marks = [*_marks(function), *_marks(kind)]
            caller = _method_caller(kind, name, prepare)
            yield from _each("%s.%s" % (label, name), function, marks, not static, caller)
        elif name.startswith("Test") and _is_test_class(value):
            yield from _of_class("%s.%s" % (label, name), value, filename, before)


def _each(name: str, function: Any, marks: list[Any], bound: bool, caller: Any) -> Iterator[_Test]:
    """Yield a test once for each set of its arguments."""
    parameters, skipped = _parameters(function, bound), _skipped(marks)
    for number, values in enumerate(_arguments(marks)):
        yield _Test(_label(name, number, values), values, parameters - set(values), skipped, caller)


class _Each:
    """A set-up function of the text, called with what it is for, if it takes that."""

    def __init__(self, function: Any, subject: Any, filename: str) -> None:
        bound = type(function) is MethodType
        self._function = function if _is_own(function.__func__ if bound else function, filename) else None
        self._subjects = [subject] * (0 if bound or not self._function else function.__code__.co_argcount)

    def __call__(self) -> None:
        if self._function is not None:
            self._function(*self._subjects)


class _Once(_Each):
    """The same, for all tests that it is for."""

    _done = False

    def __call__(self) -> None:
        if not self._done:
            self._done = True
            super().__call__()


def _label(name: str, number: int, values: dict[str, Any]) -> str:
    return "%s[%d]" % (name, number) if values else name


def _is_own(value: Any, filename: str) -> bool:
    value = _innermost(value) if type(value) is FunctionType else value
    return type(value) is FunctionType and value.__code__.co_filename == filename


def _innermost(function: Any) -> Any:
    """Return the function that decorators have been put around."""
    for _ in range(_MAX_DECORATORS):
        if not hasattr(function, "__wrapped__"):
            break
        function = function.__wrapped__
    return function


def _is_test_class(value: Any) -> bool:
    """Return whether pytest would look for tests in `value`; unittest's classes are not its business here."""
    if type(value) is not type or value.__module__ != "__main__" or "__init__" in vars(value):
        return False
    unittest = sys.modules.get("unittest")
    return unittest is None or not issubclass(value, unittest.TestCase)


def _caller(function: Callable[..., Any], prepare: tuple[Callable[[], None], ...]) -> Callable[[dict[str, Any]], None]:
    def run_function(values: dict[str, Any]) -> None:
        for step in prepare:
            step()
        call(function, **values)

    return run_function


def _method_caller(kind: Any, method: str, prepare: tuple[Callable[[], None], ...]) -> Callable[[dict[str, Any]], None]:
    def run_method(values: dict[str, Any]) -> None:
        for step in prepare:
            step()
        instance = kind()
        bound = getattr(instance, method)
        _fixture(instance, "setup_method", bound)
        try:
            call(bound, **values)
        finally:
            _fixture(instance, "teardown_method", bound)

    return run_method


def _fixture(instance: Any, name: str, bound: Any) -> None:
    function = getattr(instance, name, None)
    if function is not None:
        function(*[bound] * (function.__code__.co_argcount - 1))


def _parameters(function: Any, bound: bool) -> set[str]:
    """Return the names of the parameters that must be given: not `self` of methods, nor what `mock.patch` gives."""
    patched = _patched(function)
    function = _innermost(function)
    code: CodeType = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    required = positional[: code.co_argcount - len(function.__defaults__ or ())]
    if bound:
        required = required[1:]
    required = required[patched:]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return {*required, *keywords} - set(function.__kwdefaults__ or ())


def _patched(function: Any) -> int:
    """Return how many arguments the decorators of `mock.patch` give, which come before all others."""
    mock: Any = sys.modules.get("unittest.mock")
    patchings = getattr(function, "patchings", ()) if mock is not None else ()
    return sum(patching.attribute_name is None and patching.new is mock.DEFAULT for patching in patchings)


def _marks(function: Any) -> list[Any]:
    marks = getattr(function, "pytestmark", [])
    return [mark for mark in marks if hasattr(mark, "name")] if isinstance(marks, list) else []


def _skipped(marks: list[Any]) -> str:
    """Return why a test is not to be counted on, or ""."""
    for mark in marks:
        if mark.name == "skip" or (mark.name == "skipif" and (not mark.args or any(mark.args))):
            return "marked as skipped"
        if mark.name == "xfail":
            return "marked as failing"
    return ""


def _arguments(marks: list[Any]) -> list[dict[str, Any]]:
    """Return the arguments of each call that `pytest.mark.parametrize` asks for, in pytest's order."""
    sets = [_sets(mark.args, mark.kwargs) for mark in marks if mark.name == "parametrize"]
    combined: list[dict[str, Any]] = []
    for choice in itertools.product(*sets):
        merged: dict[str, Any] = {}
        for values in choice:
            merged.update(values)
        combined.append(merged)
    return combined


def _sets(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[dict[str, Any]]:
    given = dict(zip(("argnames", "argvalues"), args))
    given.update(kwargs)
    names = given["argnames"]
    alone = False  # whether each value is the argument itself, and no row of one
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
        alone = len(names) == 1
    found = []
    for row in given["argvalues"]:
        wrapped = type(row).__name__ == "ParameterSet"
        values = row.values if wrapped else (row,) if alone else row
        found.append(dict(zip(names, values)))
    return found
