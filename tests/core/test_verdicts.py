"""The verdict of a sample out of those of its cases."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.verdicts import DOUBTFUL, SEVERITY, Verdict, worst

VERDICTS = st.lists(st.sampled_from(list(Verdict)))


def test_the_order_is_the_documented_one() -> None:
    assert " ".join(SEVERITY) == (
        "compile_error resource_denied runtime_error time_out memory_exceed output_exceed assert_fail "
        "output_mismatch unknown internal_error"
    )


def test_nothing_at_all_is_never_passed() -> None:
    assert worst([]) is Verdict.UNKNOWN
    assert worst([Verdict.NOT_RUN]) is Verdict.UNKNOWN
    assert worst([Verdict.PASSED, Verdict.NOT_RUN]) is not Verdict.PASSED


@given(VERDICTS)
def test_passed_only_if_every_case_passed(verdicts: list[Verdict]) -> None:
    assert (worst(verdicts) is Verdict.PASSED) == (bool(verdicts) and set(verdicts) == {Verdict.PASSED})


@given(VERDICTS)
def test_a_certain_failure_beats_a_doubt(verdicts: list[Verdict]) -> None:
    certain = set(verdicts) - DOUBTFUL - {Verdict.PASSED, Verdict.NOT_RUN}
    if certain:
        assert worst(verdicts) in certain


@given(VERDICTS, st.sampled_from(list(Verdict)))
def test_order_does_not_matter_and_another_failure_is_never_better(verdicts: list[Verdict], more: Verdict) -> None:
    assert worst(verdicts) is worst(reversed(verdicts))
    if set(verdicts) & set(SEVERITY) and more in SEVERITY:
        assert SEVERITY.index(worst([*verdicts, more])) <= SEVERITY.index(worst(verdicts))
