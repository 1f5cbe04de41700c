"""ScaleBox-ACL's `/common_evaluate` and `/common_evaluate_batch`: tests of any kind in one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scalebox.core.errors import InputError
from scalebox.server.compat.datasets import human_eval, in_shape, oj_cases
from scalebox.server.compat.fusion import EvalResult, SubmitRequest
from scalebox.server.compat.judging import by_calls, by_output
from scalebox.server.compat.running import Runner

_FIELD = "config.provided_data.test_cases"


async def common_evaluate_batch(runner: Runner, request: SubmitRequest) -> EvalResult:
    """Judge by `test_cases`: {"type", "input": […], "output": […], "fn_name", "json_input"}, or the assert type.

    Raises Refused, InputError, QueueFull.
    """
    given = _provided(request)
    tests = given.get("test_cases")
    if not isinstance(tests, Mapping):
        raise InputError("must be an object", field=_FIELD, mend='such as {"type": "stdin_stdout", "input": […], …}')
    kind = _kind(tests)
    if kind == "assert":
        request.config.extra = {**(request.config.extra or {}), "is_freeform": True}
        return await human_eval(runner, request, {**given, **tests})
    inputs, outputs = tests.get("input"), tests.get("output")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise InputError("input and output must be arrays of one length", field=_FIELD)
    pairs = list(zip(inputs, outputs, strict=True))
    if kind == "function_call" and tests.get("json_input"):
        pairs = [_from_lines(one, other) for one, other in pairs]
    return await _judged(runner, request, kind, [(tests.get("fn_name"), one, other) for one, other in pairs])


async def common_evaluate(runner: Runner, request: SubmitRequest) -> EvalResult:
    """Judge by `test_cases`, a list of {"type", "fn_name", "input", "output"}, or by `test` of CommonOJDataset."""
    given = _provided(request)
    tests = given.get("test_cases")
    if tests is None:
        return await by_output(runner, request, oj_cases(given.get("test")))
    if not isinstance(tests, list) or not all(isinstance(test, Mapping) for test in tests):
        raise InputError("must be an array of objects", field=_FIELD)
    cases = [(test.get("fn_name"), test.get("input"), test.get("output")) for test in tests]
    kinds = {_kind(test) for test in tests} or {"stdin_stdout"}
    if len(kinds) > 1:
        raise InputError("tests of two types in one list", field=f"{_FIELD}.type", mend="send a request for each")
    return await _judged(runner, request, kinds.pop(), cases)


def _provided(request: SubmitRequest) -> Mapping[str, Any]:
    if not isinstance(request.config.provided_data, Mapping):
        raise InputError("must be an object", field="config.provided_data")
    return request.config.provided_data


def _kind(tests: Mapping[str, Any]) -> str:
    kind = tests.get("type") or ("function_call" if tests.get("fn_name") else "stdin_stdout")
    if kind not in ("stdin_stdout", "function_call", "assert"):
        raise InputError(
            f"{kind!r} is no type of test", field=f"{_FIELD}.type", mend="stdin_stdout, function_call, assert"
        )
    return str(kind)


async def _judged(
    runner: Runner, request: SubmitRequest, kind: str, cases: Sequence[tuple[Any, Any, Any]]
) -> EvalResult:
    if kind == "stdin_stdout":
        shaped = in_shape((one, other) for _, one, other in cases)
        return await by_output(runner, request, oj_cases(shaped))
    if kind == "assert":
        raise InputError("the assert type is for common_evaluate_batch", field=f"{_FIELD}.type")
    name = cases[0][0] if cases else None
    if not isinstance(name, str) or any(other != name for other, _, _ in cases):
        raise InputError("one name of a function is needed", field=f"{_FIELD}.fn_name")
    calls = []
    for number, (_, arguments, output) in enumerate(cases):
        if not isinstance(arguments, list):
            raise InputError("must be an array of arguments", field=f"{_FIELD}.input[{number}]")
        info = {"type": kind, "fn_name": name, "input": arguments, "output": output}
        calls.append((arguments, output[0] if isinstance(output, list) and len(output) == 1 else output, info))
    return await by_calls(runner, request, name, calls)


def _from_lines(arguments: Any, output: Any) -> tuple[Any, Any]:
    """Return a call whose arguments are JSON, one a line; what is no JSON stays as it is."""
    if not isinstance(arguments, str):
        return arguments, output
    lines = [line for line in arguments.split("\n") if line.strip()]
    try:
        return [msgspec.json.decode(line) for line in lines], [msgspec.json.decode(output)]
    except (msgspec.DecodeError, TypeError):
        return arguments, output
