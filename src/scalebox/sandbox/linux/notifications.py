"""The supervisor's answers to what a sample's filter leaves to it, and the names of what it refuses.

A filter sees a call's numbers, but not who makes it; so it asks about the making of processes and about signals
(policy.SUPERVISED), and reports all that it refuses. See seccomp_unotify(2). What is let through is decided by numbers
in registers, which nobody can change while the call waits; what a pointer leads to is never looked at.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from scalebox.sandbox.linux import family
from scalebox.sandbox.linux.seccomp import NEVER_CLONED, describe
from scalebox.sandbox.linux.syscalls import ARCHITECTURES

_RECEIVE, _SEND = 0xC050_2100, 0xC018_2101
_CONTINUE: Final = 1
#: Identity, thread, flags, number, architecture, instruction pointer, arguments. The kernel demands that it is zeroed.
_NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
_NOTHING: Final = bytes(_NOTIFICATION.size)
_GIST: Final = struct.Struct("=QI4xi12xQ")  # identity, thread, number, first argument
_RESPONSE: Final = struct.Struct("=QqiI")

_KNOWN: Final = ARCHITECTURES.get(os.uname().machine)
_NAME_OF: Final = _KNOWN.name_of if _KNOWN else {}
_CREATING: Final = frozenset(number for number, name in _NAME_OF.items() if name in ("fork", "vfork", "clone"))
_CLONE: Final = _KNOWN.number_of["clone"] if _KNOWN else -1
#: Which argument names a process, or a group by its negated leader; for setpgid the leader itself.
_TARGET: Final = {
    "kill": 0, "tkill": 0, "tgkill": 0, "rt_sigqueueinfo": 0, "rt_tgsigqueueinfo": 0, "pidfd_open": 0, "setpgid": 1,
}  # fmt: skip
_IDS: Final = re.compile(rb"^NStgid:([\t0-9]+)\nNSpid:([\t0-9]+)$", re.MULTILINE)


class Notifications:
    """The calls of one sample that wait for an answer, heard on a descriptor, which this object owns.

    The compile process may make processes. The program may only where `processes` are allowed; it may then signal all
    of its own case, else itself alone. Without `signal_others` it is itself alone wherever the jail has no PID
    namespace of its own.
    """

    def __init__(self, fd: int, *, processes: bool = False, signal_others: bool = True) -> None:
        self._fd = fd
        self._processes = processes
        self._signal_others = signal_others
        self._program = 0

    def fileno(self) -> int:
        """Return the descriptor, -1 once closed."""
        return self._fd

    def close(self) -> None:
        """Close the descriptor; calls that wait, and those to come, fail with ENOSYS."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            with contextlib.suppress(OSError):
                os.close(fd)

    def answer(self) -> str | None:
        """Answer one call; return what it was, such as "network: socket(AF_INET)", where it is refused.

        Call it when a poll has found the descriptor readable (POLLIN): else it may wait.
        """
        try:
            asked = fcntl.ioctl(self._fd, _RECEIVE, _NOTHING)
        except (OSError, ValueError):  # killed since the poll; or the descriptor is no longer ours
            return None
        identity, thread, number, first = _GIST.unpack_from(asked)
        if not self._program:
            # It put the filter on itself alone, and asks before it makes any other process.
            self._program = thread
        if number in _CREATING and not (number == _CLONE and first & NEVER_CLONED):
            allowed: bool | None = self._processes or thread == self._program
        elif _NAME_OF[number] in _TARGET:
            allowed = self._may_reach(thread, _NAME_OF[number], _NOTIFICATION.unpack(asked)[6:])
        else:
            allowed = False
        if allowed:
            self._respond(identity, 0, _CONTINUE)
            return None
        what = describe(number, _NOTIFICATION.unpack(asked)[6:])
        self._respond(identity, -(errno.EACCES if what.startswith("network") else errno.EPERM), 0)
        return what if allowed is False else None

    def _respond(self, identity: int, error: int, flags: int) -> None:
        try:  # noqa: SIM105 - contextlib.suppress would be felt, once in every case
            fcntl.ioctl(self._fd, _SEND, _RESPONSE.pack(identity, 0, error, flags))
        except FileNotFoundError:
            pass  # gone meanwhile, or it has a signal to handle first and will ask again

    def _may_reach(self, thread: int, name: str, arguments: Sequence[int]) -> bool | None:
        """Return whether a signal, or a group to join, is one of the caller's own case; None if the caller is gone."""
        target = (arguments[_TARGET[name]] + (1 << 31)) % (1 << 32) - (1 << 31)
        if target == 0:
            return True  # the caller's own group, which nobody outside of its case is in
        ids = _ids(thread)
        if ids is None:
            return None
        process, own_thread = ids[0][-1], ids[1][-1]
        leader = abs(target)
        if leader == process or (name == "tkill" and target == own_thread):
            return True
        return self._processes and self._in_case(leader)

    def _in_case(self, pid: int) -> bool:
        """Return whether `pid`, as the program sees it, is not the compile process's, nor of anybody above that."""
        program = _ids(self._program)
        if program is None:
            return False
        if len(program[0]) > 1:  # in a PID namespace of the jail its numbers are not ours
            return any((ids := _ids(other)) is not None and ids[0][-1] == pid for other in _below(self._program))
        return self._signal_others and pid != self._program and _descends(pid, self._program)


def _ids(thread: int) -> tuple[list[int], list[int]] | None:
    """Return the ids of a thread's process, and its own, in our PID namespace and those below; None if it is gone."""
    try:
        with open(f"/proc/{thread}/status", "rb", 0) as file:
            found = _IDS.search(file.read())
    except OSError:
        return None
    return ([int(word) for word in found[1].split()], [int(word) for word in found[2].split()]) if found else None


def _below(pid: int) -> Iterator[int]:
    """Yield the processes that descend from `pid`."""
    for child in family.children(pid):
        yield child
        yield from _below(child)


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1 and pid != ancestor:
        try:
            with open(f"/proc/{pid}/stat", "rb", 0) as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            return False
    return pid == ancestor
