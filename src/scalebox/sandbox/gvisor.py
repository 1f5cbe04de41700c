"""The `gvisor` tier: a kernel of its own, in user space, around every worker's jail, made by runsc without any daemon.

What programs call is answered by that kernel: a bug of the machine's is out of reach unless gVisor lets them at
it. In there the agent and the programs are different users, each case has a seccomp filter, and the scratch space is a
tmpfs. It does not cover:

- tests that are code of Python, and interactive tasks: these are refused (`worker.py`);
- the number of processes and threads, which time and memory alone bound, and of files, of which the size is bounded;
- the environment and the memory maps of agent and compile process, which any program can read;
- bugs of gVisor itself, and the processor's side channels.
"""

from __future__ import annotations

import functools
from typing import Final

from scalebox.sandbox import oci, tiers

_NOTES: Final = [
    "tests that are code of Python, and interactive tasks, do not run there",
    "a process takes some milliseconds more, a system call some microseconds: limits of time are three times as long",
    "time and memory alone bound the number of processes and threads; the number of files is not bounded",
    "there is no folder for shared memory: POSIX shared memory fails",
    "a refused call that does not end a program is not reported",
]
_MEND: Final = "install runsc (Debian, Ubuntu: apt-get install runsc)"


class _Gvisor(oci.ContainerTier):
    name = "gvisor"
    strength = 40
    slowness = 3.0
    own_kernel = True

    def runtime(self) -> tuple[oci.Runtime | None, tiers.Probe]:
        return probe_here()


@functools.cache
def probe_here() -> tuple[oci.Runtime | None, tiers.Probe]:
    """Return the runtime, and whether it works here."""
    path = oci.find("runsc")
    if not path:
        return None, oci.missing("runsc", _MEND, _NOTES)
    # The one platform that runs anywhere; the jail is in a control group already.
    before = ["--platform=ptrace", "--network=none", "--ignore-cgroups"]
    runtime = oci.Runtime(path=path, before=before, own_kernel=True)
    found = oci.try_out("gvisor", runtime, _NOTES)
    return (runtime if found.ok else None), found


TIER: tiers.Tier = _Gvisor()
