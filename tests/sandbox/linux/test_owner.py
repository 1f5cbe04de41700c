"""Marks: whose a thing is, and whether that process lives."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.sandbox.linux import owner
from scalebox.sandbox.linux.owner import Mark

_PRINT = "from scalebox.sandbox.linux import owner; print(owner.tagged('x'))"
#: A process whose first thread ends while another one goes on until its input ends.
_FIRST_THREAD_ENDS = """
import ctypes, sys, threading
threading.Thread(target=lambda: (print("on", flush=True), sys.stdin.read())).start()
ctypes.CDLL(None).syscall(60 if sys.platform == "linux" and __import__("os").uname().machine == "x86_64" else 93, 0)
"""


def ours() -> Mark:
    mark = owner.mark_of(owner.tagged("x"))
    assert mark is not None
    return mark


def test_a_living_owner_is_not_dead() -> None:
    mark = ours()
    assert (mark.pid, mark.foreign, mark.dead) == (os.getpid(), False, False)


def test_an_owner_that_ended_is_dead() -> None:
    ended = subprocess.run([sys.executable, "-c", _PRINT], capture_output=True, text=True, check=True)
    mark = owner.mark_of(ended.stdout.strip())
    assert mark is not None
    assert mark.dead


def test_an_owner_that_was_not_reaped_is_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", _PRINT], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        mark = owner.mark_of(process.stdout.readline().strip())
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert mark is not None
        assert mark.dead


@given(later=st.integers(-10_000, 10_000).filter(bool))
def test_a_number_that_came_again_is_another_process(later: int) -> None:
    mark = ours()
    assert mark._replace(start=mark.start + later).dead


@given(namespace=st.integers(0, 1 << 40), pid=st.integers(1, 1 << 22), start=st.integers(0, 1 << 40))
def test_of_another_namespace_nobody_here_can_tell(namespace: int, pid: int, start: int) -> None:
    mark = Mark(namespace, pid, start)
    assert mark.foreign
    assert not mark.dead


def test_another_machines_mark_is_foreign_though_its_first_namespaces_have_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two machines may share the folder for scratch space: neither may take the other's for a dead one's."""
    mark = ours()._replace(pid=1, start=1)
    assert mark.dead
    monkeypatch.setattr(owner, "_boot", lambda: "another")
    assert mark.foreign
    assert not mark.dead


@given(st.text(max_size=30) | st.builds("scalebox-n{}-{}-x".format, st.integers(0), st.integers(0)))
def test_other_names_bear_no_mark(name: str) -> None:
    assert owner.mark_of(name) is None


def test_a_process_whose_first_thread_ended_lives() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _FIRST_THREAD_ENDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        settled = threading.Event()
        for _ in range(500):
            with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    break
            settled.wait(0.02)
        else:
            pytest.fail("its first thread did not end")
        assert owner.start_time(process.pid) is not None
        process.stdin.close()
        process.wait(60)
        assert owner.start_time(process.pid) is None


def test_the_mark_of_a_process_is_in_its_command_line_and_nowhere_else() -> None:
    marked = [sys.executable, "-X", owner.argument(), "-c", "print(flush=True); import sys; sys.stdin.read()"]
    named = [sys.executable, "-c", "print(flush=True); import sys; sys.stdin.read()", "-X", owner.argument()]
    for command, expected in ((marked, ours()), (named, None)):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            assert owner.mark_of_process(process.pid) == expected
            process.communicate()
        assert owner.mark_of_process(process.pid) is None
