"""A compiler that stays for many builds, in a jail in which nothing else runs: the side outside.

What it makes is what its command makes: wherever it does not do its work, there is no answer, and the command is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scalebox.core.errors import SandboxError
from scalebox.core.limits import Limits
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.outcome import Build

#: Builds after which it is started anew.
_MOST_BUILDS = 500
#: Starts in a row that may fail before none is tried any more.
_MOST_FAILURES = 3
#: CPU seconds for a start, which no program has any part in, and seconds by the clock.
_START_CPU_S, _START_S = 30, 120.0
#: CPU seconds that may come together in its life. Each request has a limit of its own.
_LIFE_S = 1e6


class Resident:
    """One such compiler, started when it is first of use. `jail` is its own: nothing else is ever opened there."""

    def __init__(self, jail: Jail) -> None:
        self._jail = jail
        self._started: tuple[Any, ...] = ()
        self._builds = 0
        self._failures = 0
        self._asked = False

    def build(
        self, start: Sequence[str], env: Mapping[str, str], request: Mapping[str, Any], limits: Limits, made: int
    ) -> Build | None:
        """Build one program, and have the packed files written to `made`; None where it does not do its work.

        `start` is the command of the compiler; `request` is what `jailed_resident.Resident.answer` takes; `limits` are
        those of the build: `build_s` bounds its CPU time on the whole, and `wall_s` the time by the clock.
        """
        if not self._asked:  # most runs that have one program of a language have but one
            self._asked = True
            return None
        if not self._ready((tuple(start), tuple(env.items()), limits.disk_mb, limits.build_memory_mb), limits):
            return None
        answer = self._jail.ask({**request, "cpu_s": limits.build_s}, [made], limits.wall_s)
        self._builds += 1
        if answer is None or answer.get("gone") is True:
            self._jail.close()
            return None
        if answer.get("over") is True:
            self._jail.close()
            return Build(ok=False, message=f"the build took more than {limits.build_s:g} s of CPU time")
        return Build(ok=answer.get("ok") is True, message=str(answer.get("message", ""))[:2000], facts=answer)

    def stop(self) -> None:
        """End it, and its jail."""
        self._jail.stop()

    def _ready(self, how: tuple[Any, ...], limits: Limits) -> bool:
        """Have it run, started as `how` says; return whether it does."""
        if self._jail.opened and self._started == how and self._builds < _MOST_BUILDS:
            return True
        if self._failures >= _MOST_FAILURES:
            return False
        command, env = how[0], dict(how[1])
        spec = {"resident": list(command), "env": env, "cpu_s": _START_CPU_S}
        limits = Limits(
            cpu_s=_LIFE_S, build_s=_START_S, disk_mb=limits.disk_mb, processes=limits.processes,
            memory_mb=limits.build_memory_mb, build_memory_mb=limits.build_memory_mb,
        )  # fmt: skip
        try:
            running = self._jail.open(b"", limits, None, spec=spec, tools=True).ok
        except SandboxError:  # a second jail is more than this machine gives
            running = False
        if not running:
            self._jail.close()
        self._failures = 0 if running else self._failures + 1
        self._started, self._builds = how, 0
        return running
