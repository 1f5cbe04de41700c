"""What a run of anything may not change outside of its jail."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from scalebox.sandbox.linux import owner
from scalebox.sandbox.probes.host import descendants


class Outside(NamedTuple):
    """The machine as this process sees it."""

    descriptors: tuple[str, ...]
    mounts: str
    groups: tuple[str, ...]
    files: frozenset[str]
    ipc: frozenset[str]


def look() -> Outside:
    """Return the state of what could be left behind."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = file.read()
    return Outside(_descriptors(), mounts, tuple(sorted(map(_unnumbered, groups()))), left_files(), _ipc())


def _unnumbered(name: str) -> str:
    """Return the name without the number of its jail: one in the place of another is the same to the machine."""
    return re.sub(rf"({owner.PREFIX}n\d+-\d+-\d+-[a-z0-9-]*?)-\d+\b", r"\1", name)


def _descriptors() -> tuple[str, ...]:
    """Return what the descriptors are open on, a new socket counting as well as an old one."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the listing's own
            found.append(_unnumbered(re.sub(r"\[\d+\]", "", os.readlink(f"/proc/self/fd/{name}"))))
    return tuple(sorted(found))


def _ipc() -> frozenset[str]:
    """Return the keys and ids of the machine's System V objects, of which no jail may make one."""
    found = set()
    for kind in ("shm", "sem", "msg"):
        with contextlib.suppress(OSError):  # a kernel without
            lines = Path(f"/proc/sysvipc/{kind}").read_text(encoding="ascii").splitlines()[1:]
            found |= {f"{kind} {' '.join(line.split()[:2])}" for line in lines}
    return frozenset(found)


def differences(before: Outside, after: Outside) -> list[str]:
    """Return what came or went, for people."""
    names = Outside._fields
    return [f"{name}: {old} became {new}" for name, old, new in zip(names, before, after, strict=True) if old != new]


def groups(pids: Collection[int] | None = None) -> frozenset[str]:
    """Return the control groups that bear the mark of one of `pids`, by default of this process."""
    walk = os.walk("/sys/fs/cgroup")  # which bears with groups of others that go meanwhile
    return frozenset(f"{folder}/{name}" for folder, names, _ in walk for name in names if _is_of(name, pids))


def left_files(pids: Collection[int] | None = None) -> frozenset[str]:
    """Return what bears the mark of one of `pids` in the temporary folders."""
    places = {tempfile.gettempdir(), "/dev/shm", "/tmp", "/var/tmp"}  # noqa: S108 - looked at only
    return frozenset(
        str(path) for place in places for path in Path(place).glob(f"{owner.PREFIX}*") if _is_of(path.name, pids)
    )


def _is_of(name: str, pids: Collection[int] | None) -> bool:
    mark = re.match(rf"{owner.PREFIX}n\d+-(\d+)-(\d+)-", name)
    # One that is older than this process bears the number of another, which has come again.
    born = owner.start_time(os.getpid()) or 0
    return mark is not None and int(mark[1]) in ({os.getpid()} if pids is None else pids) and int(mark[2]) >= born


def ours() -> list[int]:
    """Return all processes below this one."""
    return descendants(os.getpid())


def comes_true(holds: object, seconds: float = 20.0) -> bool:
    """Wait for what the kernel or another process brings about in its own time; return whether it came."""
    assert callable(holds)
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
