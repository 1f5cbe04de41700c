"""Every sample of the example file gets a verdict that is right for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalebox import ScaleBoxClient, VerificationResult

EXAMPLES = Path(__file__).parents[1] / "examples" / "rollouts.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def results() -> dict[str, VerificationResult]:
    with ScaleBoxClient() as client:
        return {result.id: result for result in client.fetch(client.submit_batch(ROWS))}


def test_there_is_one_result_for_each_sample(results: dict[str, VerificationResult]) -> None:
    assert sorted(results) == sorted(row["id"] for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_verdict(row: dict[str, Any], results: dict[str, VerificationResult]) -> None:
    result, expected = results[row["id"]], row["meta"]["expected_verdict"]
    assert result.verdict in expected, [case for case in result.cases if case.verdict not in ("passed", *expected)][:2]
    assert (result.reward == 1.0) == (expected == ["passed"])
    assert not result.masked
    assert result.meta == row["meta"]


def test_no_cheat_passes_a_case_by_cheating(results: dict[str, VerificationResult]) -> None:
    for row in ROWS:
        if row["meta"]["cheats"]:
            assert results[row["id"]].pass_rate < 1.0, row["id"]
