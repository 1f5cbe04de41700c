"""The client with the real worker: what only both together can show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scalebox import ScaleBoxClient, Settings, Verdict


@pytest.fixture(scope="module")
def client() -> Iterator[ScaleBoxClient]:
    with ScaleBoxClient(settings=Settings(workers=2, recycle_after=20)) as made:
        yield made


def record(code: str, **fields: Any) -> dict[str, Any]:
    return {"id": "s", "code": code, "tests": [{"stdin": "3\n", "stdout": "6\n"}]} | fields


def test_right_and_wrong(client: ScaleBoxClient) -> None:
    right, wrong = client.fetch(
        client.submit_batch([record("print(2 * int(input()))"), record("print(3 * int(input()))")]), timeout=120
    )
    assert (right.verdict, right.reward, right.pass_rate) == (Verdict.PASSED, 1.0, 1.0)
    assert (wrong.verdict, wrong.reward, wrong.pass_rate) == (Verdict.OUTPUT_MISMATCH, 0.0, 0.0)
    assert right.tier in ("namespace", "process")


@pytest.mark.parametrize("name", ["p" * 65, "p" * 512, "\U0001f4a5" * 512, 'a"b', "a/../b", "\0"])
def test_ids_may_be_long_and_odd(tmp_path: Path, name: str) -> None:
    """What is learnt of a problem is kept by its id when a batch ends: nothing may be lost with an engine over that."""
    with ScaleBoxClient(settings=Settings(workers=1, cache_dir=str(tmp_path))) as client:
        for _ in range(2):
            samples = [record("print(2 * int(input()))", id=name, problem_id=name), record("print(6)", id=name)]
            results = client.fetch(client.submit_batch(samples), timeout=120)
            assert [(result.id, result.verdict) for result in results] == [(name, Verdict.PASSED)] * 2


def test_code_and_responses_that_go_on_with_a_prompt(client: ScaleBoxClient) -> None:
    prompt = 'import math\n\n\ndef twice(x):\n    """Return x and x."""\n'
    tests = [{"call": "twice", "args": [21], "expect": 42}]
    batches = [client.submit("s", "    return math.prod([2, x])", tests, prompt=prompt, entry_point="twice")]
    batches += [
        client.submit_batch([{"id": "s", "response": response, "tests": tests, "prompt": prompt}])
        for response in ("    return 2 * x\n\nprint(", "```python\ndef twice(y):\n    return math.prod([2, y])\n```")
    ]
    for batch in batches:
        (result,) = client.fetch(batch, timeout=120)
        assert (result.verdict, result.reward) == (Verdict.PASSED, 1.0), result.message
        assert "import math" in result.code


def test_endless_loops_hold_nothing_back_and_can_be_cancelled(client: ScaleBoxClient) -> None:
    loop = record("while True: pass", id="loop", limits={"cpu_s": 600.0, "wall_s": 600.0})
    batch = client.submit_batch([loop, *(record(f"print(6) #{n}", id=f"s{n}") for n in range(30))])
    stream = client.stream(batch)
    assert {next(stream).id for _ in range(30)} == {f"s{n}" for n in range(30)}
    client.cancel(batch)
    (last,) = stream
    assert (last.id, last.verdict, last.reward, last.masked) == ("loop", Verdict.UNKNOWN, None, True)
    (after,) = client.fetch(client.submit_batch([record("print(6)")]), timeout=120)
    assert after.verdict == Verdict.PASSED


def test_workers_are_replaced_on_the_way(client: ScaleBoxClient) -> None:
    batch = client.submit_batch([record(f"print({n})", id=f"s{n}") for n in range(100)])
    verdicts = [result.verdict for result in client.fetch(batch, timeout=240)]
    assert verdicts == [Verdict.PASSED if n == 6 else Verdict.OUTPUT_MISMATCH for n in range(100)]
