"""What the engine is measured against: the machine's own limit and one interpreter per case."""

from __future__ import annotations

import ast
import marshal
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from scalebox.core.errors import ScaleBoxError
from scalebox.core.limits import Limits
from scalebox.languages.python import BARE, interpreter

MARSHAL_VERSION = 2  # old enough for every interpreter that may run samples
NAIVE_CASES = 48
_SCRIPT = Path(__file__).with_name("limit.py")
_PRINT_CALL = "\nimport ast as _ast, sys as _sys\nprint(repr({call}(*_ast.literal_eval(_sys.stdin.read()))))\n"


class Limit(NamedTuple):
    """Cases per second, and CPU seconds for one."""

    rate: float
    cpu_s: float


class LimitFailed(ScaleBoxError):
    """The unprotected runs did not do their work, so their time means nothing."""


def limit(
    samples: Sequence[dict[str, Any]], cores: Sequence[int], executable: str = "", *, hooks: bool = True
) -> Limit:
    """Measure the samples with no protection: one process per core, one fork per case, as limit.py says.

    Without `hooks`, forks are spared what modules have registered to be done at each.
    Raises LimitFailed where fewer than half of the cases came out right.
    """
    plain = [_for_limit(sample) for sample in samples]
    with tempfile.TemporaryDirectory(prefix="scalebox-bench-") as folder:
        path = Path(folder, "samples")
        path.write_bytes(marshal.dumps(plain, MARSHAL_VERSION))
        read, write = os.pipe()
        try:
            command = [
                interpreter(executable).executable,
                "-I",
                "-S",
                str(_SCRIPT),
                "hooks" if hooks else "none",
                str(path),
            ]
            workers = [_start([*command, str(core), str(read), *BARE], read) for core in cores]
            for worker in workers:
                _line(worker)
            os.write(write, b"".join(index.to_bytes(4, "little") for index in range(len(plain))))
            os.close(write)
            write = -1
            begin = time.perf_counter()
            for worker in workers:
                assert worker.stdin is not None
                worker.stdin.write(b"g")
                worker.stdin.flush()
            counts = [[float(part) for part in _line(worker).split()] for worker in workers]
            seconds = time.perf_counter() - begin
            for worker in workers:
                worker.communicate()
        finally:
            os.close(read)
            if write >= 0:
                os.close(write)
    cases, passed, cpu_s = (sum(column) for column in zip(*counts, strict=True))
    if 2 * passed < cases:
        raise LimitFailed(f"only {passed:.0f} of {cases:.0f} unprotected cases came out right")
    return Limit(cases / seconds, cpu_s / cases)


def naive_rate(samples: Sequence[dict[str, Any]], workers: int, executable: str = "") -> float:
    """Return cases per second with a fresh `python -I` for each, `workers` at a time, over a sample of the cases."""
    cases = [(sample, test) for sample in samples for test in sample["tests"]]
    chosen = random.Random(0).sample(cases, min(len(cases), NAIVE_CASES))  # noqa: S311 - a choice, not a secret
    command = [executable or sys.executable, "-I", "-c"]

    def run(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
        sample, test = pair
        code, text = sample["code"], test.get("stdin")
        if text is None:
            code, text = code + _PRINT_CALL.format(call=test["call"]), repr(_arguments(test))
        subprocess.run([*command, code], input=text.encode(), capture_output=True, timeout=60, check=False)

    begin = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(run, chosen))
    return len(chosen) / (time.perf_counter() - begin)


def _start(command: list[str], fd: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[fd])


def _line(worker: subprocess.Popen[bytes]) -> bytes:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    if not line.endswith(b"\n"):
        raise LimitFailed(f"an unprotected run ended early, status {worker.wait()}")
    return line


def _for_limit(sample: dict[str, Any]) -> dict[str, Any]:
    cpu_s = sample.get("limits", {}).get("cpu_s", Limits().cpu_s)
    tests = [_test_for_limit(test) for test in sample["tests"]]
    return {
        "code": sample["code"],
        "call": sample["tests"][0].get("call"),
        "cpu_s": max(1, round(cpu_s)),
        "tests": tests,
    }


def _test_for_limit(test: dict[str, Any]) -> tuple[bytes, Any]:
    if "call" not in test:
        return test["stdin"].encode(), test["stdout"].encode().split()
    expected = test["expect"] if "expect" in test else ast.literal_eval(test["expect_repr"])
    return marshal.dumps(_arguments(test), MARSHAL_VERSION), expected


def _arguments(test: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(test["args"] if "args" in test else ast.literal_eval(test["args_repr"]))
