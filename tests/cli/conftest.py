"""What the tests of the command line share: files of samples, and the command with a stub client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.stub import StubClient

from scalebox.cli import verify as verify_module
from scalebox.cli.main import main

Write = Callable[..., str]
Invoke = Callable[..., Result]


def sample(sample_id: str, code: str = "passed", **fields: Any) -> dict[str, Any]:
    return {"id": sample_id, "code": code, "tests": [{"stdin": "1 2\n", "stdout": "3\n"}]} | fields


def lines(records: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records, or bytes as they are, to a file and return its path."""

    def write(content: bytes | Iterable[Any], name: str = "in.jsonl") -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else lines(content))
        return str(path)

    return write


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[StubClient]]:
    """Put the stub in the client's place; the value lists the stubs that were made."""
    monkeypatch.setattr(verify_module, "AsyncScaleBoxClient", StubClient)
    StubClient.clients.clear()
    yield StubClient.clients
    StubClient.clients.clear()


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run the command in an empty directory; what it raises but does not handle fails the test."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, **options: Any) -> Result:
        result = CliRunner().invoke(main, arguments, **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke
