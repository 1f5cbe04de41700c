"""The `protocol` benchmark: what a call from the tests' process into the solution's costs, both on one core.

Run as `python -m scalebox.bench.protocol` it measures once and prints a JSON object of microseconds.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from scalebox.execute.separate.remote import Solution
from scalebox.execute.separate.serve import serve

CALLS = 3_000
_SOURCE = """
def same(x): return x
def size(xs): return len(xs)
def sort(xs): xs.sort(reverse=True)
def each(f): return f(1)
class Counter:
    def __init__(self): self.n = 0
    def add(self, k): self.n += k; return self.n
"""
_BYTES = 40  # about the size of a call with one number


def measure(runs: int, step: Callable[[str], None]) -> dict[str, Any]:
    """Return medians over runs of the median microseconds of each kind of call.

    The limit is the bare round trip of as many bytes between two processes, the naive way a pickle over a
    `multiprocessing` pipe.
    """
    taken: dict[str, list[float]] = {}
    for _ in range(runs):
        output = subprocess.run([sys.executable, "-m", __name__], check=True, stdout=subprocess.PIPE, text=True).stdout
        for name, microseconds in json.loads(output).items():
            taken.setdefault(name, []).append(microseconds)
        step(f"call: {taken['call_us'][-1]} µs")
    medians = {name: round(statistics.median(times), 1) for name, times in taken.items()}
    limit, naive = medians.pop("round_trip_us"), medians.pop("pickle_us")
    return {
        "name": "protocol",
        "tests_per_s": round(1e6 / medians["call_us"], 1),
        "limit_tests_per_s": round(1e6 / limit, 1),
        "ratio_to_limit": round(limit / medians["call_us"], 3),
        "naive_tests_per_s": round(1e6 / naive, 1),
        "workers": 1,
        "runs": runs,
    } | medians


def _once() -> dict[str, float]:
    """Measure every kind of call, caller and called on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return {"round_trip_us": _round_trip(), "pickle_us": _pickled()} | _calls()


def _calls() -> dict[str, float]:
    fd = _child(_serve)
    solution = Solution(fd)
    solution.start()
    same, size, sort, each = (solution.get(name) for name in ("same", "size", "sort", "each"))
    counter = solution.get("Counter")()
    numbers, texts = list(range(100)), [str(number) for number in range(100)]
    rows = [list(range(10)) for _ in range(10)]
    kinds: dict[str, Callable[[], object]] = {
        "call_us": lambda: same(3),
        "list_of_100_ints_us": lambda: size(numbers),
        "list_there_and_back_us": lambda: same(numbers[:]),
        "list_of_100_strings_us": lambda: size(texts),
        "10_lists_of_10_us": lambda: size(rows),
        "list_changed_in_place_us": lambda: sort(list(numbers)),
        "method_us": lambda: counter.add(1),
        "attribute_us": lambda: counter.n,
        "call_back_us": lambda: each(abs_),
    }
    figures = {name: _median_us(call) for name, call in kinds.items()}
    solution.close()
    return figures


def abs_(number: int) -> int:
    return -number


def _serve(fd: int) -> None:
    module = ModuleType("solution")
    sys.modules["solution"] = module
    serve(fd, compile(_SOURCE, "solution.py", "exec"), vars(module))


def _round_trip() -> float:
    fd = _child(_echo)
    data = bytes(_BYTES)
    figure = _median_us(lambda: os.write(fd, data) and os.read(fd, 65536))
    os.close(fd)
    return figure


def _echo(fd: int) -> None:
    while data := os.read(fd, 65536):
        os.write(fd, data)


def _pickled() -> float:
    ours, theirs = multiprocessing.Pipe()
    pid = os.fork()
    if not pid:
        ours.close()
        _echo_objects(theirs)
        os._exit(0)
    theirs.close()

    def call() -> object:
        ours.send(("same", (3,), {}))
        return ours.recv()

    figure = _median_us(call)
    ours.close()
    os.waitpid(pid, 0)
    return figure


def _echo_objects(connection: Connection[Any, Any]) -> None:
    try:
        while True:
            connection.send(connection.recv()[1][0])
    except EOFError:
        return


def _child(run: Callable[[int], None]) -> int:
    """Run `run` in a child at the other end of the descriptor that is returned."""
    ours, theirs = socket.socketpair()
    if not os.fork():
        ours.close()
        run(theirs.fileno())
        os._exit(0)
    theirs.close()
    return ours.detach()


def _median_us(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return round(1e6 * statistics.median(taken), 2)


if __name__ == "__main__":
    print(json.dumps(_once()))
