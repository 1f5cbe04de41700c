"""The bundle of a container: its configuration for an OCI runtime, and the root that goes with it.

The root is nearly empty, and of our own making; the runtime mounts into it what may be seen, read-only. What the tree
of the `namespace` tier (`linux.tree`) shows is shown here, under the same names.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import msgspec

from scalebox.sandbox import agent
from scalebox.sandbox.linux import calls, tree
from scalebox.sandbox.tiers import LaunchSpec

#: Whom programs run as in a container; on a kernel of its own the agent is another, or they could look into it.
INSIDE_ID, KEEPER_ID = 1000, 1001
_NAMESPACES: Final = ("pid", "network", "ipc", "uts", "mount", "cgroup")
_CAPABILITY_SETS: Final = ("bounding", "effective", "permitted", "inheritable", "ambient")
_CAPABILITIES: Final = {"CAP_KILL": calls.CAP_KILL, "CAP_SYS_ADMIN": calls.CAP_SYS_ADMIN}
_KEEPERS: Final = ("CAP_CHOWN", "CAP_SETGID", "CAP_SETUID")
#: Devices that a kernel of its own brings along as they should be, but for shared memory: that would be no scratch.
_COVERED: Final = ("/dev/shm", "/sys")  # noqa: S108 - the container's own


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from one container to another.

    `user` is whom the first program runs as, to the machine; `mapped` says that this is the only one there is, as for
    ordinary users, and is called 0 inside. `own_kernel`: no kernel is shared, so the first program keeps the rights to
    mount and to kill, which are none over the machine, instead of making a user namespace where it has them.
    """

    user: int
    group: int
    mapped: bool = False
    own_kernel: bool = False
    cgroup: str = ""
    trial: bool = False


def write(folder: Path, spec: LaunchSpec, shape: Shape) -> None:
    """Write what the runtime needs to start the agent of `spec`. Raises OSError."""
    shown = tree.plan(spec.readable)
    _make_root(folder, shown)
    configuration = {
        "ociVersion": "1.0.0",
        "process": _process(spec, shape),
        "root": {"path": "rootfs", "readonly": True},
        "hostname": "sandbox",
        "mounts": _mounts(folder, shown, shape),
        "linux": _linux(shape),
    }
    (folder / "config.json").write_text(json.dumps(configuration), encoding="utf-8")


def _make_root(folder: Path, shown: tree.Plan) -> None:
    root = folder / "rootfs"
    for name in ("etc", "dev", "proc", tree.SCRATCH[1:]):
        (root / name).mkdir(parents=True)
    for name, text in tree.ETC_FILES.items():
        (root / "etc" / name).write_text(text, encoding="utf-8")
    links = {at: to for at, to in shown.links.items() if tree.inside(at) == at}
    for at, to in (tree.LINKS | links).items():
        place = root / at[1:]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(to)
    for path in shown.binds:
        place = root / tree.inside(path)[1:]
        if os.path.isdir(path):
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    for name in tree.DEVICES:
        (root / "dev" / name).touch()
    for below, _, _ in os.walk(root):
        os.chmod(below, 0o755)  # noqa: S103 - it is shown, and read-only
    (root / "dev").rename(folder / "dev")
    (root / "dev").mkdir()


def _mounts(folder: Path, shown: tree.Plan, shape: Shape) -> list[dict[str, Any]]:
    mounts = [_mount("/proc", "proc", "proc", "nosuid", "nodev", "noexec")]
    if not shape.own_kernel:
        # Runtimes make devices of their own choice, a terminal's among them, but where /dev is there already.
        mounts.append(_mount("/dev", "bind", str(folder / "dev"), "bind", "ro", "nosuid"))
        mounts += [_mount(f"/dev/{name}", "bind", f"/dev/{name}", "bind") for name in tree.DEVICES]
    return mounts + [_mount(tree.inside(path), "bind", path, "rbind", "ro", "nosuid", "nodev") for path in shown.binds]


def _mount(at: str, kind: str, source: str, *options: str) -> dict[str, Any]:
    return {"destination": at, "type": kind, "source": source, "options": list(options)}


def _linux(shape: Shape) -> dict[str, Any]:
    settings: dict[str, Any] = {"namespaces": [{"type": kind} for kind in _NAMESPACES]}
    if not shape.own_kernel:
        settings["maskedPaths"] = [f"/proc/{name}" for name in tree.PROC_MASKED]
        settings["readonlyPaths"] = [f"/proc/{name}" for name in tree.PROC_READ_ONLY]
    if shape.mapped:
        settings["namespaces"].append({"type": "user"})
        settings["uidMappings"] = [{"containerID": 0, "hostID": shape.user, "size": 1}]
        settings["gidMappings"] = [{"containerID": 0, "hostID": shape.group, "size": 1}]
    if shape.cgroup:
        settings["cgroupsPath"] = f"/{shape.cgroup}"
    return settings


def _process(spec: LaunchSpec, shape: Shape) -> dict[str, Any]:
    user, group = (KEEPER_ID, KEEPER_ID) if shape.own_kernel else (shape.user, shape.group)
    kept = [*_CAPABILITIES, *_KEEPERS] if shape.own_kernel else []
    if shape.mapped:
        user = group = 0
        kept = kept or ["CAP_SETFCAP"]  # without which nobody maps 0 into a namespace below
    executable = tree.inside(spec.argv[0])
    if shape.own_kernel and not shape.trial:
        # There an unprivileged user's capabilities end with exec: the first program has the agent's own options, and
        # goes on as the agent.
        options, boot, script = spec.argv[1:-2], spec.argv[-2], spec.argv[-1]
        arguments = [*options, f"{_first_program(spec, shape, '')}{boot}\n", script]
    else:
        arguments = ["-I", "-S", "-B", "-c", _first_program(spec, shape, executable)]
    return {
        "terminal": False,
        "user": {"uid": user, "gid": group},
        "args": [executable, *arguments],
        "env": [f"{name}={value}" for name, value in ({"LANG": "C.UTF-8"} | spec.env).items()],
        "cwd": "/",
        "capabilities": dict.fromkeys(_CAPABILITY_SETS, kept),
        "noNewPrivileges": True,
    }


def _first_program(spec: LaunchSpec, shape: Shape, executable: str) -> str:
    """Return the text of the first program, told what to do."""
    first = 0 if shape.own_kernel else 3
    groups = [] if shape.own_kernel else [first + 1 + index for index in range(len(spec.cgroup_procs))]
    own = first + 1 + len(groups)
    scratch = {"kind": "tmpfs", "root": tree.SCRATCH, "stable": tree.STABLE, "folders": list(tree.SCRATCH_FOLDERS)}
    counts = not shape.own_kernel
    told = {
        "status": first,
        "groups": groups,
        "passed": [(own + index, number) for index, number in enumerate(spec.pass_fds)],
        "inner_id": None if shape.own_kernel else INSIDE_ID,
        "capabilities": list(_CAPABILITIES.values()),
        "covered": list(_COVERED) if shape.own_kernel else [],
        "scratch": {**scratch, "counts_files": counts, "owner": INSIDE_ID if shape.own_kernel else 0},
        "scratch_options": f"size={spec.scratch_bytes}" + f",nr_inodes={tree.inodes_for(spec.scratch_bytes)}" * counts,
        "executable": executable,
        "argv": spec.argv,
        "env": spec.env,
        "trial": shape.trial,
    }
    return f"{agent.source('enter')}\n\nmain({told!r})\n"
