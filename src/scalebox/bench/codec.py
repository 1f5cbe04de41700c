"""The `codec` benchmark: 5,000 case results to bytes and back."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import msgspec

from scalebox.core.codec import decode_results, encode_results
from scalebox.core.errors import ScaleBoxError
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.verdicts import Verdict

CASES = 5_000
CASES_EACH = 20
ROUNDS = 5  # of each run, for they are short; the median counts


class CodecFailed(ScaleBoxError):
    """What came back is not what was encoded."""


def measure(runs: int, step: Callable[[str], None]) -> dict[str, Any]:
    """Return the milliseconds each way, ours and the standard library's json, medians over runs."""
    results = [_result(index) for index in range(CASES // CASES_EACH)]
    plain = msgspec.to_builtins(results)
    packed, text = encode_results(results), json.dumps(plain)
    if decode_results(packed) != results:
        raise CodecFailed("results differ after encoding and decoding")
    ways: dict[str, Callable[[], object]] = {
        "encode_ms": lambda: encode_results(results),
        "decode_ms": lambda: decode_results(packed),
        "json_encode_ms": lambda: json.dumps(plain),
        "json_decode_ms": lambda: json.loads(text),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for _ in range(ROUNDS):
            for name, way in ways.items():
                taken[name].append(_milliseconds(way))
        step(f"codec: {taken['encode_ms'][-1]:.1f} + {taken['decode_ms'][-1]:.1f} ms")
    medians = {name: round(statistics.median(times), 3) for name, times in taken.items()}
    return {
        "name": "codec",
        "tests_per_s": round(1000 * CASES / (medians["encode_ms"] + medians["decode_ms"]), 1),
        "limit_tests_per_s": None,
        "ratio_to_limit": None,
        "naive_tests_per_s": round(1000 * CASES / (medians["json_encode_ms"] + medians["json_decode_ms"]), 1),
        "workers": 1,
        "runs": runs,
        "cases": CASES,
        "bytes": len(packed),
        "json_bytes": len(text),
    } | medians


def _milliseconds(way: Callable[[], object]) -> float:
    begin = time.perf_counter()
    way()
    return 1000 * (time.perf_counter() - begin)


def _result(index: int) -> VerificationResult:
    cases = [
        CaseResult(
            id=str(case),
            verdict=Verdict.OUTPUT_MISMATCH if case % 4 == 3 else Verdict.PASSED,
            cpu_s=0.001 * case,
            wall_s=0.0015 * case,
            memory_bytes=9_437_184 + 4096 * case,
            exit_code=0,
            stdout=f"{index * case}\n",
            difference=0.5 if case % 4 == 3 else 0.0,
            detail=f"line 1, token 1: expected '{case}', got '{index * case}'" if case % 4 == 3 else "",
        )
        for case in range(CASES_EACH)
    ]
    code = "n = int(input())\nprint(sum(i * i for i in range(n)))\n" * 8
    return VerificationResult(id=f"s-{index}", verdict=Verdict.OUTPUT_MISMATCH, pass_rate=0.75, code=code, cases=cases)
