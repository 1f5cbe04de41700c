"""System calls that the standard library lacks: thin, checked, raising OSError with the call's name.

Standard library only: the launcher runs this without site-packages.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence
from typing import Final

CLONE_NEWNS: Final = 0x0002_0000
CLONE_NEWCGROUP: Final = 0x0200_0000
CLONE_NEWUTS: Final = 0x0400_0000
CLONE_NEWIPC: Final = 0x0800_0000
CLONE_NEWUSER: Final = 0x1000_0000
CLONE_NEWPID: Final = 0x2000_0000
CLONE_NEWNET: Final = 0x4000_0000

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_REMOUNT: Final = 0x20
MS_NOATIME: Final = 0x400
MS_NODIRATIME: Final = 0x800
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_PRIVATE: Final = 0x4_0000
MS_RELATIME: Final = 0x20_0000
MNT_DETACH: Final = 2
UMOUNT_NOFOLLOW: Final = 8

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_DROP: Final = 24
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_RAISE: Final = 2

CAP_KILL: Final = 5
CAP_SETGID: Final = 6
CAP_SETUID: Final = 7
CAP_SYS_ADMIN: Final = 21

_LINUX_CAPABILITY_VERSION_3: Final = 0x2008_0522
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_MOUNT_ATTR_RDONLY_NOSUID_NODEV: Final = 1 | 2 | 4
_MOUNT_SETATTR: Final = 442  # the same number on every architecture, as all calls from 424 on
_KEYCTL: Final = {"x86_64": 250, "aarch64": 219}
_PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41}
_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
_KEYCTL_JOIN_SESSION_KEYRING: Final = 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *args: int | bytes | None) -> int:
    """Make a raw system call; integers go as longs, bytes as pointers."""
    made = [ctypes.c_long(arg) if isinstance(arg, int) else ctypes.c_char_p(arg) for arg in args]
    return _check(int(_libc.syscall(ctypes.c_long(number), *made)), f"system call {number}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount `source` at `target`."""
    done = _libc.mount(
        os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None
    )
    _check(done, f"mount {target}")


def unmount(target: str, flags: int = 0) -> None:
    """Unmount `target`."""
    _check(_libc.umount2(os.fsencode(target), flags), f"umount {target}")


def protect_tree(path: str) -> None:
    """Make the mount at `path` and all below it read-only, without set-uid programs and devices; ENOSYS before 5.12."""
    attributes = struct.pack("=QQQQ", _MOUNT_ATTR_RDONLY_NOSUID_NODEV, 0, 0, 0)
    syscall(_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), _AT_RECURSIVE, attributes, len(attributes))


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` names for new ones."""
    _check(_libc.unshare(flags), "unshare")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and put the old root at `old`."""
    syscall(_PIVOT_ROOT[os.uname().machine], os.fsencode(new), os.fsencode(old))


def prctl(option: int, *args: int) -> int:
    """Call prctl(2)."""
    padded = [*args, 0, 0, 0, 0][:4]
    return _check(int(_libc.prctl(option, *(ctypes.c_ulong(arg) for arg in padded))), f"prctl {option}")


def join_new_session_keyring() -> None:
    """Leave the caller's session keyring for a fresh, empty one."""
    syscall(_KEYCTL[os.uname().machine], _KEYCTL_JOIN_SESSION_KEYRING, None)


def has_seccomp() -> bool:
    """Say whether this kernel, and this process's own filters, let it install filters with all actions needed."""
    action = struct.pack("=I", 0x0005_0000)  # SECCOMP_RET_ERRNO
    try:
        syscall(_SECCOMP[os.uname().machine], 2, 0, action)
    except OSError:
        return False
    return True


def effective_capabilities() -> int:
    """Return the calling thread's effective capabilities as a bit mask."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("CapEff:"):
                return int(line.split()[1], 16)
    return 0


def keep_only_capabilities(kept: Sequence[int]) -> None:
    """Drop every capability but `kept`, for good, and let those pass through exec.

    Needs CAP_SETPCAP. Raises OSError.
    """
    for capability in range(64):
        if capability not in kept:
            try:
                prctl(PR_CAPBSET_DROP, capability)
            except OSError:  # EINVAL: beyond the kernel's last one
                break
    mask = sum(1 << capability for capability in kept)
    low, high = mask & 0xFFFF_FFFF, mask >> 32
    header = struct.pack("=Ii", _LINUX_CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, struct.pack("=6I", low, low, low, high, high, high)), "capset")
    for capability in kept:
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)
