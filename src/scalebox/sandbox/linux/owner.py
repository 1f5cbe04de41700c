"""Names that say which process owns a thing, so that what a dead one left can be told from what a live one uses.

A mark is a process's number with the time at which it started: numbers come again, the two together do not. Both mean
something on one machine, in one PID namespace and one time namespace alone, so the mark names these too.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from typing import NamedTuple

PREFIX = "scalebox-"
_OPTION = "scalebox.owner="
_TAG = re.compile(r"n(\d+)-(\d+)-(\d+)-")


class Mark(NamedTuple):
    """Who owns a thing: the namespaces that its number is of, the number, and when the process started."""

    namespace: int
    pid: int
    start: int

    @property
    def foreign(self) -> bool:
        """Whether nobody here can tell if the owner lives."""
        return self.namespace != _namespace()

    @property
    def dead(self) -> bool:
        """Whether the owner is gone for certain."""
        return not self.foreign and start_time(self.pid) != self.start


def start_time(pid: int, *, zombies: bool = False) -> int | None:
    """Return when `pid` started, in clock ticks since boot; None where there is no such process, or only a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        # A process whose first thread has ended looks like a zombie as long as others of its threads go on.
        lives = zombies or fields[0] not in (b"Z", b"X") or len(os.listdir(f"/proc/{pid}/task")) > 1
    except OSError:
        return None
    return int(fields[19]) if lives else None


def tagged(name: str) -> str:
    """Return `name` with the calling process's mark before it."""
    pid = os.getpid()
    return f"{PREFIX}n{_namespace()}-{pid}-{start_time(pid)}-{name}"


def argument() -> str:
    """Return what marks a process that we start, a value of Python's option -X: it does nothing, and /proc shows it."""
    return f"{_OPTION}{tagged('')}"


def mark_of_process(pid: int) -> Mark | None:
    """Return the mark in a process's command line; None where it bears none, or is gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(4096).split(b"\0")
    except OSError:
        return None
    option = words[2].decode("ascii", "replace") if len(words) > 2 and words[1] == b"-X" else ""
    return mark_of(option.removeprefix(_OPTION)) if option.startswith(_OPTION) else None


def mark_of(name: str) -> Mark | None:
    """Return the mark that `tagged` put before a name; None where there is none."""
    match = _TAG.match(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    return None if match is None else Mark(int(match[1]), int(match[2]), int(match[3]))


def _namespace() -> int:
    """Return a number for our PID and time namespaces: start times count from the boot that a time namespace shows.

    The boot is a part of it: first namespaces have the same numbers on all machines, some of which share a folder.
    """
    spaces = [str(os.stat("/proc/self/ns/pid").st_ino), _boot()]
    with contextlib.suppress(OSError):  # before Linux 5.6
        spaces.append(str(os.stat("/proc/self/ns/time").st_ino))
    return int.from_bytes(hashlib.blake2b(" ".join(spaces).encode(), digest_size=8).digest())


@functools.cache
def _boot() -> str:
    """Return a name for the machine since it was started, "" where the kernel does not tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
