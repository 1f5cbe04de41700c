"""Removes what dead engines left on this machine, and what this one's workers leave that could not do it themselves."""

from __future__ import annotations

import threading
import time
from importlib import import_module
from typing import Any

#: Seconds between two looks at the whole machine, of an engine that runs long.
_EVERY_S = 30 * 60.0


class Housekeeping:
    """Sweeps at the start, beside the workers' own start, and from then on as workers come and go."""

    def __init__(self, scratch_dir: str) -> None:
        self._scratch_dir = scratch_dir
        self._due = 0.0

    def look_around(self) -> None:
        """Sweep the machine, on a thread of its own, unless that was done within the last half hour."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + _EVERY_S
            threading.Thread(target=self._sweep, name="scalebox-sweep", daemon=True).start()

    def worker_gone(self, pid: int) -> None:
        """Remove what a worker's jails have left: one that was killed could not."""
        _leftovers().sweep_behind(pid, self._scratch_dir)
        self.look_around()

    def _sweep(self) -> None:
        _leftovers().sweep(self._scratch_dir)


def _leftovers() -> Any:
    return import_module("scalebox.sandbox.leftovers")  # not needed to import the client
