"""The `http` benchmark: sixteen clients of a server, beside the same work on an embedded engine in the same run."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import msgspec

from scalebox.bench import workloads
from scalebox.bench.usage import descendants_cpu_s, shares_of
from scalebox.bench.workloads import Workload
from scalebox.client import ScaleBoxClient
from scalebox.core.errors import ScaleBoxError
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.toml import as_toml
from scalebox.schedule.cores import worker_cores

CLIENTS = 16
#: Requests of `/run_code`: one at a time, and by sixteen clients.
ALONE, TOGETHER = 300, 2000
_COPIES = 4
_END_S = 60.0
_NUMBERS = itertools.count(1)
#: Workers last as long as the benchmark: of one that was replaced nobody could tell which CPU time was its own.
_RECYCLE_AFTER = 10**9
#: What uses CPU time while `/run_code` is asked: this process, the server, its workers, and their jails.
_USERS = ("client", "server", "workers", "jails")

Check = Callable[[Workload, Sequence[VerificationResult]], None]


class _Server(NamedTuple):
    url: str
    pid: int


def measure(runs: int, settings: Settings, step: Callable[[str], None], check: Check) -> dict[str, Any]:
    """Return medians over runs; `step` is called five times a run, `check` with each workload and its results.

    Where the server has no `/run_code`, its figures are None.
    """
    loads = {name: _larger(workloads.BATCHES[name]()) for name in ("stdin", "calls")}
    settings = msgspec.structs.replace(settings, recycle_after=_RECYCLE_AFTER)
    rates: dict[str, list[float]] = {}
    used: dict[str, list[float]] = {}
    alone: list[float] = []
    together: list[_Together] = []
    with ExitStack() as stack:
        server = stack.enter_context(_server(settings))
        url = server.url
        embedded = stack.enter_context(ScaleBoxClient(settings=settings))
        remote = [stack.enter_context(ScaleBoxClient(url, settings=settings)) for _ in range(CLIENTS)]
        has_run_code = bool(asyncio.run(_run_code(url, 1, 1)))
        for clients in ([embedded] * CLIENTS, remote):  # all workers started, all connections open
            _run(clients, loads["calls"])
        for _ in range(runs):
            for name, load in loads.items():
                for prefix, clients in (("embedded ", [embedded] * CLIENTS), ("", remote)):
                    before = _cpu_s()
                    seconds, results = _run(clients, load)
                    used.setdefault(prefix + name, []).append(_cpu_s() - before)
                    check(load, results)
                    rates.setdefault(prefix + name, []).append(load.cases / seconds)
                    step(f"{prefix or 'HTTP '}{name}: {load.cases / seconds:,.0f} tests/s")
            if has_run_code:
                alone.append(statistics.median(asyncio.run(_run_code(url, 1, ALONE))))
                together.append(_by_all(server))
            step("/run_code" if has_run_code else "/run_code is not there")
    return {
        "name": "http",
        "tests_per_s": _median(rates["stdin"]),
        "limit_tests_per_s": None,
        "ratio_to_limit": None,
        "naive_tests_per_s": None,
        "workers": len(worker_cores(settings.workers)),
        "runs": runs,
        "embedded_tests_per_s": _median(rates["embedded stdin"]),
        "ratio_to_embedded": _ratio(rates["stdin"], rates["embedded stdin"]),
        "calls_tests_per_s": _median(rates["calls"]),
        "calls_embedded_tests_per_s": _median(rates["embedded calls"]),
        "calls_ratio_to_embedded": _ratio(rates["calls"], rates["embedded calls"]),
        "cpu_ratio_to_embedded": _ratio(used["embedded stdin"], used["stdin"]),
        "calls_cpu_ratio_to_embedded": _ratio(used["embedded calls"], used["calls"]),
        "run_code_p50_ms": round(1000 * statistics.median(alone), 3) if alone else None,
        **_figures_of(together),
        "clients": CLIENTS,
        "cases": loads["stdin"].cases,
    }


class _Together(NamedTuple):
    """Requests per second by all clients, and milliseconds of CPU time for each, by who used them."""

    rate: float
    cpu_ms: tuple[float, ...]


def _by_all(server: _Server) -> _Together:
    def used() -> tuple[float, ...]:
        return (time.process_time(), *shares_of(server.pid))

    before, begin = used(), time.perf_counter()
    asyncio.run(_run_code(server.url, CLIENTS, TOGETHER))
    seconds = time.perf_counter() - begin
    spent = zip(before, used(), strict=True)
    return _Together(TOGETHER / seconds, tuple(1000 * (end - start) / TOGETHER for start, end in spent))


def _figures_of(together: Sequence[_Together]) -> dict[str, Any]:
    """Return medians; `run_code_bound_per_s` is what the cores would do if nothing but the jails needed them."""
    if not together:
        return {"run_code_requests_per_s": None}
    costs = [statistics.median(column) for column in zip(*(each.cpu_ms for each in together), strict=True)]
    named = {f"run_code_{who}_cpu_ms": round(cost, 3) for who, cost in zip(_USERS, costs, strict=True)}
    bound = 1000 * len(os.sched_getaffinity(0)) / max(costs[-1], 1e-3)
    return {
        "run_code_requests_per_s": _median([each.rate for each in together]),
        **named,
        "run_code_bound_per_s": round(bound, 1),
    }


def _cpu_s() -> float:
    """Return the CPU seconds of this process and all below it, the server among them."""
    return time.process_time() + descendants_cpu_s()


def _larger(load: Workload) -> Workload:
    """Return a workload several times, each copy unlike the others."""
    samples, verdicts = [], {}
    for copy in range(_COPIES):
        for sample in load.samples:
            name = f"{copy}.{sample['id']}"
            samples.append({**sample, "id": name, "code": f"{sample['code']}# copy {copy}\n"})
            verdicts[name] = load.verdicts[sample["id"]]
    return Workload(samples, verdicts)


def _run(clients: Sequence[ScaleBoxClient], load: Workload) -> tuple[float, list[VerificationResult]]:
    """Have each client verify its part at the same time; return the seconds until all have, and all results."""

    def work(client: ScaleBoxClient, samples: list[dict[str, Any]]) -> list[VerificationResult]:
        return client.fetch(client.submit_batch(samples))

    parts = [load.samples[number :: len(clients)] for number in range(len(clients))]
    with ThreadPoolExecutor(len(clients)) as pool:
        begin = time.perf_counter()
        results = [result for part in pool.map(work, clients, parts) for result in part]
        return time.perf_counter() - begin, results


@contextmanager
def _server(settings: Settings) -> Iterator[_Server]:
    """Run a server with these settings."""
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "scalebox.toml")
        with open(config, "w", encoding="utf-8") as stream:
            stream.write(as_toml(settings))
        process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "scalebox.cli", "serve", "--config", config, "--port", "0", "--json"),
                *("--journal", os.path.join(folder, "journal.db")),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise ScaleBoxError("the server did not start (scalebox serve says why)")
            yield _Server(json.loads(line)["url"], process.pid)
        finally:
            process.terminate()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


async def _run_code(url: str, clients: int, requests: int) -> list[float]:
    """Return the seconds that each trivial request took, none where the server does not have `/run_code`.

    No two programs are the same, so that none is spared for another's sake.
    """
    import aiohttp  # noqa: PLC0415 - of an extra

    left = iter(range(requests))
    seconds: list[float] = []

    async def one(session: aiohttp.ClientSession, number: int) -> None:
        begin = time.perf_counter()
        trivial = {"code": f"print({number})", "language": "python"}
        async with session.post(f"{url}/run_code", json=trivial) as response:
            if response.status in (404, 405):
                return
            answer = await response.json()
        seconds.append(time.perf_counter() - begin)
        if answer.get("status") != "Success" or answer["run_result"]["stdout"] != f"{number}\n":
            raise ScaleBoxError(f"/run_code answered {answer}")

    async def client() -> None:
        async with aiohttp.ClientSession() as session:
            for _ in left:
                await one(session, next(_NUMBERS))

    await asyncio.gather(*(client() for _ in range(clients)))
    return seconds


def _ratio(own: Sequence[float], other: Sequence[float]) -> float:
    return round(statistics.median(one / two for one, two in zip(own, other, strict=True)), 3)


def _median(rates: Sequence[float]) -> float:
    return round(statistics.median(rates), 1)
