"""Completions judged, in the shapes of SandboxFusion: by standard output, by calls, by programs around them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import Verdict, worst
from scalebox.gate.extract import Extracted, extract
from scalebox.languages.language import Language
from scalebox.server.compat.around import head_of, python_imports
from scalebox.server.compat.fusion import EvalResult, EvalTestCase, RunCodeResponse, SubmitRequest, response_of
from scalebox.server.compat.languages import compiled, known, ours
from scalebox.server.compat.printed import can_print, record_of
from scalebox.server.compat.running import Runner
from scalebox.server.errors import Refused

#: Lines of the same words, but for their case; numbers as near as SandboxFusion takes them, integers exactly.
_OUTPUT_MATCH = {"mode": "float", "rel": 1e-5, "abs": 1e-9, "ignore_case": True, "by_line": True}
_COMPILE_S, _RUN_S = 10.0, 20.0
#: Characters of a text that `test_info` tells of a test, unless all are wanted.
_SHOWN = 1000
#: Characters of a completion that are looked through on the event loop.
_AT_ONCE = 1 << 16
_CLASS = re.compile(r"^[ \t]*class[ \t]+Solution\b", re.MULTILINE)


class Case(NamedTuple):
    """One test by standard output: `info` is what the answer tells of it."""

    stdin: str
    stdout: str
    info: dict[str, Any]
    files: dict[str, str] = {}  # noqa: RUF012 - never written to


def language_of(request: SubmitRequest) -> Language:
    """Return the language that a request names. Raises InputError, Refused."""
    if request.config.custom_extract_logic:
        raise Refused(400, "custom_extract_logic is not served here: it is code to run in the server")
    name = request.config.language
    if not name:
        raise InputError("missing", field="config.language", mend="name the language of the completion")
    language = ours(name)
    if language is None:
        what = "is not supported by this server" if known(name) else "is no language that is known here"
        raise InputError(f"{name} {what}", field="config.language")
    return language


def extra_of(request: SubmitRequest) -> Mapping[str, Any]:
    """Return the request's further options."""
    return request.config.extra or {}


def limits_of(runner: Runner, request: SubmitRequest) -> dict[str, Any]:
    """Return the limits that a request asks for, for programs that start no others."""
    config = request.config
    limits = runner.limits(config.run_timeout or _RUN_S, config.compile_timeout or _COMPILE_S, config.memory_limit_MB)
    processes = runner.processes_for(language_of(request).name, request.completion)
    return limits | {"processes": processes}


async def extracted(request: SubmitRequest, language: Language) -> Extracted:
    """Return the program in the completion."""
    tag = language.tag or language.name
    if len(request.completion) <= _AT_ONCE:
        return extract(request.completion, language=tag)
    return await asyncio.to_thread(extract, request.completion, language=tag)


async def by_output(runner: Runner, request: SubmitRequest, cases: Sequence[Case]) -> EvalResult:
    """Judge what a program prints. Raises InputError, QueueFull."""
    language, extra = language_of(request), extra_of(request)
    record: dict[str, Any] = {
        "id": "submit", "language": language.name, "response": request.completion,
        "tests": [
            {"id": str(number), "stdin": case.stdin, "stdout": case.stdout, "files": case.files}
            for number, case in enumerate(cases)
        ],
        "limits": limits_of(runner, request),
    }  # fmt: skip
    judge = _special_judge(extra)
    record |= {"checker": judge} if judge else {"match": _OUTPUT_MATCH}
    all_cases = bool(extra.get("run_all_cases"))
    result = await runner.verify(record, early_stop=not all_cases and judge is None, total_s=_total(extra))
    if judge is not None:
        result = _with_jurys(result, cases)
    tests = []
    for case, found in zip(cases, result.cases, strict=True):
        if found.verdict == Verdict.NOT_RUN:
            break
        passed = found.verdict == Verdict.PASSED
        info = case.info if extra.get("return_full_case") or not passed else _shortened(case.info)
        tests.append(EvalTestCase(passed=passed, exec_info=_told(result, found, language), test_info=info))
        if not (passed or all_cases):
            break
    return answer_of(request, result, tests)


async def by_calls(
    runner: Runner, request: SubmitRequest, name: str, calls: Sequence[tuple[list[Any], Any, dict[str, Any]]]
) -> EvalResult:
    """Judge what a function returns: arguments, the value, and what is told of each. Raises InputError, QueueFull."""
    language, extra = language_of(request), extra_of(request)
    if can_print(language.name):
        return await _by_printing(runner, request, name, calls)
    record: dict[str, Any] = {"id": "submit", "language": language.name, "limits": limits_of(runner, request)}
    if language.name == "python":
        of_class = bool(_CLASS.search(request.completion)) and not re.search(
            rf"^def[ \t]+{re.escape(name)}\b", request.completion, re.MULTILINE
        )
        name = f"Solution().{name}" if of_class else name
        record |= {"response": request.completion, "prompt": python_imports(request.completion, of_class=of_class)}
    else:
        code = (await extracted(request, language)).code
        bare = language.name == "java" and code.strip() and not re.search(r"\bclass\s+\w", code)
        record["code"] = f"class Solution {{ {code}\n}}" if bare else code
    record["tests"] = [
        {"id": str(number), "call": name, "args": arguments, "expect": expected}
        for number, (arguments, expected, _) in enumerate(calls)
    ]
    early_stop = not extra.get("run_all_cases")
    result = await runner.verify(record, early_stop=early_stop, total_s=_total(extra))
    infos = [info for _, _, info in calls]
    return answer_of(
        request, result, _told_of_calls(infos, [(result, case) for case in result.cases], language, request)
    )


async def _by_printing(
    runner: Runner, request: SubmitRequest, name: str, calls: Sequence[tuple[list[Any], Any, dict[str, Any]]]
) -> EvalResult:
    """Judge what a function returns by programs that print it, one for each call."""
    if not calls:
        raise InputError("no tests: nothing could be judged, never passed", field="config.provided_data.test_cases")
    language, limits, total = language_of(request), limits_of(runner, request), _total(extra_of(request))
    code = (await extracted(request, language)).code
    records = [
        {"id": "submit", "limits": limits, **record_of(language.name, code, name, arguments, expected)}
        for arguments, expected, _ in calls
    ]
    results = await asyncio.gather(*(runner.verify(record, total_s=total, beside=len(records)) for record in records))
    infos = [info for _, _, info in calls]
    tests = _told_of_calls(infos, [(result, result.cases[0]) for result in results], language, request)
    answer = answer_of(request, results[len(tests) - 1], tests)
    answer.extracted_code = code
    return answer


def _told_of_calls(
    infos: Sequence[dict[str, Any]],
    found: Sequence[tuple[VerificationResult, CaseResult]],
    language: Language,
    request: SubmitRequest,
) -> list[EvalTestCase]:
    """Return the tests of an answer, up to the first that failed unless all are asked for."""
    tests: list[EvalTestCase] = []
    for info, (result, case) in zip(infos, found, strict=True):
        if case.verdict == Verdict.NOT_RUN:
            break
        passed = case.verdict == Verdict.PASSED
        tests.append(EvalTestCase(passed=passed, exec_info=_told(result, case, language), test_info=info))
        if not passed and not extra_of(request).get("run_all_cases"):
            break
    return tests


async def as_one(
    runner: Runner, request: SubmitRequest, language: Language, fields: Mapping[str, Any], tests: str = ""
) -> EvalResult:
    """Judge by tests that are code, all of which are one test of the answer. Raises InputError, QueueFull.

    `fields` are those of a record that say what to run; `tests` is the text of the tests, for the answer.
    """
    record = {"id": "submit", "language": language.name, "limits": limits_of(runner, request), **fields}
    result = await runner.verify(record)
    worst = next((case for case in result.cases if case.verdict == result.verdict), result.cases[0])
    told = EvalTestCase(passed=result.verdict == Verdict.PASSED, exec_info=_told(result, worst, language))
    answer = answer_of(request, result, [told])
    answer.full_code = f"{head_of(language.name)}{result.code.rstrip()}\n\n{tests}"
    return answer


def answer_of(request: SubmitRequest, result: VerificationResult, tests: list[EvalTestCase]) -> EvalResult:
    """Return the answer; what has no test that passed, or any that did not, is not accepted."""
    return EvalResult(
        id=request.id,
        accepted=bool(tests) and all(test.passed for test in tests),
        extracted_code=result.code,
        tests=tests,
        extracted_type=None if result.code.strip() else "empty",
        extra={"verdict": result.verdict.value, "integrity": result.integrity, "message": result.message},
    )


def _told(result: VerificationResult, case: CaseResult, language: Language) -> RunCodeResponse:
    """Return how a case ended; where a value or an assertion was wrong, in the words that say so."""
    response = response_of(result, case, compiled=compiled(language))
    run = response.run_result
    if case.verdict == Verdict.ASSERT_FAIL and run is not None and not run.stderr:
        run.stderr = f"AssertionError: {case.detail}\n"
    return response


def _special_judge(extra: Mapping[str, Any]) -> dict[str, Any] | None:
    program = extra.get("special_judge_program")
    if not program:
        return None
    name = str(extra.get("special_judge_language") or "python")
    language = ours(name)
    if language is None:
        raise InputError(f"{name} is not supported by this server", field="config.extra.special_judge_language")
    return {"language": language.name, "code": program, "protocol": "exit_code"}


def _with_jurys(result: VerificationResult, cases: Sequence[Case]) -> VerificationResult:
    """Return a result in which what printed the jury's own output has passed, whatever the judge says of it."""
    found = [
        msgspec.structs.replace(one, verdict=Verdict.PASSED, difference=0.0, detail="") if _is_jurys(one, case) else one
        for one, case in zip(result.cases, cases, strict=True)
    ]
    if found == result.cases:
        return result
    verdict = worst(case.verdict for case in found)
    message = next((f"case {case.id}: {case.detail}" for case in found if case.verdict == verdict and case.detail), "")
    return msgspec.structs.replace(result, cases=found, verdict=verdict, message=message)


def _is_jurys(found: CaseResult, case: Case) -> bool:
    """Return whether a program ended well and printed the jury's own output, which needs no judge."""
    ended = found.verdict in (Verdict.OUTPUT_MISMATCH, Verdict.INTERNAL_ERROR) and found.exit_code == 0
    return ended and found.stdout.split() == case.stdout.split()


def _total(extra: Mapping[str, Any]) -> float | None:
    """Return the seconds after which no test is begun. Raises InputError."""
    value = extra.get("total_timeout")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise InputError(f"{value!r} makes no sense", field="config.extra.total_timeout", mend="seconds, more than 0")
    return float(value)


def _shortened(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of a test with its texts cut."""
    return {
        key: _shortened(value) if isinstance(value, dict) else value[:_SHOWN] if isinstance(value, str) else value
        for key, value in info.items()
    }
