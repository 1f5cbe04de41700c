"""The `namespace` tier: user, mount, PID, network, IPC, UTS and cgroup namespaces around every worker's jail.

Works for root and, where the machine lets ordinary users make user namespaces, for them. It does not cover:

- bugs of the kernel itself, which all processes of the machine share;
- the processor's side channels, and what one can learn from load, /proc/stat or the clock;
- for an ordinary user, the supplementary groups: the kernel lets nobody drop them there.
"""

from __future__ import annotations

import functools
from typing import Final

from scalebox.sandbox import probe, tiers
from scalebox.sandbox.linux import calls, ids, landlock

_NOTES: Final = [
    "the kernel is shared with the rest of the machine: a bug of it may let a program out",
    "load, /proc/stat and the clock can be seen; the processor's side channels are open",
]
_NOTE_GROUPS: Final = "an ordinary user's supplementary groups cannot be dropped; they count for the read-only tree"


class _Namespace:
    name = "namespace"
    strength = 20
    automatic = True
    slowness = 1.0
    own_kernel = False

    def probe(self) -> tiers.Probe:
        return probe_here()

    def launch(self, spec: tiers.LaunchSpec) -> tiers.Launched:
        launched = tiers.start(self.name, spec, _standing())
        launched.facts |= {"landlock_abi": landlock.abi(), "foreign_files": False, "signal_others": True}
        return launched

    def cleanup(self, launched: tiers.Launched) -> None:
        tiers.end(launched.pid)


def _standing() -> dict[str, object]:
    may_change_user = ids.may_change_user()
    privileged = may_change_user and bool(calls.effective_capabilities() >> calls.CAP_SYS_ADMIN & 1)
    return {"privileged": privileged, "outer_id": ids.jail_id() if may_change_user else None}


@functools.cache
def probe_here() -> tiers.Probe:
    notes = _NOTES if ids.may_change_user() else [*_NOTES, _NOTE_GROUPS]
    return probe.by_launch("namespace", notes, _standing())


TIER: tiers.Tier = _Namespace()
