"""The command itself: help, version, unknown commands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from scalebox.cli.main import COMMANDS

Invoke = Callable[..., Result]
DOCS = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_help_lists_the_commands(invoke: Invoke) -> None:
    text = invoke("--help").stdout
    for name, summary in COMMANDS.items():
        assert f"  {name}" in text
        assert summary in " ".join(text.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_is_documented(invoke: Invoke, name: str) -> None:
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: main {name}")
    assert "..." not in result.stdout.partition("Commands:")[2], "a summary is cut: give the command a short_help"
    assert f"## scalebox {name}\n" in DOCS.read_text()


def test_version(invoke: Invoke) -> None:
    assert invoke("--version").stdout.startswith("scalebox ")


def test_a_command_that_there_is_not(invoke: Invoke) -> None:
    result = invoke("verfy")
    assert result.exit_code == 2
    assert "No such command 'verfy'" in result.stderr


def test_the_command_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scalebox.cli", "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith("Usage: scalebox ")
