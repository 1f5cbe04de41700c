"""Exploits and honest look-alikes in other languages than Python: none of the first scores, all of the others do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(900)]

_LIMITS = {"build_s": 60.0, "cpu_s": 10.0, "wall_s": 60.0}


def _samples(records: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": record["id"], "language": record["language"], "code": record["code"], "limits": _LIMITS,
            "tests": [{"stdin": test["input"], "stdout": test["output"]} for test in record["tests"]],
        }
        for record in records
        if record["language"] != "python"
    ]  # fmt: skip


def test_no_exploit_is_scored(verify: Verify, third_party: ThirdParty) -> None:
    results = verify(_samples(third_party("cheat/exploits.jsonl")))
    errors = [wrong(result, "a failure") for result in results.values() if result.verdict == "passed" or result.masked]
    assert len(results) == 11
    check(errors, len(results), "exploits in other languages")


def test_honest_look_alikes_pass(verify: Verify, third_party: ThirdParty) -> None:
    results = verify(_samples(third_party("cheat/benign.jsonl")))
    errors = [wrong(result, "passed") for result in results.values() if result.verdict != "passed"]
    assert len(results) == 6
    check(errors, len(results), "honest programs in other languages")
