"""`scalebox cache`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from scalebox.cache import Store
from scalebox.cli.main import main


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("SCALEBOX_CACHE_DIR", str(tmp_path))
    return Store(str(tmp_path / "results"), 1 << 20)


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["cache", *arguments])


def _object(*arguments: str) -> Any:
    return json.loads(_run(*arguments, "--json").stdout)


def test_stats_and_clear(store: Store) -> None:
    store.put(b"key", "python/bytecode", b"data")
    store.count(hits=3, hits_other_text=1, misses=4)
    facts = _object("stats")
    assert facts["hit_rate"] == 0.5
    assert facts["classes"]["python/bytecode"]["entries"] == 1
    assert "python/bytecode" in _run("stats").stdout
    assert _object("clear")["forgotten"] == 1
    assert _object("stats")["classes"] == {}


def test_an_empty_cache_has_no_rate(store: Store) -> None:
    store.close()
    assert _object("stats")["hit_rate"] is None
    assert _run("audit").exit_code == 0


def test_audit_tells_what_is_off_and_resets_it(store: Store) -> None:
    store.put(b"key", "python/bytecode", b"data")
    store.disagree("python/bytecode", "s-1", "passed", "assert_fail", certain=True)
    told = _run("audit")
    assert told.exit_code == 1
    assert "python/bytecode, s-1, passed, assert_fail" in told.stdout
    assert _object("audit")["off"][0]["class"] == "python/bytecode"
    assert _run("audit", "--reset").exit_code == 0
    assert _object("stats")["classes"] == {}
