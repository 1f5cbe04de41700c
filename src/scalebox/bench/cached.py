"""The cache: the path of a hit, and the shares of hits in a batch as early training gives it."""

from __future__ import annotations

import ast
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from scalebox.bench.usage import descendants_cpu_s
from scalebox.client import ScaleBoxClient
from scalebox.core.errors import ScaleBoxError
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.schedule.cores import worker_cores

#: Problems, responses to each, and the share of responses that are another's, again or edited.
_PROBLEMS, _RESPONSES = 16, 16
_AGAIN, _EDITED = 0.15, 0.15
_SAMPLES = 300
_CASES = 5
#: Batches of hits: the CPU time of workers is told in hundredths of a second.
_BATCHES = 9

_TEMPLATE = """def solve(values):
    total = {start}
    largest = {start}
    for value in values:
        if value % {modulus} == 0:
            total += value * {factor}
        else:
            total -= value
        largest = max(largest, value)
    return [total, largest]
"""


def measure(runs: int, settings: Settings, step: Callable[[str], None]) -> dict[str, Any]:
    """Measure; rates are samples per second. `step` is called twice a run.

    Raises ScaleBoxError where a label of the cache differs from that of a run.
    """
    cores = worker_cores(settings.workers)
    rates: dict[str, list[float]] = {"hit": [], "edited": [], "run": [], "hit by CPU": []}
    share = []
    for number in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            own = msgspec.structs.replace(settings, cache="on", cache_dir=folder, cache_audit=0.0)
            _hits(own, rates)
            step(f"hits: {rates['hit'][-1]:,.0f} samples/s")
        share.append(_early_training(settings, number))
        step(f"early training: {share[-1]:.0%} hits")
    return {
        "name": "cache",
        "tests_per_s": _median(rates["hit"]) * _CASES,
        "limit_tests_per_s": None,
        "ratio_to_limit": None,
        "naive_tests_per_s": None,
        "workers": len(cores),
        "runs": runs,
        "hit_samples_per_s_and_core": round(_median(rates["hit"]) / len(cores), 1),
        "hit_samples_per_cpu_s": _median(rates["hit by CPU"]),
        "edited_hit_samples_per_s_and_core": round(_median(rates["edited"]) / len(cores), 1),
        "run_samples_per_s_and_core": round(_median(rates["run"]) / len(cores), 1),
        "early_training_hit_rate": round(statistics.median(share), 3),
        "samples": _SAMPLES,
    }


def _hits(settings: Settings, rates: dict[str, list[float]]) -> None:
    """Time the same samples run, found, and found from another spelling of theirs."""
    programs = [_program(number, 0) for number in range(_SAMPLES)]
    # Nothing joins equal samples of one batch: each has tests of its own.
    first = [_sample(f"{at}", program, number=at) for at, program in enumerate(programs)]
    with ScaleBoxClient(settings=settings) as client:
        seconds, run = _timed(client, first)
        rates["run"].append(len(first) / seconds)
        for name, edit in (("hit", str), ("edited", _edited)):
            batches = [[{**one, "code": edit(one["code"])} for one in first] for _ in range(_BATCHES)]
            took, begun = [], _cpu_s()
            for batch in batches:
                seconds, found = _timed(client, batch)
                took.append(seconds)
                _check(run, found, all_cached=True)
            rates[name].append(len(first) / statistics.median(took))
            rates.get(f"{name} by CPU", []).append(len(first) * _BATCHES / (_cpu_s() - begun))


def _early_training(settings: Settings, seed: int) -> float:
    """Return the share of samples that were not run, of two batches whose responses repeat each other, edited or not.

    Duplicates that are joined to a run are not counted: they are not run without a cache either.
    """
    draw = random.Random(seed)  # noqa: S311 - a choice, not a secret
    batches = [list(_responses(draw, batch)) for batch in range(2)]
    labels: dict[str, list[VerificationResult]] = {}
    cached = 0
    with tempfile.TemporaryDirectory() as folder:
        for mode in ("off", "on"):
            own = msgspec.structs.replace(settings, cache=mode, cache_dir=folder, cache_audit=0.0)
            with ScaleBoxClient(settings=own) as client:
                labels[mode] = [result for batch in batches for result in _timed(client, batch)[1]]
        _check(labels["off"], labels["on"])
        cached = sum(result.cached for result in labels["on"])
    return cached / sum(map(len, batches))


def _responses(draw: random.Random, batch: int) -> Any:
    for problem in range(_PROBLEMS):
        given: list[str] = []
        for number in range(_RESPONSES):
            kind = draw.random()
            if given and kind < _AGAIN + _EDITED:
                code = draw.choice(given)
                code = _edited(code) if kind < _EDITED else code
            else:
                code = _program(draw.randrange(40), problem)
            given.append(code)
            yield _sample(f"{batch}.{problem}.{number}", code, number=problem)


def _program(variant: int, problem: int) -> str:
    return _TEMPLATE.format(start=variant % 2, modulus=2 + variant // 2 % 5, factor=1 + variant + problem % 3)


def _edited(code: str) -> str:
    """Return the program written otherwise: other names, a docstring, formatting."""
    tree = ast.parse(code.replace("total", "result").replace("largest", "top"))
    return "# edited\n" + ast.unparse(tree).replace(":\n", ":\n    'Solve it.'\n", 1) + "\n"


def _sample(name: str, code: str, *, number: int) -> dict[str, Any]:
    tests = [{"call": "solve", "args": [[number, case, 3]], "expect": [case, 3]} for case in range(_CASES)]
    return {"id": name, "code": code, "tests": tests}


def _timed(client: ScaleBoxClient, samples: Sequence[dict[str, Any]]) -> tuple[float, list[VerificationResult]]:
    begin = time.perf_counter()
    results = client.fetch(client.submit_batch(list(samples)))
    return time.perf_counter() - begin, results


def _cpu_s() -> float:
    """Return the CPU time that the client and its engine, which are this process, and the workers have used."""
    return time.process_time() + descendants_cpu_s()


def _check(run: Sequence[VerificationResult], found: Sequence[VerificationResult], *, all_cached: bool = False) -> None:
    """Raise ScaleBoxError unless the labels are the same."""
    for one, other in zip(run, found, strict=True):
        if [case.verdict for case in one.cases] != [case.verdict for case in other.cases]:
            raise ScaleBoxError(f"sample {one.id} is {one.verdict} where it is run, and {other.verdict} from the cache")
        if all_cached and not other.cached:
            raise ScaleBoxError(f"sample {one.id} was not found in the cache")


def _median(rates: Sequence[float]) -> float:
    return round(statistics.median(rates), 1)
