"""CPU time of what runs in a jail, and the time it waited for a CPU, read from outside."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterable, Iterator

from scalebox.sandbox.linux import family

#: Of a process's flags: it is in the middle of its exit (PF_EXITING).
_EXITING = 0x4
_TICK = os.sysconf("SC_CLK_TCK")
#: What the number of a process's clock ends with (CPUCLOCK_SCHED).
_PROCESS_CLOCK = 2
#: What waited this share of its time for a CPU was slowed by others, not by itself.
STARVED = 0.1
#: A build that could go on, and has had less of its time than this, was not given more.
_MUCH = 0.25


def seconds_of(agent_pid: int) -> tuple[float, float, float]:
    """Return what the running case of a jail has had: CPU time, time that it waited for a CPU, and age, in seconds.

    Cases are the grandchildren of the agent; what they waited for counts with them. The compile process between
    them is not counted, whose own figures hold those of earlier cases. Resolution is a clock tick (10 ms); the
    second figure is 0 where the kernel keeps none. Walks /proc, so is for when a limit is near.
    """
    table = _Table()
    return table.sum(case for program in table.below(agent_pid) for case in table.below(program))


class Cases:
    """The meter of a jail whose processes can be seen: what its running case has had, as `seconds_of` says."""

    def __init__(self, agent_pid: int) -> None:
        self._agent_pid = agent_pid

    def begin(self) -> None:
        """Take note that another case runs now."""

    def seconds(self) -> tuple[float, float, float]:
        """Return CPU time, time that it waited for a CPU, and age, in seconds."""
        return seconds_of(self._agent_pid)


class Whole(Cases):
    """The meter of a jail with a kernel of its own, whose processes are not those that can be seen.

    What all of it has had since the case was seen to run, the work of that kernel included, counts for the case.
    """

    def __init__(self, agent_pid: int) -> None:
        super().__init__(agent_pid)
        self._base = (0.0, 0.0)
        self._begun = time.monotonic()

    def begin(self) -> None:
        self._begun = time.monotonic()
        self._base = self._so_far()

    def seconds(self) -> tuple[float, float, float]:
        cpu, waited = (now - then for now, then in zip(self._so_far(), self._base, strict=True))
        return max(0.0, cpu), max(0.0, waited), time.monotonic() - self._begun

    def _so_far(self) -> tuple[float, float]:
        try:
            return _Table().sum([self._agent_pid])[:2]
        except KeyError:  # it is gone
            return self._base


def machine_oom_kills() -> int:
    """Return how many processes of the machine the kernel has killed for want of memory; 0 where it does not tell."""
    try:
        with open("/proc/vmstat", "rb") as file:
            return next((int(line[9:]) for line in file if line.startswith(b"oom_kill ")), 0)
    except OSError:
        return 0


def build_cpu_s(agent_pid: int, ordered: float) -> float:
    """Return the CPU time in seconds of the compile processes that are no older than that time (time.monotonic).

    It is of the longest one, by its own clock, which is finer than ticks and than the whole seconds of its limit.
    """
    table = _Table()
    return max(map(_own_clock, _builders(table, agent_pid, time.monotonic() - ordered)), default=0.0)


def _builders(table: _Table, agent_pid: int, seconds: float) -> list[int]:
    return [program for program in table.below(agent_pid) if table.age(program) <= seconds + 2 / _TICK]


def _own_clock(pid: int) -> float:
    """Return the CPU time of a process in seconds, without its children; 0 where it is gone."""
    try:
        return time.clock_gettime(~pid << 3 | _PROCESS_CLOCK)
    except OSError:
        return 0.0


def starves(agent_pid: int, ordered: float) -> bool:
    """Return whether a build ordered at that time (time.monotonic) is kept from its end by others on the machine.

    Else it waits for something that does not come, or has had the CPU. Looks at the compile processes that are no
    older, and at all below them; what those have waited that are gone is not known.
    """
    table = _Table()
    seconds = time.monotonic() - ordered
    programs = _builders(table, agent_pid, seconds)
    cpu, waited, age = table.sum(programs)
    waited = min(waited, age - cpu) + seconds - age  # it also waits for its processes to be made
    wants = cpu < _MUCH * seconds and not all(map(_sleeps, table.all_below(programs)))
    return waited > STARVED * seconds or wants


class _Table:
    """All processes as they are now: children, CPU time and time of start."""

    def __init__(self) -> None:
        self._children: dict[int, list[int]] = {}
        self._figures: dict[int, tuple[float, float]] = {}
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            fields = _fields(f"/proc/{pid}/stat")
            if fields:
                self._children.setdefault(int(fields[1]), []).append(pid)
                self._figures[pid] = sum(int(field) for field in fields[11:15]) / _TICK, int(fields[19]) / _TICK
        self._now = time.clock_gettime(time.CLOCK_BOOTTIME)

    def below(self, pid: int) -> list[int]:
        return self._children.get(pid, [])

    def age(self, pid: int) -> float:
        return self._now - self._figures[pid][1]

    def sum(self, pids: Iterable[int]) -> tuple[float, float, float]:
        """Return CPU time, time waited and the greatest age of these and all below them."""
        cpu = waited = age = 0.0
        for pid in self.all_below(pids):
            cpu += self._figures[pid][0]
            waited += _waited(pid)
            age = max(age, self.age(pid))
        return cpu, waited, age

    def all_below(self, pids: Iterable[int]) -> Iterator[int]:
        """Yield these and all below them."""
        queue = list(pids)
        while queue:
            pid = queue.pop()
            yield pid
            queue += self.below(pid)


def _waited(pid: int) -> float:
    """Return the seconds that a process was ready to run and did not get to: of its threads, the one that waited most.

    The first may well sleep while others work for it, as in Java, and the sum of many that sleep is not small.
    """
    return max(map(_thread_waited, glob.glob(f"/proc/{pid}/task/[0-9]*/schedstat")), default=0.0)


def _thread_waited(path: str) -> float:
    try:
        with open(path, "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def is_ending(agent_pid: int) -> bool:
    """Return whether the running case of a jail is on its way out, or gone: it has closed what it had open for good."""
    return all(_is_ending(_fields(f"/proc/{pid}/stat")) for pid in _cases(agent_pid))


def is_asleep(agent_pid: int) -> bool:
    """Return whether no thread of a jail's running case would compute now if it could: each waits for something."""
    return all(map(_sleeps, _cases(agent_pid)))


def _sleeps(pid: int) -> bool:
    threads = map(_fields, glob.glob(f"/proc/{pid}/task/[0-9]*/stat"))
    return all(_is_ending(fields) or fields[0] == b"S" for fields in threads)


def _cases(agent_pid: int) -> list[int]:
    return [case for program in family.children(agent_pid) for case in family.children(program)]


def _fields(path: str) -> list[bytes]:
    """Return what is in a file of statistics behind the name of the program; nothing where the file is gone."""
    try:
        with open(path, "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _is_ending(fields: list[bytes]) -> bool:
    return not fields or fields[0] in b"ZX" or bool(int(fields[6]) & _EXITING)
