"""What a process inside the jail does to itself and its scratch space, through ctypes."""

from __future__ import annotations

import ctypes
import os
import resource
import struct
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_prctl = _libc.prctl
#: fork(2) without the interpreter's own work after it, which dirties pages of every child and does nothing for a
#: process of one thread. PyDLL: the interpreter's lock stays held on both sides.
fork = ctypes.PyDLL(None).fork
_clone = ctypes.PyDLL(None).syscall
_clone.restype = ctypes.c_long

_PR_GET_DUMPABLE = 3
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_PR_GET_TID_ADDRESS = 40
_CLONE_NUMBER = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine, -1)
CLONE_PARENT = 0x8000
_CLONE_CHILD_CLEARTID, _CLONE_CHILD_SETTID = 0x200000, 0x1000000
_SECCOMP_SET_MODE_FILTER = 1
# The second changes nothing here, but is unknown before Linux 5.7: a supervisor can let calls through from 5.5 on.
_NEW_LISTENER_ON_5_7 = 8 | 16  # SECCOMP_FILTER_FLAG_NEW_LISTENER, _TSYNC_ESRCH
_MS_NOSUID, _MS_NODEV, _MNT_DETACH = 2, 4, 2
_CAPABILITY_VERSION_3 = 0x20080522
CHANGE_USER = 1 << 6 | 1 << 7  # CAP_SETGID, CAP_SETUID
SCRATCH_DIRS = ("work", "tmp", "shm")


def _failed(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, what + ": " + os.strerror(number))


def clone(flags: int = 0) -> int:
    """Fork a child that signals nobody when it ends and is waited for with __WCLONE or __WALL; 0 in the child."""
    tid = ctypes.c_void_p()
    if _prctl(_PR_GET_TID_ADDRESS, ctypes.byref(tid), 0, 0, 0) == 0:
        flags |= _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID  # as the C library does, which keeps a thread's number
    # The last two trade places between architectures; what stands for the thread's storage is not looked at.
    pid = int(_clone(ctypes.c_long(_CLONE_NUMBER), ctypes.c_long(flags), None, None, tid, tid))
    if pid < 0:
        raise _failed("clone")
    return pid


def trim_memory() -> None:
    """Give free memory back to the kernel, so that no fork copies the entries of its pages."""
    trim = getattr(_libc, "malloc_trim", None)
    if trim is not None:
        trim(0)


def set_dumpable(flag: bool) -> None:
    _prctl(PR_SET_DUMPABLE, int(flag), 0, 0, 0)


def set_subreaper() -> None:
    _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def offer_for_want_of_memory() -> None:
    """Have the kernel kill this process and its children before the agent, and before whatever else runs here."""
    set_dumpable(True)  # else root owns the file
    try:
        fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, b"900")
        finally:
            os.close(fd)
    except OSError:
        pass  # no /proc in this jail: the kernel decides by size alone
    finally:
        set_dumpable(False)


def end_with_parent() -> None:
    """Have the kernel end this process when its parent ends."""
    _prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)


def wake_with_parent() -> None:
    """Have the kernel let this process go on when its parent ends: one that somebody has stopped must see the end."""
    _prctl(PR_SET_PDEATHSIG, 18, 0, 0, 0)


def set_no_new_privileges() -> None:
    if _prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise _failed("no_new_privs")


def drop_capabilities(kept: int = 0) -> None:
    """Give up every capability but those of a mask, for good: no_new_privs keeps exec from bringing any back."""
    _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0)
    if _libc.capset(header, struct.pack("<6I", kept, kept, 0, 0, 0, 0)) != 0:
        raise _failed("capset")


def become(user: int) -> None:
    """Become another user, with no capability. Only a process that kept CHANGE_USER can."""
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    drop_capabilities()


def flush_c_streams() -> None:
    """Write what the program has printed by functions of C."""
    _libc.fflush(None)


class Filter:
    """A seccomp program kept in memory that ctypes owns, so that installing it is one system call."""

    def __init__(self, program: bytes, places: dict[str, list[int]] | None = None) -> None:
        self._code = ctypes.create_string_buffer(program, len(program))
        self._head = ctypes.create_string_buffer(16)
        struct.pack_into("<HxxxxxxQ", self._head, 0, len(program) // 8, ctypes.addressof(self._code))
        self._places = places or {}

    def patch(self, numbers: dict[str, int]) -> None:
        for name, number in numbers.items():
            for offset in self._places.get(name, ()):
                struct.pack_into("<I", self._code, offset, number & 0xFFFFFFFF)

    def install(self, rehearsal: bool = False) -> None:
        if _prctl(_PR_GET_DUMPABLE if rehearsal else PR_SET_SECCOMP, 2, self._head, 0, 0) != 0:
            raise _failed("seccomp")

    def install_with_listener(self, syscall_number: int) -> int:
        """Install and return the descriptor on which the supervisor is asked, or -1 where that cannot be had."""
        fd = _syscall(
            ctypes.c_long(syscall_number),
            ctypes.c_long(_SECCOMP_SET_MODE_FILTER),
            ctypes.c_long(_NEW_LISTENER_ON_5_7),
            self._head,
        )
        return int(fd)


def landlock_ruleset(rules: dict[str, Any]) -> int:
    """Create the ruleset that `rules` describes (scalebox.sandbox.linux.landlock.rules) and return its descriptor."""
    attr = bytes.fromhex(rules["attr"])
    numbers = rules["syscalls"]
    fd = int(_syscall(ctypes.c_long(numbers["create"]), attr, ctypes.c_long(rules["size"]), ctypes.c_long(0)))
    if fd < 0:
        raise _failed("landlock_create_ruleset")
    for path, access in rules["paths"]:
        try:
            parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, PermissionError):  # what this user cannot reach needs no right
            continue
        beneath = struct.pack("<Qi", access, parent)
        done = _syscall(ctypes.c_long(numbers["add"]), ctypes.c_long(fd), ctypes.c_long(1), beneath, ctypes.c_long(0))
        os.close(parent)
        if done != 0:
            raise _failed("landlock_add_rule " + path)
    return fd


def without_scratch(rules: dict[str, Any] | None, root: str) -> dict[str, Any] | None:
    """Return the rules with a right on "/" replaced by one on all that is in it, except for where the scratch lies."""
    if rules is None:
        return None
    paths = []
    for path, access in rules["paths"]:
        names = [name for name in os.listdir("/") if not root.startswith("/" + name + "/")] if path == "/" else None
        paths += [[path, access]] if names is None else [["/" + name, access] for name in names]
    return {**rules, "paths": paths}


def landlock_restrict(fd: int, rules: dict[str, Any]) -> None:
    number = rules["syscalls"]["restrict"]
    if _syscall(ctypes.c_long(number), ctypes.c_long(fd), ctypes.c_long(0)) != 0:
        raise _failed("landlock_restrict_self")


def limit(name: str, soft: int, hard: int | None = None) -> None:
    """Set a resource limit as far as the inherited hard limit allows."""
    number = getattr(resource, "RLIMIT_" + name)
    ceiling = resource.getrlimit(number)[1]
    hard = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        hard = ceiling if hard == resource.RLIM_INFINITY else min(hard, ceiling)
        soft = hard if soft == resource.RLIM_INFINITY else min(soft, hard)
    resource.setrlimit(number, (soft, hard))


def _run_tool(arguments: list[str]) -> None:
    pid = os.posix_spawnp(arguments[0], arguments, {"PATH": "/usr/bin:/bin"})
    os.waitpid(pid, 0)


class Scratch:
    """The jail's writable space: /work, /tmp and /dev/shm, one size cap, fresh whenever something was left there."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.root = config["root"]
        self.tmpfs: bool = config["kind"] == "tmpfs"
        self.size: int = config["bytes"]
        #: Whose the folders are, where programs run as another user than the agent.
        self._owner: int = config.get("owner", 0)
        self._counts_files = config.get("counts_files", True)
        self._places = [os.path.join(self.root, name) for name in SCRATCH_DIRS]
        self.work = self._places[0]
        self._kept: list[str] = []
        #: What `look` gives where nothing was left.
        self.clean: list[Any] | None = None

    def resize(self, size: int) -> bool:
        """Use another size from the next fresh space on; return True where the present one does not fit."""
        changed = size != self.size
        self.size = size
        return changed and self.tmpfs

    def look(self) -> list[Any]:
        """Return what changes when anything is made, kept or altered in the space."""
        return [*self.usage(), *self.marks()]

    def usage(self) -> list[int]:
        """Return what is free in a space of its own."""
        usage = os.statvfs(self.root)
        return [usage.f_bfree, usage.f_ffree] if self.tmpfs else []

    def marks(self) -> list[int]:
        """Return what changes when anything is made or altered directly in one of the folders."""
        marks: list[int] = []
        for place in (self.root, *self._places, *self._kept):
            entry = os.stat(place)
            marks += (entry.st_ino, entry.st_mode, entry.st_nlink, entry.st_mtime_ns, entry.st_ctime_ns)
        return marks

    def remember(self) -> None:
        self.clean = self.look()

    def keep(self, paths: list[str]) -> None:
        """Take what was put there, and must not be altered, for a part of the clean space."""
        if paths:
            self._kept = paths
            self.remember()

    def dirty(self) -> bool:
        try:
            return self.look() != self.clean
        except OSError:
            return True

    def used(self) -> bool:
        """Return whether anything was made, kept or altered where a program may write."""
        others = 5 + 2 * self.tmpfs  # marks of the root, and of the whole
        try:
            return self.clean is None or self.look()[others:] != self.clean[others:]
        except OSError:
            return True

    def renew(self) -> None:
        """Throw the space away, whatever is in it, and make a fresh one."""
        os.chdir("/")
        if self.tmpfs:
            self._remount()
        else:
            self._empty()
        for place in self._places:
            os.mkdir(place, 0o700)
            if self._owner:
                os.chmod(place, 0o777)  # noqa: S103 - both users write there
                os.chown(place, self._owner, self._owner)
        self.remember()

    def _empty(self) -> None:
        """Remove all there is, at any depth, whatever its modes, and through no link."""
        os.chmod(self.root, 0o700)
        # A link among the arguments would be followed, which those met on the way are not: so the root is the argument.
        _run_tool(["chmod", "-R", "u+rwx", "--", self.root])
        names = [os.path.join(self.root, name) for name in os.listdir(self.root)]
        for start in range(0, len(names), 500):
            _run_tool(["rm", "-rf", "--", *names[start : start + 500]])

    def _remount(self) -> None:
        root = self.root.encode()
        if _libc.umount2(root, _MNT_DETACH) != 0:
            raise _failed("umount scratch")
        files = ",nr_inodes=%d" % max(1024, self.size // 4096) if self._counts_files else ""
        options = "size=%d%s,mode=%s" % (self.size, files, "0711" if self._owner else "0700")
        if _libc.mount(b"scratch", root, b"tmpfs", _MS_NOSUID | _MS_NODEV, options.encode()) != 0:
            raise _failed("mount scratch")
