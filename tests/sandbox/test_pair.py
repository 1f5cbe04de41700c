"""Two processes of one jail: a program, and tests that it must not reach."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import msgspec
import pytest
from tests.sandbox.stage import public_interpreter

from scalebox.core.limits import Limits
from scalebox.sandbox import conformance, tiers
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.pair import PairOutcome

LIMITS = Limits(cpu_s=1.0, wall_s=10.0, memory_mb=200)
QUIET = "import os; os.read(3, 1)"


@pytest.fixture(scope="module", params=["namespace", "process"])
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    interpreter = public_interpreter() if request.param == "process" else ""
    config = msgspec.structs.replace(conformance.config(interpreter), name="pair")
    made = Jail(tiers.choose(request.param), config)
    yield made
    made.stop()


def pair(jail: Jail, solution: str, tests: str, limits: Limits = LIMITS, copies: int = 1) -> PairOutcome:
    build = jail.open(solution.encode(), limits, None, {})
    assert build.ok
    assert build.tests is not None
    assert build.tests.ok
    order = {"seed": 0, "files": {}, "role": "run"}
    return jail.run_pair(order, {**order, "secret": True, "script": tests}, 1 << 20, copies)


def test_the_two_talk_and_the_frames_come_out(jail: Jail) -> None:
    outcome = pair(
        jail,
        "import os; os.write(3, b'answer to ' + os.read(3, 100)); print('said', flush=True)",
        "import os; os.write(3, b'question'); os.write(5, os.read(3, 100)); print('tested', flush=True)",
    )
    assert outcome.cause == "exited"
    assert outcome.frames == b"answer to question"
    assert (outcome.solution.stdout, outcome.tests.stdout) == (b"said\n", b"tested\n")
    assert (outcome.solution.exit_code, outcome.tests.exit_code) == (0, 0)
    assert jail.opened


def test_a_solution_that_goes_on_after_the_tests_is_ended(jail: Jail) -> None:
    outcome = pair(jail, "import time; time.sleep(60)", "import os; os.write(5, b'done')")
    assert (outcome.cause, outcome.frames) == ("exited", b"done")
    assert not jail.opened


@pytest.mark.parametrize("who", ["solution", "tests"])
@pytest.mark.parametrize(
    ("what", "cause"),
    [
        ("while True: pass", "cpu"),
        ("import time; time.sleep(60)", "wall"),
        ("data = bytearray(400 << 20); data[::4096] = b'x' * len(data[::4096]); import time; time.sleep(60)", "memory"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "output"),
    ],
)
def test_limits_hold_for_both(jail: Jail, who: str, what: str, cause: str) -> None:
    # Touching 400 MB may well take some tenths of a second.
    limits = Limits(cpu_s=0.3 if cause == "cpu" else 5.0, wall_s=1.5 if cause == "wall" else 30.0, memory_mb=200)
    solution, tests = (what, QUIET) if who == "solution" else (QUIET, what)
    outcome = pair(jail, solution, tests, limits)
    assert outcome.cause == cause


def test_a_limit_is_one_case_s(jail: Jail) -> None:
    burn = """
import os, struct, time
for number in range(1, 6):
    end = time.process_time() + 0.25
    while time.process_time() < end: pass
    os.pwrite(4, struct.pack('<Q', number), 0)
"""
    outcome = pair(jail, QUIET, burn, Limits(cpu_s=0.5, wall_s=20.0))
    assert (outcome.cause, outcome.board[0]) == ("exited", 5)
    outcome = pair(jail, QUIET, burn + "while True: pass\n", Limits(cpu_s=0.5, wall_s=20.0))
    assert (outcome.cause, outcome.board[0]) == ("cpu", 5)


def test_the_end_of_either_is_seen_by_the_other(jail: Jail) -> None:
    assert pair(jail, "import os; os._exit(3)", "import os; os.write(5, repr(os.read(3, 1)).encode())").frames == b"b''"
    assert pair(jail, "import os; os.read(3, 1)", "import os; os._exit(5)").tests.exit_code == 5


_REACH = """
import ctypes, errno, glob, json, os, signal
libc = ctypes.CDLL(None, use_errno=True)
target, tester = json.loads(os.read(3, 1000))
seen = {}
def attempt(name, call):
    try:
        seen[name] = repr(call())[:100]
    except OSError as error:
        seen[name] = "refused"
def syscall(*arguments):
    if libc.syscall(*arguments) < 0: raise OSError(ctypes.get_errno(), "")
    return 0
attempt("kill", lambda: os.kill(tester, 0))
attempt("kill everything", lambda: os.kill(-1, 0))
attempt("memory", lambda: open(f"/proc/{tester}/mem", "r+b"))
attempt("maps", lambda: open(f"/proc/{tester}/maps").read(1))
attempt("environment", lambda: open(f"/proc/{tester}/environ").read(1))
attempt("descriptors", lambda: os.listdir(f"/proc/{tester}/fd"))
attempt("descriptor", lambda: os.open(f"/proc/{tester}/fd/5", os.O_WRONLY))
attempt("working directory", lambda: os.stat(f"/proc/{tester}/cwd"))
attempt("ptrace", lambda: syscall(101, 16, tester, 0, 0))
attempt("process_vm_readv", lambda: syscall(310, tester, 0, 0, 0, 0, 0))
attempt("pidfd_open", lambda: syscall(434, tester, 0))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, tester, 19))
attempt("limits", lambda: syscall(302, tester, 0, 0, 0))
attempt("read test files", lambda: open(target + "/test_a.py").read())
attempt("list test files", lambda: os.listdir(target))
attempt("list what lies around", lambda: os.listdir(os.path.dirname(target)))
attempt("write test files", lambda: open(target + "/test_a.py", "w"))
attempt("add test files", lambda: open(target + "/test_b.py", "w"))
attempt("remove test files", lambda: os.unlink(target + "/test_a.py"))
attempt("move test files", lambda: os.rename(target, target + "2"))
os.write(3, json.dumps(seen).encode())
"""
_TARGET = """
import json, os
folder = os.path.join(os.path.dirname(os.getcwd()), "tests")
os.mkdir(folder)
open(folder + "/test_a.py", "w").write("assert 1")
os.write(3, json.dumps([folder, os.getpid()]).encode())
os.write(5, os.read(3, 65536))
assert os.listdir(folder) == ["test_a.py"]
"""


@pytest.mark.parametrize("processes", [0, 4])
def test_the_program_cannot_reach_the_tests(jail: Jail, processes: int) -> None:
    limits = Limits(cpu_s=2.0, wall_s=20.0, memory_mb=200, processes=processes)
    outcome = pair(jail, _REACH, _TARGET, limits)
    assert outcome.tests.exit_code == 0, outcome.tests.stderr
    seen = json.loads(outcome.frames)
    assert len(seen) == 20
    assert {name: answer for name, answer in seen.items() if answer != "refused"} == {}


def test_nothing_is_left(jail: Jail) -> None:
    pair(jail, QUIET, "")
    jail.close()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        pair(jail, "open('left', 'w')", "open('left too', 'w')")
        pair(jail, "import os; os._exit(1)", QUIET)
    jail.close()
    assert len(os.listdir("/proc/self/fd")) <= before
    assert pair(jail, QUIET, "import os; os.write(5, repr(os.listdir('.')).encode())").frames == b"[]"


COPY = """
import os
os.write(3, os.read(3, 1) + str(os.path.exists(NAME)).encode())
"""
ASK = """
import os
for line in (3, 6, 7):
    try:
        os.write(line, b"x")
        os.write(5, os.read(line, 10) + b" ")
    except OSError:
        os.write(5, b"- ")
    os.close(line)
"""


@pytest.mark.parametrize(
    ("after", "answers", "broken"),
    [
        ("", b"xFalse xFalse xFalse ", False),
        ("open(NAME, 'w').close()", b"xFalse", True),  # nothing of a copy is there for the next
        ("import os; os._exit(3)", b"xFalse xFalse xFalse ", False),
    ],
)
def test_copies_of_the_solution_come_one_after_another(jail: Jail, after: str, answers: bytes, broken: bool) -> None:
    solution = f"NAME = 'left'\n{COPY}{after}\n"
    outcome = pair(jail, solution, ASK, copies=3)
    assert outcome.cause == "exited"
    assert outcome.frames.startswith(answers)
    assert outcome.broken is broken
    assert outcome.solution.exit_code in (0, 3)


def test_copies_that_nobody_waits_for_are_not_made(jail: Jail) -> None:
    outcome = pair(
        jail, "import os; os.write(1, b'made '); os.read(3, 1)", QUIET.replace("read(3, 1)", "write(3, b'x')"), copies=9
    )
    assert outcome.cause == "exited"
    assert outcome.solution.stdout.count(b"made") < 9
    assert jail.opened
