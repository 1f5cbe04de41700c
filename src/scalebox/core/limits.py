"""Limits of one case, their aliases, and the profiles that name sets of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_type_hints

import msgspec

from scalebox.core.errors import InputError

MIB = 1024 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one case may use. Times in seconds, sizes in MiB.

    `output_mb` holds for stdout and stderr each; `processes` counts those beyond the program's own
    (threads have an allowance of the language's); `build_s` and `build_memory_mb` bound the build.
    """

    cpu_s: float = 2.0
    wall_s: float = 10.0
    memory_mb: int = 512
    output_mb: float = 1.0
    stdin_mb: float = 16.0
    disk_mb: int = 100
    processes: int = 0
    cpus: float = 1.0
    network: Literal["none"] = "none"
    syscalls: Literal["strict"] = "strict"
    build_s: float = 10.0
    build_memory_mb: int = 2048


ALIASES: Mapping[str, str] = {
    "cpu_limit": "cpus",
    "timeout_sec": "wall_s",
    "stdout_size_mb": "output_mb",
    "stdin_size_mb": "stdin_mb",
    "fork_limit": "processes",
    "syscall_filter": "syscalls",
}

#: Largest value of each numeric limit; more is a slip of the pen (or milliseconds for seconds).
CEILINGS: Mapping[str, float] = {
    "cpu_s": 3600, "wall_s": 3600, "memory_mb": 1 << 20, "output_mb": 1024, "stdin_mb": 1024,
    "disk_mb": 1 << 20, "processes": 4096, "cpus": 1024, "build_s": 3600, "build_memory_mb": 1 << 20,
}  # fmt: skip

PROFILES: Mapping[str, Limits] = {
    "default": Limits(),
    "rlvr": Limits(cpu_s=30.0, wall_s=30.0, stdin_mb=1.0, output_mb=10.0, processes=100),
    "agent": Limits(cpu_s=60.0, wall_s=30.0, cpus=2.0, memory_mb=4096, processes=100),
    "contest": Limits(),
    # What a task's own programs may use, whatever the sample's limits are.
    "judge": Limits(cpu_s=10.0, wall_s=40.0, memory_mb=2048, output_mb=8.0, disk_mb=256, build_s=60.0),
}

_INTEGERS = frozenset(name for name, hint in get_type_hints(Limits).items() if hint is int)


def scaled(limits: Limits, factor: float) -> Limits:
    """Return limits with `factor` times as much time for programs and builds."""
    return msgspec.structs.replace(
        limits, cpu_s=limits.cpu_s * factor, wall_s=limits.wall_s * factor, build_s=limits.build_s * factor
    )


def parse_limits(given: Mapping[str, Any], base: Limits = PROFILES["default"], *, field: str = "limits") -> Limits:
    """Return `base` changed by `given`, whose keys may be aliases; both forms of one limit at once is an error.

    Raises InputError, with the path of the field, for an unknown, mistyped or senseless limit.
    """
    if not isinstance(given, Mapping):
        raise InputError("limits must be an object", field=field, mend='for example {"cpu_s": 2.0}')
    changes: dict[str, Any] = {}
    for key, value in given.items():
        name = ALIASES.get(key, key)
        path = f"{field}.{key}"
        if name in changes:
            raise InputError(f"{name} is given twice", field=path, mend="leave out the alias")
        changes[name] = _check(name, value, path)
    limits = msgspec.structs.replace(base, **changes)
    if "cpu_s" in changes and "wall_s" not in changes and limits.wall_s < limits.cpu_s:
        limits = msgspec.structs.replace(limits, wall_s=limits.cpu_s)
    return limits


def _check(name: str, value: Any, path: str) -> Any:
    if name == "network":
        return _one_of(value, ("none",), path)
    if name == "syscalls":
        return _one_of(value, ("strict",), path)
    if name not in CEILINGS:
        known = ", ".join((*Limits.__struct_fields__, *ALIASES))
        raise InputError("no such limit", field=path, mend=f"one of {known}")
    whole = name in _INTEGERS
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        kind = "a whole number" if whole else "a number"
        raise InputError(f"must be {kind}, not {value!r}", field=path, mend=f"such as {getattr(Limits(), name):g}")
    least_ok = value >= 0 if name == "processes" else value > 0
    if not least_ok or not value <= CEILINGS[name]:  # NaN is no number of seconds either
        raise InputError(f"{value!r} makes no sense", field=path, mend=f"more than 0, at most {CEILINGS[name]:.0f}")
    return value if whole else float(value)


def _one_of(value: Any, allowed: tuple[str, ...], path: str) -> str:
    if value not in allowed:
        raise InputError(f"{value!r} is not supported", field=path, mend=f"one of {', '.join(allowed)}")
    return str(value)
