"""What shares a process with its tests has many ways to a false pass: those that are known must not lead there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.hostile import program_cheats, program_cheats_places
from tests.hostile.program_cheats import Task

from scalebox import ScaleBoxClient, Settings, VerificationResult
from scalebox.languages.toolchain import Missing, toolchain

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(1200)]

TASKS = {**program_cheats.TASKS, **{f"places: {name}": task for name, task in program_cheats_places.TASKS.items()}}
Verify = Callable[[Sequence[dict[str, Any]]], dict[str, VerificationResult]]


@pytest.fixture(scope="module")
def verify() -> Iterator[Verify]:
    with ScaleBoxClient(settings=Settings()) as client:

        def verify(samples: Sequence[dict[str, Any]]) -> dict[str, VerificationResult]:
            return {result.id: result for result in client.fetch(client.submit_batch(list(samples)))}

        yield verify


def _sample(task: Task, name: str, code: str) -> dict[str, Any]:
    limits = {"build_s": 60.0, "cpu_s": 10.0, "wall_s": 60.0, "processes": 16 if task.language == "bash" else 0}
    tests = [{"prefix": task.prefix, "suffix": task.suffix}]
    return {"id": name, "language": task.language, "code": code, "tests": tests, "limits": limits}


@pytest.mark.parametrize("name", TASKS)
def test_no_cheat_passes_and_the_honest_do(verify: Verify, name: str) -> None:
    task = TASKS[name]
    try:
        toolchain(task.language)
    except Missing as missing:
        pytest.skip(f"{task.language}: {missing}")
    programs = {"right": task.right, "wrong": task.wrong, **task.cheats}
    results = verify([_sample(task, which, code) for which, code in programs.items()])
    assert (results["right"].verdict, results["right"].message) == ("passed", "")
    assert results["right"].integrity == "shared"
    for which, result in results.items():
        print(name, "|", which, "|", result.verdict, "|", result.message.replace("\n", " ")[:150])
    passed = [which for which, result in results.items() if result.verdict == "passed" and which != "right"]
    assert passed == []
    assert [which for which, result in results.items() if result.masked] == []


@pytest.mark.parametrize("name", program_cheats_places.RIGHT)
def test_right_code_that_looks_like_a_cheat_passes(verify: Verify, name: str) -> None:
    which, code = program_cheats_places.RIGHT[name]
    task = program_cheats_places.TASKS[which]
    try:
        toolchain(task.language)
    except Missing as missing:
        pytest.skip(f"{task.language}: {missing}")
    result = verify([_sample(task, name, code)])[name]
    assert (result.verdict, result.message) == ("passed", "")
