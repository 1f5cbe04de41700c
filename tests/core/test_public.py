"""The public names, and what it costs to import them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import scalebox


def test_all_is_sorted_and_true() -> None:
    names = scalebox.__all__
    assert list(names) == sorted(names)
    assert all(getattr(scalebox, name).__name__ == name for name in names)
    assert set(names) <= set(dir(scalebox))


def test_every_error_is_public() -> None:
    kinds: list[type] = [scalebox.ScaleBoxError, *scalebox.ScaleBoxError.__subclasses__()]
    assert {kind.__name__ for kind in kinds if kind.__module__ == "scalebox.core.errors"} <= set(scalebox.__all__)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Scalebox'"):
        _ = scalebox.Scalebox


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, scalebox; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("scalebox")} == {"scalebox"}
    assert not {"msgspec", "asyncio", "subprocess", "typing_extensions"} & loaded


def test_command_line_help_loads_no_engine() -> None:
    code = "import sys, scalebox.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    heavy = {"rich", "asyncio", "scalebox.engine", "scalebox.client", "scalebox.judge", "zstandard"}
    assert not heavy & set(done.stdout.split())
