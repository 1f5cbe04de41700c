"""Known exploits never pass, honest programs that look like exploits always do: in every kind of test there is."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import literals
from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong
from tests.fidelity.styles import STYLES

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(1800)]

Record = dict[str, Any]
#: Records in other languages, which this version does not run, of each file; all others are in Python.
EXPLOITS, FOREIGN_EXPLOITS = 98, 11
HONEST, FOREIGN_HONEST = 74, 6

_FLOAT = {"mode": "float"}


def _python(records: Iterable[Record], foreign: int) -> list[Record]:
    """Return the records in Python."""
    every = list(records)
    found = [record for record in every if record["language"] == "python"]
    assert len(every) - len(found) == foreign
    return found


def _plain_samples(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Yield the records whose tests are inputs and outputs, or calls and values, as such."""
    for record in records:
        sample = {"id": record["id"], "code": record["code"]}
        if record["entry_style"] == "stdin":
            yield sample | {"tests": [{"stdin": test["input"], "stdout": test["output"]} for test in record["tests"]]}
        elif record["entry_style"] == "function":
            calls = [call for test in record["tests"] for call in literals.calls_of(test)]
            yield sample | {"match": literals.match_for(calls), "tests": [call.test() for call in calls]}


def _styled_samples(records: Iterable[Record], style: str) -> Iterator[dict[str, Any]]:
    """Yield the records whose tests are assertions, in another style."""
    for record in records:
        if record["entry_style"] != "stdin":
            tests, entry = _assertions(record)
            sample = {"id": record["id"], "code": record["code"], "solution_files": record.get("files") or {}}
            yield sample | STYLES[style](tests, entry)


def _assertions(record: Record) -> tuple[list[str], str]:
    """Return a record's tests as texts of assertions, and the name of the function that they are said to test."""
    if record["entry_style"] == "function":
        return record["tests"], record["entry_point"]
    (module,) = record["tests"]
    bodies = [node.body for node in ast.parse(module).body if isinstance(node, ast.FunctionDef)]
    return ["\n".join(map(ast.unparse, body)) for body in bodies], "slug"


def _modules(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Yield the records that are modules for pytest, as such: the files of the program lie beside them."""
    for record in records:
        if record["entry_style"] == "pytest":
            (module,) = record["tests"]
            names = [node.name for node in ast.parse(module).body if isinstance(node, ast.FunctionDef)]
            test = {"files": {"test_solution.py": module}, "required": [f"test_solution.py::{name}" for name in names]}
            files = record.get("files") or {}
            yield {"id": record["id"], "code": record["code"], "solution_files": files, "tests": [test]}


def _check_exploits(verify: Verify, samples: Iterable[dict[str, Any]], what: str) -> int:
    results = verify(list(samples))
    errors = [wrong(result, "a failure", result.cases) for result in results.values() if result.verdict == "passed"]
    errors += [wrong(result, "no doubt") for result in results.values() if result.masked]
    check(errors, len(results), what)
    return len(results)


def _check_honest(verify: Verify, samples: Iterable[dict[str, Any]], what: str) -> int:
    results = verify(list(samples))
    errors = [wrong(result, "passed") for result in results.values() if result.verdict != "passed"]
    check(errors, len(results), what)
    return len(results)


@pytest.fixture(scope="module")
def exploits(third_party: ThirdParty) -> list[Record]:
    found = _python(third_party("cheat/exploits.jsonl"), FOREIGN_EXPLOITS)
    assert len(found) == EXPLOITS
    return found


@pytest.fixture(scope="module")
def honest(third_party: ThirdParty) -> list[Record]:
    found = _python(third_party("cheat/benign.jsonl"), FOREIGN_HONEST)
    assert len(found) == HONEST
    return found


@pytest.mark.parametrize("match", [None, _FLOAT], ids=["own-mode", "float"])
def test_no_exploit_passes(verify: Verify, exploits: list[Record], match: dict[str, Any] | None) -> None:
    # The laxer mode has been a way to score: NaN, infinities, and objects that compare as they like.
    samples = [sample | {"match": match} if match else sample for sample in _plain_samples(exploits)]
    assert _check_exploits(verify, samples, "exploits") == 83


@pytest.mark.parametrize("style", STYLES)
def test_no_exploit_passes_in_another_style(verify: Verify, exploits: list[Record], style: str) -> None:
    assert _check_exploits(verify, _styled_samples(exploits, style), f"exploits as {style}") == 74


def test_no_exploit_of_pytest_passes(verify: Verify, exploits: list[Record]) -> None:
    assert _check_exploits(verify, _modules(exploits), "exploits of pytest") == 15


def test_every_honest_program_passes(verify: Verify, honest: list[Record]) -> None:
    assert _check_honest(verify, _plain_samples(honest), "honest programs") == 71


@pytest.mark.parametrize("style", STYLES)
def test_every_honest_program_passes_in_another_style(verify: Verify, honest: list[Record], style: str) -> None:
    assert _check_honest(verify, _styled_samples(honest, style), f"honest programs as {style}") == 55


def test_every_honest_program_passes_by_pytest(verify: Verify, honest: list[Record]) -> None:
    assert _check_honest(verify, _modules(honest), "honest programs by pytest") == 3
