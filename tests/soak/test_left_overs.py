"""After any number of samples, and whoever is killed, nothing is left, and each sample has one result that is right."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.hostile.outside import Outside, comes_true, differences, groups, left_files, look, ours
from tests.soak.mix import Mixed, mix

from scalebox import ScaleBoxClient, Settings
from scalebox.sandbox.linux.family import children
from scalebox.sandbox.probes.host import descendants

ROOT = Path(__file__).parents[2]


@contextmanager
def nothing_left() -> Iterator[set[int]]:
    """Check that the block leaves all as it was; the block adds the pids that it sees working for it."""
    before, processes, seen = look(), set(ours()), set[int]()
    yield seen
    seen -= processes  # engines of other tests, which go on
    assert comes_true(lambda: set(ours()) <= processes), f"processes are left: {set(ours()) - processes}"
    assert comes_true(lambda: not groups(seen)), f"control groups are left: {groups(seen)}"
    assert comes_true(lambda: not left_files(seen)), f"files are left: {left_files(seen)}"
    assert comes_true(lambda: _here(look()) == _here(before)), differences(_here(before), _here(look()))


def _here(seen: Outside) -> Outside:
    """Leave out what other processes of the machine make and remove meanwhile; ours was looked for by pid."""
    return seen._replace(groups=(), files=frozenset())


def resident_mib() -> float:
    """Return the memory of this process and all below it."""
    total = 0
    for pid in (os.getpid(), *ours()):
        with suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return total * os.sysconf("SC_PAGESIZE") / (1 << 20)


def verify_all(mixed: Mixed, seen: set[int], disturb: Callable[[int], None] = lambda _: None, unlucky: int = 0) -> None:
    """Verify through a client, and check every result.

    Up to `unlucky` samples may be `internal_error`: they were hit twice, and then nothing may be said of them.
    """
    verdicts: dict[str, str] = {}
    counts: Counter[str] = Counter()
    with ScaleBoxClient(settings=Settings(workers=2)) as client:
        batch = client.submit_batch(mixed.records)
        for number, result in enumerate(client.stream(batch)):
            verdicts[result.id] = result.verdict.value
            counts[result.id] += 1
            if number % 50 == 0:
                seen.update(children(os.getpid()))
            disturb(number)
    assert set(counts) == set(mixed.right)
    assert set(counts.values()) == {1}
    wrong = mixed.wrong(verdicts)
    assert set(wrong.values()) <= {"internal_error"}, wrong
    assert len(wrong) <= unlucky, wrong


# -- many samples --------------------------------------------------------------------------------------------------


def test_a_few_dozen_samples() -> None:
    with nothing_left() as seen:
        verify_all(mix(60, seed=1), seen)


# -- kills of workers and agents -----------------------------------------------------------------------------------


class Killer:
    """Kills workers or agents at moments that a seed decides; now and then one whose sample was hit before."""

    def __init__(self, seed: int, kills: int, every: int, *, agents: bool) -> None:
        self._random = random.Random(seed)  # noqa: S311 - when, not a secret
        self._left = kills
        self._every = every
        self._agents = agents
        self._others = set(children(os.getpid()))  # of other tests
        self.killed: list[int] = []

    def __call__(self, number: int) -> None:
        if not self._left or number % self._every != self._every - 1:
            return
        self._left -= 1
        time.sleep(self._random.random() * 0.02)
        workers = [pid for pid in children(os.getpid()) if pid not in self._others]
        found = [pid for worker in workers for pid in children(worker)] if self._agents else workers
        if found:
            victim = self._random.choice(sorted(found))
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
                self.killed.append(victim)


@pytest.mark.parametrize("agents", [False, True], ids=["workers", "agents"])
def test_a_few_are_killed(*, agents: bool) -> None:
    killer = Killer(seed=3, kills=2, every=40, agents=agents)
    with nothing_left() as seen:
        verify_all(mix(150, seed=4 + agents), seen, killer)
    assert killer.killed


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("agents", [False, True], ids=["workers", "agents"])
def test_many_are_killed(*, agents: bool) -> None:
    killer = Killer(seed=5, kills=20, every=40, agents=agents)
    with nothing_left() as seen:
        verify_all(mix(1000, seed=6 + agents), seen, killer, unlucky=3)
    assert len(killer.killed) > 15


# -- ends of the client's process ----------------------------------------------------------------------------------


class Trainer:
    """A process that verifies, and all that works for it."""

    def __init__(self, ending: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.driver", ending],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"running\n"
        self.pids = {self.process.pid, *descendants(self.process.pid)}

    def family(self) -> set[int]:
        self.pids |= set(descendants(self.process.pid))
        return self.pids

    def is_all_gone(self, within_s: float = 20.0) -> None:
        """Check that the process and all that worked for it are gone, with what they had made."""
        self.process.communicate(timeout=60)
        alive = {pid for pid in self.pids if _alive(pid)}
        assert comes_true(lambda: not any(map(_alive, self.pids)), within_s), f"alive: {alive}"
        assert comes_true(lambda: not groups(self.pids)), groups(self.pids)
        assert comes_true(lambda: not left_files(self.pids)), left_files(self.pids)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


@pytest.mark.parametrize("ending", ["exit", "_exit", "exception"])
def test_the_client_ends_without_closing(ending: str) -> None:
    with nothing_left():
        trainer = Trainer(ending)
        trainer.is_all_gone()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_the_client_is_killed(number: int) -> None:
    with nothing_left():
        trainer = Trainer("never")
        trainer.family()
        trainer.process.send_signal(number)
        trainer.is_all_gone()


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_the_client_is_killed_at_many_moments() -> None:
    moments = random.Random(7)  # noqa: S311 - when, not a secret
    for _ in range(25):
        with nothing_left():
            trainer = Trainer("never")
            timer = threading.Event()
            timer.wait(moments.random() * 0.5)
            trainer.family()
            trainer.process.kill()
            trainer.is_all_gone()
