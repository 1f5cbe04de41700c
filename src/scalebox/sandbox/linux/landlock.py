"""Landlock rules as plain data, for a process that has nothing but ctypes to apply them.

Numbers from the kernel's include/uapi/linux/landlock.h; see https://docs.kernel.org/userspace-api/landlock.html.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from typing import Any, Final

from scalebox.sandbox.linux import calls

#: The same numbers on every architecture.
SYSCALLS: Final = {"create": 444, "add": 445, "restrict": 446}
_GET_VERSION: Final = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_SOCKET, _MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15

#: How many file rights each ABI knows: 13, then refer, truncate, and (ABI 5) ioctl on devices.
_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_BIND_AND_CONNECT_TCP: Final = 3
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 3
_NET_SINCE, _SCOPE_SINCE = 4, 6


def abi() -> int:
    """Return the kernel's Landlock ABI; 0 where it has none, or it is switched off."""
    try:
        return calls.syscall(SYSCALLS["create"], None, 0, _GET_VERSION)
    except OSError:
        return 0


def rules(readable: Iterable[str], writable: Iterable[str], version: int | None = None) -> dict[str, Any]:
    """Return what to hand to the three system calls so that only these paths, and what is below them, can be used.

    JSON-able: "attr" (hex of struct landlock_ruleset_attr), "size", "paths" ([path, access mask]), "syscalls". A path
    that is not here (but may be in a jail) is taken for a folder's. What may be read may be executed. All
    TCP is refused from ABI 4 on, signals to and abstract sockets of others from ABI 6 on. `version` is the ABI to write
    for, by default the kernel's; 0 raises ValueError.
    """
    version = abi() if version is None else version
    if version < 1:
        raise ValueError("this kernel has no Landlock")
    everything = (1 << _RIGHTS.get(version, _RIGHTS[5])) - 1
    attributes = [everything]
    if version >= _NET_SINCE:
        attributes.append(_NET_BIND_AND_CONNECT_TCP)
    if version >= _SCOPE_SINCE:
        attributes.append(_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)
    packed = struct.pack(f"={len(attributes)}Q", *attributes)
    read = _EXECUTE | _READ_FILE | _READ_DIR
    write = everything & ~(_MAKE_CHAR | _MAKE_BLOCK | _MAKE_SOCKET | _IOCTL_DEVICE)
    only_files = everything & (_EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE)

    def rule(path: str, access: int) -> list[Any]:
        return [path, access & only_files if os.path.exists(path) and not os.path.isdir(path) else access]

    return {
        "attr": packed.hex(),
        "size": len(packed),
        "paths": [rule(path, read) for path in readable] + [rule(path, write) for path in writable],
        "syscalls": dict(SYSCALLS),
    }
