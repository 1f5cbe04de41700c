"""The jail's root: a private, read-only tree with the toolchains and next to nothing else.

Standard library only: the launcher runs this without site-packages. And no import may be left for later: once the root
has changed, the launcher's own library is out of reach (a text encoding is an import, too, except UTF-8).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from glob import glob
from typing import Final, NamedTuple

from scalebox.sandbox.linux import calls
from scalebox.sandbox.linux.steps import step

#: Parent of the scratch mount. It outlives every remount, so a Landlock rule on it goes on holding.
STABLE: Final = "/box"
SCRATCH: Final = "/box/scratch"
#: Where the tree shows what lies in a folder of the host that is scratch in here.
MOVED: Final = "/shown"
SCRATCH_FOLDERS: Final = ("work", "tmp", "shm")

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
_ETC: Final = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone", "/etc/alternatives",
    "/etc/java*",
)  # fmt: skip
DEVICES: Final = ("null", "zero", "full", "random", "urandom")
ETC_FILES: Final = {
    "passwd": "root:x:0:0:root:/:/bin/false\nsandbox:x:1000:1000::/work:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "group": "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "hostname": "sandbox\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
LINKS: Final = {
    "/work": f"{SCRATCH}/work",
    "/tmp": f"{SCRATCH}/tmp",  # noqa: S108 - the jail's own
    "/dev/shm": f"{SCRATCH}/shm",  # noqa: S108 - the jail's own
    "/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
}  # fmt: skip
#: As container runtimes have it: what root of the machine could write, and what tells of the machine.
PROC_READ_ONLY: Final = ("bus", "driver", "fs", "irq", "sys", "sysrq-trigger")
PROC_MASKED: Final = (
    "acpi", "asound", "interrupts", "kcore", "key-users", "keys", "latency_stats", "sched_debug", "scsi", "timer_list",
    "timer_stats",
)  # fmt: skip
_NEVER_SHOWN: Final = ("/", "/proc", "/dev", "/sys", STABLE)
_OLD: Final = "/.old"
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")  # how the kernel writes blanks and the like
_MAX_LINKS: Final = 40


class Plan(NamedTuple):
    """What to put into the tree: `links` are location and target, `binds` real paths of the host."""

    links: dict[str, str]
    binds: list[str]


def plan(readable: Iterable[str]) -> Plan:
    """Decide what shows `readable` and the system's own folders under their own names.

    Symbolic links on the way are made again, so a path works in the jail as it does outside. Raises
    OSError for a path of `readable` that is not there.
    """
    optional = [*_SYSTEM, *(found for pattern in _ETC for found in glob(pattern))]
    links: dict[str, str] = {}
    binds: set[str] = set()
    for path in optional:
        with contextlib.suppress(FileNotFoundError):
            binds.add(_trace(path, links))
    for path in readable:
        binds.add(_trace(path, links))
    outer = [path for path in sorted(binds) if not any(parent in binds for parent in _parents(path))]
    kept = {at: to for at, to in links.items() if at not in outer and not any(up in outer for up in _parents(at))}
    return Plan(kept, outer)


def _parents(path: str) -> Iterator[str]:
    while path != "/":
        path = os.path.dirname(path)
        yield path


def _trace(path: str, links: dict[str, str]) -> str:
    followed = 0
    done, left = "/", [part for part in path.split("/") if part not in ("", ".")]
    while left:
        part = left.pop(0)
        here = os.path.dirname(done) if part == ".." else os.path.join(done, part)
        if not stat.S_ISLNK(os.lstat(here).st_mode):
            done = here
            continue
        followed += 1
        if followed > _MAX_LINKS:
            raise OSError(errno.ELOOP, f"{path}: {os.strerror(errno.ELOOP)}")
        target = os.readlink(here)
        links[here] = target
        done = "/" if target.startswith("/") else done
        left = [piece for piece in target.split("/") if piece not in ("", ".")] + left
    if not os.path.isabs(path) or done in _NEVER_SHOWN:
        raise OSError(errno.EINVAL, f"{path!r} cannot be shown in the jail")
    return done


def build(shown: Plan) -> dict[str, object]:
    """Make the tree and enter it; return the facts about it. Needs a mount namespace of its own.

    Raises StepFailed at the first step that fails and is not optional.
    """
    with step("make mounts private"):
        calls.mount("none", "/", "", calls.MS_REC | calls.MS_PRIVATE)
    with step("mount the root tmpfs"):
        staging = "/tmp" if os.path.isdir("/tmp") else "/mnt"  # noqa: S108 - only a mount point, and only in here
        calls.mount("tmpfs", staging, "tmpfs", calls.MS_NOSUID | calls.MS_NODEV, "size=4m,nr_inodes=4096,mode=0755")
        os.mkdir(staging + _OLD, 0o700)
    with step("pivot_root"):
        calls.pivot_root(staging, staging + _OLD)
        os.chdir("/")
    _fill_folders()
    for path in shown.binds:
        with step(f"bind {path}"):
            _bind(path, inside(path))
            protect(inside(path))
    links = {at: to for at, to in shown.links.items() if inside(at) == at}
    for at, to in (LINKS | links).items():
        with step(f"link {at}"):
            os.makedirs(os.path.dirname(at), 0o755, exist_ok=True)
            os.symlink(to, at)
    has_proc = _mount_proc()
    with step("detach the old root"):
        calls.unmount(_OLD, calls.MNT_DETACH)
        os.rmdir(_OLD)
    with step("make the root read-only"):
        flags = calls.MS_REMOUNT | calls.MS_BIND | calls.MS_RDONLY | calls.MS_NOSUID | calls.MS_NODEV
        calls.mount("none", "/", "", flags)
    return {"proc": has_proc, "moved": True}


def inside(path: str) -> str:
    """Return where the tree shows a path of the host: where it is there, but for what is below a scratch folder."""
    below = any(at == path or at in _parents(path) for at in ("/work", "/tmp", "/dev/shm"))  # noqa: S108 - the jail's
    return MOVED + path if below else path


def mount_scratch(size: int) -> dict[str, object]:
    """Mount a fresh scratch tmpfs of `size` bytes and make its folders; return how, for those who do it again."""
    options = f"size={size},nr_inodes={inodes_for(size)},mode=0700"
    with step("mount the scratch tmpfs"):
        calls.mount("tmpfs", SCRATCH, "tmpfs", calls.MS_NOSUID | calls.MS_NODEV, options)
        for name in SCRATCH_FOLDERS:
            os.mkdir(f"{SCRATCH}/{name}", 0o700)
    return {"kind": "tmpfs", "root": SCRATCH, "stable": STABLE, "options": options, "folders": list(SCRATCH_FOLDERS)}


def inodes_for(size: int) -> int:
    """Return how many files a scratch of `size` bytes may hold; each costs the kernel about 1 kB."""
    return min(max(size // 8192, 1024), 65536)


def _fill_folders() -> None:
    with step("fill /etc and /dev"):
        for folder in ("/etc", "/dev", "/proc", STABLE, SCRATCH):
            os.mkdir(folder, 0o755)
        for name, text in ETC_FILES.items():
            with open(f"/etc/{name}", "xb") as file:
                file.write(text.encode())
    for name in DEVICES:
        with step(f"bind /dev/{name}"):
            _bind(f"/dev/{name}", f"/dev/{name}")


def _bind(path: str, at: str) -> None:
    source = _OLD + path
    if os.path.isdir(source):
        os.makedirs(at, 0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(at), 0o755, exist_ok=True)
        os.close(os.open(at, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    # Recursive, for the kernel forbids a user namespace to uncover what a mount hides.
    calls.mount(source, at, "", calls.MS_BIND | calls.MS_REC)


def protect(path: str, table: str = f"{_OLD}/proc/thread-self/mountinfo") -> None:
    """Make what is mounted at and below `path` read-only, on any kernel; `table` is where mounts are listed."""
    try:
        calls.protect_tree(path)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
        for below in _mounts_at_or_below(path, table):
            wanted = calls.MS_RDONLY | calls.MS_NOSUID | calls.MS_NODEV | _kept_flags(below)
            calls.mount("none", below, "", calls.MS_REMOUNT | calls.MS_BIND | wanted)


def _kept_flags(path: str) -> int:
    """Return the flags that a remount in a user namespace must repeat, or be refused."""
    now = os.statvfs(path).f_flag
    pairs = (
        (os.ST_NOEXEC, calls.MS_NOEXEC), (os.ST_NOATIME, calls.MS_NOATIME), (os.ST_NODIRATIME, calls.MS_NODIRATIME),
        (os.ST_RELATIME, calls.MS_RELATIME),
    )  # fmt: skip
    return sum(flag for seen, flag in pairs if now & seen)


def _mounts_at_or_below(path: str, table: str) -> list[str]:
    with open(table, "rb") as file:
        points = [os.fsdecode(_OCTAL.sub(lambda match: bytes([int(match[1], 8)]), line.split()[4])) for line in file]
    return [point for point in points if point == path or point.startswith(path + "/")]


def _mount_proc() -> bool:
    """Mount the new PID namespace's /proc, if this machine lets us; without one, most programs still run."""
    try:
        calls.mount("proc", "/proc", "proc", calls.MS_NOSUID | calls.MS_NODEV | calls.MS_NOEXEC)
    except OSError:
        return False
    for name in PROC_READ_ONLY:
        path = f"/proc/{name}"
        if os.path.exists(path):
            with step(f"protect {path}"):
                calls.mount(path, path, "", calls.MS_BIND | calls.MS_REC)
                protect(path)
    for name in PROC_MASKED:
        path = f"/proc/{name}"
        if os.path.exists(path):
            with step(f"mask {path}"):
                if os.path.isdir(path):
                    calls.mount("tmpfs", path, "tmpfs", calls.MS_RDONLY | calls.MS_NOSUID, "size=4k,nr_inodes=2")
                else:
                    calls.mount("/dev/null", path, "", calls.MS_BIND)
    return True
