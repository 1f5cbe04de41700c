"""Print the seccomp profile of ScaleBox's containers: what its jails let programs do, and what making a jail takes.

python deploy/seccomp/make.py > deploy/seccomp/scalebox.json
"""

from __future__ import annotations

import json
from typing import Any

from scalebox.sandbox.linux import policy

#: For the server: sockets, threads, signals to its own workers.
_SERVER = "accept accept4 bind connect listen"
#: For making a jail: namespaces, mounts in them, a key ring and a name of its own.
_JAIL = "unshare mount mount_setattr umount2 pivot_root sethostname keyctl truncate"

_ENOSYS = 38


def profile() -> dict[str, Any]:
    """Return the profile, as Docker, Podman and the kubelet read it."""
    allowed = policy.ALLOWED | policy.METADATA | policy.WITHOUT_EFFECT | policy.NOT_SUPPORTED
    allowed |= policy.DEPENDS.keys() | policy.SUPERVISED.keys() | set(_SERVER.split()) | set(_JAIL.split())
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": 1,
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
        "syscalls": [
            {"names": sorted(allowed), "action": "SCMP_ACT_ALLOW"},
            # A filter cannot look into its argument; the C library then uses clone.
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
        ],
    }


if __name__ == "__main__":
    print(json.dumps(profile(), indent=1))
