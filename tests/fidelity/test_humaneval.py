"""HumanEval, HumanEval+ and HumanEvalPack with their own tests, in every kind that these can be written in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import plain
from tests.fidelity.conftest import Verify
from tests.fidelity.labelled import LIMITS, SHORT, Labelled, check_labels, with_controls
from tests.fidelity.styles import pytest_module

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(1800)]

Record = dict[str, Any]


def _called(suffix: str, entry: str) -> tuple[str, str]:
    """Return (definition of `check`, the call of it that ends the suffix)."""
    call = f"check({entry})"
    assert suffix.rstrip().endswith(f"\n{call}")
    return suffix.rstrip().removesuffix(call), call


def _harness(record: Record, code: str) -> dict[str, Any]:
    """The harness as the data sets publish it, the engine calls `check`."""
    definition, _ = _called(record["suffix"], record["entry_point"])
    fields = {"tests": [{"harness": definition}], "entry_point": record["entry_point"]}
    return fields | {"prompt": record["prefix"], "response": code}


def _calling_harness(record: Record, code: str) -> dict[str, Any]:
    return {"code": record["prefix"] + code, "tests": [{"harness": record["suffix"]}]}


def _assert(record: Record, code: str) -> dict[str, Any]:
    return {"code": record["prefix"] + code, "tests": [{"assert": record["suffix"]}]}


def _program(record: Record, code: str) -> dict[str, Any]:
    return {"code": code, "tests": [{"prefix": record["prefix"], "suffix": record["suffix"]}]}


def _pytest(record: Record, code: str) -> dict[str, Any]:
    definition, call = _called(record["suffix"], record["entry_point"])
    source = f"{definition}\n\ndef test_check():\n    {call}\n"
    return {"code": record["prefix"] + code, **pytest_module(source, ["test_check"])}


#: What a record's tests become.
KINDS: dict[str, Callable[[Record, str], dict[str, Any]]] = {
    "harness": _harness,
    "calling-harness": _calling_harness,
    "assert": _assert,
    "program": _program,
    "pytest": _pytest,
}
#: Each set, and the right and wrong programs that it brings.
SUITES = {"humaneval": (82, 0), "humanevalplus": (81, 0), "humanevalpack_python": (82, 82)}
#: Canonical programs that fail their own tests in a plain Python too, with the reason.
EXCEPTED = {"humanevalplus/python/32": "its tests unpack the number that the program returns"}


def samples(records: Iterator[Record], kind: str) -> Iterator[Labelled]:
    """Yield a sample for each program of the records."""
    for record in records:
        if record["id"] in EXCEPTED:
            continue
        for candidate in record["candidates"]:
            must_pass = candidate["label"] == "pass"
            name = f"{record['id']}/{candidate['kind']}"
            fields = {"id": name, "problem_id": record["id"], "limits": LIMITS if must_pass else SHORT}
            yield Labelled(must_pass, fields | KINDS[kind](record, candidate["code"]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suite", SUITES)
def test_programs_get_their_labels(verify: Verify, third_party: ThirdParty, suite: str, kind: str) -> None:
    found = list(samples(third_party(f"function/{suite}.jsonl.zst"), kind))
    right = sum(labelled.must_pass for labelled in found)
    assert (right, len(found) - right) == SUITES[suite]
    check_labels(verify, with_controls(found), f"{suite} as {kind}")


def test_exceptions_fail_in_a_plain_python_too(third_party: ThirdParty) -> None:
    records = [record for record in third_party("function/humanevalplus.jsonl.zst") if record["id"] in EXCEPTED]
    assert len(records) == len(EXCEPTED)
    for record in records:
        assert not plain.passes(_assert(record, record["candidates"][0]["code"]))
