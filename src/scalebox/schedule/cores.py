"""How many workers this process may keep busy, and on which cores."""

from __future__ import annotations

import math
import os
import random
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")
_CGROUPS = Path("/sys/fs/cgroup")


def worker_cores(count: int = 0, *, cpus: Path = _CPUS, cgroups: Path = _CGROUPS) -> list[int]:
    """Return the core of each worker: `count` of them, or one per physical core within affinity and CPU quota.

    Where a quota leaves fewer workers than cores, the cores are drawn at random, so that the containers of one
    machine do not all sit on its first cores.
    """
    cores = physical_cores(cpus)
    if count > 0:
        return [cores[number % len(cores)] for number in range(count)]
    allowed = cpu_quota(cgroups)
    if allowed is None or allowed >= len(cores):
        return cores
    return sorted(random.Random(os.getpid()).sample(cores, max(1, math.floor(allowed))))  # noqa: S311  no secret


def physical_cores(cpus: Path = _CPUS) -> list[int]:
    """Return one CPU number per physical core, among those that this process may run on."""
    first: dict[tuple[str, str], int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        topology = cpus / f"cpu{cpu}" / "topology"
        package, core = _read(topology / "physical_package_id"), _read(topology / "core_id")
        first.setdefault((package, core) if core else ("cpu", str(cpu)), cpu)
    return list(first.values())


def cpu_quota(cgroups: Path = _CGROUPS, membership: Path = Path("/proc/self/cgroup")) -> float | None:
    """Return the CPUs' worth of time that the cgroups of this process leave it (v1 or v2), or None for no limit."""
    quotas = []
    for line in _read(membership).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            quotas += [_quota_v2(folder / "cpu.max") for folder in _lineage(cgroups, path)]
        elif "cpu" in controllers.split(","):
            for root in (cgroups / controllers, cgroups / "cpu"):
                quotas += [_quota_v1(folder) for folder in _lineage(root, path)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _lineage(root: Path, path: str) -> list[Path]:
    """Return the folders from a cgroup up to the root; in a container the path may not exist below the mount."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    return [root.joinpath(*parts[:length]) for length in range(len(parts), -1, -1)]


def _quota_v2(file: Path) -> float | None:
    quota, _, period = _read(file).partition(" ")
    return _ratio(quota, period)


def _quota_v1(folder: Path) -> float | None:
    return _ratio(_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us"))


def _ratio(quota: str, period: str) -> float | None:
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return None  # "max", "-1", or no such file
    return int(quota) / int(period)


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
