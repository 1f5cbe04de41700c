"""Why a sample got its verdict: which case, what differed, and where."""

from __future__ import annotations

from collections.abc import Iterator

from scalebox.cli.text import duration, excerpt, printable, size
from scalebox.core import values
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import CallTest, Sample, StdinTest, Test
from scalebox.core.verdicts import Verdict

#: Failed cases that are shown in full.
MAX_CASES = 5
#: Where something was compared, so that a degree of difference says something.
_COMPARED = (Verdict.OUTPUT_MISMATCH, Verdict.ASSERT_FAIL)


def explain(result: VerificationResult, sample: Sample | None = None) -> str:
    """Return the explanation as lines of text; `sample` adds what went in and what was expected."""
    return "\n".join(_lines(result, sample)) + "\n"


def _lines(result: VerificationResult, sample: Sample | None) -> Iterator[str]:
    yield _headline(result)
    failed = [case for case in result.cases if case.verdict not in (Verdict.PASSED, Verdict.NOT_RUN)]
    if result.message and not any(case.detail and case.detail in result.message for case in failed):
        yield f"  {excerpt(result.message)}"
    if result.verdict is Verdict.COMPILE_ERROR and result.code:
        yield from _block("code", result.code, indent="  ")
    if result.denied:
        yield f"  denied: {excerpt(', '.join(result.denied))}"
    tests = {test.id: test for test in sample.tests} if sample else {}
    for case in failed[:MAX_CASES]:
        yield from _case(case, tests.get(case.test_id))
    if len(failed) > MAX_CASES:
        yield f"  and {len(failed) - MAX_CASES} more failed cases"
    passed = sum(case.verdict is Verdict.PASSED for case in result.cases)
    yield f"  {passed} of {len(result.cases)} cases passed"


def _headline(result: VerificationResult) -> str:
    reward = "masked" if result.masked else "no reward" if result.reward is None else f"reward {result.reward:g}"
    facts = [result.verdict, f"pass rate {result.pass_rate:.3g}", reward, f"decided at {result.stage}"]
    if result.tier:
        facts.append(f"tier {result.tier}")
    return f"{excerpt(result.id, 100)}: {', '.join(facts)}"


def _case(case: CaseResult, test: Test | None) -> Iterator[str]:
    used = f"{duration(case.cpu_s)} CPU, {duration(case.wall_s)} wall, {size(case.memory_bytes)}"
    ended = f", signal {case.signal}" if case.signal else ""
    if case.exit_code is not None:
        ended = f", exit code {case.exit_code}"
    yield f"  case {excerpt(case.id, 100)}: {case.verdict} ({used}{ended})"
    if case.text:
        yield from _block("test", case.text)
    if case.detail:
        yield f"    {excerpt(case.detail)}"
    if case.difference and case.verdict in _COMPARED:
        yield f"    degree of difference {case.difference:.3g} (0 the same, 1 nothing alike)"
    if test is not None:
        yield from _test(test)
    for name in ("stdout", "stderr", "transcript"):
        if text := getattr(case, name):
            yield from _block(name, text)


def _test(test: Test) -> Iterator[str]:
    if isinstance(test, StdinTest):
        yield from _block("stdin", test.stdin)
        yield from _block("expected", test.stdout)
    elif isinstance(test, CallTest):
        yield from _call(test)


def _call(test: CallTest) -> Iterator[str]:
    arguments, keywords = values.decode(test.arguments)
    parts = [repr(argument) for argument in arguments] + [f"{name}={value!r}" for name, value in keywords.items()]
    call = f"{test.call}({', '.join(parts)})"
    yield f"    call: {excerpt(call)}"
    yield f"    expected: {excerpt(repr(values.decode(test.expect)))}"


def _block(name: str, text: str, indent: str = "    ") -> Iterator[str]:
    lines = printable(excerpt(text)).splitlines() or [""]
    if len(lines) == 1:
        yield f"{indent}{name}: {lines[0]}"
        return
    yield f"{indent}{name}:"
    for line in lines:
        yield f"{indent}  {line}"
