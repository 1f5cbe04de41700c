"""What each role sees of a result, for every verdict: the policy no input, answer, name or path that is not its own."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.core.verdicts import DOUBTFUL, Verdict
from scalebox.core.views import MOST_TEXT, PolicyView, hidden_of, operator_view, policy_view, trainer_view
from scalebox.parse import parse_sample

#: What may never be seen: one mark for each place that a secret can be in.
MARK = "CANARY"
TESTS: dict[str, list[dict[str, Any]]] = {
    "stdin": [
        {"stdin": "open", "stdout": f"{MARK}_answer_open", "hidden": False},
        {
            "id": f"{MARK}_id", "stdin": f"{MARK}_input", "stdout": f"{MARK}_output",
            "files": {f"{MARK}_name.txt": f"{MARK}_file"},
        },
    ],
    "call": [
        {"call": "f", "args": ["open"], "expect": f"{MARK}_answer_open", "hidden": False},
        {"call": "f", "args": [f"{MARK}_input"], "expect": [f"{MARK}_output"]},
    ],
    "assert": [
        {"assert": f"assert f(1) == '{MARK}_answer_open'", "hidden": False},
        {"assert": f"assert f('{MARK}_input') == '{MARK}_output', '{MARK}_note'"},
    ],
    "harness": [
        {"harness": f"def check(c):\n    assert c(1) == '{MARK}_answer_open'", "hidden": False},
        {"harness": f"def check(c):\n    assert c('{MARK}_input') == '{MARK}_output'"},
    ],
    "program": [
        {"suffix": f"\nassert f(1) == '{MARK}_answer_open'", "hidden": False},
        {"prefix": f"# {MARK}_prefix\n", "suffix": f"\nassert f('{MARK}_input') == '{MARK}_output'"},
    ],
    "pytest": [
        {"files": {"test_open.py": f"# {MARK}_answer_open"}, "required": ["test_open.py::test_a"], "hidden": False},
        {
            "files": {f"test_{MARK}.py": f"# {MARK}_test"}, "required": [f"test_{MARK}.py::test_{MARK}"],
        },
    ],
}  # fmt: skip
PATHS = " /usr/lib/python3/secret/path.py /home/someone/x"


STAGES = ("gate", "build", "execute", "judge")
CHECKER = json.dumps(
    {"language": "python", "code": f"# {MARK}_checker", "protocol": "python", "args": [f"{MARK}_word"]}
)


def _leak(kind: str) -> str:
    """Return all that is secret about a sample, as a program or a judge might print it."""
    judge = CHECKER if kind == "stdin" else ""
    return " ".join(dict.fromkeys(re.findall(rf"\w*{MARK}\w*", json.dumps(TESTS[kind]) + judge))) + PATHS


def _sample(kind: str, **fields: Any) -> Sample:
    raw: dict[str, Any] = {"id": "s", "code": "def f(x): ...", "tests": TESTS[kind]}
    if kind == "harness":
        raw["entry_point"] = "f"
    if kind == "stdin":
        raw["checker"] = json.loads(CHECKER)
    return parse_sample({**raw, **fields}, settings=Settings())


def _result(sample: Sample, verdicts: list[Verdict], **fields: Any) -> VerificationResult:
    """Return a result in which everything that can hold a text holds secrets, but the visible case's own errors."""
    leak = _leak(KINDS[type(sample.tests[0]).__name__])
    cases = [
        CaseResult(
            id=test.id, verdict=verdict, stdout=leak, stderr=leak if test.hidden else "ValueError: mine", detail=leak,
            text=leak, transcript=leak, exit_code=77, cpu_s=0.123, wall_s=0.456, memory_bytes=789, score=0.25,
        )
        for test, verdict in zip(sample.tests, verdicts, strict=True)
    ]  # fmt: skip
    whole = {
        "id": "s", "verdict": verdicts[0], "message": leak, "denied": [f"open /etc/{MARK}_input"], "cases": cases,
        "integrity_reason": leak, "meta": {"mine": 1}, "code": sample.code,
    }  # fmt: skip
    return VerificationResult(**{**whole, **fields})


KINDS = {
    "StdinTest": "stdin", "CallTest": "call", "AssertTest": "assert", "HarnessTest": "harness",
    "ProgramTest": "program", "PytestTest": "pytest",
}  # fmt: skip


def _text(view: Any) -> str:
    return msgspec.json.encode(view).decode()


@pytest.mark.parametrize("kind", TESTS)
def test_a_policy_sees_no_secret_for_any_verdict(kind: str) -> None:
    sample = _sample(kind)
    for verdict, stage, integrity in itertools.product(Verdict, STAGES, ("separate", "shared")):
        result = _result(sample, [verdict, Verdict.RUNTIME_ERROR], stage=stage, integrity=integrity)
        result.cases[0].stderr = _leak(kind)
        seen = _text(policy_view(result, sample))
        assert MARK not in seen
        assert "/usr" not in seen
        assert "/home" not in seen
        assert not {"0.123", "0.456", "789", "77"} & set(seen.replace(",", ":").split(":"))


@pytest.mark.parametrize("kind", TESTS)
def test_what_a_policy_sees_does_not_depend_on_hidden_cases(kind: str) -> None:
    sample = _sample(kind)
    for verdict in Verdict:
        views = {
            _text(policy_view(_result(sample, [verdict, hidden], verdict=worst), sample))
            for hidden in Verdict
            for worst in {hidden, verdict}
        }
        assert len(views) == 1


GOLDEN = {
    Verdict.PASSED: PolicyView(compile="ok", verdict=Verdict.PASSED, pass_rate=1.0, stderr="ValueError: mine"),
    Verdict.COMPILE_ERROR: PolicyView(
        compile="failed", verdict=Verdict.COMPILE_ERROR, pass_rate=0.0, message="line 1: invalid syntax"
    ),
    Verdict.NOT_RUN: PolicyView(compile="ok", verdict=Verdict.NOT_RUN),
    Verdict.UNKNOWN: PolicyView(compile="ok", verdict=Verdict.UNKNOWN),
    Verdict.INTERNAL_ERROR: PolicyView(compile="ok", verdict=Verdict.UNKNOWN),
}


@pytest.mark.parametrize("verdict", Verdict)
def test_what_a_policy_sees_of_each_verdict(verdict: Verdict) -> None:
    sample = _sample("stdin")
    stage = "build" if verdict == Verdict.COMPILE_ERROR else "judge"
    result = _result(sample, [verdict, verdict], stage=stage, message="case 0: line 1: invalid syntax")
    failing = PolicyView(compile="ok", verdict=verdict, pass_rate=0.0, stderr="ValueError: mine")
    assert policy_view(result, sample) == GOLDEN.get(verdict, failing)


def test_every_view_of_a_policy_has_the_same_fields() -> None:
    sample = _sample("stdin")
    shapes = {tuple(json.loads(_text(policy_view(_result(sample, [v, v]), sample)))) for v in Verdict}
    assert shapes == {("compile", "verdict", "pass_rate", "message", "stderr")}


def test_what_was_never_built_is_unknown_and_what_has_only_hidden_cases_was_not_run() -> None:
    sample = _sample("stdin")
    lost = _result(sample, [Verdict.UNKNOWN, Verdict.UNKNOWN], stage="build")
    assert policy_view(lost, sample) == PolicyView(compile="unknown", verdict=Verdict.UNKNOWN)
    hidden = msgspec.structs.replace(sample, tests=sample.tests[1:])
    for verdict in set(Verdict) - {Verdict.COMPILE_ERROR}:
        result = _result(hidden, [verdict])
        assert policy_view(result, hidden) == PolicyView(compile="ok", verdict=Verdict.NOT_RUN)


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ('  File "/work/solution.py", line 3, in f', '  File "solution.py", line 3, in f'),
        ('  File "/usr/lib/python3.11/json/decoder.py", line 3', '  File "…", line 3'),
        ("at Object.<anonymous> (/work/a/solution.js:1:7)", "at Object.<anonymous> (solution.js:1:7)"),
        ("open /tmp: no", "open …: no"),
        ("file:///srv/x/y.js", "…"),
        ("../../etc/passwd", "…"),
        ("a / b // c, 1/2, x/y", "a / b // c, 1/2, x/y"),
        ("\x1b[31mred\x1b[0m \u202eback\x07", "red back"),
        ("\x1b]0;title\x07shown", "shown"),
        ("x" * (MOST_TEXT + 10), "…" + "x" * MOST_TEXT),
        ("größer ∑ 漢字", "größer ∑ 漢字"),
    ],
)
def test_errors_are_cleaned(said: str, seen: str) -> None:
    sample = parse_sample(
        {"id": "s", "code": "", "tests": [{"stdin": "", "stdout": "", "hidden": False}]}, settings=Settings()
    )
    result = _result(sample, [Verdict.RUNTIME_ERROR])
    result.cases[0].stderr = said
    assert policy_view(result, sample).stderr == seen


def test_own_files_keep_their_names() -> None:
    sample = parse_sample(
        {
            "id": "s", "code": "", "solution_files": {"pkg/help.py": ""},
            "tests": [{"stdin": "", "stdout": "", "hidden": False}],
        },
        settings=Settings(),
    )  # fmt: skip
    result = _result(sample, [Verdict.RUNTIME_ERROR])
    result.cases[0].stderr = 'File "/work/pkg/help.py", line 1'
    assert policy_view(result, sample).stderr == 'File "pkg/help.py", line 1'


def test_an_exception_that_tests_caught_is_shown() -> None:
    sample = msgspec.structs.replace(_sample("assert"), tests=_sample("assert").tests[:1])
    result = _result(sample, [Verdict.RUNTIME_ERROR])
    result.cases[0].stderr = ""
    result.cases[0].detail = f"f(1) == '{MARK}': the program raised ZeroDivisionError: division by zero"
    assert policy_view(result, sample).stderr == "ZeroDivisionError: division by zero"


def test_short_answers_are_not_blotted_out() -> None:
    """Else a program could print all numbers, and see which of them is missing."""
    tests = [{"stdin": "", "stdout": "42", "hidden": False}, {"stdin": "1234567", "stdout": "0"}]
    sample = parse_sample({"id": "s", "code": "", "tests": tests}, settings=Settings())
    result = _result(sample, [Verdict.RUNTIME_ERROR, Verdict.PASSED])
    result.cases[0].stderr = "41 42 43 1234567"
    assert policy_view(result, sample).stderr == "41 42 43 1234567"


def test_with_too_much_to_look_for_nothing_is_shown() -> None:
    tests = [{"stdin": "", "stdout": "", "hidden": False}, {"stdin": "x" * (1 << 21), "stdout": ""}]
    sample = parse_sample({"id": "s", "code": "", "tests": tests}, settings=Settings())
    assert policy_view(_result(sample, [Verdict.RUNTIME_ERROR, Verdict.PASSED]), sample).stderr == ""


# --- trainers and operators -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TESTS)
def test_a_trainer_cannot_read_hidden_tests_of_a_problem_that_is_held(kind: str) -> None:
    tests = [{**test, "id": "t"} for test in TESTS[kind] if test.get("hidden", True)]
    sample = msgspec.structs.replace(_sample(kind, tests=tests), held=True)
    for verdict, stage in itertools.product(Verdict, STAGES):
        if verdict == Verdict.COMPILE_ERROR and stage in ("gate", "build"):
            continue  # a compiler's message, which is about the program: see the next test
        result = _result(sample, [verdict], stage=stage)
        result.cases[0].test, result.cases[0].id = "t", f"t.test_{MARK}"
        seen = trainer_view(result, sample)
        assert MARK not in _text(seen)
        assert (seen.cases[0].verdict, seen.cases[0].exit_code, seen.cases[0].cpu_s) == (verdict, None, 0.123)
        assert seen.cases[0].id == "t.0"
        assert seen.denied == ["open"]
        assert (seen.reward, seen.meta, seen.code) == (result.reward, {"mine": 1}, "def f(x): ...")


@pytest.mark.parametrize(("kind", "kept"), [("stdin", True), ("call", True), ("assert", True), ("program", False)])
def test_a_trainer_sees_what_a_compiler_says_of_the_program_alone(kind: str, kept: bool) -> None:
    sample = msgspec.structs.replace(_sample(kind), held=True)
    result = _result(sample, [Verdict.COMPILE_ERROR] * 2, stage="build", message="line 1: wrong")
    assert (trainer_view(result, sample).message == "line 1: wrong") is kept


def test_how_much_an_output_differs_from_a_hidden_one_is_not_told() -> None:
    """Guess by guess, it would tell the right one: of `7 8 9`, an output of `7 0 0` differs less than `0 0 0`."""
    sample = msgspec.structs.replace(_sample("stdin"), held=True)
    for verdict, told in ((Verdict.OUTPUT_MISMATCH, 1.0), (Verdict.TIME_OUT, 1.0), (Verdict.PASSED, 0.0)):
        result = _result(sample, [verdict] * 2)
        for degree in (0.0, 0.125, 1.0):
            for case in result.cases:
                case.difference = degree
            seen = {case.test_id: case.difference for case in trainer_view(result, sample).cases}
            assert seen == {test.id: told if test.hidden else degree for test in sample.tests}


def test_a_trainer_sees_all_of_its_own_tests_and_of_visible_ones() -> None:
    sample = _sample("stdin")
    result = _result(sample, [Verdict.RUNTIME_ERROR, Verdict.PASSED])
    assert trainer_view(result, sample) is result
    held = msgspec.structs.replace(sample, held=True)
    assert trainer_view(result, held).cases[0] == result.cases[0]
    assert operator_view(result) is result


verdicts = st.sampled_from(list(Verdict))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_views_are_total_and_tell_no_secret(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(TESTS)))
    sample = _sample(kind)
    texts = st.text(max_size=60) | st.just(_leak(kind))
    cases = data.draw(
        st.lists(
            st.builds(
                CaseResult, id=texts, verdict=verdicts, stderr=texts, stdout=texts, detail=texts, text=texts,
                test=st.sampled_from([test.id for test in sample.tests]) | st.just(""), attempts=st.integers(0, 2),
            ),
            max_size=4,
        )
    )  # fmt: skip
    result = VerificationResult(
        id="s", verdict=data.draw(verdicts), stage=data.draw(st.sampled_from(["gate", "build", "execute", "judge"])),
        message=data.draw(texts), cases=cases, denied=data.draw(st.lists(texts, max_size=2)),
        integrity=data.draw(st.sampled_from(["separate", "shared"])),
    )  # fmt: skip
    view = policy_view(result, sample)
    assert MARK not in _text(view)
    assert view.verdict not in DOUBTFUL - {Verdict.UNKNOWN}
    assert view.pass_rate is None or 0 <= view.pass_rate <= 1
    held = msgspec.structs.replace(sample, held=True)
    hidden = hidden_of(held)
    assert all(not case.stderr for case in trainer_view(result, held).cases if case.test_id in hidden)
