"""CPU time of the processes below this one, which load by others hardly moves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PARENT, _TIMES = 1, slice(11, 15)  # of the fields after the name: utime, stime, cutime, cstime


class _Process(NamedTuple):
    pid: int
    parent: int
    cpu_s: float


def descendants_cpu_s() -> float:
    """Return the CPU seconds of all live descendants of this process and of the children they have waited for."""
    children: dict[int, list[_Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    total, todo = 0.0, [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        total += sum(process.cpu_s for process in below)
        todo += [process.pid for process in below]
    return total


def _processes() -> Iterator[_Process]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            yield _Process(int(folder.name), int(fields[_PARENT]), sum(map(int, fields[_TIMES])) / _TICKS_PER_S)
