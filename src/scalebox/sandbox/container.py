"""The `container` tier: a container of its own around every worker's jail, made by crun or runc without any daemon.

For machines whose rules demand an OCI runtime around code that is not trusted. Within the container the agent makes the
same jail as in the `namespace` tier, and programs are confined by the same filters and rules. It does not cover

- bugs of the kernel itself, which all processes of the machine share;
- the processor's side channels, and what one can learn from load, /proc/stat or the clock.
"""

from __future__ import annotations

import functools
import os
from typing import Final

from scalebox.sandbox import oci, tiers

_NOTES: Final = [
    "the kernel is shared with the rest of the machine: a bug of it may let a program out",
    "load, /proc/stat and the clock can be seen; the processor's side channels are open",
]
_MEND: Final = "install crun or runc (Debian, Ubuntu: apt-get install crun)"


class _Container(oci.ContainerTier):
    name = "container"
    strength = 30
    slowness = 1.0
    own_kernel = False

    def __init__(self, *runtimes: str) -> None:
        """Use the first of these runtimes that works here."""
        super().__init__()
        self._runtimes = runtimes

    def using(self, variant: str) -> tiers.Tier:
        """Return the same with this runtime alone, a name or a path."""
        return _Container(variant)

    def runtime(self) -> tuple[oci.Runtime | None, tiers.Probe]:
        return probe_here(*self._runtimes)


def runtime_at(path: str) -> oci.Runtime:
    """Return how to use the runtime of this path, by its name."""
    if os.path.basename(path) == "crun":
        # It leaves the agent in the control group that this worker made for it, and asks for no other.
        return oci.Runtime(path=path, before=["--cgroup-manager=disabled"])
    if os.geteuid() != 0:
        return oci.Runtime(path=path, before=["--rootless=true"])  # which does without a group
    return oci.Runtime(path=path, groups=True)


@functools.cache
def probe_here(*names: str) -> tuple[oci.Runtime | None, tiers.Probe]:
    """Return the first runtime that works here, or why the last does not."""
    found = oci.missing(" or ".join(names), _MEND, _NOTES)
    for path in filter(None, map(oci.find, names)):
        runtime = runtime_at(path)
        found = oci.try_out("container", runtime, _NOTES)
        if found.ok:
            return runtime, found
    return None, found


#: The quicker one first.
TIER: tiers.Tier = _Container("crun", "runc")
