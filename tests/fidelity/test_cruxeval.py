"""CRUXEval as function calls and assertions: each program gives its own value, and no other program's."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import literals
from tests.fidelity.conftest import Verify
from tests.fidelity.labelled import Labelled, check_labels, with_controls
from tests.fidelity.labels import check, wrong

pytestmark = pytest.mark.fidelity

_WRAPPED = "argument_of_the_test"


@pytest.fixture(scope="module")
def programs(third_party: ThirdParty) -> list[dict[str, Any]]:
    """Return all records as samples."""
    samples = [_sample(record) for record in third_party("function/cruxeval.jsonl.zst")]
    assert len(samples) == 400
    return samples


def _sample(record: dict[str, Any]) -> dict[str, Any]:
    (candidate,) = record["candidates"]
    code, tests = candidate["code"], record["suffix"]
    try:
        (call,) = literals.calls_of(tests)
    except literals.NotACall:
        # The argument is an expression (a lambda, a range, a method call): then the program computes it.
        code += f"\n\ndef {_WRAPPED}():\n    return f({record['input']})\n"
        (call,) = literals.calls_of(f"assert {_WRAPPED}() == {record['output']}")
    return {"id": record["id"], "code": code, "tests": [call.test()]}


def test_every_program_passes_with_its_own_value(verify: Verify, programs: list[dict[str, Any]]) -> None:
    results = verify(programs)
    errors = [wrong(result, "passed") for result in results.values() if result.verdict != "passed"]
    check(errors, len(results), "CRUXEval programs with their own value")


def test_no_program_passes_with_the_value_of_another(verify: Verify, programs: list[dict[str, Any]]) -> None:
    values = [ast.literal_eval(sample["tests"][0]["expect_repr"]) for sample in programs]
    results = verify([_swapped(programs, values, index) for index in range(len(programs))])
    errors = [wrong(result, "assert_fail") for result in results.values() if result.verdict != "assert_fail"]
    check(errors, len(results), "CRUXEval programs with the value of another")


def test_every_program_passes_its_assertion(verify: Verify, third_party: ThirdParty) -> None:
    samples = []
    for record in third_party("function/cruxeval.jsonl.zst"):
        (candidate,) = record["candidates"]
        sample = {"id": record["id"], "problem_id": record["id"], "code": candidate["code"]}
        samples.append(Labelled(True, sample | {"tests": [{"assert": record["suffix"]}]}))
    assert len(samples) == 400
    check_labels(verify, with_controls(samples), "CRUXEval as assert")


def _swapped(programs: list[dict[str, Any]], values: list[Any], index: int) -> dict[str, Any]:
    others = (number % len(values) for number in range(index + 1, index + len(values)))
    other = next(number for number in others if values[number] != values[index])
    (test,) = programs[index]["tests"]
    return {**programs[index], "tests": [{**test, "expect_repr": repr(values[other])}]}
