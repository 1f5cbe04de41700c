"""A build that is stopped by the clock while it waits for a CPU is nobody's fault."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from scalebox.core.limits import Limits
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.execute.judges import Judges
from scalebox.parse import parse_sample
from scalebox.sandbox import jail, usage
from scalebox.sandbox.compiled import Compiled
from scalebox.worker import Verifier

STDIN = [{"stdin": "", "stdout": "1\n"}]
CASES: dict[str, dict[str, Any]] = {
    "a program": {"code": "print(1)", "tests": STDIN},
    "calls": {"code": "def f(): return 1", "tests": [{"call": "f", "args": [], "expect": 1}]},
    "assertions": {"code": "def f(): return 1", "tests": [{"assert": "assert f() == 1"}]},
}
CHECKER = {"language": "python", "protocol": "python", "code": "def check(**kw): return True"}


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    made = Verifier(Settings(workers=1), sorted(os.sched_getaffinity(0))[:1])
    yield made
    made.close()


def verified(verifier: Verifier, record: dict[str, Any]) -> VerificationResult:
    return verifier.verify(parse_sample(record, settings=Settings()))[0]


def impatient(monkeypatch: pytest.MonkeyPatch, starved: bool) -> None:
    """Have a build that is late be starved, or not, and not be awaited any longer."""
    monkeypatch.setattr(usage, "starves", lambda *_: starved)
    monkeypatch.setattr(jail, "STRETCH", 0.0)
    monkeypatch.setattr(jail, "_LEAST_PATIENCE", -1e6)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch, verifier: Verifier) -> Callable[[int, bool], list[int]]:
    """Have so many builds, after those that are let through, not come to their end; return how many were asked for."""
    verified(verifier, {"id": "s", **CASES["a program"]})  # a jail's own test is a build, too
    await_answer = Compiled.await_answer

    def arrange(times: int, starved: bool) -> list[int]:
        asked: list[int] = []

        def answer(self: Compiled, limits: Limits, seconds: float, *, signal_others: bool) -> bytes:
            asked.append(1)
            if len(asked) <= times:
                raise TimeoutError
            return await_answer(self, limits, seconds, signal_others=signal_others)

        monkeypatch.setattr(Compiled, "await_answer", answer)
        impatient(monkeypatch, starved)
        return asked

    return arrange


@pytest.mark.parametrize("record", list(CASES.values()), ids=list(CASES))
def test_it_is_made_once_more_and_then_unknown(
    verifier: Verifier, late: Callable[[int, bool], list[int]], record: dict[str, Any]
) -> None:
    late(1, True)
    assert verified(verifier, {"id": "s", **record}).verdict == Verdict.PASSED
    asked = late(2, True)
    result = verified(verifier, {"id": "s", **record})
    assert (result.verdict, result.stage, len(asked)) == (Verdict.UNKNOWN, "build", 2)
    assert "too busy" in result.message


def test_one_that_has_had_its_time_is_the_program_s_fault(
    verifier: Verifier, late: Callable[[int, bool], list[int]]
) -> None:
    asked = late(1, False)
    result = verified(verifier, {"id": "s", **CASES["a program"]})
    assert (result.verdict, len(asked)) == (Verdict.COMPILE_ERROR, 1)


@pytest.mark.parametrize(("starved", "verdict"), [(True, Verdict.UNKNOWN), (False, Verdict.INTERNAL_ERROR)])
def test_a_judge_that_is_not_built_in_time_labels_nobody(
    verifier: Verifier, monkeypatch: pytest.MonkeyPatch, starved: bool, verdict: Verdict
) -> None:
    record = {"id": "s", **CASES["a program"]}
    verified(verifier, {**record, "checker": CHECKER})  # its jail is there then
    make = Judges.get

    def get(self: Judges, *args: Any) -> Any:
        def answer(*_: Any, **__: Any) -> NoReturn:
            raise TimeoutError

        monkeypatch.setattr(Compiled, "await_answer", answer)
        return make(self, *args)

    monkeypatch.setattr(Judges, "get", get)
    impatient(monkeypatch, starved)
    checker = {**CHECKER, "code": f"{CHECKER['code']}\n# another for {starved}"}
    result = verified(verifier, {**record, "checker": checker})
    assert result.verdict == verdict, result.message


# -- what is seen of a build that is stopped ---------------------------------------------------------------------------

_BURN = "while :; do :; done"


@pytest.mark.parametrize(
    ("program", "starved"), [(_BURN, True), ("exec sleep 60", False)], ids=["one that would go on", "one that sleeps"]
)
def test_only_what_would_go_on_is_starved_on_a_busy_machine(program: str, starved: bool) -> None:
    core = str(min(os.sched_getaffinity(0)))

    def start(script: str) -> subprocess.Popen[str]:
        return subprocess.Popen(["taskset", "-c", core, "/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True)

    agent = start(f"/bin/sh -c '{program}' & echo $!; wait")
    assert agent.stdout is not None
    build = int(agent.stdout.readline())
    while not (starved or Path(f"/proc/{build}/comm").read_text() == "sleep\n"):
        time.sleep(0.01)
    others = [start(_BURN) for _ in range(12)]
    try:
        time.sleep(4.0)
        born = time.monotonic() - usage._Table().age(build)
        assert usage.starves(agent.pid, born) is starved
    finally:
        os.kill(build, signal.SIGKILL)
        for process in (agent, *others):
            process.kill()
            process.communicate()
