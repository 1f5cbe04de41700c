"""Signals of its own break off no call of a program that the kernel would not have broken off."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from tests.sandbox.stage import public_interpreter

from scalebox.core.limits import Limits
from scalebox.sandbox import conformance, tiers
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.outcome import Outcome

LIMITS = Limits(cpu_s=30.0, wall_s=120.0, memory_mb=400, processes=20)


@pytest.fixture(scope="module", params=["namespace", "process"])
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    interpreter = public_interpreter() if request.param == "process" else ""
    jail = Jail(tiers.choose(request.param), conformance.config(interpreter))
    jail.start()
    yield jail
    jail.stop()


def run(jail: Jail, source: str, limits: Limits = LIMITS) -> Outcome:
    build = jail.open(source.encode(), limits, None)
    assert build.ok, build.message
    return jail.run(stdin=b"")


def test_the_end_of_a_child_breaks_off_no_fork(jail: Jail) -> None:
    """The handler is that of dash: it does not ask for calls to be restarted."""
    outcome = run(
        jail,
        """
import os, signal
ended = []
signal.signal(signal.SIGCHLD, lambda *_: ended.append(1))
for _ in range(300):
    if os.fork() == 0:
        os._exit(0)
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0: break
        except ChildProcessError:
            break
print("done")
""",
    )
    assert outcome.stdout == b"done\n", outcome.stderr


def test_a_timer_breaks_off_no_fork(jail: Jail) -> None:
    outcome = run(
        jail,
        """
import os, signal
ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
made = 0
while len(ticks) < 60 or made < 60:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    made += 1
print("done")
""",
    )
    assert outcome.stdout == b"done\n", outcome.stderr


@pytest.mark.parametrize("shell", ["/bin/dash", "/bin/bash"])
def test_pipes_of_a_shell_never_fail(jail: Jail, shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    script = "i=0; while [ $i -lt 60 ]; do /bin/true | /bin/true | /bin/true || exit 9; i=$((i+1)); done; echo done"
    outcome = run(jail, f"import os\nos.execv({shell!r}, [{shell!r}, '-c', {script!r}])")
    assert (outcome.stdout, outcome.stderr) == (b"done\n", b"")


# In the other tier pids are the machine's, so that the supervisor is asked: see docs/concepts/isolation.md.
@pytest.mark.parametrize("jail", ["namespace"], indirect=True)
@pytest.mark.parametrize("processes", [0, 20])
def test_a_timer_breaks_off_no_signal_to_itself(jail: Jail, processes: int) -> None:
    outcome = run(
        jail,
        """
import os, signal
ticks, broken = [], 0
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
made = 0
while len(ticks) < 300:
    made += 1
    try:
        for target in (os.getpid(), -os.getpgid(0)): os.kill(target, 0)
        os.close(os.pidfd_open(os.getpid()))
    except InterruptedError: broken += 1
print(broken)
""",
        Limits(cpu_s=30.0, wall_s=120.0, memory_mb=400, processes=processes),
    )
    assert (outcome.stdout, outcome.denied) == (b"0\n", []), outcome.stderr
