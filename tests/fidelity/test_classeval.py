"""ClassEval with its own tests, classes for unittest: in an assert item, after the code, as a module for pytest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import plain
from tests.fidelity.conftest import Verify
from tests.fidelity.labelled import LIMITS, Labelled, check_labels, with_controls
from tests.fidelity.styles import pytest_module

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(1800)]

#: Canonical programs that fail in a plain Python too, with the reason: that of the data's notes, or for 58 our own.
EXCEPTED = {
    "classeval/ClassEval_28": "needs pandas",
    "classeval/ClassEval_34": "needs docx",
    "classeval/ClassEval_38": "needs openpyxl",
    "classeval/ClassEval_44": "needs gensim",
    "classeval/ClassEval_48": "fails assertions on a plain Python: asks the network for the name of a host",
    "classeval/ClassEval_50": "fails assertions on a plain Python: expects that file modes keep root from reading",
    "classeval/ClassEval_52": "needs nltk",
    "classeval/ClassEval_58": "places mines at random, at times two in one place, where its own tests count two",
}
#: Programs whose tests cannot run apart from them, with the reason.
SHARED: dict[str, str] = {}


def _methods(source: str) -> list[str]:
    """Return the test methods of classes for unittest as pytest names them."""
    return [
        f"{node.name}::{method.name}"
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
        for method in {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}.values()
        if method.name.startswith("test")
    ]


def _tests(record: dict[str, Any], kind: str) -> dict[str, Any]:
    match kind:
        case "assert":
            return {"tests": [{"assert": record["suffix"]}]}
        case "program":
            return {"tests": [{"prefix": record["prefix"], "suffix": record["suffix"]}]}
    return pytest_module(record["suffix"], _methods(record["suffix"]))


def samples(records: Iterator[dict[str, Any]], kind: str) -> Iterator[Labelled]:
    """Yield a sample for each record that is not excepted."""
    for record in records:
        (candidate,) = record["candidates"]
        if record["id"] not in EXCEPTED:
            sample = {"id": record["id"], "problem_id": record["id"], "limits": LIMITS, "code": candidate["code"]}
            yield Labelled(True, sample | _tests(record, kind))


def test_what_fails_by_chance_does_so_in_a_plain_python_too(third_party: ThirdParty) -> None:
    (record,) = (r for r in third_party("function/classeval.jsonl.zst") if r["id"] == "classeval/ClassEval_58")
    code, tests = record["candidates"][0]["code"], [{"assert": record["suffix"]}]
    seeded = ({"code": f"import random\nrandom.seed({seed})\n{code}", "tests": tests} for seed in range(100))
    assert not all(map(plain.passes, seeded))


@pytest.mark.parametrize("kind", ["assert", "program", "pytest"])
def test_programs_get_their_labels(verify: Verify, third_party: ThirdParty, kind: str) -> None:
    found = list(samples(third_party("function/classeval.jsonl.zst"), kind))
    assert len(found) == 50 - len(EXCEPTED)
    assert len(SHARED) <= 5  # a tenth of the set
    check_labels(verify, with_controls(found), f"classeval as {kind}", SHARED)
