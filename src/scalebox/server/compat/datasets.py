"""SandboxFusion's data sets, as far as the request carries their rows: how a row becomes tests, and a prompt."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec

from scalebox.core.errors import InputError
from scalebox.server.compat.around import cut, fitted, head_of, python_imports
from scalebox.server.compat.fusion import EvalResult, SubmitRequest, TestConfig
from scalebox.server.compat.judging import Case, as_one, by_calls, by_output, extra_of, extracted, language_of
from scalebox.server.compat.running import Runner
from scalebox.server.errors import Refused

Row = Mapping[str, Any]

#: Where the tests of AutoEvalDataset want the code.
_INSERT = "#<INSERT>"
_GO = ("go", "go_test")
_MAIN = re.compile(r"^if __name__ ==", re.MULTILINE)


class _OjTest(msgspec.Struct):
    input: dict[str, str]
    output: dict[str, str]


async def submit(runner: Runner, request: SubmitRequest) -> EvalResult:
    """Judge a completion by the row that the request carries. Raises Refused, InputError, QueueFull."""
    judge = _kind(request.dataset, request.config)
    return await judge(runner, request, _row(request.config))


def _kind(dataset: str, config: TestConfig) -> Callable[[Runner, SubmitRequest, Row], Awaitable[EvalResult]]:
    if config.dataset_type is None:
        raise Refused(400, f"no data set {dataset!r} is held here: send config.dataset_type and config.provided_data")
    name = re.sub(r"^AutoEvalV\d+Dataset$", "AutoEvalDataset", config.dataset_type)
    judge = KINDS.get(name)
    if judge is None:
        raise Refused(400, f"eval class {config.dataset_type!r} is not served here, only {', '.join(KINDS)}")
    return judge


def _row(config: TestConfig) -> Row:
    if not isinstance(config.provided_data, Mapping) or not config.provided_data:
        raise Refused(400, "config.provided_data must be the row of the data set, an object: no rows are held here")
    return config.provided_data


def _json(row: Row, name: str) -> Any:
    """Return a column, which may be a value or the JSON of one. Raises InputError."""
    value = row.get(name)
    if value is None:
        raise InputError("missing", field=f"config.provided_data.{name}")
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        raise InputError("is not JSON", field=f"config.provided_data.{name}") from None


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise InputError("must be a string" if name in row else "missing", field=f"config.provided_data.{name}")
    return value


def labels_of(row: Row) -> Mapping[str, Any]:
    """Return what a row says of itself. Raises InputError."""
    labels = _json(row, "labels") if row.get("labels") is not None else {}
    return labels if isinstance(labels, Mapping) else {}


# -- by standard output ------------------------------------------------------------------------------------------


async def common_oj(runner: Runner, request: SubmitRequest, row: Row) -> EvalResult:
    """Judge by `test`: what goes in and what must come out, of each case."""
    return await by_output(runner, request, oj_cases(_json(row, "test")))


def oj_cases(tests: Any) -> list[Case]:
    """Return the tests by standard output of `[{"input": {"stdin"}, "output": {"stdout"}}]`. Raises InputError."""
    if not isinstance(tests, list):
        raise InputError("must be an array of cases", field="config.provided_data.test")
    cases = []
    for number, test in enumerate(tests):
        try:
            given = msgspec.convert(test, _OjTest)
            stdin, stdout = given.input.get("stdin", ""), given.output["stdout"]
        except (msgspec.ValidationError, KeyError):
            mend = 'such as {"input": {"stdin": "1"}, "output": {"stdout": "2"}}'
            raise InputError("is no test case", field=f"config.provided_data.test[{number}]", mend=mend) from None
        files = {name: text for name, text in given.input.items() if name != "stdin"}
        cases.append(Case(stdin, stdout, {"input": given.input, "output": given.output}, files))
    return cases


async def live_code_bench(runner: Runner, request: SubmitRequest, row: Row) -> EvalResult:
    """Judge by `test`, of the form {"inputs", "outputs", "fn_name"?}, or as CommonOJDataset does."""
    if request.config.language is None:
        request.config.language = "python"
    tests = _json(row, "test")
    if isinstance(tests, Mapping) and "input_output" in tests:
        tests = _json(tests, "input_output")
    if not isinstance(tests, Mapping):
        return await by_output(runner, request, oj_cases(tests))
    inputs, outputs = tests.get("inputs"), tests.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise InputError("inputs and outputs must be arrays of one length", field="config.provided_data.test")
    name = tests.get("fn_name") or labels_of(row).get("fn_name")
    if not name:
        infos = [
            {"input": {"stdin": one}, "output": {"stdout": other}} for one, other in zip(inputs, outputs, strict=True)
        ]
        return await by_output(runner, request, oj_cases(infos))
    calls = [
        (_lines(one), _value(other), {"input": one, "output": other})
        for one, other in zip(inputs, outputs, strict=True)
    ]
    return await by_calls(runner, request, str(name), calls)


def in_shape(pairs: Iterable[tuple[Any, Any]]) -> list[dict[str, dict[str, Any]]]:
    """Return pairs of input and output in the shape of CommonOJDataset."""
    return [{"input": {"stdin": one}, "output": {"stdout": other}} for one, other in pairs]


def _lines(text: Any) -> list[Any]:
    """Return the JSON values on the lines of a text."""
    if not isinstance(text, str):
        return text if isinstance(text, list) else [text]
    try:
        return [msgspec.json.decode(line) for line in text.splitlines() if line.strip()] or [None]
    except msgspec.DecodeError:
        raise InputError("a line is not JSON", field="config.provided_data.test") from None


def _value(output: Any) -> Any:
    """Return the first value of an output. Raises InputError."""
    values = _lines(output)
    if not values:
        raise InputError("an output is an empty array", field="config.provided_data.test", mend="write [[]] for []")
    return values[0]


# -- by code around the completion -------------------------------------------------------------------------------


async def human_eval(runner: Runner, request: SubmitRequest, row: Row) -> EvalResult:
    """Judge by `test` and `entry_point` as HumanEval has them, or by `tests` as MultiPL-E has them."""
    request.config.language = request.config.language or str(row.get("language") or "python").split(".")[0]
    language = language_of(request)
    if "tests" not in row:
        tests, name = _text(row, "test"), _text(row, "entry_point")
        fields = {
            "response": request.completion, "entry_point": name, "tests": [{"harness": tests}],
            "prompt": python_imports(request.completion) + str(row.get("prompt") or ""),
        }  # fmt: skip
        return await as_one(runner, request, language, fields, f"{tests}\ncheck({name})\n")
    tests = _text(row, "tests")
    if language.name == "python":
        prompt = python_imports(request.completion) + str(row.get("prompt") or "")
        fields = {"response": request.completion, "prompt": prompt, "tests": [{"suffix": tests}]}
        return await as_one(runner, request, language, fields, tests)
    if extra_of(request).get("is_freeform") or "prompt" not in row:
        code = fitted((await extracted(request, language)).code, tests, language.name)
    else:
        stops = row.get("stop_tokens") or []
        if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
            raise InputError("must be an array of texts", field="config.provided_data.stop_tokens")
        code = f"{_text(row, 'prompt')}{cut(request.completion, stops)}\n"
    if language.name == "java":
        code, tests = (re.sub(r"\bclass Problem\b", "class Main", text) for text in (code, tests))
    fields = {"code": code, "tests": [{"prefix": head_of(language.name), "suffix": tests}]}
    return await as_one(runner, request, language, fields, tests)


async def mbpp(runner: Runner, request: SubmitRequest, row: Row) -> EvalResult:
    """Judge by `test`, a list of assertions, with `labels.test_setup_code` before them."""
    request.config.language = "python"
    tests = _json(row, "test")
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        raise InputError("must be an array of assertions", field="config.provided_data.test")
    setup = str(labels_of(row).get("test_setup_code") or "")
    fields: dict[str, Any] = {"response": request.completion, "tests": [{"assert": test} for test in tests]}
    if setup.strip():
        fields["setup"] = setup
    return await as_one(runner, request, language_of(request), fields, "\n".join([setup, *tests]))


async def auto_eval(runner: Runner, request: SubmitRequest, row: Row) -> EvalResult:
    """Judge by `test.code`, which stands behind the completion, or has a place for it."""
    test, labels = _json(row, "test"), labels_of(row)
    if not isinstance(test, Mapping) or not isinstance(test.get("code"), str):
        raise InputError("must be an object with code", field="config.provided_data.test")
    if test.get("asset"):
        raise Refused(400, "AutoEvalDataset with files (test.asset) is not served here")
    written = labels.get("programming_language") or request.config.language
    run_as = labels.get("execution_language") or written
    if not isinstance(written, str | None):
        raise InputError("must be a string", field="config.provided_data.labels.programming_language")
    if written != run_as and not (written in _GO and run_as in _GO):
        raise Refused(400, f"AutoEvalDataset that runs {written} as {run_as} is not served here")
    request.config.language = written
    language, (before, _, after) = language_of(request), test["code"].rpartition(_INSERT)
    code = (await extracted(request, language)).code
    if not before and language.name == "python":
        code = _MAIN.split(code)[0]
    elif not before:
        code = fitted(code, after, language.name)
    prefix = before or ("" if language.name in ("cpp", "java") else head_of(language.name))
    fields = {"code": code, "tests": [{"prefix": prefix, "suffix": after}]}
    return await as_one(runner, request, language, fields, after)


KINDS: Mapping[str, Callable[[Runner, SubmitRequest, Row], Awaitable[EvalResult]]] = {
    "CommonOJDataset": common_oj,
    "LiveCodeBenchDataset": live_code_bench,
    "HumanEvalDataset": human_eval,
    "EvoEvalDataset": human_eval,
    "MBPPDataset": mbpp,
    "AutoEvalDataset": auto_eval,
}
