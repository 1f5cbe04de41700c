"""What dead engines left on this machine: processes, mounts, control groups, files. Found, and removed.

Whose a thing is, its mark says (`linux.owner`), and a mark's owner that is dead stays dead: numbers come again, but not
with the time of their start. So what is found here can be nobody's that lives. A mark of another PID namespace tells
nothing; such a thing has to be older than 30 minutes, and free: a group that the kernel lets us remove, a
folder that nobody keeps locked.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from scalebox.sandbox import process
from scalebox.sandbox.linux import calls, cgroup, owner

#: Age in seconds from which on a thing of another PID namespace may be taken for left.
STALE_S: Final = 30 * 60.0
#: What a process gets to end by itself, and then to be gone once it is killed.
_ENDING_S, _KILLED_S = 2.0, 5.0
_MOUNTED: Final = "a file system is mounted in it"


class LeftOver(msgspec.Struct, kw_only=True):
    """A thing that a dead process left: its path (of a process, its number), and whose it was.

    `why` says why it is still there, though it was to be removed.
    """

    kind: Literal["process", "mount", "cgroup", "file"]
    name: str
    owner: int
    removed: bool = False
    why: str = ""


def sweep(scratch_dir: str = "", *, dry_run: bool = False) -> list[LeftOver]:
    """Remove what is left on this machine, as far as this user may, and return it; `dry_run` only looks. Never raises.

    `scratch_dir` is the folder for scratch space, by default the system's temporary one.
    """
    doomed: set[tuple[int, int]] = set()
    found = _processes(doomed, dry_run=dry_run)
    found += _mounts(doomed, dry_run=dry_run)
    found += _groups(doomed, dry_run=dry_run)
    found += _files(scratch_dir, doomed, dry_run=dry_run)
    return found


def sweep_behind(pid: int, scratch_dir: str = "") -> None:
    """Remove what one process left that was of this user and PID namespace, and is gone. Quick; never raises."""
    for one in _marked_processes():
        if one.mark.pid == pid and one.mark.dead:
            _end(one, patient=False)
    with contextlib.suppress(OSError):
        for folder in cgroup.marked_here(pid):
            cgroup.remove(folder)
    for path, mark in _marked_files(scratch_dir):
        if mark.pid == pid and mark.dead:
            _remove_file(path)


def _is_left(mark: owner.Mark, doomed: set[tuple[int, int]]) -> bool:
    """Return whether the owner is gone, or is itself left over."""
    return mark.dead or (not mark.foreign and (mark.pid, mark.start) in doomed)


# --- processes ---------------------------------------------------------------------------------------------


class _Process(msgspec.Struct, frozen=True):
    pid: int
    start: int
    mark: owner.Mark


def _marked_processes() -> Iterator[_Process]:
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        mark, start = owner.mark_of_process(pid), owner.start_time(pid)
        if mark is not None and start is not None:
            yield _Process(pid, start, mark)


def _processes(doomed: set[tuple[int, int]], *, dry_run: bool) -> list[LeftOver]:
    """Deal with workers whose engine is gone, and with agents whose worker is; add them to `doomed`."""
    there = {(one.pid, one.start): one for one in _marked_processes()}
    found: list[_Process] = []
    while more := [one for key, one in there.items() if key not in doomed and _is_left(one.mark, doomed)]:
        found += more
        doomed |= {(one.pid, one.start) for one in more}
    left = []
    for one in found:
        known = LeftOver(kind="process", name=str(one.pid), owner=one.mark.pid)
        if _may_end(one):
            if not dry_run:
                known.removed = _end(one)
                known.why = "" if known.removed else "it cannot be killed"
            left.append(known)
    return left


def _may_end(one: _Process) -> bool:
    with contextlib.suppress(OSError), _pinned(one) as fd:
        signal.pidfd_send_signal(fd, 0)
        return True
    return False


def _end(one: _Process, *, patient: bool = True) -> bool:
    """Let a process see that its owner is gone, kill it where it does not; return whether it is gone."""
    try:
        with _pinned(one) as fd:
            signal.pidfd_send_signal(fd, signal.SIGCONT)
            if not (patient and _gone(fd, _ENDING_S)):
                signal.pidfd_send_signal(fd, signal.SIGKILL)
            return _gone(fd, _KILLED_S)
    except ProcessLookupError:
        return True
    except OSError:
        return False


@contextlib.contextmanager
def _pinned(one: _Process) -> Iterator[int]:
    """Give a descriptor of this very process; raises ProcessLookupError where its number is another's by now."""
    fd = os.pidfd_open(one.pid)
    try:
        if owner.start_time(one.pid) != one.start:
            raise ProcessLookupError
        yield fd
    finally:
        os.close(fd)


def _gone(fd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


# --- mounts ------------------------------------------------------------------------------------------------


def _mount_points() -> list[str]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return [cgroup.unescaped(line.split()[4]) for line in file]


def _mounts(doomed: set[tuple[int, int]], *, dry_run: bool) -> list[LeftOver]:
    left = []
    for point in reversed(_mount_points()):  # what was mounted last goes first
        marks = [mark for name in point.split("/") if (mark := owner.mark_of(name)) is not None]
        if not marks or not _is_left(marks[0], doomed):
            continue
        one = LeftOver(kind="mount", name=point, owner=marks[0].pid)
        if not dry_run:
            try:
                calls.unmount(point, calls.MNT_DETACH | calls.UMOUNT_NOFOLLOW)
                one.removed = True
            except OSError as error:
                one.why = os.strerror(error.errno or 0)
        left.append(one)
    return left


# --- control groups ----------------------------------------------------------------------------------------


def _groups(doomed: set[tuple[int, int]], *, dry_run: bool) -> list[LeftOver]:
    left = []
    with contextlib.suppress(OSError):
        for folder, mark in list(cgroup.marked()):
            if not os.access(os.path.dirname(folder), os.W_OK):
                continue  # somebody else's
            one = LeftOver(kind="cgroup", name=folder, owner=mark.pid)
            if mark.foreign:
                if _is_stale(folder) and (cgroup.is_empty(folder) if dry_run else _gives_way(folder)):
                    one.removed = not dry_run
                    left.append(one)
            elif _is_left(mark, doomed):
                if not dry_run:
                    one.removed = cgroup.remove(folder)
                    one.why = "" if one.removed else "a process in it cannot be killed"
                left.append(one)
    return left


def _gives_way(folder: str) -> bool:
    """Remove a group in which nobody is."""
    try:
        os.rmdir(folder)
    except OSError:
        return False
    return True


# --- files -------------------------------------------------------------------------------------------------


def _marked_files(scratch_dir: str) -> Iterator[tuple[str, owner.Mark]]:
    for path in sorted(Path(scratch_dir or tempfile.gettempdir()).glob(f"{owner.PREFIX}n*")):
        mark = owner.mark_of(path.name)
        if mark is not None:
            yield str(path), mark


def _files(scratch_dir: str, doomed: set[tuple[int, int]], *, dry_run: bool) -> list[LeftOver]:
    left = []
    for path, mark in _marked_files(scratch_dir):
        stale = mark.foreign and _is_stale(path) and not process.is_locked(path)
        if _is_ours(path) and (stale or _is_left(mark, doomed)):
            one = LeftOver(kind="file", name=path, owner=mark.pid)
            if not dry_run:
                one.why = _remove_file(path)
                one.removed = not one.why
            left.append(one)
    return left


def _remove_file(path: str) -> str:
    """Remove a file, a socket, or a folder with all in it; return why it is still there."""
    if any(point == path or point.startswith(f"{path}/") for point in _mount_points()):
        return _MOUNTED
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        return "" if process.remove_folder(path) else "not all of it can be removed"
    except OSError as error:
        return os.strerror(error.errno or 0)
    return ""


def _is_ours(path: str) -> bool:
    """Return whether it may be removed by this user: in a folder that all may write to, each removes his own."""
    try:
        return os.geteuid() in (0, os.lstat(path).st_uid)
    except OSError:
        return False


def _is_stale(path: str) -> bool:
    try:
        return time.time() - os.lstat(path).st_mtime > STALE_S
    except OSError:
        return False
