"""What the tools answer, on a client that verifies nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from scalebox.client import AsyncScaleBoxClient
from scalebox.core.errors import InputError
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.mcp.tools import ITEMS_LIMIT, TEXT_LIMIT, Tools, bounded, trainer_view

CANARY = "1729secret"


class Stub:
    """A client whose every result is the one given."""

    def __init__(self, result: VerificationResult | None) -> None:
        self.result = result
        self.samples: list[Any] = []
        self.cancelled: list[str] = []
        self.fetching = asyncio.Event()

    async def submit_batch(self, samples: list[Any]) -> str:
        self.samples += samples
        return "b-1"

    async def fetch(self, _: str) -> list[VerificationResult]:
        self.fetching.set()
        if self.result is None:
            await asyncio.Event().wait()
        assert self.result is not None
        return [self.result]

    async def cancel(self, batch_id: str) -> None:
        self.cancelled.append(batch_id)


def tools(stub: Stub, view: Any = "policy") -> Tools:
    client: Any = stub
    assert set(dir(Stub)) - set(dir(AsyncScaleBoxClient)) <= {"__weakref__"}
    return Tools(client, Settings(), view)


def result(verdict: Verdict, cases: list[CaseResult]) -> VerificationResult:
    return VerificationResult(
        id="verify", verdict=verdict, cases=cases, message="/work/solution.py: no", code="x", tier="namespace"
    )


def failing(verdict: Verdict) -> VerificationResult:
    shown = CaseResult(
        id="a", verdict=verdict, stdout=CANARY, stderr='File "/work/jail/solution.py", line 3', detail=CANARY, cpu_s=1.5
    )
    hidden = CaseResult(id="b.0", test="b", verdict=verdict, stderr=CANARY, text=CANARY, wall_s=2.5)
    return result(verdict, [shown, hidden])


def test_a_trainer_sees_the_record_but_no_code() -> None:
    view = trainer_view(failing(Verdict.ASSERT_FAIL))
    assert [case["detail"] for case in view["cases"]] == [CANARY, ""]
    assert view["tier"] == "namespace"
    assert "code" not in view


def test_answers_are_bounded_whatever_a_program_prints() -> None:
    case = CaseResult(id="0", verdict=Verdict.RUNTIME_ERROR, stdout="x" * 10**6, stderr="\u2192" * 10**6)
    view = trainer_view(result(Verdict.RUNTIME_ERROR, [case] * 1000))
    assert len(view["cases"]) == ITEMS_LIMIT
    assert view["cases_total"] == 1000
    assert len(json.dumps(view, ensure_ascii=False)) < ITEMS_LIMIT * (2 * TEXT_LIMIT + 1000)
    assert "more characters" in view["cases"][0]["stderr"]
    assert bounded({"a": "short"}) == {"a": "short"}


def test_tests_of_the_caller_are_visible_unless_it_says_otherwise() -> None:
    stub = Stub(failing(Verdict.ASSERT_FAIL))
    given: list[dict[str, Any]] = [
        {"id": "a", "assert": "assert f()"},
        {"id": "b", "assert": "assert f()", "hidden": True},
    ]
    view = asyncio.run(tools(stub).verify("x", given, options={"entry_point": "f"}))
    assert view == {"compile": "ok", "verdict": "assert_fail", "pass_rate": 0.0, "message": "", "stderr": ""}
    assert [test["hidden"] for test in stub.samples[0]["tests"]] == [False, True]
    assert stub.samples[0]["entry_point"] == "f"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"code": "x" * 1_000_001, "tests": [{}]}, "code"),
        ({"code": "x", "tests": [{}] * 1001}, "tests"),
        ({"code": "x", "tests": [{}], "options": {"id": "mine"}}, "options.id"),
    ],
)
def test_senseless_arguments_are_refused_by_name(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        asyncio.run(tools(Stub(None)).verify(**arguments))
    assert caught.value.field == field
    assert caught.value.mend


def test_a_caller_who_leaves_stops_the_program() -> None:
    async def leave() -> list[str]:
        stub = Stub(None)
        call = asyncio.ensure_future(tools(stub).run_code("while True: pass"))
        await stub.fetching.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return stub.cancelled

    assert asyncio.run(leave()) == ["b-1"]
