"""QuixBugs, Python: its own pytest modules with all their files, and the same tests as assert items."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity.conftest import Verify
from tests.fidelity.labelled import LIMITS, SHORT, Labelled, check_labels

pytestmark = [pytest.mark.fidelity, pytest.mark.timeout(1800)]

Record = dict[str, Any]

#: The one test that skips itself, for it takes too long: the end of its id, and the input that it stands for.
SKIPPED = "test_levenshtein[input_data3-42]"
SKIPPED_INPUT = ["amanaplanacanalpanama", "docnoteidissentafastneverpreventsafatnessidietoncod"]


def _module(record: Record) -> str:
    """Return the name of the record's test module."""
    (name,) = (name for name in record["files"] if name.startswith("python_testcases/test_"))
    return str(name)


def _program_file(record: Record) -> str:
    """Return the name under which the tests import the program when pytest is given no option."""
    return f"python_programs/{record['entry_point']}.py"


def collected(files: dict[str, str], folder: Path) -> list[str]:
    """Return the ids of the tests that pytest finds in files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


def _as_pytest(record: Record, folder: Path) -> dict[str, Any]:
    right = next(candidate for candidate in record["candidates"] if candidate["label"] == "pass")
    ids = collected({**record["files"], _program_file(record): right["code"]}, folder)
    required = [name for name in ids if not name.endswith(SKIPPED)]
    assert len(ids) - len(required) == (record["entry_point"] == "levenshtein")
    return {"tests": [{"files": record["files"], "required": required}], "main": _program_file(record)}


def as_asserts(record: Record) -> list[dict[str, Any]]:
    """Return the module's tests as one assert item: its data in its text, its functions called in their order."""
    module = ast.parse(record["files"][_module(record)])
    body: list[ast.stmt] = []
    calls: list[str] = []
    for statement in module.body:
        match statement:
            case ast.Import() | ast.If():
                continue  # pytest, and the choice of the program
            case ast.ImportFrom(module="node"):
                body += ast.parse(record["files"]["python_testcases/node.py"]).body
            case ast.ImportFrom():
                continue
            case ast.Assign(targets=[ast.Name(id="testdata")], value=ast.Call()):
                body += ast.parse(f"testdata = {_data(record)!r}").body
            case ast.FunctionDef(name=name, decorator_list=decorators):
                calls.append(f"for row in testdata: {name}(*row)" if decorators else f"{name}()")
                statement.decorator_list = []
                body.append(statement)
            case _:
                body.append(statement)
    return [{"assert": ast.unparse(ast.Module(body, [])) + "\n\n" + "\n".join(calls)}]


def _data(record: Record) -> list[Any]:
    text = record["files"][f"json_testcases/{record['entry_point']}.json"]
    rows = [json.loads(line) for line in text.splitlines()]
    return [row for row in rows if row[0] != SKIPPED_INPUT]


def samples(records: Iterator[Record], kind: str, folder: Path) -> Iterator[Labelled]:
    """Yield a sample for each program of the Python records."""
    for record in records:
        if record["language"] != "python":
            continue
        tests = (
            {"tests": as_asserts(record)} if kind == "assert" else _as_pytest(record, folder / record["entry_point"])
        )
        for candidate in record["candidates"]:
            must_pass = candidate["label"] == "pass"
            fields = {
                "id": f"{record['id']}/{candidate['kind']}",
                "problem_id": record["id"],
                "code": candidate["code"],
            }
            yield Labelled(must_pass, fields | tests | {"limits": LIMITS if must_pass else SHORT})


@pytest.mark.parametrize("kind", ["assert", "pytest"])
def test_programs_get_their_labels(verify: Verify, third_party: ThirdParty, tmp_path: Path, kind: str) -> None:
    found = list(samples(third_party("function/quixbugs.jsonl.zst"), kind, tmp_path))
    assert sum(labelled.must_pass for labelled in found) == 20
    assert len(found) == 40
    check_labels(verify, found, f"quixbugs as {kind}")
