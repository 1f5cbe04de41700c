"""Names that say which process owns a thing, so that what a dead one left can be told from what a live one uses."""

from __future__ import annotations

import os
import re

PREFIX = "scalebox-"
_TAG = re.compile(r"n(\d+)-(\d+)-(\d+)-")


def start_time(pid: int, *, zombies: bool = False) -> int | None:
    """Return when `pid` started, in clock ticks since boot; None where there is no such process, or only a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[19]) if zombies or fields[0] not in (b"Z", b"X") else None


def tagged(name: str, prefix: str = PREFIX) -> str:
    """Return `name` with the calling process's mark before it."""
    pid = os.getpid()
    return f"{prefix}n{_pid_namespace()}-{pid}-{start_time(pid)}-{name}"


def is_orphan(name: str, prefix: str = PREFIX) -> bool:
    """Say whether `name` bears the mark of a process of this PID namespace that is gone."""
    match = _TAG.match(name.removeprefix(prefix)) if name.startswith(prefix) else None
    if match is None or int(match[1]) != _pid_namespace():
        return False
    return start_time(int(match[2])) != int(match[3])


def of_this_namespace(name: str, prefix: str = PREFIX) -> bool:
    """Say whether a process of this PID namespace made this name: only then can its life be told."""
    match = _TAG.match(name.removeprefix(prefix)) if name.startswith(prefix) else None
    return match is not None and int(match[1]) == _pid_namespace()


def is_tagged(name: str, prefix: str = PREFIX) -> bool:
    """Say whether `tagged` made this name, in whatever PID namespace."""
    return name.startswith(prefix) and _TAG.match(name.removeprefix(prefix)) is not None


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino
