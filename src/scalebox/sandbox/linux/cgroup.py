"""Memory and process limits of a jail by control group, version 1 or 2, wherever this process may make one."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from scalebox.sandbox.linux import owner

_REMOVE_TIMEOUT_S: Final = 5.0
_CONTROLLERS: Final = ("memory", "pids")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


class Home(NamedTuple):
    """Where groups of a controller can be made: `version` of the hierarchy, and the folder to make them in."""

    version: int
    folder: str


class _Files(NamedTuple):
    """A version's names for what a memory group offers."""

    limit: str
    usage: str
    peak: str
    events: str


_MEMORY_FILES: Final = {
    1: _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"),
    2: _Files("memory.max", "memory.current", "memory.peak", "memory.events"),
}

#: So close to its limit a group of version 1 comes when that is in the way: memory is charged by the page.
_CLOSE: Final = 1 << 20


class CaseCgroup:
    """A group that bounds and counts the memory and the processes of one jail.

    Its files stay open: a reading costs one system call. Not for use by several threads at once.
    """

    _refusal = ""

    def __init__(self, memory: Home, pids: Home) -> None:
        """Take over two folders that exist (one and the same under version 2); see `create`."""
        self._folders = tuple(dict.fromkeys((memory.folder, pids.folder)))
        self._fds: dict[str, int] = {}
        self._version = memory.version
        names = _MEMORY_FILES[memory.version]
        try:
            self._open("limit", memory.folder, names.limit, os.O_RDWR)
            self._open("usage", memory.folder, names.usage, os.O_RDONLY)
            self._open("events", memory.folder, names.events, os.O_RDONLY)
            self._open("pids", pids.folder, "pids.max", os.O_RDWR)
            if memory.version == 1:
                with contextlib.suppress(OSError):
                    self._open("swap peak", memory.folder, "memory.memsw.max_usage_in_bytes", os.O_RDWR)
            with contextlib.suppress(OSError):  # version 2 has it since 5.19, and can reset it since 6.12
                self._open("peak", memory.folder, names.peak, os.O_RDWR)
            with contextlib.suppress(OSError):  # only where swap is accounted for
                swap = "memory.memsw.limit_in_bytes" if memory.version == 1 else "memory.swap.max"
                self._open("swap", memory.folder, swap, os.O_RDWR)
        except OSError:
            self._close()
            raise
        self._fulls = 0
        if self._version == 2:
            self._fulls = self._count_fulls()
            self._write("swap", 0)

    @classmethod
    def create(cls, name: str) -> CaseCgroup | None:
        """Make a group whose name bears this process's mark and `name`; None where that is not allowed (`why_not`)."""
        made: dict[str, Home] = {}
        try:
            for controller in _CONTROLLERS:
                home = find_home(controller)
                folder = os.path.join(home.folder, owner.tagged(name))
                if folder not in (home.folder for home in made.values()):
                    os.mkdir(folder, 0o755)
                made[controller] = Home(home.version, folder)
            return cls(made["memory"], made["pids"])
        except OSError as error:
            cls._refusal = str(error)
            for home in made.values():
                with contextlib.suppress(OSError):
                    os.rmdir(home.folder)
            return None

    @property
    def procs_files(self) -> list[str]:
        """The files into which a process writes "0" to join."""
        return [os.path.join(folder, "cgroup.procs") for folder in self._folders]

    def set_memory(self, limit: int) -> None:
        """Bound memory, swap included, to `limit` bytes. Raises OSError (EBUSY: more than that is in use)."""
        if self._version == 2:
            self._write("limit", limit)
            return
        self._forget_peaks()
        # Version 1 wants memory ≤ memory + swap at any time, whichever way the limit moves.
        try:
            self._write("limit", limit)
            self._write("swap", limit)
        except OSError:
            self._write("swap", limit)
            self._write("limit", limit)

    def set_pids(self, limit: int) -> None:
        """Bound the number of processes and threads."""
        self._write("pids", limit)

    def usage(self) -> int:
        """Return the bytes charged now, page cache included."""
        return int(self._read("usage"))

    def peak(self) -> int:
        """Return the most bytes charged since the limit was set; since the start, or 0, where it cannot be had."""
        return int(self._read("peak")) if "peak" in self._fds else 0

    def oom_kills(self) -> int:
        """Return how many processes the kernel has killed for want of memory, ever."""
        for line in self._read("events").splitlines():
            if line.startswith(b"oom_kill "):
                return int(line[9:])
        return 0

    def was_full(self) -> bool:
        """Return whether this group's own limit was in the way since the last call, or since it was set.

        A process can be killed without, for the memory of a group above, or of the machine.
        """
        if self._version == 2:
            before, self._fulls = self._fulls, self._count_fulls()
            return self._fulls > before
        limit = int(self._read("limit"))
        full = any(int(self._read(key)) > limit - _CLOSE for key in ("peak", "swap peak") if key in self._fds)
        self._forget_peaks()
        return full or "peak" not in self._fds

    def _count_fulls(self) -> int:
        """Return how often version 2 wanted to kill something for this group's own limit."""
        lines = self._read("events").splitlines()
        return next((int(line[4:]) for line in lines if line.startswith(b"oom ")), 0)

    def _forget_peaks(self) -> None:
        for key in ("peak", "swap peak"):
            with contextlib.suppress(OSError):
                self._write(key, 0)

    def remove(self) -> bool:
        """Kill what is still in the group and remove it; False where something will not go within 5 s."""
        self._close()
        left = [folder for folder in self._folders if not remove(folder)]
        return not left

    def _open(self, key: str, folder: str, name: str, flags: int) -> None:
        self._fds[key] = os.open(os.path.join(folder, name), flags | os.O_CLOEXEC)

    def _close(self) -> None:
        while self._fds:
            os.close(self._fds.popitem()[1])

    def _read(self, key: str) -> bytes:
        return os.pread(self._fds[key], 4096, 0)

    def _write(self, key: str, number: int) -> None:
        if key in self._fds:
            os.pwrite(self._fds[key], b"%d" % number, 0)


def why_not() -> str:
    """Return why the last `create` gave None."""
    return CaseCgroup._refusal


def find_home(controller: str) -> Home:
    """Return where groups of `controller` can be made: under this process's own group, or the nearest above it.

    Raises OSError where there is no such place, or no right to it.
    """
    where, mounts = _own_groups(), _mounts()
    if controller in where and controller in mounts:
        mounted = mounts[controller]
        folder = mounted.folder + below(where[controller], mounted.root)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"no right to make groups in {folder}")
        return Home(1, folder)
    if "" in where and "" in mounts:
        return Home(2, _delegated(mounts[""].folder, below(where[""], mounts[""].root), controller))
    raise FileNotFoundError(f"no control group hierarchy with the {controller} controller is mounted")


def _delegated(mount: str, own: str, controller: str) -> str:
    """Return the nearest folder from our own up whose children get `controller`, and into which we may move.

    A group of version 2 that holds processes itself cannot give its children controllers; its parent may.
    """
    reason = f"no group at or above {own or '/'} hands {controller} on to us"
    path = Path(mount + own)
    while str(path).startswith(mount):
        control = path / "cgroup.subtree_control"
        if os.access(path, os.W_OK) and os.access(path / "cgroup.procs", os.W_OK):
            with contextlib.suppress(OSError):
                if controller not in control.read_text(encoding="ascii").split():
                    control.write_text(f"+{controller}", encoding="ascii")
                return str(path)
        if str(path) == mount.rstrip("/"):
            break
        path = path.parent
    raise PermissionError(reason)


class Mount(NamedTuple):
    """Where a hierarchy is mounted, and which of its groups is the mount's root."""

    folder: str
    root: str


def _own_groups() -> dict[str, str]:
    """Return this process's groups by controller, "" for the unified hierarchy."""
    groups: dict[str, str] = {}
    with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            groups |= dict.fromkeys(controllers.split(","), path)
    return groups


def _mounts() -> dict[str, Mount]:
    """Return the mounted hierarchies by controller, "" for the unified one."""
    mounts = {}
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            head, _, tail = line.partition(" - ")
            kind, _, options = tail.split()[:3]
            root, folder = map(unescaped, head.split()[3:5])
            if kind == "cgroup2":
                mounts[""] = Mount(folder, root)
            elif kind == "cgroup":
                mounts |= dict.fromkeys(options.split(","), Mount(folder, root))
    return mounts


def unified() -> str:
    """Return where the hierarchy of version 2 is mounted, with whatever controllers; "" where it is not."""
    return _mounts().get("", Mount("", "")).folder


def below(path: str, root: str) -> str:
    """Return `path` of a hierarchy as a suffix of the folder where its `root` is mounted; "" for the root itself."""
    inner = path.removeprefix(root.rstrip("/")) if f"{path}/".startswith(f"{root.rstrip('/')}/") else path
    return f"/{inner.strip('/')}" if inner.strip("/") else ""


def unescaped(field: str) -> str:
    """Return a path as it is, of which mountinfo writes blanks and the like as octal numbers."""
    return _OCTAL.sub(lambda octal: chr(int(octal[1], 8)), field)


def marked() -> Iterator[tuple[str, owner.Mark]]:
    """Yield the groups that bear a mark, wherever in the hierarchies, each before those in it.

    Engines make theirs where they stand, which is not where we do: all of a user's groups have to be looked through.
    """
    mounts = _mounts()
    for root in dict.fromkeys(mounts[name].folder for name in (*_CONTROLLERS, "") if name in mounts):
        for folder, names, _ in os.walk(root):  # which bears with groups that go meanwhile
            for name in sorted(names):
                mark = owner.mark_of(name)
                if mark is not None:
                    yield os.path.join(folder, name), mark


def marked_here(pid: int) -> Iterator[str]:
    """Yield the groups with the mark of a process that is gone, of those that are where we make ours."""
    homes = {unified()} - {""}
    for controller in _CONTROLLERS:
        with contextlib.suppress(OSError):
            homes.add(find_home(controller).folder)
    for home in sorted(homes):
        for name in sorted(os.listdir(home)):
            mark = owner.mark_of(name)
            if mark is not None and mark.pid == pid and mark.dead:
                yield os.path.join(home, name)


def is_empty(folder: str) -> bool:
    """Return whether it is certain that no process is in a group, of whatever PID namespace."""
    for name, empty in (("cgroup.events", "populated 0"), ("pids.current", "0")):
        with contextlib.suppress(OSError):
            return empty in Path(folder, name).read_text(encoding="ascii").splitlines()
    return False


def remove(folder: str) -> bool:
    """Kill whatever is in `folder` until it can be removed; False after 5 s."""
    deadline = time.monotonic() + _REMOVE_TIMEOUT_S
    pause = 0.001
    while True:
        try:
            os.rmdir(folder)
            return True
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
        with contextlib.suppress(OSError):
            for pid in Path(folder, "cgroup.procs").read_text(encoding="ascii").split():
                with contextlib.suppress(OSError):
                    if int(pid):  # 0 stands for one of another PID namespace, and would be ourselves
                        os.kill(int(pid), signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, 0.1)
