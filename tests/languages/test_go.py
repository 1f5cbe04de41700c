"""Go builds on a cache that was prepared once, which no build changes."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest
from tests.languages.conftest import Verify, verifier_of
from tests.languages.programs import go

from scalebox.languages.toolchain import Missing, prepare, toolchain

PROGRAM = go("var a, b int; fmt.Scan(&a, &b); fmt.Println(strings.TrimSpace(fmt.Sprint(a + b)))", "fmt", "strings")
_OLD_S = 30 * 24 * 3600


def _tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in folder.rglob("*")
    }


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a prepared cache; what a test does to times and modes of its files is no matter to the others."""
    try:
        place = prepare(toolchain("go"), str(tmp_path_factory.mktemp("go")))
    except Missing as missing:
        pytest.skip(f"go: {missing}")
    assert place
    return Path(place)


@pytest.mark.parametrize("age_s", [0, _OLD_S])
def test_a_build_uses_the_prepared_cache_and_leaves_it_as_it_is(tier: str, prepared: Path, age_s: int) -> None:
    for folder in (prepared, *prepared.parents):
        if os.access(folder, os.W_OK) and folder.is_relative_to(prepared.parents[1]):
            folder.chmod(0o755)
    for path in prepared.rglob("*"):
        os.utime(path, (time.time() - age_s,) * 2)
    before = _tree(prepared)
    verifier = verifier_of(tier, prepared.parents[1], build_cache_mb=0)
    verify = next(verifier)
    for _ in range(2):
        assert verify("go", PROGRAM).verdict == "passed"
    broken = verify("go", PROGRAM.replace("Scan", "Scam"))
    assert (broken.verdict, "Scam" in broken.message) == ("compile_error", True)
    next(verifier, None)
    assert _tree(prepared) == before


def test_without_it_a_program_is_built_all_the_same(tier: str, prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalebox.worker.prepare", lambda *_: "")
    verifier = verifier_of(tier, prepared.parents[1] / "other", build_cache_mb=0)
    assert next(verifier)("go", PROGRAM).verdict == "passed"
    next(verifier, None)


def test_a_package_that_is_no_program_is_a_compile_error(verify: Verify) -> None:
    result = verify("go", "// A library.\npackage sums\n\nfunc Sum(a, b int) int { return a + b }\n")
    assert (result.verdict, result.message) == ("compile_error", "line 2: a program is package main")
