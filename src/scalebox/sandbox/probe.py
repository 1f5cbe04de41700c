"""Probing a tier: start it for real in a throwaway child, and say what to mend where it fails."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scalebox.core.errors import SandboxError
from scalebox.sandbox import tiers


def by_launch(tier: str, notes: list[str], standing: Mapping[str, object]) -> tiers.Probe:
    """Set `tier` up in a throwaway child, use it as an agent would, and report."""
    try:
        tiers.start(tier, tiers.LaunchSpec(argv=[], env={}, scratch_bytes=1 << 20), standing, trial=True)
    except SandboxError as error:
        return failed(error.step, error.errno, error.problem, notes)
    return tiers.Probe(ok=True, notes=notes)


def failed(step: str, number: int, reason: str, notes: list[str]) -> tiers.Probe:
    """Report a failed step, the kernel's answer `number`, and what to do about it."""
    mend = mend_for(step, number, read_sysctls())
    return tiers.Probe(ok=False, step=step, errno=number, reason=reason, mend=mend, notes=notes)


def read_sysctls() -> dict[str, str]:
    """Return the settings that govern user namespaces, those that this kernel has."""
    found = {}
    for name in _SYSCTLS:
        try:
            found[name] = Path("/proc/sys", name.replace(".", "/")).read_text(encoding="ascii").strip()
        except OSError:
            continue
    return found


def mend_for(step: str, number: int, sysctls: dict[str, str]) -> str:
    """Say what an administrator can do about `step` failing with errno `number`."""
    if "namespace" not in step and number not in (errno.EPERM, errno.EACCES):
        return _BY_STEP.get(step, "")
    if number == errno.ENOSPC or sysctls.get("user.max_user_namespaces") == "0":
        return "raise sysctl user.max_user_namespaces (and the other user.max_*_namespaces)"
    if sysctls.get("kernel.unprivileged_userns_clone") == "0":
        return "set sysctl kernel.unprivileged_userns_clone=1"
    if sysctls.get("kernel.apparmor_restrict_unprivileged_userns") == "1":
        return (
            "set sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give Python an AppArmor profile with userns"
        )
    if number in (errno.EPERM, errno.EACCES):
        return (
            "in a container, allow unshare, clone, mount and pivot_root: docker run --security-opt seccomp=FILE (or"
            " =unconfined) --security-opt apparmor=unconfined; in Kubernetes a seccompProfile of type Localhost"
        )
    if number in (errno.EINVAL, errno.ENOSYS):
        return "this kernel was built without these namespaces: use another, or the process tier"
    return ""


_SYSCTLS: Final = (
    "user.max_user_namespaces", "kernel.unprivileged_userns_clone", "kernel.apparmor_restrict_unprivileged_userns",
)  # fmt: skip
_BY_STEP: Final = {
    "use Landlock": "boot a kernel >= 5.13 with CONFIG_SECURITY_LANDLOCK=y and landlock in its lsm= list",
    "find children": "boot a kernel with CONFIG_PROC_CHILDREN=y, and mount /proc",
    "allow 1024 open files": "raise the hard limit of open files of what starts the engine (ulimit -Hn, LimitNOFILE=)",
    "use seccomp": "boot a kernel with CONFIG_SECCOMP_FILTER=y",
}
