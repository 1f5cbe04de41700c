"""Clients in processes that end, fork and are killed: nothing may be left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

DRIVER = str(Path(__file__).with_name("driver.py"))


class Driven:
    """A driver process, read line by line."""

    def __init__(self, name: str, **environment: str) -> None:
        self.workers: list[int] = []
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore::DeprecationWarning", DRIVER, name],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment,
        )  # fmt: skip

    def read(self) -> str:
        """Return the next line that is not about workers; "" at the end."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.startswith("worker "):
                return line.strip()
            self.workers.append(int(line.split()[1]))
        return ""

    def rest(self) -> list[str]:
        """Return what it says until its end, which has to be a good one."""
        lines = list(iter(self.read, ""))
        assert self.process.stderr is not None
        assert self.process.stderr.read() == ""
        assert self.process.wait(60) == 0
        return lines

    def kill(self, number: int) -> None:
        self.process.send_signal(number)
        self.process.wait(60)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


Drive = Callable[..., Driven]


@pytest.fixture
def drive(request: pytest.FixtureRequest) -> Drive:
    def start(name: str, **environment: str) -> Driven:
        driven = Driven(name, **environment)
        request.addfinalizer(driven.close)
        return driven

    return start


def ends(pid: int) -> bool:
    """Return whether a process that is nobody's child here is gone, or goes within a minute."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], 60)[0])
    finally:
        os.close(fd)


def test_a_client_that_is_left_open_ends_with_its_process(drive: Drive) -> None:
    driven = drive("leave_open")
    assert driven.rest() == ["passed"]
    assert driven.workers
    assert all(map(ends, driven.workers))


def test_a_client_that_is_dropped_ends_its_engine(drive: Drive) -> None:
    driven = drive("drop")
    assert driven.rest() == ["passed", "engine ended"]
    assert all(map(ends, driven.workers))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_a_process_that_is_killed_leaves_no_worker(drive: Drive, tmp_path: Path, number: int) -> None:
    os.mkfifo(tmp_path / "gate")
    driven = drive("wait_for_death", GATE=str(tmp_path / "gate"))
    assert driven.read() == "passed"
    assert driven.read() == "waiting"
    driven.kill(number)
    driven.read()
    assert driven.workers
    assert all(map(ends, driven.workers))


def test_a_client_works_on_both_sides_of_a_fork(drive: Drive) -> None:
    driven = drive("fork")
    assert driven.rest() == ["passed", "child passed", "exit 0", "passed"]
    assert len(driven.workers) >= 2
    assert all(map(ends, driven.workers))


def test_a_forked_child_does_not_keep_workers_alive(drive: Drive) -> None:
    driven = drive("fork_and_die")
    assert driven.read() == "passed"
    assert driven.read() == "waiting"
    children = Path(f"/proc/{driven.process.pid}/task/{driven.process.pid}/children").read_text().split()
    driven.kill(signal.SIGKILL)
    assert all(map(ends, driven.workers))
    for child in set(map(int, children)) - set(driven.workers):
        os.kill(child, signal.SIGKILL)


def test_clients_work_in_a_daemonic_process(drive: Drive) -> None:
    driven = drive("daemonic")
    assert driven.rest() == ["passed", "passed"]
    assert all(map(ends, driven.workers))


def test_the_synchronous_client_works_inside_a_loop(drive: Drive) -> None:
    assert drive("in_a_loop").rest() == ["passed", "passed"]


def test_a_fetch_can_be_interrupted(drive: Drive, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    os.mkfifo(f"{gate}.2")
    driven = drive("interrupted", GATE=str(gate))
    assert gate.read_text() == "here"
    assert driven.read() == "fetches"
    driven.process.send_signal(signal.SIGINT)
    assert driven.rest() == ["interrupted PENDING"]
    assert all(map(ends, driven.workers))
