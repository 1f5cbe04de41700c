"""Measures a benchmark: the engine, the machine's limit and the naive way in turn, medians over runs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import msgspec

from scalebox.bench import (
    asserts,
    baselines,
    cached,
    codec,
    http,
    interactive,
    native,
    protocol,
    workloads,
)
from scalebox.bench.native_programs import PROGRAMS
from scalebox.bench.usage import descendants_cpu_s
from scalebox.bench.workloads import Workload
from scalebox.client import ScaleBoxClient
from scalebox.core.errors import ScaleBoxError
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.schedule.cores import worker_cores

REQUESTS = 300
NAIVE_REQUESTS = 10

Step = Callable[[str], None]
Measured = dict[str, Any]


class WrongLabels(ScaleBoxError):
    """The engine gave labels that are known to be wrong: its speed means nothing."""


def measure(name: str, *, runs: int, settings: Settings, step: Step = lambda _: None) -> Measured:
    """Run a benchmark and return its figures as plain data; rates are cases per second.

    `step` is called with what was done, `steps(name, runs)` times. Raises WrongLabels, or what the engine raises.
    """
    if name == "codec":
        return codec.measure(runs, step)
    if name == "cache":
        return cached.measure(runs, settings, step)
    if name == "http":
        return http.measure(runs, settings, step, _check)
    if name in asserts.BATCHES:
        return asserts.measure(name, runs, settings, step)
    if name == "protocol":
        return protocol.measure(runs, step)
    if name == "interactive":
        return interactive.measure(runs, settings, step)
    if name in PROGRAMS:
        return native.measure(name, runs, settings, step, _check)
    if name == "latency":
        return _latency(runs, settings, step)
    if name == "straggler":
        return _straggler(runs, settings, step)
    return _batch(name, runs, settings, step)


def steps(name: str, runs: int) -> int:
    """Return how often `measure` reports a step."""
    return runs * {"codec": 1, "cache": 2, "protocol": 1, "calls": 5, "http": 5, "latency": 3, "straggler": 3}.get(
        name, 4
    )


def _batch(name: str, runs: int, settings: Settings, step: Step) -> Measured:
    workload = workloads.BATCHES[name]()
    variants = {"": settings}
    if name == "calls":
        variants["isolated_"] = msgspec.structs.replace(settings, share_state_free=False)
    cores = worker_cores(settings.workers)
    limited = workload.samples[: workload.limit_samples or None]
    rates: dict[str, list[float]] = {}
    cpu_ratios: list[float] = []
    with ExitStack() as stack:
        clients = {prefix: stack.enter_context(ScaleBoxClient(settings=own)) for prefix, own in variants.items()}
        for client in clients.values():
            _warm_up(client)
        for _ in range(runs):
            limit = baselines.limit(limited, cores, settings.interpreter)
            _add(rates, "limit", limit.rate, step)
            tuned = baselines.limit(limited, cores, settings.interpreter, hooks=False)
            _add(rates, "tuned limit", tuned.rate, step)
            for prefix, client in clients.items():
                before = descendants_cpu_s()
                seconds, results = _run(client, workload)
                used_s = descendants_cpu_s() - before
                _check(workload, results)
                _add(rates, prefix, workload.cases / seconds, step)
                if not prefix:
                    cpu_ratios.append(limit.cpu_s * workload.cases / used_s)
            _add(rates, "naive", baselines.naive_rate(workload.samples, len(cores), settings.interpreter), step)
    extra = {f"{prefix}tests_per_s": _median(rates[prefix]) for prefix in variants if prefix}
    extra["tuned_limit_tests_per_s"] = _median(rates["tuned limit"])
    extra["ratio_to_tuned_limit"] = _ratio(rates[""], rates["tuned limit"])
    extra["cpu_ratio_to_limit"] = round(statistics.median(cpu_ratios), 3)
    extra["seconds"] = round(workload.cases / statistics.median(rates[""]), 3)
    return _report(name, rates, results, cores, runs) | extra | {"cases": workload.cases}


def _straggler(runs: int, settings: Settings, step: Step) -> Measured:
    workload = workloads.straggler()
    quick = workload.without("time_out")
    cores = worker_cores(settings.workers)
    rates: dict[str, list[float]] = {}
    with ScaleBoxClient(settings=settings) as client:
        _warm_up(client)
        for _ in range(runs):
            _add(rates, "limit", baselines.limit(quick.samples, cores, settings.interpreter).rate, step)
            _add(rates, "naive", baselines.naive_rate(quick.samples, len(cores), settings.interpreter), lambda _: None)
            seconds, _ = _run(client, quick)
            _add(rates, "alone", quick.cases / seconds, step)
            seconds, results = _run(client, workload, until=len(quick.samples))
            _check(workload, results)
            _add(rates, "", quick.cases / seconds, step)
    extra = {"alone_tests_per_s": _median(rates["alone"]), "cases": quick.cases}
    return _report("straggler", rates, results, cores, runs) | extra


def _latency(runs: int, settings: Settings, step: Step) -> Measured:
    cores = worker_cores(settings.workers)
    requests = [workloads.trivial(index) for index in range(REQUESTS)]
    rates: dict[str, list[float]] = {}
    p50, p95 = [], []
    with ScaleBoxClient(settings=settings) as client:
        _warm_up(client)
        for _ in range(runs):
            _add(rates, "limit", baselines.limit(requests, cores[:1], settings.interpreter).rate, step)
            seconds, results = _one_by_one(client, requests)
            p50.append(statistics.median(seconds))
            p95.append(statistics.quantiles(seconds, n=20)[-1])
            _add(rates, "", 1 / p50[-1], step)
            _add(rates, "naive", baselines.naive_rate(requests[:NAIVE_REQUESTS], 1, settings.interpreter), step)
    extra = {"p50_ms": _milliseconds(p50), "p95_ms": _milliseconds(p95), "requests": REQUESTS}
    return _report("latency", rates, results, cores, runs) | extra


def _one_by_one(
    client: ScaleBoxClient, requests: Sequence[dict[str, Any]]
) -> tuple[list[float], list[VerificationResult]]:
    seconds, results = [], []
    for request in requests:
        begin = time.perf_counter()
        results += client.fetch(client.submit_batch([request]))
        seconds.append(time.perf_counter() - begin)
    _check(Workload(list(requests), {request["id"]: "passed" for request in requests}), results)
    return seconds, results


def _warm_up(client: ScaleBoxClient) -> None:
    """Have every worker started and its jail ready before the clock runs."""
    client.fetch(client.submit_batch([workloads.trivial(-index) for index in range(1, 65)]))


def _run(
    client: ScaleBoxClient, workload: Workload, until: int | None = None
) -> tuple[float, list[VerificationResult]]:
    """Run a batch; return the seconds until `until` results (all of them) were there, and all results."""
    begin = time.perf_counter()
    batch_id = client.submit_batch(workload.samples)
    results, seconds = [], 0.0
    for result in client.stream(batch_id):
        results.append(result)
        if len(results) == (until or len(workload.samples)):
            seconds = time.perf_counter() - begin
    return seconds, results


def _check(workload: Workload, results: Iterable[VerificationResult]) -> None:
    given = {result.id: result.verdict.value for result in results}
    right = {sample["id"]: workload.verdicts[sample["id"]] for sample in workload.samples}
    if given == right:
        return
    wrong = [f"{name}: {given.get(name, 'no result')}, not {label}" for name, label in right.items()]
    wrong = [text for text, name in zip(wrong, right, strict=True) if given.get(name) != right[name]]
    raise WrongLabels(f"{len(wrong)} of {len(right)} labels are wrong ({'; '.join(wrong[:5])})")


def _report(
    name: str, rates: dict[str, list[float]], results: Sequence[VerificationResult], cores: Sequence[int], runs: int
) -> Measured:
    return {
        "name": name,
        "tests_per_s": _median(rates[""]),
        "limit_tests_per_s": _median(rates["limit"]),
        "ratio_to_limit": _ratio(rates[""], rates["limit"]),
        "naive_tests_per_s": _median(rates["naive"]),
        "workers": len(cores),
        "runs": runs,
        "tier": results[0].tier,
    }


def _add(rates: dict[str, list[float]], name: str, rate: float, step: Step) -> None:
    rates.setdefault(name, []).append(rate)
    step(f"{name or 'engine'}: {rate:,.0f} tests/s")


def _ratio(own: Sequence[float], other: Sequence[float]) -> float:
    """Return the median of the ratios run by run."""
    return round(statistics.median(one / two for one, two in zip(own, other, strict=True)), 3)


def _median(rates: Sequence[float]) -> float:
    return round(statistics.median(rates), 1)


def _milliseconds(seconds: Sequence[float]) -> float:
    return round(1000 * statistics.median(seconds), 3)
