"""What a run may take on a machine that others keep busy, and whether its end can be told from theirs.

CPU time is what a program is judged by, for load moves it far less than the clock, which is a backstop. The first run
of a case keeps its limits, and where the machine was busy its end may be in doubt. A run that is `alone` labels: it has
so much more time by the clock as it waited for a CPU, and so much more CPU time as the CPU was slower than it can be,
both up to a bound.
"""

from __future__ import annotations

import math

import msgspec

from scalebox.core.limits import Limits
from scalebox.sandbox.linux.pressure import BUSY_STOLEN, Load, Meter
from scalebox.sandbox.outcome import Cause, Outcome
from scalebox.sandbox.usage import STARVED
from scalebox.sandbox.yardstick import Yardstick

#: A busy machine makes a program need more CPU time (caches and cores are shared), but not more than so many times.
MARGIN = 2.0
#: A run that labels has at most so many times its time by the clock, or so many seconds more if that is longer.
STRETCH, LEAST_STRETCH_S = 4.0, 20.0
#: What of its time by the clock is all of it: it is measured once more when the run has ended.
_ALL = 0.9


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is to be timed. `soft_s`: a failure after so much time by the clock raises suspicion; 0 is never."""

    alone: bool = False
    soft_s: float = 0.0


class Clock:
    """Keeps the limits of time of one run, and says of its end whether the machine may have been to blame."""

    def __init__(self, limits: Limits, pace: Pace) -> None:
        self._limits = limits
        self._pace = pace
        self._load: Load | None = None
        #: Whether a case was given more CPU time than it may have, to see whether it ends.
        self.granted = False
        self._slowness: list[float] = []

    @property
    def soft_s(self) -> float:
        """When a case begins to be slow, in seconds; infinite where nothing hangs on that."""
        soft = self._pace.soft_s or self._limits.cpu_s
        return math.inf if self._pace.alone else soft

    @property
    def least_s(self) -> float:
        """After how many seconds a case can reach a limit at the earliest."""
        return min(self._limits.cpu_s / max(1.0, self._limits.cpus), self._limits.wall_s)

    def slow(self) -> None:
        """Take note that a case has become slow: from now on the load counts for it."""
        METER.mark()
        YARDSTICK.slowness()

    def check(self, cpu: float, waited: float, age: float) -> tuple[Cause | None, float]:
        """Return which limit a case that has had this has passed, or for how long it cannot pass any."""
        limits = self._limits
        cpu_s, wall_s = self.cpu_s(), self.wall_s(cpu, waited, age)
        if not self._pace.alone and cpu_s < cpu <= MARGIN * cpu_s and self._delayed(waited, age):
            cpu_s *= MARGIN
            self.granted = True
        if cpu > cpu_s:
            return "cpu", 0.0
        if age > wall_s:
            return "wall", 0.0
        return None, max(0.01, min((cpu_s - cpu) / max(1.0, limits.cpus), wall_s - age))

    def cpu_s(self) -> float:
        """Return how much CPU time a case may take; more than its limit in a run that labels, on a CPU that is slow."""
        if not self._pace.alone:
            return self._limits.cpu_s
        self._slowness.append(YARDSTICK.slowness())
        if not self._busy():
            return self._limits.cpu_s
        return self._limits.cpu_s * min(MARGIN, sum(self._slowness) / len(self._slowness))

    def wall_s(self, cpu: float, waited: float, age: float) -> float:
        """Return how long such a case may take by the clock."""
        wall_s = self._limits.wall_s
        if not self._pace.alone:
            return wall_s
        return min(wall_s + self.others(cpu, waited, age), max(STRETCH * wall_s, wall_s + LEAST_STRETCH_S))

    def others(self, cpu: float, waited: float, age: float, supervision: float = 0.0) -> float:
        """Return what a case has lost to others: not what it waited for its own threads, or for our answers."""
        return max(0.0, min(waited, age - (cpu + supervision) / max(1.0, self._limits.cpus)))

    def doubt(self, outcome: Outcome) -> str:
        """Return why the end of a run may be the machine's fault, "" where it is not."""
        waited, wall = outcome.waited_s, outcome.wall_s
        starved = waited > STARVED * wall
        if self._pace.alone and not (outcome.cause == "wall" and starved and self._had_less(wall - waited)):
            return ""
        if outcome.cause == "wall":
            # What waited little has slept, unless the kernel keeps no count of that, or the host took the time.
            doubtful = starved or (self._busy() and self._is_hidden(waited))
        elif outcome.cause == "cpu":
            # One that was stopped had it all: no load makes a program need so much more.
            near = outcome.cpu_s <= MARGIN * self._limits.cpu_s
            doubtful = near and (self.granted or starved or self._busy())
        else:
            idle = wall - outcome.cpu_s / max(1.0, self._limits.cpus)
            late = outcome.cause == "exited" and wall > self.soft_s and idle > STARVED * wall
            # One that has slept gets no second draw for that.
            doubtful = late and self._busy() and (starved or self._is_hidden(waited))
        if not doubtful:
            return ""
        return f"it waited {waited:.1f} of {wall:.1f} s for a CPU" if starved else self.busy_text()

    def _had_less(self, own_s: float) -> bool:
        """Return whether a case was cut off at the longest time, and not because it had all of its own."""
        return own_s < _ALL * self._limits.wall_s

    def busy_text(self) -> str:
        """Return how busy the machine was found to be."""
        return f"the machine was busy ({self._load or METER.load()})"

    def _is_hidden(self, waited: float) -> bool:
        """Return whether a case may have waited without our knowing: the kernel keeps no count, or the host took it."""
        return not waited or self._stolen()

    def _stolen(self) -> bool:
        return self._load is not None and self._load.stolen > BUSY_STOLEN

    def _delayed(self, waited: float, age: float) -> bool:
        return self._busy() or waited > STARVED * age

    def _busy(self) -> bool:
        if self._load is None or not self._load.busy:
            self._load = METER.load()
        return self._load.busy


#: Of this process: its jails run one after another, on its own core.
METER, YARDSTICK = Meter(), Yardstick()
