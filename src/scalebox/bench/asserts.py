"""Tests by assertions: in two processes, in one, and with no engine at all."""

from __future__ import annotations

import ast
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from scalebox.bench import baselines, workloads
from scalebox.client import ScaleBoxClient
from scalebox.core.errors import ScaleBoxError
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.schedule.cores import worker_cores

#: Never runs, and reads what a stand-in for the program's function has not: such a test cannot run apart from it.
_SHARED = "\nif False:\n    {}.__code__\n"
#: A task with programs that pass by call alone: one keeps state from call to call, one gives tuples for JSON's lists.
_STRICTER = "HumanEval/62"
_VARIABLE = "SCALEBOX_TEST_DATA"
_HUMANEVAL = "function/humaneval.jsonl.zst"


class NoData(ScaleBoxError):
    """The data set that a benchmark runs is not on this machine."""


class Batch(msgspec.Struct):
    """Right programs: with tests by assertions, and as texts that run their tests themselves."""

    samples: list[dict[str, Any]]
    shared: list[dict[str, Any]]
    scripts: list[dict[str, Any]]


def programs() -> Batch:
    """Return those of the example file that are called, with each call as an assertion."""
    called = [
        program
        for program in workloads.programs()
        if program.kind == "call" and program.verdict == "passed" and program.task != _STRICTER
    ]
    batch = Batch([], [], [])
    for index in range(64):
        program = called[index % len(called)]
        code = f"{program.code}\n# rollout {index}\n"
        _add(batch, str(index), code, "".join(map(_assertion, program.tests)), program.tests[0]["call"])
    return batch


def humaneval() -> Batch:
    """Return the canonical programs of HumanEval with their harnesses; raises NoData."""
    folder = os.environ.get(_VARIABLE)
    path = Path(folder or ".", _HUMANEVAL)
    if not folder or not path.exists():
        raise NoData(f"HumanEval is not here: set {_VARIABLE} to a folder that has {_HUMANEVAL}")
    batch = Batch([], [], [])
    text = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()
    for record in map(msgspec.json.decode, text.splitlines()):
        code = record["prefix"] + record["candidates"][0]["code"]
        _add(batch, record["id"], code, record["suffix"], record["entry_point"])
    return batch


BATCHES: dict[str, Callable[[], Batch]] = {"asserts": programs, "humaneval": humaneval}


def _assertion(test: dict[str, Any]) -> str:
    arguments = test["args"] if "args" in test else ast.literal_eval(test["args_repr"])
    expected = test["expect"] if "expect" in test else ast.literal_eval(test["expect_repr"])
    return f"assert {test['call']}({', '.join(map(repr, arguments))}) == {expected!r}\n"


def _add(batch: Batch, name: str, code: str, tests: str, function: str) -> None:
    for samples, source in ((batch.samples, tests), (batch.shared, tests + _SHARED.format(function))):
        samples.append({"id": name, "code": code, "tests": [{"assert": source}]})
    script = {"id": name, "code": f"{code}\n{tests}", "tests": [{"stdin": "", "stdout": ""}]}
    batch.scripts.append(script)


def measure(name: str, runs: int, settings: Settings, step: Callable[[str], None]) -> dict[str, Any]:
    """Measure a batch; rates are assertions per second. `step` is called four times a run.

    Raises ScaleBoxError where a right program does not pass, or ran in another way than was measured.
    """
    batch = BATCHES[name]()
    cores = worker_cores(settings.workers)
    seconds: dict[str, list[float]] = {"separate": [], "shared": [], "limit": []}
    naive: list[float] = []
    with ScaleBoxClient(settings=settings) as client:
        for samples in (batch.samples, batch.shared):
            _run(client, samples[:8])
        for _ in range(runs):
            for integrity, samples in (("separate", batch.samples), ("shared", batch.shared)):
                taken, results = _run(client, samples)
                _check(results, integrity)
                seconds[integrity].append(taken)
                step(f"{integrity}: {taken:.3f} s")
            cases = sum(len(result.cases) for result in results)
            limit = baselines.limit(batch.scripts, cores, settings.interpreter)
            seconds["limit"].append(len(batch.scripts) / limit.rate)
            step(f"limit: {seconds['limit'][-1]:.3f} s")
            naive.append(baselines.naive_rate(batch.scripts, len(cores), settings.interpreter))
            step(f"naive: {naive[-1]:,.0f} samples/s")
    return {
        "name": name,
        "tests_per_s": _rate(cases, seconds["separate"]),
        "limit_tests_per_s": _rate(cases, seconds["limit"]),
        "ratio_to_limit": _ratio(seconds["limit"], seconds["separate"]),
        "naive_tests_per_s": round(statistics.median(naive) * cases / len(batch.scripts), 1),
        "workers": len(cores),
        "runs": runs,
        "tier": results[0].tier,
        "seconds": round(statistics.median(seconds["separate"]), 3),
        "shared_tests_per_s": _rate(cases, seconds["shared"]),
        "ratio_to_shared": _ratio(seconds["shared"], seconds["separate"]),
        "overhead_ms_per_sample": _overhead_ms(seconds, len(batch.samples), len(cores)),
        "samples": len(batch.samples),
        "cases": cases,
    }


def _run(client: ScaleBoxClient, samples: Sequence[dict[str, Any]]) -> tuple[float, list[VerificationResult]]:
    begin = time.perf_counter()
    results = client.fetch(client.submit_batch(samples))
    return time.perf_counter() - begin, results


def _check(results: Sequence[VerificationResult], integrity: str) -> None:
    wrong = [result for result in results if (result.verdict.value, result.integrity) != ("passed", integrity)]
    if wrong:
        first = wrong[0]
        problem = f"{first.id} is {first.verdict.value}, {first.integrity}: {first.message}"
        raise ScaleBoxError(f"{len(wrong)} of {len(results)} right programs did not pass as {integrity} ({problem})")


def _rate(cases: int, seconds: Sequence[float]) -> float:
    return round(cases / statistics.median(seconds), 1)


def _ratio(one: Sequence[float], two: Sequence[float]) -> float:
    """Return the median of the ratios run by run."""
    return round(statistics.median(first / second for first, second in zip(one, two, strict=True)), 3)


def _overhead_ms(seconds: dict[str, list[float]], samples: int, workers: int) -> float:
    """Return the milliseconds of a worker that a sample costs beyond one unprotected process for program and tests."""
    pairs = zip(seconds["separate"], seconds["limit"], strict=True)
    return round(1000 * workers * statistics.median(two - one for two, one in pairs) / samples, 3)
