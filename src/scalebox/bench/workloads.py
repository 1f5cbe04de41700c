"""What the benchmarks run: batches made of the honest programs of the example file."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from scalebox.gate.extract import extract

CASES = 20
STEP_SAMPLES = 256
_WRONG = frozenset({"assert_fail", "output_mismatch"})


class Program(NamedTuple):
    """An honest answer of the example file; `kind` is "stdin" or "call"."""

    task: str
    kind: str
    code: str
    tests: list[dict[str, Any]]
    match: dict[str, Any]
    verdict: str


@dataclass(frozen=True)
class Workload:
    """A batch to measure.

    `verdicts` has the right verdict of each sample; samples beyond the first `limit_samples` (0: none) are
    left out where the machine's limit is measured, for time.
    """

    samples: list[dict[str, Any]]
    verdicts: dict[str, str]
    limit_samples: int = 0

    @property
    def cases(self) -> int:
        """Number of cases of all samples."""
        return sum(len(sample["tests"]) for sample in self.samples)

    def without(self, verdict: str) -> Workload:
        """Return the workload less the samples that have this verdict."""
        samples = [sample for sample in self.samples if self.verdicts[sample["id"]] != verdict]
        return Workload(samples, self.verdicts, self.limit_samples)


@cache
def programs() -> tuple[Program, ...]:
    """Return the honest programs of the example file that have `CASES` cases and pass, or answer wrongly."""
    text = files("scalebox.bench").joinpath("rollouts.jsonl").read_text(encoding="utf-8")
    return tuple(_honest(map(json.loads, text.splitlines())))


def _honest(rows: Iterator[dict[str, Any]]) -> Iterator[Program]:
    for row in rows:
        (verdict, *others), tests = row["meta"]["expected_verdict"], row["tests"]
        if others or row["meta"]["cheats"] or len(tests) != CASES or verdict not in _WRONG | {"passed"}:
            continue
        kind = "call" if "call" in tests[0] else "stdin"
        entry = tests[0].get("call")
        code = extract(row["response"], entry_points=(entry,) if entry else ()).code
        yield Program(row["problem_id"], kind, code, tests, row.get("match", {}), verdict)


def _pick(kind: str, count: int) -> list[Program]:
    """Return `count` programs, every fourth of them wrong, the same ones each time."""
    right = itertools.cycle(p for p in programs() if p.kind == kind and p.verdict == "passed")
    wrong = itertools.cycle(p for p in programs() if p.kind == kind and p.verdict != "passed")
    return [next(wrong if index % 4 == 3 else right) for index in range(count)]


def _batch(chosen: list[Program], burn_s: dict[int, float] | None = None, **options: Any) -> Workload:
    """Return the programs as a batch, each made unique by a comment; `burn_s` has CPU seconds to burn, by index."""
    samples, verdicts = [], {}
    for index, program in enumerate(chosen):
        name = f"{index}"
        prefix = _burner(burn_s[index]) if burn_s and index in burn_s else ""
        code = f"{prefix}{program.code}\n# rollout {index}\n"
        sample = {"id": name, "problem_id": program.task, "code": code, "tests": program.tests}
        samples.append(sample | ({"match": program.match} if program.match else {}))
        verdicts[name] = program.verdict
    return Workload(samples, verdicts, **options)


def _burner(seconds: float) -> str:
    return (
        "import time as _time\n"
        f"_end = _time.process_time() + {seconds}\n"
        "while _time.process_time() < _end:\n"
        "    pass\n"
    )  # fmt: skip


def stdin() -> Workload:
    """Programs on standard input; every case has a process of its own."""
    return _batch(_pick("stdin", 64))


def calls() -> Workload:
    """As the engine does by default: calls of a program that provably keeps no state share a process."""
    return _batch(_pick("call", 64))


def step() -> Workload:
    """Half stdin, half calls; of the stdin programs 1 in 8 burns 2 ms more a case and 1 in 32 burns 20 ms."""
    half = STEP_SAMPLES // 2
    chosen = [p for pair in zip(_pick("stdin", half), _pick("call", half), strict=True) for p in pair]
    burn_s = {index: 0.02 if index % 64 == 0 else 0.002 for index in range(0, STEP_SAMPLES, 16)}
    return _batch(chosen, burn_s)


def step_180ms() -> Workload:
    """The arithmetic of the field's own texts: 5,120 executions at 180 ms are 921 s in sequence."""
    burn_s = dict.fromkeys(range(STEP_SAMPLES), 0.18)
    return _batch(_pick("stdin", STEP_SAMPLES), burn_s, limit_samples=16)


def straggler() -> Workload:
    """The looper comes last in the batch and takes 20 x 0.5 s of CPU; nobody knows its cost beforehand."""
    quick = _batch(_pick("stdin", 63))
    looper = {"id": "looper", "code": "while True:\n    pass\n", "tests": quick.samples[0]["tests"]}
    looper["limits"] = {"cpu_s": 0.5}
    return Workload([*quick.samples, looper], quick.verdicts | {"looper": "time_out"})


def trivial(index: int) -> dict[str, Any]:
    """Return the `index`-th trivial request; no two are alike."""
    code = f"def add(a, b):\n    return a + b\n# request {index}\n"
    return {"id": f"trivial-{index}", "code": code, "tests": [{"call": "add", "args": [index, 1], "expect": index + 1}]}


BATCHES: dict[str, Callable[[], Workload]] = {
    "stdin": stdin,
    "calls": calls,
    "step": step,
    "step-180ms": step_180ms,
    "straggler": straggler,
}
