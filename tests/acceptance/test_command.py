"""`scalebox acceptance` on the real engine, and how it ends."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from tests.acceptance.stub import Deployment, Sample, name_of

from scalebox import client as client_module
from scalebox.acceptance.blocked import Blocked
from scalebox.cli.acceptance import _print_blocked, _usual_targets
from scalebox.cli.main import main
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict
from scalebox.server.principal import Role
from scalebox.server.tokens import create_token

SMALL = ("--trajectories", "3", "--steps", "6", "--workers", "1")


@pytest.fixture
def target() -> Iterator[str]:
    """Return a place that does answer, on loopback: what programs under test are told to call."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"a neighbour=127.0.0.1:{listener.getsockname()[1]}"


def invoke(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["acceptance", *arguments], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_an_embedded_engine_is_proved(target: str) -> None:
    result = invoke("embedded", "--json", "--target", target, *SMALL)
    report = json.loads(result.stdout)
    assert [check for check in report["checks"] if check["state"] != "passed"] == []
    assert result.exit_code == 0
    assert report["passed"] is True
    assert "a neighbour" in next(c["detail"] for c in report["checks"] if c["name"] == "isolation.network")
    assert {"steps_per_s", "latency_s", "program_memory_bytes"} <= set(report["load"])


def test_refusals_are_whole_on_a_narrow_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    one = Blocked(
        check="forged.overridden-equality.harness", batch_id="b", sample_id="acceptance-1.x", documented=[],
        verdict="resource_denied", reward=0.0, masked=False, integrity="separate", risk="high",
        denied=["network: socket(AF_INET)"],
    )  # fmt: skip
    _print_blocked(Console(width=80), [one])
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.split()[:6] == ["hostile", "refused", "verdict", "in", "the", "log"]
    assert {one.check, "resource_denied,", "high,", "socket(AF_INET)", "not", "tried"} <= set(shown.split())


def test_a_server_is_proved(target: str, tmp_path: Path) -> None:
    log = tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "scalebox.cli", "serve", "--port", "0", "--journal", str(tmp_path / "journal.db")]
    environment = {**os.environ, "SCALEBOX_RESULT_LOG": str(log)}
    with subprocess.Popen(
        [*command, "--workers", "1", "--json"], stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        try:
            url = json.loads(server.stdout.readline())["url"]
            result = invoke(url, "--json", "--target", target, "--log", str(log), *SMALL)
        finally:
            server.terminate()
    report = json.loads(result.stdout)
    assert [check for check in report["checks"] if check["state"] != "passed"] == []
    assert (report["url"], result.exit_code) == (url, 0)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[str]:
    """Run a server that asks for tokens and keeps an audit log; the files of tokens are called after their roles."""
    tokens = str(tmp_path / "tokens.jsonl")
    for role in (Role.TRAINER, Role.OPERATOR):
        (tmp_path / role.value).write_text(create_token(tokens, "run", role) + "\n", encoding="ascii")
    command = [sys.executable, "-m", "scalebox.cli", "serve", "--port", "0", "--journal", str(tmp_path / "journal.db")]
    environment = {**os.environ, "SCALEBOX_AUDIT_LOG": str(tmp_path / "audit")}
    with subprocess.Popen(
        [*command, "--workers", "1", "--json", "--tokens", tokens], stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()


def events(folder: Path, event: str, **wanted: Any) -> list[dict[str, Any]]:
    """Return the records of an audit log that are of an event and have these fields."""
    found = [json.loads(line) for file in folder.iterdir() for line in file.read_bytes().splitlines()]
    return [one for one in found if one["event"] == event and wanted.items() <= one.items()]


def test_a_server_with_tokens_is_proved_by_a_trainers_and_an_operators(
    guarded: str, target: str, tmp_path: Path
) -> None:
    trainer, operator = str(tmp_path / "trainer"), str(tmp_path / "operator")
    own = ("--target", target, "--operator-token-file", operator, *SMALL)
    result = invoke(guarded, "--json", "--token-file", trainer, *own)
    report = json.loads(result.stdout)
    assert [check for check in report["checks"] if check["state"] != "passed"] == []
    assert result.exit_code == 0
    told = {check["name"]: check["detail"] for check in report["checks"]}
    assert {"log.executions", "log.denials", "log.blocked", "log.chain", "access.roles"} <= told.keys()
    assert {(one["logged"], one["amiss"], one["integrity"]) for one in report["blocked"]} == {(True, "", "separate")}
    assert len(report["blocked"]) > 15
    (batch_id,) = {one["batch_id"] for one in report["blocked"]}
    (executed,) = events(tmp_path / "audit", "execution", sample_id=report["blocked"][-1]["sample_id"])
    assert (executed["batch_id"], executed["reward"]) == (batch_id, 0)
    assert "resource_denied" in {one["verdict"] for one in report["blocked"]}
    # An operator's token in the trainer's place proves no wall between the two.
    result = invoke(guarded, "--json", "--token-file", operator, *own)
    report = json.loads(result.stdout)
    (failed,) = [check for check in report["checks"] if check["state"] != "passed"]
    assert (failed["name"], result.exit_code) == ("access.roles", 1)
    assert "the trainer's token" in failed["detail"]
    # Lines that somebody took out are missed.
    (file,) = (tmp_path / "audit").iterdir()
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3] + lines[4:]))
    report = json.loads(invoke(guarded, "--json", "--token-file", trainer, *own).stdout)
    assert "log.chain" in {check["name"] for check in report["checks"] if check["state"] == "failed"}


def test_without_a_right_token_nothing_is_proved(guarded: str, tmp_path: Path) -> None:
    for options in (
        (),
        ("--token-file", str(tmp_path / "trainer"), "--operator-token-file", str(tmp_path / "trainer")),
    ):
        result = CliRunner().invoke(main, ["acceptance", guarded, *options, *SMALL])
        assert result.exit_code == 3, result.output
        assert "--token-file" in result.output
        assert "--operator-token-file" in result.output


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """Put a deployment on which one forgery scores in the client's place; the value lists how it was opened."""
    opened: list[dict[str, Any]] = []

    def spoil(sample: Sample, result: VerificationResult) -> None:
        if name_of(sample) == "forged.flood.stdin":
            result.verdict, result.reward = Verdict.PASSED, 1.0

    class Client(Deployment):
        def __init__(self, url: str, **options: Any) -> None:
            super().__init__(tmp_path / "log", spoil)
            opened.append({"url": url, **options})

        async def __aenter__(self) -> Client:
            return self

        async def __aexit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(client_module, "AsyncScaleBoxClient", Client)
    return opened


def test_a_failure_is_explained(broken: list[dict[str, Any]], target: str, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("sb-secret\n")
    result = invoke("http://127.0.0.1:9", "--token-file", str(token), "--target", target, *SMALL)
    assert result.exit_code == 1
    assert "forged.flood.stdin failed: it scored" in result.stdout
    assert "why it matters" in result.stdout
    assert "1 failed, 3 not tried" in result.stdout  # no log was named
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("forged.flood.stdin ")]
    # In the table of all checks, in that of what is hostile, and explained.
    assert [row[1:3] for row in rows] == [["NO", "it"], ["NO", "passed"], ["failed:", "it"]]
    assert (broken[0]["url"], broken[0]["token"]) == ("http://127.0.0.1:9", "sb-secret")


def test_what_a_deployment_must_not_reach() -> None:
    names = {target.name: target for target in _usual_targets("http://scalebox.lab:8080")}
    assert set(names) == {"a public name", "the metadata address", "the service itself"}
    assert (names["the service itself"].host, names["the service itself"].port) == ("scalebox.lab", 8080)
    assert _usual_targets("https://box")[-1].port == 443
    assert "this machine" in {target.name for target in _usual_targets("embedded")}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("embedded", "--target", "nonsense"), "no target"),
        (("embedded", "--token-file", "/nowhere/token"), "/nowhere/token"),
        (("embedded", "--operator-token-file", "/nowhere/token"), "operator-token-file"),
        (("embedded", "--trajectories", "0"), "trajectories"),
        (("gopher://x",), "gopher"),
        ((), "URL"),
    ],
)
def test_what_cannot_be_used(arguments: tuple[str, ...], text: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert text in result.stderr
