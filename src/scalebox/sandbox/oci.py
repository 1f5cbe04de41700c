"""Jails in containers: what the tiers have in common for which an OCI runtime makes them.

There is no daemon and no image. A folder of our own holds the bundle, the runtime's notes of the container, and its
log. It bears our mark, as the control group does that a runtime makes, so that what a dead engine leaves is swept like
anything else. A container is around a worker's jail, not a case: its first program (`agent/enter.py`) becomes the
agent.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import shutil
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import msgspec

from scalebox.core.errors import SandboxError
from scalebox.sandbox import bundle, probe, process, tiers
from scalebox.sandbox.linux import cgroup, family, ids, landlock, owner

_NUMBERS: Final = itertools.count()
_LOG_BYTES: Final = 1000
_END_MS: Final = 5000
#: This Python, which a trial runs.
_INTERPRETER: Final = os.path.realpath(sys.executable)
_PREFIXES: Final = sorted({os.path.realpath(sys.base_prefix)})
_UNIFIED: Final = "/sys/fs/cgroup"


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime: its program, and what it is told before and after its command.

    `own_kernel`: what runs in its containers shares no kernel with us. `groups`: it makes a control group for each,
    and cannot do without.
    """

    path: str
    before: list[str] = []
    after: list[str] = []
    own_kernel: bool = False
    groups: bool = False


class Container(msgspec.Struct, kw_only=True):
    """What there is of a container outside of it."""

    folder: str
    lock: int
    name: str
    grouped: bool = False
    helpers: list[int] = []

    def remove(self) -> None:
        """Remove what a container that has ended left."""
        if self.grouped and (groups := cgroup.unified()):
            cgroup.remove(f"{groups}/{self.name}")
        process.remove_folder(self.folder)
        process.unlock(self.lock)


class ContainerTier:
    """What the tiers have in common that put a container around every worker's jail."""

    name: str
    strength: int
    slowness: float
    own_kernel: bool
    automatic = False

    def __init__(self) -> None:
        self._containers: dict[int, Container] = {}

    def runtime(self) -> tuple[Runtime | None, tiers.Probe]:
        """Return the runtime that is used, and whether one works here."""
        raise NotImplementedError

    def probe(self) -> tiers.Probe:
        return self.runtime()[1]

    def launch(self, spec: tiers.LaunchSpec) -> tiers.Launched:
        runtime, found = self.runtime()
        if runtime is None:
            raise SandboxError(found.reason, step=found.step, errno=found.errno, mend=found.mend)
        launched, container = launch(self.name, runtime, spec)
        self._containers[launched.pid] = container
        abi = 0 if self.own_kernel else landlock.abi()
        launched.facts |= {"landlock_abi": abi, "foreign_files": False, "signal_others": True}
        return launched

    def cleanup(self, launched: tiers.Launched) -> None:
        container = self._containers.pop(launched.pid, None)
        if container is not None:
            end(launched, container, self._containers)


def find(name: str) -> str:
    """Return the path of a runtime, "" where there is none; also from where administrators' programs lie."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin:/sbin") or ""


def launch(
    tier: str, runtime: Runtime, spec: tiers.LaunchSpec, *, trial: bool = False
) -> tuple[tiers.Launched, Container]:
    """Start an agent in a container of its own; a `trial` sets all up, and leaves nothing. Raises SandboxError."""
    name = owner.tagged(f"{tier}-{next(_NUMBERS)}")
    folder = tempfile.mkdtemp(prefix=f"{name}-")
    container = Container(folder=folder, lock=process.lock(folder), name=name, grouped=runtime.groups)
    try:
        shape = _shape(runtime, name, trial=trial)
        try:
            os.chmod(folder, 0o755)  # noqa: S103 - an unprivileged user has to reach the root
            bundle.write(Path(folder), spec, shape)
        except OSError as error:
            raise SandboxError(
                f"write the bundle failed: {error}", step="write the bundle", errno=error.errno or 0
            ) from error
        launched = tiers.start(tier, spec, {"runtime": _order(runtime, folder, name, spec, trial=trial)}, trial=trial)
        launched.facts |= {"moved": True, "keyring": True, "own_kernel": runtime.own_kernel}
        if runtime.own_kernel:
            launched.facts["case_user"] = bundle.INSIDE_ID
    except BaseException:
        container.remove()
        raise
    if trial:
        container.remove()
    container.helpers = _ours(folder)
    return launched, container


def end(launched: tiers.Launched, container: Container, spared: Collection[int]) -> None:
    """Kill and reap the agent if it still is, with all there is of its container, and remove what that leaves.

    Of our children, those in `spared` are left alone.
    """
    killed = [family.kill(pid) for pid in (launched.pid, *container.helpers)]
    for pid in set().union(*killed):
        _reap(pid)
    # Runtimes leave children that have ended, or that end now, to whoever is above them: to us.
    for pid in set(family.children(os.getpid())) - set(spared):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    container.remove()


def _ours(folder: str) -> list[int]:
    """Return those of our children that a runtime has left to serve a container, by the folder that they name."""
    found = []
    for pid in family.children(os.getpid()):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            if folder.encode() in file.read():
                found.append(pid)
    return found


def _reap(pid: int) -> None:
    """Wait for a killed process, which may have come to us, but not for ever: one can hang in the kernel."""
    with contextlib.suppress(OSError):
        ended = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(ended, select.POLLIN)
            poll.poll(_END_MS)
        finally:
            os.close(ended)
        os.waitpid(pid, os.WNOHANG)


def try_out(tier: str, runtime: Runtime, notes: list[str]) -> tiers.Probe:
    """Make a container for real, and end it."""
    spec = tiers.LaunchSpec(argv=[_INTERPRETER], env={}, readable=_PREFIXES, scratch_bytes=1 << 20)
    try:
        launch(tier, runtime, spec, trial=True)
    except SandboxError as error:
        found = probe.failed(error.step, error.errno, error.problem, notes)
        if not found.mend and os.geteuid() != 0:
            found.mend = "run the engine as root, or take the namespace tier"
        return found
    return tiers.Probe(ok=True, notes=notes)


def missing(names: str, mend: str, notes: list[str]) -> tiers.Probe:
    """Report that none of the runtimes is installed."""
    return tiers.Probe(ok=False, step="find a runtime", reason=f"no {names} is installed", mend=mend, notes=notes)


def _shape(runtime: Runtime, name: str, *, trial: bool) -> bundle.Shape:
    if ids.may_change_user():
        user = group = ids.jail_id()
    else:
        user, group = os.geteuid(), os.getegid()
    return bundle.Shape(
        user=user, group=group, mapped=not ids.may_change_user(), own_kernel=runtime.own_kernel,
        cgroup=name if runtime.groups else "", trial=trial,
    )  # fmt: skip


def _order(runtime: Runtime, folder: str, name: str, spec: tiers.LaunchSpec, *, trial: bool) -> dict[str, Any]:
    """Return what the launcher is told of the runtime."""
    handed = 1 + len(spec.pass_fds) + (0 if runtime.own_kernel else len(spec.cgroup_procs))
    before = ["--root", f"{folder}/state", "--log", f"{folder}/log", *runtime.before]
    after = ["--bundle", folder, *runtime.after]
    if not runtime.own_kernel:
        after += ["--preserve-fds", str(handed)]
    if not trial:
        after += ["--detach", "--pid-file", f"{folder}/pid"]
    return {
        "argv": [runtime.path, *before, "run", *after, name],
        "first": 0 if runtime.own_kernel else 3,
        "hand_groups": not runtime.own_kernel,
        "unified": _UNIFIED if not runtime.own_kernel and os.geteuid() == 0 else "",
        "pid_file": "" if trial else f"{folder}/pid",
        "log": f"{folder}/log",
    }
