"""Assert suites whose asserts are calls: canonical solutions pass, solutions with a known bug do not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import literals
from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong

pytestmark = pytest.mark.fidelity

#: Each suite, and how many of its records are all calls.
SUITES = {"mbpp": 485, "humaneval": 77, "humanevalpack_python": 77}


def _tests(record: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the tests and the match of a record; raises NotACall."""
    source, names = record["suffix"], {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            asserts = [part for part in node.body if not _is_constant(part)]
            source = "\n".join(map(ast.unparse, asserts))
            names[node.args.args[0].arg] = record["entry_point"]
    calls = [call._replace(name=names.get(call.name, call.name)) for call in literals.calls_of(source)]
    return [call.test() for call in calls], literals.match_for(calls)


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Constant)


def _samples(records: Iterator[dict[str, Any]]) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Yield whether it must pass, and the sample, for each candidate of the records that are all calls."""
    for record in records:
        try:
            tests, match = _tests(record)
        except literals.NotACall as error:
            print(f"left out: {record['id']} ({error})")
            continue
        for candidate in record["candidates"]:
            name = f"{record['id']}/{candidate['kind']}"
            code = record["prefix"] + candidate["code"]
            sample = {"id": name, "code": code, "tests": tests, "match": match}
            yield candidate["label"] == "pass", sample | {"problem_id": record["id"]}


@pytest.mark.parametrize("suite", SUITES)
def test_solutions_get_their_labels(verify: Verify, third_party: ThirdParty, suite: str) -> None:
    samples = list(_samples(third_party(f"function/{suite}.jsonl.zst")))
    assert len({sample["problem_id"] for _, sample in samples}) == SUITES[suite]
    results = verify([sample for _, sample in samples])
    errors = []
    for must_pass, sample in samples:
        result = results[sample["id"]]
        if result.masked or (result.verdict == "passed") != must_pass:
            errors.append(wrong(result, "passed" if must_pass else "a failure"))
    check(errors, len(samples), f"solutions of {suite}")
