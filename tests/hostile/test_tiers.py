"""The programs of the benchmark of tiers get a right verdict in every tier that works here."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import tiers as benchmark
from tests.sandbox.stage import public_interpreter

from scalebox.sandbox import tiers

#: In gVisor refusals are not reported, and the number of processes and files is not bounded: these end otherwise.
_TOLERANT = {"gvisor"}


@pytest.mark.hostile
@pytest.mark.parametrize("tier", benchmark.VARIANTS)
def test_one_program_in_ten(tier: str, tmp_path: Path) -> None:
    probe = tiers.find(tier).probe()
    if not probe.ok:
        pytest.skip(f"{tier} does not work here: {probe.reason}")
    chosen = [program for program in benchmark.programs()[::10] if program.right]
    verdicts = benchmark.verify(tier, chosen, public_interpreter(), tmp_path)
    wrong = [
        (program.record["id"], verdict)
        for program, verdict in zip(chosen, verdicts, strict=True)
        if verdict not in program.right
    ]
    if tier in _TOLERANT:
        wrong = [(name, verdict) for name, verdict in wrong if verdict == "passed"]
    assert wrong == []


def test_there_are_three_hundred_of_them() -> None:
    chosen = benchmark.programs()
    assert len({program.record["id"] for program in chosen}) == len(chosen) == 300
