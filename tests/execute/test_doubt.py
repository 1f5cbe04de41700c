"""Failures that a busy machine may have caused: put in doubt, run again, explained."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scalebox.core.limits import Limits
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import Sample, StdinTest
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.core.wire import Again
from scalebox.execute.doubt import Doubts
from scalebox.parse import parse_sample
from scalebox.sandbox import pace
from scalebox.sandbox.confinement import process_limits
from scalebox.sandbox.linux.pressure import Load
from scalebox.worker import Verifier

SAMPLE = Sample(id="s", code="x", tests=tuple(StdinTest(id=name, stdin="", stdout="") for name in "abc"))


def case(name: str, verdict: Verdict, detail: str = "", attempts: int = 1) -> CaseResult:
    return CaseResult(id=name, verdict=verdict, detail=detail, attempts=attempts)


def test_only_failures_are_in_doubt_and_only_where_there_is_one() -> None:
    doubts = Doubts(SAMPLE)
    passed, failed = case("a", Verdict.PASSED), case("b", Verdict.RUNTIME_ERROR, "exit code 1")
    assert doubts.settled(0, [passed], "busy") == [passed]
    assert doubts.settled(1, [failed], "") == [failed]
    assert doubts.places == set()
    (now,) = doubts.settled(1, [failed], "the machine was busy")
    assert now.verdict == Verdict.UNKNOWN
    assert now.detail == "runtime_error: exit code 1, but the machine was busy"
    assert doubts.places == {1}


def test_the_second_run_keeps_what_is_certain_and_tells_of_the_first() -> None:
    first = VerificationResult(
        id="s",
        verdict=Verdict.UNKNOWN,
        cases=[case("a", Verdict.PASSED), case("b", Verdict.UNKNOWN, "why"), case("c", Verdict.NOT_RUN, attempts=0)],
    )
    doubts = Doubts(SAMPLE, Again(first, [1]))
    assert doubts.certain() == {0: [first.cases[0]]}
    (settled,) = doubts.settled(1, [case("b", Verdict.PASSED)], "not asked any more")
    assert (settled.verdict, settled.attempts) == (Verdict.PASSED, 2)
    assert settled.detail == "(run again alone; at first: why)"
    (still,) = doubts.settled(1, [case("b", Verdict.UNKNOWN, "again")], "")
    assert "no quiet time" in still.detail
    new = case("c", Verdict.PASSED)
    assert doubts.settled(2, [new], "") == [new], "it had no first run"
    assert doubts.places == set()


# --- whole samples, on a machine that says it is busy ----------------------------------------------


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verifier]:
    settings = Settings(workers=1, cache="on", cache_dir=str(tmp_path_factory.mktemp("cache")), cache_audit=0.0)
    made = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])
    yield made
    made.close()


class Machine:
    """What a machine says of its load."""

    def __init__(self, load: Load) -> None:
        self.load_is = load

    def load(self) -> Load:
        return self.load_is

    def mark(self) -> None:
        pass


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "METER", Machine(Load(0.9, 0.0, 4.0)))


BURN = "import time\nbegun = time.process_time()\nwhile time.process_time() - begun < {}: pass\n"
#: Each with the verdicts of a first run that is a little over its limit, by kind of test.
KINDS: dict[str, Callable[[float], dict[str, Any]]] = {
    "stdin": lambda s: {"code": BURN.format(s) + "print(1)", "tests": [{"stdin": "", "stdout": "1\n"}]},
    "call": lambda s: {
        "code": f"import time\ndef f():\n    while time.process_time() < {s}: pass\n    return 1",
        "tests": [{"call": "f", "args": [], "expect": 1}],
    },
    "assert": lambda s: {
        "code": "import time\ndef f():\n    " + BURN.format(s).replace("\n", "\n    ") + "\n    return 1",
        "tests": [{"assert": "assert f() == 1"}],
    },
}


def sample(kind: str, seconds: float, **limits: float) -> Sample:
    record = {"id": kind, **KINDS[kind](seconds), "limits": {"cpu_s": 0.2, "wall_s": 60.0, **limits}}
    return parse_sample(record, settings=Settings())


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_a_little_over_its_limit_on_a_busy_machine_is_run_again(verifier: Verifier, kind: str) -> None:
    first, _, doubtful = verifier.attempt(sample(kind, 0.3))
    assert (first.verdict, doubtful) == (Verdict.UNKNOWN, [0])
    assert "CPU" in first.cases[0].detail
    with pytest.MonkeyPatch.context() as patch:  # by now all is quiet
        patch.setattr(pace, "METER", Machine(Load(0.0, 0.0, 0.0)))
        second, _, doubtful = verifier.attempt(sample(kind, 0.3), again=Again(first, [0]))
    assert (second.verdict, doubtful) == (Verdict.TIME_OUT, [])
    assert second.cases[0].attempts >= 2
    assert "run again alone" in second.cases[0].detail


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_is_over_its_limit_however_busy_the_machine(verifier: Verifier, kind: str) -> None:
    result, _, doubtful = verifier.attempt(sample(kind, 1e6))
    assert (result.verdict, doubtful) == (Verdict.TIME_OUT, [])
    assert result.cases[0].attempts >= 1


@pytest.mark.usefixtures("busy")
def test_what_is_in_doubt_is_not_kept(verifier: Verifier) -> None:
    code = "import sys\n" + "x = 0\nwhile x < 10 ** 12: x += 1\n"
    record = {
        "id": "s",
        "code": code,
        "tests": [{"stdin": "", "stdout": "1"}],
        "limits": {"cpu_s": 30.0, "wall_s": 0.2},
    }
    slow = parse_sample(record, settings=Settings())
    for _ in range(2):
        result, _, _ = verifier.attempt(slow)
        assert not result.cached


def test_a_build_that_has_had_its_cpu_time_is_over_it_and_not_in_doubt(verifier: Verifier) -> None:
    """By its own clock, finer than the whole seconds of the kernel's limit, whatever the time by the wall."""
    code = "x = [" + "lambda: (a, b, c)," * 400_000 + "]\nprint(9)"
    record = {"id": "s", "code": code, "tests": [{"stdin": "", "stdout": "1"}], "limits": {"build_s": 0.3}}
    result, _, doubtful = verifier.attempt(parse_sample(record, settings=Settings()))
    assert (result.verdict, doubtful) == (Verdict.COMPILE_ERROR, [])
    assert "0.3 s" in result.message


def test_an_early_stop_at_a_doubt_goes_on_when_it_turns_out_well(verifier: Verifier) -> None:
    tests = [{"stdin": str(number), "stdout": str(number)} for number in range(3)]
    record = {"id": "s", "code": "print(input())", "tests": tests}
    given = parse_sample(record, settings=Settings(early_stop=True))
    doubt = case("0", Verdict.UNKNOWN, "it waited 9.0 of 10.0 s for a CPU")
    left = [case("1", Verdict.NOT_RUN, attempts=0), case("2", Verdict.NOT_RUN, attempts=0)]
    first = VerificationResult(id="s", verdict=Verdict.UNKNOWN, partial=True, cases=[doubt, *left])
    result, _, _ = verifier.attempt(given, again=Again(first, [0]))
    assert [(one.verdict, one.attempts) for one in result.cases] == [
        (Verdict.PASSED, 2),
        (Verdict.PASSED, 1),
        (Verdict.PASSED, 1),
    ]
    assert not result.partial


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(
    ("act", "named"),
    [
        ("open('x', 'wb').write(bytes(9 << 20))", "disk: more than 1 MB"),
        ("open('/usr/x', 'w')", "EROFS /usr/x (OSError)"),
    ],
)
def test_what_was_refused_goes_by_one_name_however_often_it_ran(verifier: Verifier, act: str, named: str) -> None:
    record = {"id": "a", "code": f"import time\ntime.sleep(0.8)\n{act}", "tests": [{"stdin": "", "stdout": "1"}]}
    given = parse_sample({**record, "limits": {"cpu_s": 0.5, "wall_s": 60.0, "disk_mb": 1}}, settings=Settings())
    first, _, doubtful = verifier.attempt(given)
    assert (first.verdict, first.denied, first.risk, doubtful) == (Verdict.UNKNOWN, [], "none", [0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pace, "METER", Machine(Load(0.0, 0.0, 0.0)))
        second, _, _ = verifier.attempt(given, again=Again(first, [0]))
    assert (second.verdict, second.denied, second.risk) == (Verdict.RESOURCE_DENIED, [named], "high")
    assert "run again alone" in second.cases[0].detail


def test_the_limits_of_the_kernel_leave_room_for_a_doubt() -> None:
    assert process_limits(Limits(cpu_s=30.0), [0], {}, bounded=True)["hard_cpu_s"] > 30.0 * pace.MARGIN
