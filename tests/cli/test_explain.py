"""Explanations of single samples."""

from __future__ import annotations

from scalebox.cli.explain import explain
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.parse import parse_sample


def _case(case_id: str, **fields: object) -> CaseResult:
    return CaseResult(id=case_id, verdict=Verdict.OUTPUT_MISMATCH, exit_code=0, **fields)  # type: ignore[arg-type]


def test_a_mismatch_of_output() -> None:
    raw = {"id": "s", "code": "x", "tests": [{"stdin": "1\n", "stdout": "1\n"}, {"stdin": "7 8\n", "stdout": "9\n7\n"}]}
    result = VerificationResult(
        id="s",
        verdict=Verdict.OUTPUT_MISMATCH,
        pass_rate=0.5,
        reward=0.5,
        tier="namespace",
        cases=[
            CaseResult(id="0", verdict=Verdict.PASSED, exit_code=0),
            _case("1", difference=0.5, detail="line 2, token 1: expected '7', got '8'", stdout="9\n8\n", stderr="hm"),
        ],
    )
    assert explain(result, parse_sample(raw, settings=Settings())).splitlines() == [
        "s: output_mismatch, pass rate 0.5, reward 0.5, decided at judge, tier namespace",
        "  case 1: output_mismatch (0.0 ms CPU, 0.0 ms wall, 0 KiB, exit code 0)",
        "    line 2, token 1: expected '7', got '8'",
        "    degree of difference 0.5 (0 the same, 1 nothing alike)",
        "    stdin: 7 8",
        "    expected:",
        "      9",
        "      7",
        "    stdout:",
        "      9",
        "      8",
        "    stderr: hm",
        "  1 of 2 cases passed",
    ]


def test_a_call() -> None:
    test = {"call": "f", "args_repr": "[(1, 2)]", "kwargs": {"k": None}, "expect_repr": "{3}"}
    sample = parse_sample({"id": "s", "code": "x", "tests": [test]}, settings=Settings())
    case = CaseResult(id="0", verdict=Verdict.RUNTIME_ERROR, signal=11, difference=1.0)
    text = explain(VerificationResult(id="s", verdict=Verdict.RUNTIME_ERROR, cases=[case]), sample)
    assert "    call: f((1, 2), k=None)\n    expected: {3}\n" in text
    assert "0 KiB, signal 11)" in text
    assert "degree of difference" not in text
    assert "no reward" in text


def test_an_assertion_that_is_one_of_several_of_its_test() -> None:
    raw = {"id": "s", "code": "x", "tests": [{"assert": "assert f(1) == 2\nassert f(2) == 3"}]}
    case = CaseResult(
        id="0.1", test="0", verdict=Verdict.ASSERT_FAIL, text="assert f(2) == 3", detail="f(2) == 3: left 4, right 3"
    )
    result = VerificationResult(id="s", verdict=Verdict.ASSERT_FAIL, cases=[case])
    for sample in (parse_sample(raw, settings=Settings()), None):
        assert explain(result, sample).splitlines()[1:4] == [
            "  case 0.1: assert_fail (0.0 ms CPU, 0.0 ms wall, 0 KiB)",
            "    test: assert f(2) == 3",
            "    f(2) == 3: left 4, right 3",
        ]


def test_what_hostile_programs_say_is_escaped_and_cut() -> None:
    case = _case("\x1b]0;x\x07", detail="\x1b[2J", stdout="\x1b[31m" + "x" * 10_000)
    result = VerificationResult(id="\x1b[1m", verdict=case.verdict, masked=True, message="\x9b", cases=[case])
    result.denied = ["\x1b[5m"]
    text = explain(result)
    assert text.replace("\n", "").isprintable()
    assert len(text) < 2000
    assert "masked" in text


def test_many_failures_are_counted() -> None:
    result = VerificationResult(id="s", verdict=Verdict.TIME_OUT, cases=[_case(str(n)) for n in range(20)])
    text = explain(result)
    assert text.count("  case ") == 5
    assert "  and 15 more failed cases\n" in text


def test_code_that_does_not_build_is_shown() -> None:
    result = VerificationResult(
        id="s", verdict=Verdict.COMPILE_ERROR, code="Sure!\nHere is how\n", message="line 1: no"
    )
    assert explain(result).splitlines()[1:5] == ["  line 1: no", "  code:", "    Sure!", "    Here is how"]
    passed = VerificationResult(id="s", verdict=Verdict.PASSED, code="x = 1")
    assert "code" not in explain(passed)
