"""What is expected of submissions, against what came out; and points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.verdicts import DOUBTFUL, Verdict
from scalebox.packages import expected
from scalebox.packages.expected import Expectation, annotated
from scalebox.packages.scores import Accepts, Group

P, W, T, R = Verdict.PASSED, Verdict.OUTPUT_MISMATCH, Verdict.TIME_OUT, Verdict.RUNTIME_ERROR
M, L, D, N, U = (
    Verdict.MEMORY_EXCEED, Verdict.OUTPUT_EXCEED, Verdict.RESOURCE_DENIED, Verdict.NOT_RUN, Verdict.UNKNOWN,
)  # fmt: skip
CE, IE = Verdict.COMPILE_ERROR, Verdict.INTERNAL_ERROR


@pytest.mark.parametrize(
    ("said", "verdicts", "met"),
    [
        (expected.ACCEPTED, [P, P], True),
        (expected.ACCEPTED, [P, W], False),
        (expected.ACCEPTED, [P, U], None),
        (expected.ACCEPTED, [W, U], False),
        (expected.ACCEPTED, [], None),
        (expected.ACCEPTED, [N, N], None),
        (expected.LEGACY["wrong_answer"], [P, W, T], True),
        (expected.LEGACY["wrong_answer"], [P, T, W], False),
        (expected.LEGACY["wrong_answer"], [P, P], False),
        (expected.LEGACY["wrong_answer"], [P, W, N, U], True),
        (expected.LEGACY["wrong_answer"], [U, W], None),
        (expected.LEGACY["wrong_answer"], [L], True),
        (expected.LEGACY["run_time_error"], [M], True),
        (expected.LEGACY["run_time_error"], [CE, CE], False),
        (expected.LEGACY["time_limit_exceeded"], [IE], None),
        (expected.LEGACY["partially_accepted"], [P, D], True),
        (expected.LEGACY["partially_accepted"], [P, P], False),
        (expected.LEGACY["partially_accepted"], [P, U], None),
        (expected.LEGACY_SCORING["wrong_answer"], [P, T, W], True),
        (expected.LEGACY_SCORING["wrong_answer"], [P, T], False),
        (expected.DRAFT["wrong_answer"], [P, W, W], True),
        (expected.DRAFT["wrong_answer"], [W, T], False),
        (expected.DRAFT["brute_force"], [P, T, R], True),
        (expected.DRAFT["brute_force"], [P, P], False),
        (expected.DRAFT["brute_force"], [T, W], False),
        (expected.one_of("TLE", "AC"), [P, P], True),
        (expected.one_of("CE"), [CE, CE], True),
        (expected.one_of("MLE"), [M], True),
    ],
)
def test_what_is_met(said: Expectation, verdicts: list[Verdict], met: bool | None) -> None:
    assert said.met(verdicts) is met


@given(
    st.lists(st.sampled_from(list(Verdict)), max_size=6),
    st.sampled_from([*expected.LEGACY.values(), *expected.LEGACY_SCORING.values(), *expected.DRAFT.values()]),
)
def test_doubt_and_nothing_are_never_met_and_a_pass_is_no_failure(verdicts: list[Verdict], said: Expectation) -> None:
    met = said.met(verdicts)
    if not set(verdicts) - {Verdict.NOT_RUN} - DOUBTFUL:
        assert met is None
    if verdicts and set(verdicts) == {Verdict.PASSED}:
        assert met is (said == expected.ACCEPTED)
    if met and said == expected.ACCEPTED:
        assert set(verdicts) <= {Verdict.PASSED, Verdict.NOT_RUN}


def test_expectations_add_up() -> None:
    both = expected.DRAFT["wrong_answer"] & Expectation(permitted=expected.ANY, required=(frozenset({"AC"}),))
    assert (both.met([P, W]), both.met([W, W]), both.met([P, T])) == (True, False, False)
    assert [str(expected.LEGACY[name]) for name in ("accepted", "wrong_answer", "rejected")] == ["AC", "WA", "rejected"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("int main() {}", None),
        ("// @EXPECTED_RESULTS@: CORRECT", "AC"),
        ("/* @EXPECTED_RESULTS@: wrong-answer, TIMELIMIT */", "TLE|WA"),
        ("# @EXPECTED_RESULTS@: RUN_TIME_ERROR\nx", "RTE"),
        ("# @EXPECTED_RESULTS@: NO-OUTPUT,MEMORY-LIMIT,OUTPUT-LIMIT", "MLE|OLE|WA"),
        ("# @EXPECTED_RESULTS@: MAYBE", "MAYBE"),
    ],
)
def test_annotations(source: str, said: str | None) -> None:
    found = annotated(source)
    assert (None if found is None else str(found)) == said


def test_points_by_group() -> None:
    first = Group(members=("a", "b"), aggregation="min", accept=20)
    second = Group(members=("c", "d", "e"), accept=5, stop=True)
    root = Group(members=(first, second), stop=False)

    def points(verdicts: str) -> float | None:
        return root.points(dict(zip("abcde", ({"P": P, "W": W, "U": U}[letter] for letter in verdicts), strict=True)))

    assert [points(verdicts) for verdicts in ("PPPPP", "PWPPP", "PPPWP", "WWWWW")] == [35, 15, 25, 0]
    assert [points(verdicts) for verdicts in ("PPPUP", "PPWUP")] == [None, 20]
    assert Group(members=("a",), aggregation="max", reject=2).points({"a": W}) == 2
    assert Group(members=("a", "b"), aggregation="avg", stop=False).points({"a": W, "b": P}) == 0.5
    assert Group(members=()).points({}) == 0


def test_what_comes_after_a_group_hangs_on_whether_that_is_accepted() -> None:
    def points(accepts: Accepts, verdicts: str) -> float | None:
        first = Group(members=("a", "b"), accepts=accepts, stop=False)
        named = {name: {"P": P, "W": W}[letter] for name, letter in zip("abc", verdicts, strict=True)}
        return Group(members=(first, "c")).points(named)

    assert [points("all", verdicts) for verdicts in ("PPP", "PWP", "WWP")] == [3, 1, 0]
    assert [points("any", verdicts) for verdicts in ("PPP", "PWP", "WWP")] == [3, 2, 0]
    assert [points("always", verdicts) for verdicts in ("PPP", "PWP", "WWP")] == [3, 2, 1]


def test_nothing_is_judged_after_a_batch_that_is_worth_nothing_and_fails() -> None:
    batches = tuple(Group(members=(name,), accept=worth, whole=True) for name, worth in (("a", 4), ("b", 0), ("c", 9)))
    root = Group(members=batches, stop=False)
    assert [root.points(dict(zip("abc", verdicts, strict=True))) for verdicts in ((P, P, P), (P, W, P), (W, P, P))] == [
        13, 4, 9,
    ]  # fmt: skip
