"""How busy the machine is with others: what the kernel says of waiting tasks, of run queues and of stolen time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

#: Shares of the time from which on a machine counts as busy: with a task waiting for a CPU, and taken by the host.
BUSY_PRESSURE, BUSY_STOLEN = 0.25, 0.05
#: Runnable tasks per CPU from which on it does, where the kernel keeps no pressure.
BUSY_QUEUE = 1.5
#: A window shorter than this says little, one longer than this little of now.
_SHORTEST_S, _LONGEST_S = 0.2, 60.0

_now = time.monotonic


class Load(NamedTuple):
    """Shares from 0 to 1; `pressure` is None where the kernel keeps none, `queue` is runnable tasks per CPU."""

    pressure: float | None
    stolen: float
    queue: float

    @property
    def busy(self) -> bool:
        """Whether programs may have been slowed by others."""
        crowded = self.queue > BUSY_QUEUE if self.pressure is None else self.pressure > BUSY_PRESSURE
        return crowded or self.stolen > BUSY_STOLEN

    def __str__(self) -> str:
        crowd = f"{self.queue:.1f} tasks per CPU" if self.pressure is None else f"CPU pressure {self.pressure:.0%}"
        return f"{crowd}, {self.stolen:.0%} stolen" if self.stolen >= BUSY_STOLEN else crowd


class _Counters(NamedTuple):
    at: float
    #: By file: seconds in which some task waited.
    waiting: dict[str, float]
    stolen: float


class Meter:
    """Reads the load since it was last read, or over the last ten seconds where that was too long ago.

    `proc` and `cgroup` are for tests: /proc, and this process's own control group, whose quota may be what slows.
    """

    def __init__(self, proc: Path = Path("/proc"), cgroup: Path | None = None) -> None:
        self._proc = proc
        own = _own_cgroup(proc) if cgroup is None else cgroup
        self._files = [proc / "pressure" / "cpu", *([own / "cpu.pressure"] if own is not None else [])]
        self._last: _Counters | None = None

    def mark(self) -> None:
        """Begin a window."""
        self._last = self._counters({file: _pressure(file) for file in self._files})

    def load(self) -> Load:
        """Return the load, and begin another window."""
        read = {file: _pressure(file) for file in self._files}
        last, now = self._last, self._counters(read)
        self._last = now
        seconds = now.at - last.at if last is not None else 0.0
        shares = [pressure.recent for pressure in read.values() if pressure is not None]
        stolen = 0.0
        if last is not None and _SHORTEST_S <= seconds <= _LONGEST_S:
            shares = [(now.waiting[file] - last.waiting[file]) / seconds for file in now.waiting.keys() & last.waiting]
            stolen = max(0.0, now.stolen - last.stolen) / seconds / _cpus()
        return Load(min(1.0, max(shares)) if shares else None, stolen, self._queue())

    def _counters(self, read: dict[Path, _Pressure | None]) -> _Counters:
        waiting = {str(file): pressure.total_s for file, pressure in read.items() if pressure is not None}
        return _Counters(_now(), waiting, _stolen(self._proc / "stat"))

    def _queue(self) -> float:
        try:
            running = (self._proc / "loadavg").read_text().split()[3].partition("/")[0]
            return max(0, int(running) - 1) / _cpus()  # one of them is who reads this
        except (OSError, ValueError, IndexError):
            return 0.0


class _Pressure(NamedTuple):
    #: The share of the last ten seconds, and all seconds so far.
    recent: float
    total_s: float


def _pressure(file: Path) -> _Pressure | None:
    try:
        some = next(line for line in file.read_text().splitlines() if line.startswith("some "))
        fields = dict(word.split("=") for word in some.split()[1:])
        return _Pressure(float(fields["avg10"]) / 100, int(fields["total"]) / 1e6)
    except (OSError, StopIteration, ValueError, KeyError):
        return None


def _stolen(file: Path) -> float:
    """Return the seconds, of all CPUs, that the host of a virtual machine gave to others."""
    try:
        with file.open() as lines:
            return int(lines.readline().split()[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def _own_cgroup(proc: Path) -> Path | None:
    try:
        line = next(one for one in (proc / "self/cgroup").read_text().splitlines() if one.startswith("0::"))
    except (OSError, StopIteration):
        return None
    return Path("/sys/fs/cgroup" + line.removeprefix("0::").rstrip("/"))


def _cpus() -> int:
    return os.cpu_count() or 1
