"""Counts, rates and exit codes of a run."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from scalebox.cli.tally import Tally
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import Verdict


def _result(verdict: Verdict, **fields: Any) -> VerificationResult:
    cases = [CaseResult(id="0", verdict=verdict), CaseResult(id="1", verdict=Verdict.NOT_RUN)]
    return VerificationResult(id="s", verdict=verdict, tier="namespace", cases=cases, **fields)


def _tally() -> Tally:
    tally = Tally()
    tally.add(_result(Verdict.PASSED, reward=1.0))
    tally.add(_result(Verdict.TIME_OUT, reward=0.0))
    tally.add(_result(Verdict.UNKNOWN, masked=True))
    tally.seconds = 2.0
    return tally


def test_summary() -> None:
    assert _tally().summary() == {
        "samples": 3,
        "cases": 3,
        "verdicts": {"passed": 1, "time_out": 1, "unknown": 1},
        "mean_reward": 0.5,
        "masked": 1,
        "cached": 0,
        "unusable_lines": 0,
        "seconds": 2.0,
        "samples_per_s": 1.5,
        "tests_per_s": 1.5,
        "tiers": ["namespace"],
        "interrupted": False,
    }


def test_nothing_at_all_has_no_rates() -> None:
    summary = Tally().summary()
    assert (summary["mean_reward"], summary["samples_per_s"], summary["tests_per_s"]) == (None, None, None)


@pytest.mark.parametrize(("unusable", "masked", "code"), [(0, 0, 0), (0, 3, 1), (1, 0, 2), (1, 3, 2)])
def test_exit_code(unusable: int, masked: int, code: int) -> None:
    assert Tally(unusable=unusable, masked=masked).exit_code() == code


def test_table() -> None:
    out = io.StringIO()
    tally = _tally()
    tally.unusable = 2
    tally.print(Console(file=out, width=100))
    text = out.getvalue()
    for part in ("passed", "33.3%", "time_out", "mean reward    0.5000", "masked         1 (no", "unusable lines 2"):
        assert part in text
    assert "throughput     1.5 samples/s, 1.5 tests/s (3 tests in 2.00 s)" in text
    assert "tier           namespace" in text


def test_the_first_internal_error_is_told() -> None:
    out = io.StringIO()
    tally = Tally()
    tally.add(_result(Verdict.INTERNAL_ERROR, masked=True, message="the jail was lost\x1b"))
    tally.add(_result(Verdict.INTERNAL_ERROR, masked=True, message="again"))
    tally.print(Console(file=out, width=100))
    assert "internal error the jail was lost\\x1b (the first; try scalebox doctor)" in out.getvalue()
