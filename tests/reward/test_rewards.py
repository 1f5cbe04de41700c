"""Rewards: golden cases, and the laws that every shaping keeps."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalebox.core.errors import InputError
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import DOUBTFUL, Verdict, worst
from scalebox.reward import check_reward, names, pass_rate_of, reward_of

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "rewards.md"
#: The same examples on every run, however slow the machine.
repeatable = settings(derandomize=True, max_examples=80)

EXTRACTED = ("fenced", "incomplete_fenced", "bare", "code", "empty")
#: The most that a shaping gives.
MOST = {"pass_rate": 1.0, "all_or_nothing": 1.0, "layered": 1.5, "score": 1.0}

P, F, U, N = Verdict.PASSED, Verdict.TIME_OUT, Verdict.UNKNOWN, Verdict.NOT_RUN
LOST = Verdict.INTERNAL_ERROR

verdicts = st.sampled_from(list(Verdict))
many_verdicts = st.lists(verdicts, min_size=1, max_size=8)
weights = st.lists(st.sampled_from([0.1, 0.5, 1.0, 3.0, 1e6]), min_size=8, max_size=8)


def result_of(*cases: Verdict, verdict: Verdict | None = None) -> VerificationResult:
    return VerificationResult(
        id="s",
        verdict=verdict or worst(cases),
        cases=[CaseResult(id=str(number), verdict=case) for number, case in enumerate(cases)],
    )


def weights_of(values: list[float]) -> dict[str, float]:
    return {str(number): value for number, value in enumerate(values)}


@pytest.mark.parametrize(
    ("name", "cases", "value"),
    [
        ("pass_rate", [P, P], 1.0),
        ("pass_rate", [P, F], 0.5),
        ("pass_rate", [F, F], 0.0),
        ("pass_rate", [P, U], None),
        ("pass_rate", [F, LOST], None),
        ("pass_rate", [P, F, N, N], 0.25),
        ("pass_rate", [P, U, N], None),
        ("pass_rate", [N, N], None),
        ("all_or_nothing", [P, P], 1.0),
        ("all_or_nothing", [P, F], 0.0),
        ("all_or_nothing", [P, U], None),
        ("all_or_nothing", [F, U], 0.0),
        ("all_or_nothing", [F, LOST], 0.0),
        ("all_or_nothing", [F, N], 0.0),
        ("all_or_nothing", [N], None),
        ("layered", [P, P], 1.5),
        ("layered", [P, F], 1.0),
        ("layered", [F, F], 0.5),
        ("layered", [Verdict.COMPILE_ERROR] * 2, 0.2),
        ("layered", [P, U], None),
    ],
)
def test_rewards(name: str, cases: list[Verdict], value: float | None) -> None:
    reward = reward_of(name, result_of(*cases), {}, extracted="fenced")
    assert reward.value == value
    assert reward.masked is (value is None)


@pytest.mark.parametrize(
    ("verdict", "value"), [(Verdict.COMPILE_ERROR, 0.0), (Verdict.INTERNAL_ERROR, None), (U, None), (P, None), (F, 0.0)]
)
@pytest.mark.parametrize("name", ["pass_rate", "all_or_nothing"])
def test_a_result_without_cases(name: str, verdict: Verdict, value: float | None) -> None:
    assert reward_of(name, result_of(verdict=verdict), {}, extracted="code").value == value


def test_a_case_left_out_by_a_build_that_failed_is_a_failure() -> None:
    failed = result_of(N, N, verdict=Verdict.COMPILE_ERROR)
    assert reward_of("pass_rate", failed, {}, extracted="fenced").value == 0.0
    assert reward_of("layered", failed, {}, extracted="fenced").parts == {"format": 0.2, "compile": 0.0, "tests": 0.0}


def test_a_masked_reward_reports_what_is_certain() -> None:
    ran = reward_of("layered", result_of(P, U), {}, extracted="fenced")
    assert ran.parts == {"format": 0.2, "compile": 0.3, "tests": 0.5}
    lost = reward_of("layered", result_of(LOST, LOST), {}, extracted="bare")
    assert lost.parts == {"format": 0.0, "compile": 0.0, "tests": 0.0}


def test_weights_count() -> None:
    reward = reward_of("pass_rate", result_of(P, F), {"0": 3.0}, extracted="code")
    assert reward.value == 0.75
    assert pass_rate_of(result_of(P, F).cases, {"1": 4.0}) == 0.2
    assert pass_rate_of([], {}) == 0.0
    assert pass_rate_of(result_of(P, U).cases, {}) == 0.5


def test_scores_count_as_parts() -> None:
    cases = [
        CaseResult(id="a", verdict=P, score=1.0),
        CaseResult(id="b", verdict=Verdict.OUTPUT_MISMATCH, score=0.25),
        CaseResult(id="c", verdict=Verdict.OUTPUT_MISMATCH),
        CaseResult(id="d", verdict=P),
        CaseResult(id="e", verdict=Verdict.RESOURCE_DENIED, score=0.5),
    ]
    result = VerificationResult(id="s", verdict=Verdict.OUTPUT_MISMATCH, cases=cases)
    assert reward_of("score", result, {"b": 4.0}, extracted="code").value == 3.0 / 8.0
    assert reward_of("pass_rate", result, {"b": 4.0}, extracted="code").value == 2.0 / 8.0
    in_doubt = VerificationResult(id="s", verdict=U, cases=[*cases, CaseResult(id="f", verdict=U)])
    assert reward_of("score", in_doubt, {}, extracted="code").masked


def test_each_case_of_a_test_has_the_weight_of_the_test() -> None:
    cases = [
        CaseResult(id="a.0", test="a", verdict=P),
        CaseResult(id="a.1", test="a", verdict=Verdict.ASSERT_FAIL),
        CaseResult(id="a.TestX.test_y", test="a", verdict=P),
        CaseResult(id="b", verdict=Verdict.ASSERT_FAIL),
    ]
    # An id may look like that of another test's case: what counts is the test that the case names.
    test_weights = {"a": 2.0, "b": 4.0, "a.0": 100.0}
    assert pass_rate_of(cases, test_weights) == 0.4
    result = VerificationResult(id="s", verdict=Verdict.ASSERT_FAIL, cases=cases)
    assert reward_of("pass_rate", result, test_weights, extracted="code").value == 0.4
    assert reward_of("layered", result, test_weights, extracted="code").parts["tests"] == 0.4
    assert reward_of("all_or_nothing", result, test_weights, extracted="code").value == 0.0


def test_unknown_names_are_errors() -> None:
    assert check_reward("layered", "reward") == "layered"
    for name in ("", "PASS_RATE", "_facts", "pass_rate + 0.1"):
        with pytest.raises(InputError, match="one of all_or_nothing, layered, pass_rate") as caught:
            check_reward(name, "reward")
        assert caught.value.field == "reward"
    with pytest.raises(InputError, match="no such reward"):
        reward_of("none", result_of(P), {}, extracted="code")
    with pytest.raises(InputError, match="extraction"):
        reward_of("pass_rate", result_of(P), {}, extracted="guessed")


@pytest.mark.parametrize("name", names())
def test_every_shaping_is_documented_and_known_here(name: str) -> None:
    assert name in MOST
    assert f"\n### `{name}`\n" in DOCS.read_text("utf-8")


@pytest.mark.parametrize("name", names())
@repeatable
@given(cases=many_verdicts, values=weights, extracted=st.sampled_from(EXTRACTED))
def test_a_reward_is_bounded_and_the_sum_of_its_parts(
    name: str, cases: list[Verdict], values: list[float], extracted: str
) -> None:
    reward = reward_of(name, result_of(*cases), weights_of(values), extracted=extracted)
    assert (reward.value is None) is reward.masked
    assert 0 <= math.fsum(reward.parts.values()) <= MOST[name]
    assert reward.value in (None, math.fsum(reward.parts.values()))
    assert set(reward.parts) == set(reward_of(name, result_of(P), {}, extracted="fenced").parts)


@pytest.mark.parametrize("name", names())
@repeatable
@given(cases=many_verdicts, values=weights, place=st.integers(0, 7), extracted=st.sampled_from(EXTRACTED))
def test_a_case_that_comes_to_pass_never_costs(
    name: str, cases: list[Verdict], values: list[float], place: int, extracted: str
) -> None:
    place %= len(cases)
    better = [*cases[:place], P, *cases[place + 1 :]]
    before = reward_of(name, result_of(*cases), weights_of(values), extracted=extracted)
    after = reward_of(name, result_of(*better), weights_of(values), extracted=extracted)
    assert before.value is None or after.value is None or before.value <= after.value


@pytest.mark.parametrize("name", names())
@repeatable
@given(cases=many_verdicts, values=weights)
def test_a_reward_is_masked_where_doubt_decides_and_only_there(
    name: str, cases: list[Verdict], values: list[float]
) -> None:
    given_weights = weights_of(values)
    reward = reward_of(name, result_of(*cases), given_weights, extracted="fenced")
    doubtful = any(case in DOUBTFUL for case in cases) or worst(cases) in DOUBTFUL
    resolved = {
        reward_of(name, result_of(*cases_if), given_weights, extracted="fenced").value
        for cases_if in (
            [outcome if case in DOUBTFUL or (case is N and worst(cases) in DOUBTFUL) else case for case in cases]
            for outcome in (P, F)
        )
    }
    assert None not in resolved
    assert reward.masked is (len(resolved) == 2)
    assert doubtful or not reward.masked
    if not reward.masked:
        assert {reward.value} == resolved


@repeatable
@given(cases=st.lists(st.sampled_from([P, F]), min_size=1, max_size=8))
def test_form_never_outweighs_tests(cases: list[Verdict]) -> None:
    formatted = reward_of("layered", result_of(*[F] * len(cases)), {}, extracted="fenced")
    solved = reward_of("layered", result_of(*[P] * len(cases)), {}, extracted="bare")
    assert formatted.value is not None
    assert solved.value is not None
    assert formatted.value < solved.value
    assert solved.parts["tests"] > formatted.parts["format"] + formatted.parts["compile"]
