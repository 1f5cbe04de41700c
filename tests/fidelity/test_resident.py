"""Compilers that stay make of other people's programs what their commands make: the same files, the same messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ThirdParty

from scalebox import ScaleBoxClient, Settings
from scalebox.core.verdicts import Verdict
from scalebox.languages.toolchain import Missing, toolchain

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

FILES = {
    "function/humanevalpack_java.jsonl.zst": ["java"],
    "function/humanevalx_java.jsonl.zst": ["java"],
    "function/multipl_e_ts.jsonl.zst": ["typescript", "typescript-transpile"],
    "function/exercism_ts.jsonl.zst": ["typescript", "typescript-transpile"],
}


def _built(samples: list[dict[str, Any]], cache: Path, **more: Any) -> tuple[dict[str, str | None], dict[str, bytes]]:
    """Return what each build said, None where it was made, and the kept builds by key. Runs are no matter here."""
    with ScaleBoxClient(settings=Settings(cache_dir=str(cache), workers=1, **more)) as client:
        results = client.fetch(client.submit_batch(samples))
    kept = {path.name: path.read_bytes() for path in (cache / "builds").iterdir()}
    said = {result.id: result.message if result.verdict is Verdict.COMPILE_ERROR else None for result in results}
    return said, kept


@pytest.mark.parametrize(("name", "language"), [(name, one) for name, found in FILES.items() for one in found])
def test_builds_are_those_of_the_commands(third_party: ThirdParty, name: str, language: str, tmp_path: Path) -> None:
    try:
        toolchain(language)
    except Missing as missing:
        pytest.skip(f"{language}: {missing}")
    limits = {"build_s": 120.0, "cpu_s": 1.0, "wall_s": 10.0}
    samples = [
        {
            "id": f"{record['id']}-{number}", "language": language, "tests": [{"stdin": "", "stdout": ""}],
            "code": record.get("prefix", "") + candidate["code"] + record.get("suffix", ""), "limits": limits,
        }
        for record in third_party(name) for number, candidate in enumerate(record["candidates"])
    ]  # fmt: skip
    told, kept = _built(samples, tmp_path / "resident")
    cold_told, cold_kept = _built(samples, tmp_path / "cold", resident_compilers=False)
    assert len(cold_kept) > len(samples) / 4
    assert {one: told[one] for one in told if told[one] != cold_told[one]} == {}
    assert kept.keys() == cold_kept.keys()
    assert [key for key, data in kept.items() if cold_kept[key] != data] == []
