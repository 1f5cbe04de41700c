"""The `process` tier: Landlock, seccomp, rlimits and a subreaper, for machines without user namespaces.

Much weaker than `namespace`. It does not cover:

- looking at the machine: names, sizes and times of any file (stat, chdir, readlink; never contents outside of what is
  shown), /proc of other processes of other users, and the host's name and interfaces;
- the mode, owner and times of files that the same user owns, unless the filter is built with `foreign_files=True`;
- UDP and netlink are refused by seccomp alone, TCP also by Landlock from ABI 4 (kernel 6.7) on;
- signals to processes of the same user: refused by Landlock from ABI 6 (kernel 6.12) on, below that by seccomp alone;
- for an ordinary user without a cgroup, processes beyond the program's own: none are allowed, for nothing counts them;
- the scratch folder is an ordinary one: its size is bounded by RLIMIT_FSIZE per file, not in all;
- /tmp and /dev/shm: they are the machine's and out of bounds, so POSIX shared memory and semaphores fail;
- for root: samples run as a user of their own, so an interpreter in a folder that only root may enter does not start.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import secrets
import tempfile
from typing import Final

from scalebox.core.errors import SandboxError
from scalebox.sandbox import probe, tiers
from scalebox.sandbox.linux import calls, family, ids, landlock, owner, tree

_NOTES: Final = [
    "names, sizes and times of all files of the machine can be seen (contents cannot)",
    "processes of the machine can be seen in /proc",
    "the scratch folder is on the machine's own disk, bounded per file only",
    "UDP and netlink are refused by seccomp alone",
    "for an ordinary user without a cgroup, programs may start no other process, whatever their limit says",
    "there is no private /tmp and no /dev/shm: temporary files go where TMPDIR says, POSIX shared memory fails",
]
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOTE_TCP: Final = "TCP is refused by seccomp alone: Landlock ABI {} has no network rules (4 has)"
_NOTE_SIGNALS: Final = "signals to others are refused by seccomp alone: Landlock ABI {} has no signal scope (6 has)"
_NETWORK_SINCE, _SIGNAL_SCOPE_SINCE = 4, 6  # Landlock ABIs


class _Process:
    name = "process"
    strength = 10
    automatic = True
    slowness = 1.0
    own_kernel = False

    def __init__(self) -> None:
        #: Of each agent, a lock on its scratch folder.
        self._agents: dict[int, int] = {}

    def probe(self) -> tiers.Probe:
        return probe_here()

    def launch(self, spec: tiers.LaunchSpec) -> tiers.Launched:
        scratch = _make_scratch()
        held = lock(scratch)
        try:
            launched = tiers.start(self.name, spec, _standing(scratch))
        except BaseException:
            unlock(held)
            remove_folder(scratch)
            raise
        version, own_user = landlock.abi(), ids.may_change_user()
        launched.facts |= {
            "landlock_abi": version,
            "foreign_files": not own_user,
            "signal_others": own_user or version >= _SIGNAL_SCOPE_SINCE,
            "since": owner.start_time(launched.pid, zombies=True) or 0,
        }
        self._agents[launched.pid] = held
        return launched

    def cleanup(self, launched: tiers.Launched) -> None:
        family.kill(launched.pid)
        held = self._agents.pop(launched.pid, -1)
        # What an agent leaves that was itself killed is ours now, as the next subreaper above.
        family.kill_orphans(launched.facts["since"], self._agents)
        remove_folder(launched.facts["scratch"]["root"])
        unlock(held)


def _make_scratch() -> str:
    if os.geteuid() == 0 and not ids.may_change_user():
        raise SandboxError(
            "become an unprivileged user failed: this root lacks the right", step="become an unprivileged user",
            errno=errno.EPERM, mend="add the capabilities SETUID and SETGID, or run as an ordinary user",
        )  # fmt: skip
    try:
        scratch = tempfile.mkdtemp(prefix=owner.tagged(""))
        user = ids.jail_id() if ids.may_change_user() else -1
        for folder in (f"{scratch}/{name}" for name in tree.SCRATCH_FOLDERS):
            os.mkdir(folder, 0o700)
            os.chown(folder, user, user)
        os.chown(scratch, user, user)
    except OSError as error:
        raise SandboxError(
            f"make the scratch folder failed: {error}", step="make the scratch folder", errno=error.errno or 0,
            mend="set TMPDIR to a folder that can be written; root also needs the capability CHOWN",
        ) from error  # fmt: skip
    return scratch


def lock(scratch: str) -> int:
    """Return a descriptor that keeps the folder locked while this process lives; -1 where its disk has no locks.

    It tells those in other PID namespaces that the folder is in use.
    """
    fd = -1
    try:
        fd = os.open(scratch, _FOLDER)
        fcntl.flock(fd, fcntl.LOCK_SH)
    except OSError:
        unlock(fd)
        return -1
    return fd


def unlock(fd: int) -> None:
    if fd >= 0:
        os.close(fd)


def is_locked(scratch: str) -> bool:
    """Return whether a living process holds the folder; also true where that cannot be found out."""
    try:
        fd = os.open(scratch, _FOLDER)
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(fd)


def _standing(scratch: str) -> dict[str, object]:
    return {"scratch": scratch, "outer_id": ids.jail_id() if ids.may_change_user() else None}


def remove_folder(path: str) -> bool:
    """Remove a folder, however deep and whatever permissions its owner took away; say whether it is gone."""
    with contextlib.suppress(OSError):  # gone, or no folder
        _grant_access(path)
        fd = os.open(path, _FOLDER)
        try:
            _empty(fd)
        finally:
            os.close(fd)
        os.rmdir(path)
    return not os.path.lexists(path)


def _empty(root: int) -> None:
    """Remove what can be removed from an open folder.

    Folders in its folders are moved up into it: nothing here goes by the depth that a program gave its tree.
    """
    stuck: set[str] = set()
    while names := set(os.listdir(root)) - stuck:
        for name in names:
            try:
                _take_apart(name, root)
            except OSError:
                stuck.add(name)


def _take_apart(name: str, root: int) -> None:
    try:
        os.unlink(name, dir_fd=root)
        return
    except IsADirectoryError:
        _grant_access(name, root)
    fd = os.open(name, _FOLDER, dir_fd=root)
    try:
        for inner in os.listdir(fd):
            try:
                os.unlink(inner, dir_fd=fd)
            except IsADirectoryError:
                _grant_access(inner, fd)  # a folder that moves is written to
                os.rename(inner, secrets.token_hex(16), src_dir_fd=fd, dst_dir_fd=root)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=root)


def _grant_access(folder: str, above: int | None = None) -> None:
    with contextlib.suppress(OSError):  # a link, or gone
        fd = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
        try:
            os.chmod(f"/proc/self/fd/{fd}", 0o700)
        finally:
            os.close(fd)


@functools.cache
def probe_here() -> tiers.Probe:
    version = landlock.abi()
    notes = list(_NOTES)
    if version < _NETWORK_SINCE:
        notes.append(_NOTE_TCP.format(version))
    if version < _SIGNAL_SCOPE_SINCE:
        notes.append(_NOTE_SIGNALS.format(version))
    if version < 1:
        return probe.failed("use Landlock", errno.EOPNOTSUPP, "this kernel offers no Landlock", notes)
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        return probe.failed("find children", errno.ENOENT, "this kernel does not list a process's children", notes)
    if not calls.has_seccomp():
        return probe.failed("use seccomp", errno.ENOSYS, "this kernel offers no seccomp filters", notes)
    try:
        scratch = _make_scratch()
    except SandboxError as error:
        return tiers.Probe(
            ok=False, step=error.step, errno=error.errno, reason=error.problem, mend=error.mend, notes=notes
        )
    try:
        return probe.by_launch("process", notes, _standing(scratch))
    finally:
        remove_folder(scratch)


TIER: tiers.Tier = _Process()
