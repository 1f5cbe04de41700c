"""Compiled programs: built and run for the first time, run again, run bare, and compiled anew for every case."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from scalebox.bench.native_programs import COMMENT, PROGRAMS, SAMPLES
from scalebox.bench.usage import descendants_cpu_s
from scalebox.bench.workloads import Workload
from scalebox.client import ScaleBoxClient
from scalebox.core.errors import ScaleBoxError
from scalebox.core.limits import Limits
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.languages.registry import languages
from scalebox.languages.toolchain import Toolchain, toolchain
from scalebox.schedule.cores import worker_cores

CASES = 20
#: So many times as many cases tell what each further case costs, without what a sample costs whatever it does.
_MORE = 3
#: Compilations that the naive way is measured with.
NAIVE_CASES = 8
_SCRIPT = Path(__file__).with_name("exec_limit.py")
#: A build takes many times as long on a machine that others use too.
_LIMITS = {"build_s": 120.0, "cpu_s": 10.0, "wall_s": 60.0}


class WrongOutputs(ScaleBoxError):
    """Programs did not do their work, so their time means nothing."""


class Bare(NamedTuple):
    """Programs run with no protection: cases per second of all cores, and CPU seconds of a case."""

    rate: float
    cpu_s: float


def workload(language: str, run: int, cases: int = CASES) -> Workload:
    """Return programs with so many cases, every fourth of them wrong; no two runs have a program in common."""
    rng = random.Random(run)  # noqa: S311 - numbers to add, not a secret
    samples, verdicts = [], {}
    for index in range(SAMPLES[language]):
        tests = []
        for _ in range(cases):
            numbers = [rng.randrange(1000) for _ in range(50)]
            tests.append({"stdin": f"50\n{' '.join(map(str, numbers))}\n", "stdout": f"{sum(numbers)}\n"})
        code = f"{PROGRAMS[language][index % 4]}{COMMENT}run {run}, rollout {index}\n"
        samples.append({"id": str(index), "language": language, "code": code, "tests": tests, "limits": _LIMITS})
        verdicts[str(index)] = "output_mismatch" if index % 4 == 3 else "passed"
    return Workload(samples, verdicts)


def measure(
    language: str,
    runs: int,
    settings: Settings,
    step: Callable[[str], None],
    check: Callable[[Workload, Sequence[VerificationResult]], None],
) -> dict[str, Any]:
    """Return the figures; rates are cases per second. `check` refuses wrong labels.

    Raises Missing where the toolchain is not there.
    """
    found = toolchain(language)
    cores = worker_cores(settings.workers)
    rates: dict[str, list[float]] = {"cold": [], "cached": [], "limit": [], "naive": [], "cpu": [], "further": []}

    def add(name: str, rate: float) -> None:
        rates[name].append(rate)
        step(f"{name}: {rate:,.1f} tests/s")

    def verify(work: Workload) -> tuple[float, float, str]:
        """Return the seconds, by the clock and of CPU time, that a batch takes, and the tier that it runs in."""
        begun, used = time.perf_counter(), descendants_cpu_s()
        results = client.fetch(client.submit_batch(work.samples))
        took = time.perf_counter() - begun, descendants_cpu_s() - used
        check(work, results)
        return *took, results[0].tier

    with tempfile.TemporaryDirectory(prefix="scalebox-bench-") as folder:
        # A cache of its own, but not prepared files of its own.
        settings = msgspec.structs.replace(settings, build_cache_mb=settings.build_cache_mb or 1024)
        first = time.time_ns()
        with ScaleBoxClient(settings=settings) as client:
            # Every worker's jails, and compilers that stay, before the clock runs.
            for index in range(1, 4 * len(cores) + 1):
                warm = workload(language, first - index).samples[:2]
                client.fetch(client.submit_batch([sample | {"id": f"{index}-{sample['id']}"} for sample in warm]))
            for run in range(runs):
                work, more = workload(language, first + run), workload(language, first + run, _MORE * CASES)
                for name in ("cold", "cached"):
                    seconds, used, tier = verify(work)
                    add(name, work.cases / seconds)
                used_more = verify(more)[1]
                bare = bare_run(found, work.samples[:4], cores, folder)
                add("limit", bare.rate)
                rates["cpu"].append(used / work.cases / bare.cpu_s)
                rates["further"].append((used_more - used) / (more.cases - work.cases) / bare.cpu_s)
                add("naive", naive_rate(found, work.samples, len(cores), folder))
    return {
        "name": language,
        "tests_per_s": round(statistics.median(rates["cold"]), 1),
        "cached_tests_per_s": round(statistics.median(rates["cached"]), 1),
        "limit_tests_per_s": round(statistics.median(rates["limit"]), 1),
        "ratio_to_limit": _ratio(rates["cached"], rates["limit"]),
        "naive_tests_per_s": round(statistics.median(rates["naive"]), 2),
        "ratio_to_naive": _ratio(rates["cold"], rates["naive"]),
        "case_cost_to_bare": _ratio(rates["limit"], rates["cached"]),
        "case_cpu_to_bare": round(statistics.median(rates["cpu"]), 3),
        "further_case_cpu_to_bare": round(statistics.median(rates["further"]), 3),
        "workers": len(cores),
        "runs": runs,
        "tier": tier,
        "cases": work.cases,
    }


def _ratio(own: Sequence[float], other: Sequence[float]) -> float:
    return round(statistics.median(one / two for one, two in zip(own, other, strict=True)), 3)


def built(found: Toolchain, code: str, folder: str) -> tuple[list[str], dict[str, str]]:
    """Build a program in `folder`, as the engine does but with nothing prepared; return the command that runs it."""
    language = languages()[found.language]
    layout = {"source": language.source, **(language.layout(code) if language.layout else {})}
    words = {  # what compilers keep from build to build, they keep here too
        "program": folder, "tmp": os.path.dirname(folder), "memory_mb": str(Limits().memory_mb), "home": found.home,
        **found.tools, **layout,
    }  # fmt: skip
    env = {"PATH": os.defpath, "HOME": folder, **{name: text.format_map(words) for name, text in language.env.items()}}
    os.makedirs(folder, exist_ok=True)
    for name, text in {**language.beside, words["source"]: code}.items():
        Path(folder, name).write_text(text, encoding="utf-8")
    for command in language.build:
        subprocess.run(_line(command, words), check=True, cwd=folder, env=env, stdin=subprocess.DEVNULL)
    return _line(language.run, words), env


def _line(command: Sequence[str], words: dict[str, str]) -> list[str]:
    """Return a command filled in, without the words that name prepared files or come out empty."""
    return [line for word in command if "{prepared}" not in word and (line := word.format_map(words))]


def naive_rate(found: Toolchain, samples: Sequence[dict[str, Any]], workers: int, folder: str) -> float:
    """Return cases per second with a compilation for each, `workers` at a time."""

    def run(number: int) -> None:
        sample = samples[number % len(samples)]
        command, env = built(found, sample["code"], os.path.join(folder, f"naive-{number}"))
        stdin = sample["tests"][number % CASES]["stdin"].encode()
        subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=True, env=env)

    begun = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(run, range(NAIVE_CASES)))
    return NAIVE_CASES / (time.perf_counter() - begun)


def bare_run(found: Toolchain, samples: Sequence[dict[str, Any]], cores: Sequence[int], folder: str) -> Bare:
    """Run the built programs with no protection: pipes and a process for each case, on every core.

    Raises WrongOutputs where fewer than half of the outputs were right.
    """
    cases = []
    for number, sample in enumerate(samples):
        command, env = built(found, sample["code"], os.path.join(folder, f"bare-{number}"))
        cases += [(command, env, test["stdin"], test["stdout"]) for test in sample["tests"]]
    path = Path(folder, "cases.json")
    path.write_text(json.dumps(cases), encoding="utf-8")
    script = [sys.executable, "-I", "-S", str(_SCRIPT), str(path)]
    workers = [subprocess.Popen([*script, str(core)], stdout=subprocess.PIPE) for core in cores]
    told = [json.loads(worker.communicate()[0]) for worker in workers]
    count = sum(one[0] for one in told)
    if 2 * sum(one[1] for one in told) < count:
        raise WrongOutputs("most of the programs that were run bare gave wrong outputs")
    return Bare(float(sum(one[0] / one[2] for one in told)), sum(one[3] for one in told) / count)
