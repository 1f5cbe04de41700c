"""The same batch gives the same labels: quiet and loaded, shuffled, with duplicates, from the cache and not."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scalebox import ScaleBoxClient, Settings

#: By name: what the program is for the number that is put in, its tests, and its verdict.
_KINDS: dict[str, tuple[str, list[dict[str, Any]], str]] = {
    "right": ("print(int(input()) + {n})", [{"stdin": "1\n", "stdout": "{m}\n"}], "passed"),
    "wrong": ("print(int(input()) - {n} - 1)", [{"stdin": "1\n", "stdout": "{m}\n"}], "output_mismatch"),
    "raises": ("raise ValueError({n})", [{"stdin": "", "stdout": ""}], "runtime_error"),
    "broken": ("def {n}", [{"stdin": "", "stdout": ""}], "compile_error"),
    "call": ("def f(x): return x + {n}", [{"call": "f", "args": [1], "expect": 1}], "assert_fail"),
    "asserted": ("def f(x): return x", [{"assert": "assert f({n}) == {n}"}], "passed"),
    "loop": ("while {n} > -1: pass", [{"stdin": "", "stdout": ""}], "time_out"),
    "near": (
        "import time\nwhile time.process_time() < 0.12: pass\nprint({n})",
        [{"stdin": "", "stdout": "{n}\n"}],
        "passed",
    ),
    "sleeps": ("import time\ntime.sleep(60 + {n})", [{"stdin": "", "stdout": ""}], "time_out"),
}
#: How often each kind comes in a hundred samples; those that take their whole time are few.
_SHARES = {
    "right": 30,
    "wrong": 20,
    "raises": 12,
    "broken": 10,
    "call": 10,
    "asserted": 10,
    "loop": 3,
    "near": 4,
    "sleeps": 1,
}
_LIMITS = {"cpu_s": 0.3, "wall_s": 3.0}


def batch(count: int) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return samples, no two the same, and their verdicts."""
    names = [name for name, share in _SHARES.items() for _ in range(share)]
    records, verdicts = [], {}
    for number in range(count):
        code, tests, verdict = _KINDS[names[number % len(names)]]
        filled = [{key: _fill(value, number) for key, value in test.items()} for test in tests]
        record = {"id": f"s{number}", "code": _fill(code, number), "tests": filled, "limits": _LIMITS}
        records.append(record)
        verdicts[record["id"]] = verdict
    return records, verdicts


def _fill(value: Any, number: int) -> Any:
    return value.replace("{n}", str(number)).replace("{m}", str(number + 1)) if isinstance(value, str) else value


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """Have so many processes compute without end."""
    running = [subprocess.Popen([sys.executable, "-I", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def rounds(runs: int, count: int, folder: Path) -> None:
    """Verify the batch so often, each time in another way, and compare every label."""
    records, verdicts = batch(count)
    for run in range(runs):
        chosen = random.Random(run)  # noqa: S311 - an order, not a secret
        given = [*records, *({**one, "id": f"{one['id']}-again"} for one in records[: count // 10] if run % 2)]
        chosen.shuffle(given)
        settings = Settings(cache="on" if run % 4 > 1 else "off", cache_dir=str(folder), cache_audit=0.1)
        with hogs(2 * (os.cpu_count() or 1) if run % 2 else 0), ScaleBoxClient(settings=settings) as client:
            results = client.fetch(client.submit_batch(given))
        assert len(results) == len(given)
        got = {one.id: (one.verdict.value, one.message) for one in results}
        wrong = {name: said for name, said in got.items() if said[0] != verdicts[name.removesuffix("-again")]}
        assert not wrong, f"run {run}"


@pytest.mark.timeout(36_000)
@pytest.mark.parametrize(
    ("runs", "count"),
    [pytest.param(4, 100, marks=pytest.mark.soak), pytest.param(20, 1000, marks=pytest.mark.long)],
)
def test_labels_are_the_same_in_every_run(tmp_path: Path, runs: int, count: int) -> None:
    rounds(runs, count, tmp_path)
