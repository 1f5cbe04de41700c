"""What the supervisor tells the agent: its script, its filters, and the limits of a sample's processes."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scalebox.core import values
from scalebox.core.limits import MIB, Limits
from scalebox.sandbox import agent
from scalebox.sandbox.linux import landlock, owner, seccomp, tree
from scalebox.sandbox.outcome import Fault
from scalebox.sandbox.pace import MARGIN
from scalebox.sandbox.tiers import LaunchSpec

if TYPE_CHECKING:
    from scalebox.sandbox.jail import JailConfig

_SECCOMP_NUMBER = {"x86_64": 317, "aarch64": 277}
_STACK_BYTES = 256 * MIB
#: Without a memory cgroup, RLIMIT_DATA stands in: the program's limit on top of what its interpreter maps.
_INTERPRETER_BYTES = 96 * MIB
#: Where each round takes long, fewer: most of what is to be learnt is learnt in the first ones.
_WARM_ROUNDS, _SLOW_WARM_ROUNDS = 40, 12
_THREADS = 64
#: A kernel of its own, which works with more than one for each of the programs', ends where it can have no more; so
#: it has more than a bomb can make in its time.
_KERNEL_THREADS = 8192
_COUNTS_BY_NAMESPACE = (5, 14)
_SYSTEM_PATHS = (
    "/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32", "/etc/ld.so.cache", "/etc/localtime",
    "/etc/alternatives", "/dev/random", "/dev/urandom",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


def launch_spec(config: JailConfig, control_fd: int, script_fd: int, cgroup_procs: list[str]) -> LaunchSpec:
    """Return what the tier needs to start the agent."""
    return LaunchSpec(
        argv=[config.interpreter, "-X", owner.argument(), "-S", "-s", "-B", "-c", agent.BOOT, str(script_fd)],
        # Functions of libraries are looked up at the start, or each child would look up its own.
        env={"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "LD_BIND_NOW": "1"},
        pass_fds=[control_fd, script_fd],
        readable=config.readable,
        cores=config.cores,
        cgroup_procs=cgroup_procs,
        scratch_bytes=config.scratch_bytes,
    )


def agent_script(config: JailConfig, control_fd: int, facts: dict[str, Any]) -> bytes:
    """Return the agent's script for a jail of which `facts` is what the tier says."""
    scratch = {**facts["scratch"], "bytes": config.scratch_bytes}
    tmpfs = scratch["kind"] == "tmpfs"
    # Under a root of its own all that can be seen may be read; elsewhere the host's files are out of bounds.
    readable = ["/"] if tmpfs else [*_SYSTEM_PATHS, *config.readable]
    rules = apart = None
    if facts["landlock_abi"] >= 1:
        rules = landlock.rules(readable, [scratch["stable"], *_DEVICES])
        folders = [os.path.join(scratch["root"], name) for name in scratch["folders"]]
        apart = landlock.rules(readable, [*folders, *_DEVICES])
    foreign = facts.get("foreign_files", False)
    asking = {
        allowed: seccomp.base_filter(notify=True, processes_allowed=allowed, foreign_files=foreign)
        for allowed in (False, True)
    }
    work, temporary = (os.path.join(scratch["root"], name) for name in ("work", "tmp"))
    return agent.bundle(
        {
            "control_fd": control_fd,
            "scratch": scratch,
            "landlock": rules,
            "landlock_apart": apart,
            "seccomp_number": _SECCOMP_NUMBER[os.uname().machine],
            "notify_filters": {allowed: (code, seccomp.younger_places(code)) for allowed, code in asking.items()},
            "plain_filter": seccomp.base_filter(notify=False, foreign_files=foreign),
            "case_filters": {
                allowed: seccomp.case_filter(allowed, signal_others=facts.get("signal_others", True))
                for allowed in (False, True)
            },
            "path": [tree.inside(place) for place in config.path] if facts.get("moved") else config.path,
            "env": {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": work, "TMPDIR": temporary, **config.env},
            "preload": config.preload,
            "warm_rounds": _SLOW_WARM_ROUNDS if facts.get("own_kernel") else _WARM_ROUNDS,
            "kill_all": tmpfs,
            "own_kernel": facts.get("own_kernel", False),
            "user": facts.get("case_user", 0),
        },
        config.builder,
    )


def program_rules(config: JailConfig, facts: dict[str, Any]) -> dict[str, Any] | None:
    """Return Landlock rules under which only the scratch folders can be written, and what lies beside them be read."""
    if facts["landlock_abi"] < 1:
        return None
    scratch = facts["scratch"]
    readable = ["/"] if scratch["kind"] == "tmpfs" else [*_SYSTEM_PATHS, *config.readable, scratch["root"]]
    folders = [os.path.join(scratch["root"], name) for name in scratch["folders"]]
    return landlock.rules(readable, [*folders, *_DEVICES])


def tasks(limits: Limits, facts: Mapping[str, Any]) -> int:
    """Return how many processes and threads a jail may have: agent, zygote, a sample's four, threads, others."""
    most = 6 + _THREADS + limits.processes
    return _KERNEL_THREADS if facts.get("own_kernel") else most


def process_limits(limits: Limits, cores: list[int], facts: dict[str, Any], *, bounded: bool) -> dict[str, Any]:
    """Return the resource limits of a sample's processes; `bounded` says that a cgroup bounds their memory."""
    seconds = math.ceil(MARGIN * limits.cpu_s)
    return {
        "affinity": cores,
        "stack_bytes": _STACK_BYTES,
        "file_bytes": limits.disk_mb * MIB,
        "build_cpu_s": math.ceil(limits.build_s),
        # A backstop for the supervisor's own clock, in whole seconds and past any doubt of rounding.
        "hard_cpu_s": max(seconds, math.ceil(limits.build_s)) + 2,
        "build_data_bytes": 0 if bounded else limits.build_memory_mb * MIB + _INTERPRETER_BYTES,
        # Counted by user, so only where the user is the jail's own; a bomb must not need a cgroup to be stopped.
        "tasks": tasks(limits, facts) if counts_apart(facts) else 0,
        "data_bytes": 0 if bounded else limits.memory_mb * MIB + _INTERPRETER_BYTES,
    }


def cores_of(limits: Limits, config: JailConfig) -> list[int]:
    """Return the CPUs that a sample's processes run on: the jail's own, and what its limits give it beside them."""
    return [*config.cores, *config.more_cores][: max(len(config.cores), math.ceil(limits.cpus))]


def counts_apart(facts: dict[str, Any]) -> bool:
    """Return whether the kernel counts the processes of the jail's user apart from all others."""
    if facts.get("foreign_files"):
        return False
    version = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    return os.geteuid() == 0 or version >= _COUNTS_BY_NAMESPACE


def read_fault(note: bytes) -> Fault:
    """Decode what the agent noted of a terminating exception; anything odd is no fault at all."""
    try:
        kind, bases, number, name = values.decode(note, 32)
        builtin = bases[0] if bases else ""
    except (values.MalformedValue, TypeError, ValueError, IndexError, KeyError):
        return Fault()
    if not (isinstance(kind, str) and isinstance(builtin, str) and isinstance(name, str) and isinstance(number, int)):
        return Fault()
    return Fault(kind[:100], builtin[:100], number, name[:500])
