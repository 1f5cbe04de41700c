"""Killing a process with all that descend from it, where no PID namespace does it for us."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Collection

from scalebox.sandbox.linux import owner


def kill(root: int) -> set[int]:
    """Kill and reap our child `root`, if it still is, and kill its descendants; return all that were killed.

    Everything is stopped first, parents before children, so that nobody can fork past us.
    """
    if not is_our_child(root):
        return set()  # reaped before: the number may be another's by now
    stopped: set[int] = set()
    found = {root}
    while found:
        for pid in found:
            _signal(pid, signal.SIGSTOP)
        stopped |= found
        found = {child for pid in stopped for child in children(pid)} - stopped
    for pid in stopped:
        _signal(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(root, 0)
    return stopped


def kill_orphans(since: int, spared: Collection[int]) -> None:
    """Kill and reap our children that began in a jail after `since` (ticks since boot), but for `spared`.

    Their descendants go with them. Children of ours that were never in a jail are left alone.
    """
    while orphans := [pid for pid in children(os.getpid()) if pid not in spared and _was_jailed(pid, since)]:
        for pid in orphans:
            kill(pid)


def is_our_child(pid: int) -> bool:
    """Say whether `pid` is a child of ours that was not reaped."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def children(pid: int) -> list[int]:
    """Return the children of all threads of `pid`; none where it is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def _was_jailed(pid: int, since: int) -> bool:
    began = owner.start_time(pid, zombies=True)
    return began is not None and began >= since and _filters(pid) not in (0, _filters(os.getpid()))


def _filters(pid: int) -> int:
    """Return how many seccomp filters a process has; -1 where the kernel does not tell (before 5.9), or it is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("Seccomp_filters:"):
                return int(line.split()[1])
    return -1


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
