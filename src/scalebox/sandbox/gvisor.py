"""The `gvisor` tier: a kernel of its own, in user space, around every worker's jail, by runsc without any daemon."""

from __future__ import annotations

import functools
from typing import Final

from scalebox.core.errors import SandboxError
from scalebox.sandbox import oci, tiers

_NOTES: Final = [
    "programs run much more slowly",
]
_MEND: Final = "install runsc (Debian, Ubuntu: apt-get install runsc)"


class _Gvisor:
    name = "gvisor"
    strength = 40
    automatic = False
    slowness = 3.0
    own_kernel = True

    def __init__(self) -> None:
        self._containers: dict[int, oci.Container] = {}

    def probe(self) -> tiers.Probe:
        return probe_here()[1]

    def launch(self, spec: tiers.LaunchSpec) -> tiers.Launched:
        runtime, found = probe_here()
        if runtime is None:
            raise SandboxError(found.reason, step=found.step, errno=found.errno, mend=found.mend)
        launched, container = oci.launch(self.name, runtime, spec)
        self._containers[launched.pid] = container
        launched.facts |= {"landlock_abi": 0, "foreign_files": False, "signal_others": True}
        return launched

    def cleanup(self, launched: tiers.Launched) -> None:
        container = self._containers.pop(launched.pid, None)
        if container is not None:
            oci.end(launched, container, self._containers)


@functools.cache
def probe_here() -> tuple[oci.Runtime | None, tiers.Probe]:
    """Return the runtime, and whether it works here."""
    path = oci.find("runsc")
    if not path:
        return None, oci.missing("runsc", _MEND, _NOTES)
    runtime = oci.Runtime(
        path=path, before=["--platform=ptrace", "--network=none", "--ignore-cgroups"], own_kernel=True
    )
    found = oci.try_out("gvisor", runtime, _NOTES)
    return (runtime if found.ok else None), found


TIER: tiers.Tier = _Gvisor()
