"""Samples with a known label, and the check that the engine gives it: in two processes, unless said otherwise."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong

from scalebox import VerificationResult

#: What the fastest machine needs not; a right program that is slow by its nature must not fail for it.
LIMITS = {"cpu_s": 20.0, "wall_s": 120.0}
#: Wrong programs that do not end are to be found out sooner.
SHORT = {"cpu_s": 4.0, "wall_s": 60.0}


class Labelled(NamedTuple):
    """A raw sample, and whether it must pass."""

    must_pass: bool
    sample: dict[str, Any]


def sabotaged(code: str) -> str:
    """Return a program that defines what `code` does, but whose functions all raise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes in old programs
        tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = ast.parse("raise RuntimeError('sabotaged')").body
        elif isinstance(node, ast.Lambda):
            node.body = ast.parse("1 // 0", mode="eval").body
    return ast.unparse(ast.fix_missing_locations(tree))


def with_controls(samples: Iterable[Labelled]) -> Iterator[Labelled]:
    """Yield the samples, and after each that must pass a copy that must not: tests that do not run let it through."""
    for labelled in samples:
        yield labelled
        if labelled.must_pass:
            yield Labelled(False, _control(labelled.sample))


def _control(sample: dict[str, Any]) -> dict[str, Any]:
    # What stands before the code becomes part of it, so that all functions are found.
    head = sample.get("prompt", "") + "".join(test.get("prefix", "") for test in sample["tests"])
    code = sabotaged(head + sample.get("code", sample.get("response", "")))
    tests = [{name: value for name, value in test.items() if name != "prefix"} for test in sample["tests"]]
    fields = {name: value for name, value in sample.items() if name not in ("prompt", "response", "stop")}
    return {**fields, "id": f"{sample['id']}/sabotaged", "code": code, "tests": tests, "limits": SHORT}


def check_labels(verify: Verify, samples: Iterable[Labelled], what: str, shared: Collection[str] = ()) -> None:
    """Fail where a label is wrong, or where others than the problems in `shared` needed one process for all.

    Prints how many samples were judged, how many cases passed, and how many results are of one process.
    """
    given = list(samples)
    results = verify([labelled.sample for labelled in given])
    assert len(results) == len(given), "two samples with one id"
    errors = [error for labelled in given for error in _errors(labelled, results[labelled.sample["id"]], shared)]
    counts = Counter(result.integrity for result in results.values())
    cases = sum(case.verdict == "passed" for result in results.values() for case in result.cases)
    right = sum(labelled.must_pass for labelled in given)
    print(f"{what}: {right} right, {len(given) - right} wrong programs, {cases} passed cases, {dict(counts)}")
    assert any(labelled.must_pass for labelled in given)
    assert any(not labelled.must_pass for labelled in given)
    check(errors, len(given), what)


def _errors(labelled: Labelled, result: VerificationResult, shared: Collection[str]) -> Iterator[str]:
    expected = "passed" if labelled.must_pass else "a failure"
    if result.masked or (result.verdict == "passed") != labelled.must_pass:
        yield wrong(result, expected)
    if labelled.must_pass and not result.cases:
        yield wrong(result, "cases")
    integrity = "shared" if labelled.sample["problem_id"] in shared else "separate"
    if result.integrity != integrity:
        yield f"{result.id}: integrity {result.integrity}, expected {integrity}: {result.message}"
