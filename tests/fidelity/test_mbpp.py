"""MBPP and MBPP+ with their own tests: the list of assertions, and the whole text of the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity.conftest import Verify
from tests.fidelity.labelled import LIMITS, Labelled, check_labels, with_controls

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(1800)]

Record = dict[str, Any]


def _list(record: Record) -> list[dict[str, Any]]:
    tests = [*record["test_list"], *record.get("challenge_test_list", ())]
    return [{"assert": test} for test in tests]


def _whole(record: Record) -> list[dict[str, Any]]:
    return [{"assert": record["suffix"]}]


def _program(record: Record) -> list[dict[str, Any]]:
    return [{"prefix": record["prefix"], "suffix": record["suffix"]}]


def _fields(suite: str, kind: str) -> dict[str, Any]:
    # Lists of MBPP+ use `math`, which no program of theirs imports; the whole text of the tests does.
    return {"setup": "import math\n"} if (suite, kind) == ("mbppplus", "list") else {}


KINDS: dict[str, Callable[[Record], list[dict[str, Any]]]] = {"list": _list, "whole": _whole, "program": _program}
SUITES = {"mbpp": 487, "mbppplus": 196}


def samples(records: Iterator[Record], suite: str, kind: str) -> Iterator[Labelled]:
    """Yield a sample for each program of the records."""
    for record in records:
        (candidate,) = record["candidates"]
        assert candidate["label"] == "pass"
        sample = {"id": record["id"], "problem_id": record["id"], "limits": LIMITS, "tests": KINDS[kind](record)}
        yield Labelled(True, sample | {"code": candidate["code"]} | _fields(suite, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suite", SUITES)
def test_programs_get_their_labels(verify: Verify, third_party: ThirdParty, suite: str, kind: str) -> None:
    found = list(samples(third_party(f"function/{suite}.jsonl.zst"), suite, kind))
    assert len(found) == SUITES[suite]
    check_labels(verify, with_controls(found), f"{suite} as {kind}")
