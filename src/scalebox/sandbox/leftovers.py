"""What dead owners left behind on this machine: control groups, and scratch folders of the process tier."""

from __future__ import annotations

import contextlib

from scalebox.sandbox import process
from scalebox.sandbox.linux import cgroup


def sweep(scratch_dir: str = "") -> list[str]:
    """Remove them and return their names; what belongs to somebody alive is left alone. Never raises."""
    swept: list[str] = []
    with contextlib.suppress(OSError):
        swept += cgroup.sweep()
    with contextlib.suppress(OSError):
        swept += process.sweep(scratch_dir or None)
    return swept
