"""Runs the test functions of an item that its text has not called itself, as pytest would, without fixtures.

Runs inside the jail, on the tests' side: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import itertools
import sys
from types import CodeType, CoroutineType, FunctionType
from typing import Any, Callable, Iterator

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
    for name, values, function, call_it in list(_tests(names, built["filename"], recorder.tested)):
        missing = _parameters(function) - set(values)
        if missing:
            return "task", "%s takes %s: fixtures need a test of the pytest kind" % (name, ", ".join(sorted(missing)))
        reason = _skipped(function)
        if reason:
            recorder.one("skipped", "%s: %s" % (name, reason), name)
            continue
        before = recorder.count
        error = attempt(call_it, values)
        if error is not None and is_tasks(error):
            return "task", recorder.judged(error)[1]
        if error is not None:
            recorder.settle(error, name)
        elif recorder.count == before:
            recorder.one("passed", "", name)
    return "", ""


def _tests(names: dict[str, Any], filename: str, ran: set[str]) -> Iterator[Any]:
    """Yield (name, arguments, function, what calls it with arguments) for each test."""
    for name, value in list(names.items()):
        if name.startswith("test") and name not in ran and _is_own(value, filename):
            for number, values in enumerate(_arguments(value)):
                yield _label(name, number, values), values, value, _caller(value)
        elif name.startswith("Test") and _is_test_class(value):
            for method, function in list(vars(value).items()):
                if method.startswith("test") and _is_own(function, filename):
                    for number, values in enumerate(_arguments(function)):
                        label = "%s.%s" % (name, _label(method, number, values))
                        yield label, values, function, _method_caller(value, method)


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


def _caller(function: Callable[..., Any]) -> Callable[[dict[str, Any]], None]:
    return lambda values: call(function, **values)


def _method_caller(kind: Any, method: str) -> Callable[[dict[str, Any]], None]:
    def run_method(values: dict[str, Any]) -> None:
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


def _parameters(function: Any) -> set[str]:
    """Return the names of the parameters that must be given: not `self` of methods, nor what `mock.patch` gives."""
    patched = _patched(function)
    function = _innermost(function)
    code: CodeType = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    required = positional[: code.co_argcount - len(function.__defaults__ or ())]
    if "." in function.__qualname__ and required:
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


def _skipped(function: Any) -> str:
    """Return why a test is not to be counted on, or ""."""
    for mark in _marks(function):
        if mark.name == "skip" or (mark.name == "skipif" and (not mark.args or any(mark.args))):
            return "marked as skipped"
        if mark.name == "xfail":
            return "marked as failing"
    return ""


def _arguments(function: Any) -> list[dict[str, Any]]:
    """Return the arguments of each call that `pytest.mark.parametrize` asks for, in pytest's order."""
    sets = [_sets(mark.args, mark.kwargs) for mark in _marks(function) if mark.name == "parametrize"]
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
