"""`scalebox sweep`: what it shows, and how it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from scalebox.cli import sweep as sweep_module
from scalebox.sandbox.leftovers import LeftOver
from scalebox.sandbox.linux import owner

Invoke = Callable[..., Result]


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that a dead process left, in the only place that is looked at."""
    folder = tmp_path / owner.tagged("x").replace(f"-{os.getpid()}-", "-1-")
    folder.mkdir()
    monkeypatch.setenv("SCALEBOX_SCRATCH_DIR", str(tmp_path))
    return folder


def _of(result: Result, folder: Path) -> list[dict[str, object]]:
    return [one for one in json.loads(result.stdout)["left_overs"] if one["name"] == str(folder)]


def test_a_dry_run_removes_nothing(invoke: Invoke, left: Path) -> None:
    result = invoke("sweep", "--dry-run", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["dry_run"] is True
    assert _of(result, left) == [{"kind": "file", "name": str(left), "owner": 1, "removed": False, "why": ""}]
    assert left.exists()


def test_what_is_left_is_removed_and_shown(invoke: Invoke, left: Path) -> None:
    result = invoke("sweep")
    assert "removed" in result.stdout
    assert not left.exists()
    assert _of(invoke("sweep", "--json"), left) == []


def test_what_stays_is_said_and_ends_in_an_error(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = LeftOver(kind="process", name="7\x1b[5m", owner=6, why="it cannot be killed")
    monkeypatch.setattr(sweep_module, "sweep_left_overs", lambda *_, **__: [stuck])
    result = invoke("sweep")
    assert result.exit_code == 1
    assert "it cannot be killed" in result.stdout
    assert "\x1b" not in result.stdout


def test_nothing_left(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "sweep_left_overs", lambda *_, **__: [])
    result = invoke("sweep")
    assert (result.exit_code, result.stdout) == (0, "nothing is left over\n")
