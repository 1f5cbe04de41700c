"""Labels on a machine that others keep busy: honest programs near their CPU limit, and loops without end.

    python benchmarks/loaded.py [--honest N] [--loops N] [--cpu-s S] [--hogs-per-core N] [--most-s S]

Hogs compute beside the workers on every core. The work of an honest program is set, by a calibration in CPU time, to 50
to 80 % of its limit. Prints one JSON object: counts of labels by class, and what the second runs cost. The exit code is
1 where a bar is missed: honest ones 99 % passed and none `time_out`, loops 98 % `time_out` and none passed, at most 2 %
of either `unknown`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scalebox import ScaleBoxClient, Settings
from scalebox.core.result import VerificationResult

_BURN = "while True: pass"
_WORK = """def work(rounds):
    state = 1
    for _ in range(rounds):
        state = (state * 1103515245 + 12345) % 2147483648
    return state
"""
_CALIBRATE = _WORK + "import time\nbegun = time.process_time()\nwork(400000)\nprint(time.process_time() - begun)\n"
_LOOPS = (
    "while True: pass",
    "n = int(input())\nwhile n != -1: n = (n * 5 + 3) % 1048576",
    "def f(x): return x\nwhile True: f(1)",
    "xs = [3, 1, 2]\nwhile xs: xs = sorted(xs)",
    "import itertools\nfor number in itertools.count(): number * number",
)


def rounds_per_s() -> float:
    """Return the rounds that a program does in a second of CPU time, at its best of some tries."""
    command = [sys.executable, "-I", "-c", _CALIBRATE]
    return 400_000 / min(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(9))


def samples(honest: int, loops: int, cpu_s: float, rate: float, seed: int = 0) -> list[dict[str, Any]]:
    """Return both kinds, shuffled; no two are the same program."""
    chosen = random.Random(seed)  # noqa: S311 - which samples, not a secret
    limits = {"cpu_s": cpu_s, "wall_s": max(10.0, cpu_s)}
    made = []
    for number in range(honest):
        rounds = int(rate * cpu_s * chosen.uniform(0.5, 0.8))
        code = f"{_WORK}# {number}\nprint(work({rounds}))\n"
        made.append(("honest", code, str(_after(rounds))))
    made += [("loop", f"{chosen.choice(_LOOPS)}\n# {number}\n", "1") for number in range(loops)]
    chosen.shuffle(made)
    return [
        {"id": f"{kind}-{number}", "code": code, "tests": [{"stdin": "1\n", "stdout": out}], "limits": limits}
        for number, (kind, code, out) in enumerate(made)
    ]


def _after(rounds: int) -> int:
    """Return what `work` does, by squaring the step: a map x -> a x + c, applied so many times."""
    modulus, a, c, total_a, total_c = 2147483648, 1103515245, 12345, 1, 0
    while rounds:
        if rounds & 1:
            total_a, total_c = a * total_a % modulus, (a * total_c + c) % modulus
        a, c = a * a % modulus, (a * c + c) % modulus
        rounds >>= 1
    return (total_a + total_c) % modulus


@contextmanager
def hogs(per_core: int) -> Iterator[None]:
    """Keep every core busy with so many processes."""
    running = []
    try:
        for core in sorted(os.sched_getaffinity(0)):
            for _ in range(per_core):
                command = [sys.executable, "-I", "-c", f"import os\nos.sched_setaffinity(0, [{core}])\n{_BURN}"]
                running.append(subprocess.Popen(command))
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def report(results: list[VerificationResult], seconds: float, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the figures."""
    labels: dict[str, Counter[str]] = {"honest": Counter(), "loop": Counter()}
    cases = [case for result in results for case in result.cases]
    for result in results:
        labels[result.id.partition("-")[0]][result.verdict.value] += 1
    again = [case for case in cases if case.attempts > 1]
    return {
        **settings,
        "seconds": round(seconds, 1),
        "load_average": round(os.getloadavg()[0], 1),
        "labels": {kind: dict(counts) for kind, counts in labels.items()},
        "run_again": len(again),
        "run_again_cpu_s": round(sum(case.cpu_s for case in again), 2),
        "run_again_wall_s": round(sum(case.wall_s for case in again), 1),
        "all_cpu_s": round(sum(case.cpu_s for case in cases), 2),
        "all_wall_s": round(sum(case.wall_s for case in cases), 1),
        "wrong": [
            f"{result.id}: {result.verdict.value}: {result.message}"
            for result in results
            if result.verdict.value != ("passed" if result.id.startswith("honest") else "time_out")
        ][:20],
    }


def misses(labels: dict[str, dict[str, int]]) -> list[str]:
    """Return the bars that are missed."""
    honest, loop = labels["honest"], labels["loop"]
    many, loops = max(1, sum(honest.values())), max(1, sum(loop.values()))
    bars = {
        "honest passed >= 99 %": not honest or honest.get("passed", 0) >= 0.99 * many,
        "no honest time_out": not honest.get("time_out"),
        "loops time_out >= 98 %": not loop or loop.get("time_out", 0) >= 0.98 * loops,
        "no loop passed": not loop.get("passed"),
        "honest unknown <= 2 %": honest.get("unknown", 0) <= 0.02 * many,
        "loops unknown <= 2 %": loop.get("unknown", 0) <= 0.02 * loops,
    }
    return [bar for bar, held in bars.items() if not held]


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--honest", type=int, default=500)
    parser.add_argument("--loops", type=int, default=500)
    parser.add_argument("--cpu-s", type=float, default=2.0)
    parser.add_argument("--hogs-per-core", type=int, default=2)
    parser.add_argument("--most-s", type=float, default=float("inf"), help="report on what is there after so long")
    arguments = parser.parse_args()
    batch = samples(arguments.honest, arguments.loops, arguments.cpu_s, rounds_per_s())
    with hogs(arguments.hogs_per_core), ScaleBoxClient(settings=Settings()) as client:
        begun = time.monotonic()
        results = []
        for result in client.stream(client.submit_batch(batch)):
            results.append(result)
            if time.monotonic() - begun > arguments.most_s:
                break
            if len(results) % 50 == 0:
                print(f"{len(results)} of {len(batch)}", file=sys.stderr, flush=True)
        seconds = time.monotonic() - begun
    figures = report(results, seconds, vars(arguments))
    figures["missed"] = misses(figures["labels"])
    print(json.dumps(figures, indent=1))
    sys.exit(bool(figures["missed"]))


if __name__ == "__main__":
    main()
