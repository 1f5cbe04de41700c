"""What of a result each role may see: the operator all of it, a trainer no hidden test, a policy almost nothing.

The functions here are pure and total: they take every result that an engine gives, whatever a program has
made of it. What a policy gets back never depends on a hidden test in other ways than docs/guides/access.md says.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from scalebox.core import values
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import (
    AssertTest,
    CallTest,
    HarnessTest,
    JudgeProgram,
    ProgramTest,
    PytestTest,
    Sample,
    StdinTest,
    Test,
)
from scalebox.core.verdicts import DOUBTFUL, Verdict, worst

#: Characters of standard error, and of a compiler's message, that a policy sees.
MOST_TEXT = 2000
#: Characters of secret text that are looked for in what a policy sees. With more, it sees no text at all.
_MOST_SECRET = 1 << 20
#: Shorter words are not looked for. To blot out a short one would tell it: print all numbers, see which is missing.
_SHORTEST_SECRET = 8

#: In place of what a compiler says where tests are built with the program: it quotes what it does not like.
_TOGETHER = "the program cannot be built together with its tests"
_RAISED = ": the program raised "
_BLOT = "…"

_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(
    r"[^\t\n\x20-\x7e\xa0-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ud7ff\uf900-\ufffd\U00010000-\U000dffff]"
)
#: A path of two parts at least, or one below a folder that every machine has.
_PATH = re.compile(
    r"(?<![\w.…])(?:file://)?(?:~|\.\.)?"
    r"(?:(?:/[^\s/:'\"<>|,;()\[\]{}`]+){2,}/?"
    r"|/(?:bin|boot|data|dev|etc|home|lib\d*|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var|work)\b/?)"
)
#: Words that tests have too and that tell nothing.
_ORDINARY = frozenset([*dir(builtins), "Traceback", "solution", "Solution", "function", "undefined"])


class PolicyView(msgspec.Struct, kw_only=True):
    """What a policy sees of its program. Every field is there for every verdict.

    `compile` is "ok", "failed" or "unknown". `verdict` is that of the visible cases, `not_run` where there is none, and
    `unknown` for whatever nobody can vouch for; `pass_rate` is over the visible cases, None where it is
    not known. `message` is the compiler's, `stderr` that of the first visible case that failed.
    """

    compile: Literal["ok", "failed", "unknown"]
    verdict: Verdict
    pass_rate: float | None = None
    message: str = ""
    stderr: str = ""


def operator_view(result: VerificationResult) -> VerificationResult:
    """Return all that is known."""
    return result


def hidden_of(sample: Sample) -> frozenset[str]:
    """Return the ids of a sample's hidden tests."""
    return frozenset(test.id for test in sample.tests if test.hidden)


def trainer_view(result: VerificationResult, sample: Sample) -> VerificationResult:
    """Return a result as the trainer that submitted the sample may see it.

    Of hidden cases of a problem that it named and did not bring (`Sample.held`) it sees verdicts and costs, and no
    text, since a program prints what it reads, nor an exit code, since that is a program's to choose.
    """
    withheld = hidden_of(sample) if sample.held else frozenset()
    if not withheld:
        return result
    bare = bare_cases(result)
    cases = [new if old.test_id in withheld else old for old, new in zip(result.cases, bare, strict=True)]
    bare_ids = {before.id: after.id for before, after in zip(result.cases, cases, strict=True)}
    return msgspec.structs.replace(
        result,
        cases=cases,
        message=_trainers_message(result, sample, bare_ids),
        denied=kinds_denied(result),
        integrity_reason="the tests need it" if result.integrity_reason else "",
    )


def bare_cases(result: VerificationResult) -> list[CaseResult]:
    """Return the cases' verdicts and costs, without what a program or a test can say."""
    numbers: dict[str, int] = {}
    cases = []
    for case in result.cases:
        number = numbers[case.test_id] = numbers.get(case.test_id, -1) + 1
        cases.append(_bare(case, number))
    return cases


def kinds_denied(result: VerificationResult) -> list[str]:
    """Return what kinds of things were denied, without the names that the program gave them."""
    return sorted({_kind_of(what) for what in result.denied})


def _bare(case: CaseResult, number: int) -> CaseResult:
    """Return a case without what a program or a test can say; the name of its part of a test becomes a number.

    How much an output differs is not told either: guess by guess, it would tell the right one, token by token.
    """
    return CaseResult(
        id=f"{case.test}.{number}" if case.test else case.id, test=case.test, verdict=case.verdict,
        cpu_s=case.cpu_s, wall_s=case.wall_s, memory_bytes=case.memory_bytes, attempts=case.attempts,
        difference=0.0 if case.verdict == Verdict.PASSED else 1.0, score=case.score,
    )  # fmt: skip


def _trainers_message(result: VerificationResult, sample: Sample, bare_ids: dict[str, str]) -> str:
    if not result.message or _is_of_the_program(result, sample):
        return result.message
    failed = next((c for c in result.cases if c.verdict not in (Verdict.PASSED, Verdict.NOT_RUN)), None)
    return str(result.verdict) if failed is None else f"case {bare_ids[failed.id]}: {failed.verdict}"


def _is_of_the_program(result: VerificationResult, sample: Sample) -> bool:
    """Return whether a message is a compiler's about the program's own text, of which no hidden test is a part."""
    if result.verdict != Verdict.COMPILE_ERROR or result.stage not in ("gate", "build"):
        return False
    if isinstance(sample.tests[0], StdinTest | CallTest):
        return True
    return result.integrity == "separate" and not (isinstance(sample.tests[0], ProgramTest) and hidden_of(sample))


def _kind_of(what: str) -> str:
    """Return the kind of a thing denied, without the name that the program gave it."""
    first = what.partition(" ")[0]
    return first if re.fullmatch(r"[a-z][a-z0-9_]{0,31}:?", first) else "access"


# --- the policy -----------------------------------------------------------------------------------------------------


def policy_view(result: VerificationResult, sample: Sample) -> PolicyView:
    """Return what the policy that wrote the program may see: visible cases, without inputs, answers and paths."""
    open_tests = {test.id for test in sample.tests if not test.hidden}
    visible = [case for case in result.cases if case.test_id in open_tests]
    if any(case.verdict == Verdict.COMPILE_ERROR for case in visible or result.cases):
        message = _cleaned(result.message, sample) if _is_of_the_program(result, sample) else _TOGETHER
        return PolicyView(
            compile="failed", verdict=Verdict.COMPILE_ERROR, pass_rate=0.0 if visible else None, message=message
        )
    if _never_built(result):
        return PolicyView(compile="unknown", verdict=Verdict.UNKNOWN)
    if not visible or all(case.verdict == Verdict.NOT_RUN for case in visible):
        return PolicyView(compile="ok", verdict=Verdict.NOT_RUN)
    verdict = worst(case.verdict for case in visible)
    if verdict in DOUBTFUL:
        return PolicyView(compile="ok", verdict=Verdict.UNKNOWN)
    return PolicyView(
        compile="ok", verdict=verdict, pass_rate=_pass_rate(visible, sample), stderr=_stderr(visible, result, sample)
    )


def _never_built(result: VerificationResult) -> bool:
    return result.stage in ("gate", "build") or all(case.attempts == 0 for case in result.cases)


def _pass_rate(visible: list[CaseResult], sample: Sample) -> float | None:
    if any(case.verdict in DOUBTFUL for case in visible):
        return None
    weights = {test.id: test.weight for test in sample.tests}
    total = sum(weights.get(case.test_id, 1.0) for case in visible)
    passed = sum(weights.get(case.test_id, 1.0) for case in visible if case.verdict == Verdict.PASSED)
    return passed / total


def _stderr(visible: list[CaseResult], result: VerificationResult, sample: Sample) -> str:
    """Return what the first visible case that failed, else the first that said anything, printed as its errors."""
    if result.integrity != "separate" or (_share_a_process(sample) and hidden_of(sample)):
        return ""  # it may hold what tests say, or what the program has read for hidden ones
    failed = [case for case in visible if case.verdict != Verdict.PASSED]
    texts = (_said(case) for case in [*failed[:1], *([] if failed else visible)])
    return _cleaned(next((text for text in texts if text), ""), sample)


def _share_a_process(sample: Sample) -> bool:
    return not isinstance(sample.tests[0], StdinTest | ProgramTest)


def _said(case: CaseResult) -> str:
    if case.stderr or case.verdict != Verdict.RUNTIME_ERROR:
        return case.stderr
    # Tests that are code catch what the program raises, so that it never prints it.
    return case.detail.rpartition(_RAISED)[2] if _RAISED in case.detail else ""


def _cleaned(text: str, sample: Sample) -> str:
    """Return the end of a text without paths, control characters and words of hidden tests or of answers."""
    text = text.removeprefix(f"case {sample.tests[0].id}: ")
    text = _CONTROL.sub("", _ESCAPE.sub("", text[-4 * MOST_TEXT :]))
    text = _PATH.sub(lambda match: _own_name(match[0], sample), text)
    words = _secret_words(sample)
    if words is None:
        return ""
    text = _WORD.sub(lambda match: _BLOT if match[0] in words else match[0], text)
    return text if len(text) <= MOST_TEXT else _BLOT + text[-MOST_TEXT:]


def _own_name(path: str, sample: Sample) -> str:
    """Return the name of a file of the program; other paths become a blot."""
    own = next((name for name in sample.solution_files if path.endswith(f"/{name}")), None)
    last = path.rpartition("/")[2]
    return own or (last if re.fullmatch(r"(?i)(solution|main)\.\w{1,5}", last) else _BLOT)


def _secret_words(sample: Sample) -> frozenset[str] | None:
    """Return the longer words that only hidden tests, answers and judges have; None where there is too much of it."""
    known = [sample.code or sample.response or "", sample.prompt, *sample.solution_files.values()]
    secret = [sample.setup, *_of_judge(sample.checker), *_of_judge(sample.interactor)]
    for test in sample.tests:
        shown, answers = _texts(test)
        (secret if test.hidden else known).extend([test.id, *shown])
        secret.extend(answers)
    if sum(map(len, secret)) > _MOST_SECRET:
        return None
    return frozenset(_words(secret) - _words(known) - _ORDINARY)


def _words(texts: list[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text) if len(word) >= _SHORTEST_SECRET}


def _of_judge(program: JudgeProgram | None) -> Iterator[str]:
    if program is not None:
        yield program.code
        yield from program.args
        for name, text in program.files.items():
            yield from (name, text)


def _texts(test: Test) -> tuple[list[str], list[str]]:
    """Return the texts of a test that a program is given, and those that it never is."""
    match test:
        case StdinTest():
            return [test.stdin, *test.files, *test.files.values()], [test.stdout]
        case CallTest():
            return [_literal(test.arguments)], [_literal(test.expect)]
        case AssertTest() | HarnessTest():
            return [], [test.source]
        case ProgramTest():
            return [test.prefix], [test.suffix]
        case PytestTest():
            return [], [*test.files, *test.files.values(), *test.required]


def _literal(encoded: bytes) -> str:
    try:
        return repr(values.decode(encoded))
    except (ValueError, RecursionError):
        return ""
