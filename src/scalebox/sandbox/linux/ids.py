"""Which user of the machine a jail of this worker runs as, when we are root."""

from __future__ import annotations

import os
from typing import Final

from scalebox.sandbox.linux import calls

_BASE: Final = 1_000_000_000
_PIDS: Final = 1 << 22  # the most that pid_max can be
_FIRST_ORDINARY: Final = 20_000


def may_change_user() -> bool:
    """Say whether this process is root with the right to run a jail as another user."""
    needed = 1 << calls.CAP_SETUID | 1 << calls.CAP_SETGID
    return os.geteuid() == 0 and calls.effective_capabilities() & needed == needed


def jail_id() -> int:
    """Return a user and group id that no account has, of this process's own where there are enough of them.

    A user id of its own keeps a worker's jails apart from others' in every count the kernel keeps by user.
    """
    with open("/proc/self/uid_map", encoding="ascii") as uids, open("/proc/self/gid_map", encoding="ascii") as gids:
        return min(pick(uids.read(), os.getpid()), pick(gids.read(), os.getpid()))


def pick(id_map: str, pid: int) -> int:
    """Return an id that `id_map` (in the form of /proc/self/uid_map) has: by `pid`, and far from accounts if it can."""
    ranges = [(int(first), int(count)) for first, _, count in (line.split() for line in id_map.splitlines())]
    for first, count in ranges:
        if first <= _BASE and first + count >= _BASE + _PIDS:
            return _BASE + pid
    first, count = max(ranges, key=lambda item: item[1])
    low = max(first, _FIRST_ORDINARY) if first + count > _FIRST_ORDINARY + 1 else first
    high = min(first + count, 65534)  # 65534 is nobody's, by custom
    return low + pid % max(high - low, 1)
