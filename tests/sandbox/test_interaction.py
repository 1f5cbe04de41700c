"""Two programs that talk to each other from two jails: who ends it, who hangs, and what is left of them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator

import msgspec
import pytest
from tests.sandbox.stage import public_interpreter

from scalebox.core.limits import Limits
from scalebox.sandbox import conformance, tiers
from scalebox.sandbox.batch import Case
from scalebox.sandbox.interaction import Interacted, interact
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.outcome import Outcome
from scalebox.sandbox.supervision import Cancelled

LIMITS = Limits(cpu_s=0.5, wall_s=20.0, memory_mb=200)
#: For those that hang.
SHORT = Limits(cpu_s=0.5, wall_s=1.0, memory_mb=200)
JUDGE = Limits(cpu_s=0.8, wall_s=10.0, memory_mb=200)
PATIENT = Limits(cpu_s=5.0, wall_s=60.0, memory_mb=200)
CAP = 1 << 20
#: Doubles what it is told until it is told nothing more.
DOUBLES = "import sys\nfor line in sys.stdin: print(2 * int(line), flush=True)\nsys.exit(42)"
#: Asks to have a number doubled, and says what it got.
ASKS = "import sys\nprint(21, flush=True)\nprint('got', input(), file=sys.stderr)"
HANGS_UP = "import os, sys, time\nos.close(1)\n"
HEARS = "import os\nwhile os.read(0, 65536): pass\n"


@pytest.fixture(scope="module", params=["namespace", "process"])
def jails(request: pytest.FixtureRequest) -> Iterator[tuple[Jail, Jail]]:
    interpreter = public_interpreter() if request.param == "process" else ""
    config = conformance.config(interpreter)
    made = [Jail(tiers.choose(request.param), msgspec.structs.replace(config, name=name)) for name in ("talks", "asks")]
    yield made[0], made[1]
    for jail in made:
        jail.stop()


def talk(
    jails: tuple[Jail, Jail], solution: str, interactor: str, limits: Limits = LIMITS, *, judge: Limits = JUDGE,
    keep_bytes: int = 0,
) -> Interacted:  # fmt: skip
    cases = []
    for jail, source, its in zip(jails, (solution, interactor), (limits, judge), strict=True):
        assert jail.open(source.encode(), its, None).ok
        cases.append((jail, Case(output_bytes=CAP)))
    return interact(cases[0], cases[1], decides=_decides, keep_bytes=keep_bytes)


def _decides(outcome: Outcome) -> bool:
    return outcome.exit_code != 42


def test_each_hears_what_the_other_says(jails: tuple[Jail, Jail]) -> None:
    run = talk(jails, ASKS, DOUBLES, keep_bytes=100)
    assert run.solution.clean
    assert run.solution.stderr == b"got 42\n"
    assert (run.interactor.exit_code, run.decided) == (42, False)
    assert run.spoken == [("solution", b"21\n"), ("interactor", b"42\n")]
    assert run.cut == 0
    assert all(jail.opened for jail in jails)


@pytest.mark.parametrize("keep_bytes", [0, 1, 4, 5])
def test_a_transcript_is_cut_where_it_is_told_to_be(jails: tuple[Jail, Jail], keep_bytes: int) -> None:
    run = talk(jails, ASKS, DOUBLES, keep_bytes=keep_bytes)
    assert b"".join(said for _, said in run.spoken) == b"21\n42\n"[:keep_bytes]
    assert run.cut == 6 - keep_bytes


def test_much_more_than_a_pipe_holds_gets_through_both_ways(jails: tuple[Jail, Jail]) -> None:
    size = 300_000
    solution = f"import sys\nprint('x' * {size}, flush=True)\nprint(len(input()), file=sys.stderr)"
    run = talk(jails, solution, f"import sys\nprint('y' * len(input()), flush=True)\nprint({size})\nsys.exit(42)")
    assert run.solution.stderr == b"300000\n"
    assert run.interactor.exit_code == 42


def test_both_writing_before_they_read_is_no_deadlock_of_ours(jails: tuple[Jail, Jail]) -> None:
    both = "print('x' * 500_000, flush=True)\ninput()\n"
    begun = time.monotonic()
    run = talk(jails, both, both + "raise SystemExit(42)", SHORT)
    assert run.solution.cause == "wall"
    assert all(run.unread)
    assert time.monotonic() - begun < SHORT.wall_s + 10


def test_who_rejects_first_settles_it_though_the_solution_would_go_on(jails: tuple[Jail, Jail]) -> None:
    run = talk(jails, "print(-1, flush=True)\nwhile True: pass", "input()\nraise SystemExit(43)")
    assert (run.decided, run.interactor.exit_code) == (True, 43)
    assert (run.solution.cause, run.solution.exit_code) == ("exited", None)
    assert run.solution.cpu_s < LIMITS.cpu_s
    assert not jails[0].opened


@pytest.mark.parametrize("_again", range(5))
def test_a_solution_that_fails_because_the_interactor_hung_up_was_not_first(
    jails: tuple[Jail, Jail], _again: int
) -> None:
    run = talk(jails, "print(-1, flush=True)\ninput()", "input()\nraise SystemExit(43)")
    assert (run.decided, run.interactor.exit_code) == (True, 43)


@pytest.mark.parametrize("_again", range(5))
def test_a_solution_that_fails_by_itself_is_first(jails: tuple[Jail, Jail], _again: int) -> None:
    run = talk(jails, "raise SystemExit(3)", "import sys\nsys.exit(42 if sys.stdin.read() else 43)")
    assert (run.decided, run.solution.exit_code) == (False, 3)


def test_what_was_said_before_failing_can_still_be_rejected(jails: tuple[Jail, Jail]) -> None:
    run = talk(jails, "print(-1, flush=True)\nraise SystemExit(3)", "input()\nraise SystemExit(43)")
    assert (run.decided, run.interactor.exit_code) == (True, 43)


def test_who_would_reject_has_his_chance_on_a_busy_machine(jails: tuple[Jail, Jail]) -> None:
    """The interactor shares its CPU with many, and takes some of it before it rejects."""
    core = str(jails[1].config.cores[0])
    others = [subprocess.Popen(["taskset", "-c", core, "/bin/sh", "-c", "while :; do :; done"]) for _ in range(12)]
    try:
        rejects = "import time\ninput()\nwhile time.process_time() < .03: pass\nraise SystemExit(43)"
        run = talk(jails, "print(-1, flush=True)\nraise SystemExit(3)", rejects, judge=PATIENT)
    finally:
        for process in others:
            process.kill()
            process.wait()
    assert (run.decided, run.interactor.exit_code) == (True, 43)


@pytest.mark.parametrize(
    "hangs",
    ["while True: pass", "import time\ntime.sleep(60)", "input()\nimport time\ntime.sleep(60)", "input(); input()"],
)
def test_who_does_not_reject_when_he_has_his_chance_is_not_waited_for(jails: tuple[Jail, Jail], hangs: str) -> None:
    run = talk(jails, "print(-1, flush=True)\nraise SystemExit(3)", hangs, judge=PATIENT)
    assert (run.decided, run.solution.exit_code, run.interactor.cause) == (False, 3, "exited")
    assert run.interactor.cpu_s < 1.0


def test_a_solution_that_ends_well_lets_the_interactor_judge(jails: tuple[Jail, Jail]) -> None:
    run = talk(jails, "print(7)", "import sys\nsys.exit(42 if sys.stdin.read() == '7\\n' else 43)")
    assert (run.decided, run.solution.exit_code, run.interactor.exit_code) == (False, 0, 42)
    assert talk(jails, "print(8)", "import sys\nsys.exit(42 if input() == '7' else 43)").interactor.exit_code == 43


def test_an_interactor_that_accepts_leaves_the_solution_its_time(jails: tuple[Jail, Jail]) -> None:
    accepts = "input()\nprint('right', flush=True)\nraise SystemExit(42)"
    goes_on = "print(7, flush=True)\ninput()\nprint('thanks', flush=True)\nimport time; time.sleep(.2)"
    ends = talk(jails, goes_on, accepts)
    assert (ends.solution.exit_code, ends.interactor.exit_code, ends.decided) == (0, 42, False)
    assert talk(jails, "print(7, flush=True)\nwhile True: pass", accepts).solution.cause == "cpu"
    assert talk(jails, "print(7, flush=True)\nraise SystemExit(9)", accepts).solution.exit_code == 9


def test_who_closes_his_output_and_goes_on_is_heard_to_have_closed_it(jails: tuple[Jail, Jail]) -> None:
    judge = "import sys\nprint('bye', flush=True)\nsys.exit(42 if not sys.stdin.read() else 43)"
    run = talk(jails, HANGS_UP + "print(sys.stdin.readline().strip(), file=sys.stderr)\ntime.sleep(.3)", judge)
    assert (run.solution.exit_code, run.solution.stderr, run.interactor.exit_code) == (0, b"bye\n", 42)
    judge = HANGS_UP + "sys.exit(42 if sys.stdin.read() == 'done\\n' else 43)"
    run = talk(jails, HEARS + "print('done')", judge)
    assert (run.solution.exit_code, run.interactor.exit_code) == (0, 42)


def test_who_waits_for_whom_can_be_told(jails: tuple[Jail, Jail]) -> None:
    both_wait = talk(jails, "input()", "input()\nraise SystemExit(42)", SHORT)
    assert (both_wait.solution.cause, both_wait.unread) == ("wall", (0, 0))
    assert both_wait.solution.waited_s == 0.0  # however busy the machine is: they sleep
    hears = "print(1, flush=True)\ninput()\nraise SystemExit(42)"
    not_read = talk(jails, "import time; time.sleep(60)", hears, SHORT)
    assert (not_read.solution.cause, not_read.unread) == ("wall", (2, 0))
    deaf = talk(jails, "print(1, flush=True)\ninput()", "import time; time.sleep(60)", SHORT)
    assert (deaf.interactor.cause, deaf.unread, deaf.solution.exit_code) == ("wall", (0, 2), None)


def test_time_in_which_the_interactor_computes_is_not_the_solutions(jails: tuple[Jail, Jail]) -> None:
    computes = "import time\ninput()\nwhile time.process_time() < 1.5: pass\nprint(1, flush=True)\nraise SystemExit(42)"
    run = talk(jails, "print(1, flush=True)\ninput()", computes, SHORT, judge=Limits(cpu_s=4.0, wall_s=20.0))
    assert (run.solution.cause, run.solution.exit_code, run.interactor.exit_code) == ("exited", 0, 42)


@pytest.mark.parametrize(
    ("solution", "cause"),
    [
        ("while True: pass", "cpu"),
        ("while True: print('x' * 1000)", "output"),
        ("import sys\nwhile True: print('x' * 1000, file=sys.stderr)", "output"),
        ("x = bytearray(400 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1", "memory"),
    ],
)
def test_limits_of_the_solution(jails: tuple[Jail, Jail], solution: str, cause: str) -> None:
    if cause == "memory" and not jails[0].counts_memory:
        pytest.skip("needs a memory cgroup")
    run = talk(jails, solution, HEARS + "raise SystemExit(43)")
    assert (run.solution.cause, run.decided) == (cause, False)


def test_an_interactor_that_never_reads_stops_a_flood_by_its_pipe(jails: tuple[Jail, Jail]) -> None:
    run = talk(jails, "while True: print('x' * 1000)", "import time; time.sleep(60)", SHORT)
    assert run.interactor.cause == "wall"
    assert run.unread[1] < 200_000


@pytest.mark.parametrize(
    ("interactor", "cause"),
    [
        ("while True: pass", "cpu"),
        ("while True: print('x' * 1000)", "output"),
        ("import sys\nwhile True: print('x' * 1000, file=sys.stderr)", "output"),
        ("x = bytearray(400 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1", "memory"),
    ],
)
def test_limits_of_the_interactor(jails: tuple[Jail, Jail], interactor: str, cause: str) -> None:
    if cause == "memory" and not jails[1].counts_memory:
        pytest.skip("needs a memory cgroup")
    assert talk(jails, HEARS, interactor).interactor.cause == cause
    assert talk(jails, "pass", interactor).interactor.cause == cause


def test_nothing_is_left_of_either_side(jails: tuple[Jail, Jail]) -> None:
    for jail in jails:
        jail.start() if not jail.running else jail.close()
    before = _descriptors()
    for solution, interactor in [
        (ASKS, DOUBLES),
        ("while True: pass", HEARS),
        (HEARS, "while True: pass"),
        ("open('left', 'w').write('x')\nraise SystemExit(1)", HEARS),
        ("print(1, flush=True)\ninput()", "open('left', 'w').write('x')\nraise SystemExit(43)"),
    ]:
        talk(jails, solution, interactor)
    for jail in jails:
        jail.close()
        assert _running_in(jail) == 0
        found = jail.open(b"import os; print(os.listdir())", LIMITS, None)
        assert found.ok
        assert jail.run().stdout == b"[]\n"
        jail.close()
    assert _descriptors() == before


class Impatient:
    """A watch over an engine that no longer wants the sample."""

    def __init__(self) -> None:
        self._fd, self._end = os.pipe()
        os.close(self._end)

    def fileno(self) -> int:
        return self._fd

    def cancelled(self) -> bool:
        return True

    def close(self) -> None:
        os.close(self._fd)


def test_a_run_that_is_called_off_ends_both(jails: tuple[Jail, Jail]) -> None:
    assert talk(jails, ASKS, DOUBLES).interactor.exit_code == 42
    before = _descriptors()
    watch = Impatient()
    jails[0].watch = watch
    try:
        with pytest.raises(Cancelled):
            talk(jails, "while True: pass", "while True: pass")
    finally:
        jails[0].watch = None
        watch.close()
    assert [_running_in(jail) for jail in jails] == [0, 0]
    assert not any(jail.opened for jail in jails)
    assert _descriptors() <= before
    assert talk(jails, ASKS, DOUBLES).interactor.exit_code == 42


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _running_in(jail: Jail) -> int:
    """Return how many processes a jail has beside its agent and its zygote."""
    with open(f"/proc/{jail.agent_pid}/task/{jail.agent_pid}/children", encoding="ascii") as file:
        return len(file.read().split()) - 1
