"""CPU time of the processes below this one, which load by others hardly moves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PARENT, _OWN, _WAITED = 1, slice(11, 13), slice(13, 15)  # of the fields after the name: (u, s)time, c(u, s)time


class _Process(NamedTuple):
    pid: int
    parent: int
    own_s: float
    #: Of the children that it has waited for.
    waited_s: float

    @property
    def cpu_s(self) -> float:
        return self.own_s + self.waited_s


class Shares(NamedTuple):
    """CPU seconds of an engine's process, of its workers, and of all below those: agents, compile processes, cases."""

    engine_s: float
    workers_s: float
    jails_s: float


def descendants_cpu_s() -> float:
    """Return the CPU seconds of all live descendants of this process and of the children they have waited for."""
    return sum(process.cpu_s for process in _below(os.getpid(), _families()))


def shares_of(engine: int) -> Shares:
    """Return what the process `engine`, whose children are workers, and those below it have used so far."""
    families = _families()
    workers = families.get(engine, [])
    own = next((each.own_s for family in families.values() for each in family if each.pid == engine), 0.0)
    jails = sum(worker.waited_s + sum(each.cpu_s for each in _below(worker.pid, families)) for worker in workers)
    return Shares(own, sum(worker.own_s for worker in workers), jails)


def _families() -> dict[int, list[_Process]]:
    """Return all processes by their parent."""
    children: dict[int, list[_Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    return children


def _below(pid: int, families: dict[int, list[_Process]]) -> Iterator[_Process]:
    todo = [pid]
    while todo:
        children = families.get(todo.pop(), [])
        yield from children
        todo += [process.pid for process in children]


def _processes() -> Iterator[_Process]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            own, waited = (sum(map(int, fields[times])) / _TICKS_PER_S for times in (_OWN, _WAITED))
            yield _Process(int(folder.name), int(fields[_PARENT]), own, waited)
