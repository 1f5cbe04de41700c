"""Round trips between a program and an interactor, each in its jail, against two bare processes joined by pipes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from scalebox.client import ScaleBoxClient
from scalebox.core.errors import ScaleBoxError
from scalebox.core.settings import Settings
from scalebox.languages.toolchain import toolchain
from scalebox.schedule.cores import worker_cores

#: Round trips of one run, by language: enough that starting two programs hardly counts.
ROUND_TRIPS = {"c": 100_000, "python": 30_000}
_MARK = "{trips}"
_PROGRAMS = {
    "c": """
#include <stdio.h>
int main(void) { char line[32]; for (long i = 0; i < {trips}; i++) { puts("1"); fflush(stdout);
  if (!fgets(line, 32, stdin)) return 1; } return 0; }
""",
    "python": "for _ in range({trips}):\n    print(1, flush=True)\n    input()\n",
}
_INTERACTORS = {
    "c": """
#include <stdio.h>
int main(void) { char line[32]; for (long i = 0; i < {trips}; i++) {
  if (!fgets(line, 32, stdin)) return 43; puts("1"); fflush(stdout); } return 42; }
""",
    "python": (
        "import sys\nfor _ in range({trips}):\n    if not sys.stdin.readline():\n        sys.exit(43)\n"
        "    print(1, flush=True)\nsys.exit(42)\n"
    ),
}


class NotPassed(ScaleBoxError):
    """The conversation did not come to its end, so its time means nothing."""


def measure(runs: int, settings: Settings, step: Callable[[str], None]) -> dict[str, Any]:
    """Return the figures, in round trips per second on one core. Raises Missing where there is no gcc, NotPassed."""
    compiler = toolchain("c").tools["gcc"]
    core = worker_cores(settings.workers)[0]
    settings = msgspec.structs.replace(settings, workers=1)
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="scalebox-bench-") as folder, ScaleBoxClient(settings=settings) as client:
        for language in ROUND_TRIPS:
            pair = _bare_pair(language, compiler, folder)
            _engine_rate(client, language)  # whatever has to be built and started
            for _ in range(runs):
                for name, rate in (
                    ("engine", _engine_rate(client, language)),
                    ("limit", _bare_rate(language, pair, core)),
                ):
                    rates.setdefault(f"{language} {name}", []).append(rate)
                    step(f"{language} {name}: {rate:,.0f} round trips/s")
    figures: dict[str, Any] = {"name": "interactive"}
    for language, prefix in (("c", ""), ("python", "python_")):
        own, bare = rates[f"{language} engine"], rates[f"{language} limit"]
        figures |= {
            f"{prefix}round_trips_per_s": round(statistics.median(own)),
            f"{prefix}limit_round_trips_per_s": round(statistics.median(bare)),
            f"{prefix}ratio_to_limit": _median(one / two for one, two in zip(own, bare, strict=True)),
            f"{prefix}added_us": _median(1e6 / one - 1e6 / two for one, two in zip(own, bare, strict=True)),
        }
    return figures | {"workers": 1, "runs": runs}


def _median(numbers: Iterable[float]) -> float:
    return round(statistics.median(numbers), 3)


def _texts(language: str) -> tuple[str, str]:
    trips = str(ROUND_TRIPS[language])
    return _PROGRAMS[language].replace(_MARK, trips), _INTERACTORS[language].replace(_MARK, trips)


def _engine_rate(client: ScaleBoxClient, language: str) -> float:
    code, interactor = _texts(language)
    sample = {
        "id": "talk", "language": language, "code": code, "tests": [{"stdin": "", "stdout": ""}],
        "interactor": {"language": language, "code": interactor, "protocol": "icpc"},
        "limits": {"cpu_s": 60.0, "wall_s": 300.0},
    }  # fmt: skip
    result = client.fetch(client.submit_batch([sample]))[0]
    if result.verdict != "passed":
        raise NotPassed(f"{result.verdict}: {result.message}")
    return float(ROUND_TRIPS[language] / result.timings.run_s)


def _bare_pair(language: str, compiler: str, folder: str) -> list[list[str]]:
    """Return the commands of the two programs."""
    commands = []
    for name, text in zip(("program", "interactor"), _texts(language), strict=True):
        path = Path(folder, f"{name}.{language}")
        path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-I", "-S", str(path)]
        if language == "c":
            command = [str(path.with_suffix(""))]
            subprocess.run([compiler, "-O2", "-static", "-x", "c", str(path), "-o", command[0]], check=True)
        commands.append(command)
    return commands


def _bare_rate(language: str, pair: Sequence[Sequence[str]], core: int) -> float:
    """Return round trips per second of the two on one core, with no protection and nothing between them."""
    to_program, to_interactor = os.pipe(), os.pipe()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    begun = time.perf_counter()
    try:
        processes = [
            subprocess.Popen(command, stdin=source, stdout=sink)
            for command, source, sink in zip(
                pair, (to_program[0], to_interactor[0]), (to_interactor[1], to_program[1]), strict=True
            )
        ]
    finally:
        os.sched_setaffinity(0, before)
        for fd in (*to_program, *to_interactor):
            os.close(fd)
    codes = [process.wait() for process in processes]
    seconds = time.perf_counter() - begun
    if codes != [0, 42]:
        raise NotPassed(f"the bare programs ended with {codes}")
    return ROUND_TRIPS[language] / seconds
