"""Every language gets every label right, in both tiers."""

from __future__ import annotations

import pytest
from tests.languages.conftest import Verify
from tests.languages.programs import ALL, BROKEN_LINE

from scalebox.languages.registry import languages

pytestmark = pytest.mark.timeout(900)


def test_a_right_program_passes_and_asks_for_nothing_forbidden(verify: Verify, language: str) -> None:
    test = languages()[language].self_test
    result = verify(language, test.program, (test.stdin, test.stdout), (test.stdin, test.stdout))
    assert (result.verdict, result.message) == ("passed", "")
    assert result.denied == []
    assert [case.exit_code for case in result.cases] == [0, 0]
    assert all(case.memory_bytes > 0 for case in result.cases)


def test_another_output_is_a_mismatch(verify: Verify, language: str) -> None:
    test = languages()[language].self_test
    result = verify(language, ALL[language].wrong, (test.stdin, test.stdout))
    assert (result.verdict, result.denied, result.cases[0].exit_code) == ("output_mismatch", [], 0)


def test_what_does_not_build_says_where(verify: Verify, language: str) -> None:
    result = verify(language, ALL[language].broken)
    assert (result.verdict, result.stage) == ("compile_error", "build")
    assert result.message.startswith(f"line {BROKEN_LINE}: ")
    assert "/" not in result.message.partition(": ")[2].split(" ")[0]


def test_an_exit_code_is_a_runtime_error(verify: Verify, language: str) -> None:
    result = verify(language, ALL[language].exits, ("", ""))
    assert (result.verdict, result.cases[0].exit_code) == ("runtime_error", 3)


def test_a_loop_is_out_of_time(verify: Verify, language: str) -> None:
    result = verify(language, ALL[language].loops, ("", ""), cpu_s=1.0)
    assert result.verdict == "time_out", result.message


def test_more_memory_than_allowed_is_told(verify: Verify, tier: str, language: str) -> None:
    result = verify(language, ALL[language].hoards, ("", ""), memory_mb=64, cpu_s=20.0)
    right = {"memory_exceed"}
    if tier == "process" and language in (
        "d",
        "d-unittest",
    ):  # D's collector crashes, or collects on, where it gets none
        right |= {"runtime_error", "time_out"}
    assert result.verdict in right, result.cases[0]


def test_more_output_than_allowed_is_told(verify: Verify, language: str) -> None:
    assert verify(language, ALL[language].floods, ("", "")).verdict == "output_exceed"


def test_what_is_forbidden_is_named(verify: Verify, language: str) -> None:
    if not ALL[language].denied:
        pytest.skip(f"{language} has no means to start a process or to reach the network")
    result = verify(language, ALL[language].denied, ("", ""))
    assert (result.verdict, result.risk) == ("resource_denied", "high"), result.cases[0]
    assert any(word in " ".join(result.denied) for word in ("process creation", "network"))
