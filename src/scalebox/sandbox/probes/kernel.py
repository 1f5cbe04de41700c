"""The kernel's surface: what could change the machine, or lead out of a jail, is refused."""

from __future__ import annotations

import os
import signal

from scalebox.core.limits import Limits
from scalebox.sandbox.probes.scene import (
    Broken,
    Check,
    Probe,
    Scene,
    Skip,
    describe,
    needs_children,
    needs_namespaces,
    needs_our_kernel,
    refused,
)

_MOUNTS = """
text = b"/"
reach("mount", b"none", text, b"nosuchfs", 0, 0)
reach("mount", b"none", b"/work", b"tmpfs", 0, 0) if JAILED else None
reach("umount2", b"/nosuchplace", 0)
reach("umount2", b"/box/scratch", 2) if JAILED else None
reach("pivot_root", b"/nosuchplace", b"/nosuchplace")
reach("chroot", b"/nosuchplace")
reach("open_tree", -1, b"/nosuchplace", 0)
reach("move_mount", -1, b"", -1, b"", 0)
reach("fsopen", b"nosuchfs", 0)
reach("fsconfig", -1, 0, 0, 0, 0)
reach("mount_setattr", -1, b"", 0, 0, 0)
reach("swapon", b"/nosuchplace", 0)
reach("quotactl", 0, 0, 0, 0)
"""

_NAMESPACES = """
for name, flag in (("mount", 0x20000), ("cgroup", 0x02000000), ("uts", 0x04000000), ("ipc", 0x08000000),
                   ("user", 0x10000000), ("pid", 0x20000000), ("net", 0x40000000)):
    attempt("unshare " + name, call, "unshare", flag) if JAILED else None
    attempt("clone into a new %s" % name, call, "clone", flag | 17, 0, 0, 0, 0) if JAILED else None
attempt("unshare files", call, "unshare", 0x400)
attempt("clone3", call, "clone3", bytes(88), 88) if JAILED else None
reach("setns", -1, 0)
if JAILED:
    for name in ("mnt", "net", "pid", "user"):
        def join(name=name):
            call("setns", os.open("/proc/1/ns/" + name, os.O_RDONLY), 0)
        attempt("join the %s namespace of the agent" % name, join)
    def write(path, text):
        with open(path, "w") as file:
            file.write(text)
    attempt("map user ids", write, "/proc/self/uid_map", "0 0 1")
    attempt("map group ids", write, "/proc/self/gid_map", "0 0 1")
"""

_KERNEL = """
reach("bpf", 99, 0, 0)
reach("perf_event_open", 0, -1, -1, -1, 0)
reach("userfaultfd", -1)
reach("io_uring_setup", 1, 0)
reach("init_module", 0, 0, b"")
reach("finit_module", -1, b"", 0)
reach("delete_module", b"nosuchmodule", 0)
reach("kexec_load", 0, 99, 0, -1)
reach("reboot", 0, 0, 0, 0)
reach("syslog", 99, 0, 0)
reach("acct", b"/nosuchplace")
reach("iopl", 99)
reach("ioperm", 0x10000, 1, 1)
reach("modify_ldt", 99, 0, 0)
reach("personality", 0x0040000)
reach("fanotify_init", -1, 0)
reach("open_by_handle_at", -1, 0, 0)
reach("name_to_handle_at", -1, b"/nosuchplace", 0, 0, 0)
reach("lookup_dcookie", 0, 0, 0)
reach("seccomp", 1, 8, 0) if JAILED else None
reach("migrate_pages", -1, 0, 0, 0)
reach("process_madvise", -1, 0, 0, 0, 0)
reach("process_mrelease", -1, 0)
reach("vhangup") if JAILED else None
"""

_CLOCK = """
reach("settimeofday", 1, 0)
reach("clock_settime", 0, 0)
reach("adjtimex", 0)
reach("clock_adjtime", 0, 0)
"""

_HOST_NAME = """
reach("sethostname", 0, -1)
reach("setdomainname", 0, -1)
"""

_HOST_SEEN = """
import socket
look("name of the host", HOST["name"] in (os.uname().nodename, socket.gethostname()))
"""

_DEVICES = """
import fcntl, stat
known = {"null", "zero", "full", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr", "ptmx", "pts", "mqueue",
         "core", "tty"}
def make(kind, number):
    os.mknod("device", kind | 0o666, number)
attempt("a character device", make, stat.S_IFCHR, os.makedev(1, 3)) if JAILED else None
attempt("a block device", make, stat.S_IFBLK, os.makedev(7, 0)) if JAILED else None
attempt("push back input", fcntl.ioctl, 0, 0x5412, b"x") if JAILED else None
for name in ("mem", "port", "kmem", "kvm", "fuse", "loop0", "loop-control", "net/tun", "vda", "sda", "nvme0n1", "tty",
             "tty0", "console", "input/event0", "dri/card0", "nvidia0", "hwrng", "vhost-net", "rtc0", "ptmx"):
    if JAILED:
        attempt("open /dev/" + name, os.open, "/dev/" + name, os.O_RDWR | os.O_NONBLOCK)
    else:
        look("see /dev/" + name, os.path.exists("/dev/" + name))
"""

_DEVICES_SEEN = """
known = {"null", "zero", "full", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr"}
look("devices", set(os.listdir("/dev")) - known)
"""

_FOREIGN_CALLS = """
import mmap
def run(code):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)()
say("page", "made")
{call}
"""
#: mov eax, 39 | 0x40000000 (getpid of the x32 interface); syscall; ret
_X32 = _FOREIGN_CALLS.replace("{call}", 'look("x32", run(bytes.fromhex("b8270000400f05c3")) > 0)')
#: mov eax, 20 (getpid of the 32-bit interface); int 0x80; ret
_I386 = _FOREIGN_CALLS.replace("{call}", 'look("32 bits", run(bytes.fromhex("b814000000cd80c3")) > 0)')

_CORE = """
import resource, signal
try:
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
except ValueError as error:
    pass
pid = os.fork()
if pid == 0:
    signal.signal(signal.SIGABRT, signal.SIG_DFL)
    os.abort()
_, status = os.waitpid(pid, 0)
look("core dumped", os.WCOREDUMP(status))
look("core file", [name for name in os.listdir(".") if "core" in name])
"""

_SET_UID = """
import stat, subprocess
found = []
for folder in ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/lib/openssh", "/usr/local/bin"):
    try:
        found += [entry.path for entry in os.scandir(folder) if entry.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)]
    except OSError:
        pass
ids = os.getresuid()
for path in sorted(found):
    look(path + " gives its rights", not os.statvfs(path).f_flag & os.ST_NOSUID and libc.prctl(39, 0, 0, 0, 0) == 0)
look("rights of one's own set-uid copy", not os.statvfs(".").f_flag & os.ST_NOSUID and libc.prctl(39, 0, 0, 0, 0) == 0)
"""

_LIMITS_RAISED = """
import resource
names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
for name in names:
    number = getattr(resource, name)
    soft, hard = resource.getrlimit(number)
    if hard != resource.RLIM_INFINITY:
        attempt("raise " + name, resource.setrlimit, number, (hard, hard + 1))
        attempt("lift " + name, resource.setrlimit, number, (hard, resource.RLIM_INFINITY))
    if JAILED:
        for who, pid in (("agent", 1), ("compile process", os.getppid())):
            attempt("%s of the %s" % (name, who), resource.prlimit, pid, number)
    attempt("%s of the victim" % name, resource.prlimit, HOST["victim"], number)
"""

_SCHEDULING = """
attempt("higher priority", os.nice, -5) if JAILED else None
attempt("real time", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50)) if JAILED else None
attempt("real-time input and output", call, "ioprio_set", 1, 0, 1 << 13) if JAILED else None
others = {"agent": 1, "compile process": os.getppid()} if JAILED else {}
others["victim"] = HOST["victim"]
for who, pid in others.items():
    attempt("priority of the " + who, os.setpriority, os.PRIO_PROCESS, pid, 15)
    attempt("scheduler of the " + who, os.sched_setscheduler, pid, os.SCHED_IDLE, os.sched_param(0)) if JAILED else None
    attempt("input and output of the " + who, call, "ioprio_set", 1, pid, 3 << 13) if JAILED else None
    attempt("pages of the " + who, call, "move_pages", pid, 0, 0, 0, 0, 0)
attempt("priority of everybody", os.setpriority, os.PRIO_USER, os.getuid(), 10) if JAILED else None
attempt("priority of the agent's group", os.setpriority, os.PRIO_PGRP, 1, 10) if JAILED else None
before = os.sched_getaffinity(0)
try:
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
except OSError:
    pass
look("more cores", os.sched_getaffinity(0) - before) if JAILED else None
"""


def _only_on(machine: str) -> Skip:
    return lambda _: "" if os.uname().machine == machine else f"only {machine} has it"


def _check_foreign(program: str) -> Check:
    def check(scene: Scene) -> str:
        outcome = scene.run(program)
        if b"page: made" not in outcome.stdout:
            return f"no page can be made executable ({describe(outcome)})"
        if b": done" in outcome.stdout:
            raise Broken("a system call of the other interface was answered")
        killed = outcome.signal in (signal.SIGSYS, signal.SIGSEGV, signal.SIGILL)
        if not killed and b": nothing" not in outcome.stdout:
            raise Broken(f"the call was neither refused nor fatal ({describe(outcome)})")
        answered = b": done" in scene.outside(program)
        return f"{describe(outcome)}; outside the jail it is {'answered' if answered else 'not answered, either'}"

    return check


_CHILDREN = Limits(cpu_s=10.0, wall_s=60.0, processes=4)

PROBES = (
    Probe(
        name="kernel.mounts",
        promise="Nothing can be mounted or unmounted, no root changed.",
        check=refused(_MOUNTS),
    ),
    Probe(
        name="kernel.namespaces",
        promise="No namespace can be made or joined, no ids mapped.",
        check=refused(_NAMESPACES, limits=_CHILDREN),
    ),
    Probe(
        name="kernel.dangerous",
        promise="BPF, performance events, user faults, io_uring, modules, kexec, reboot and their like are refused.",
        check=refused(_KERNEL),
    ),
    Probe(name="kernel.clock", promise="The machine's clock cannot be set.", check=refused(_CLOCK)),
    Probe(name="kernel.host_name", promise="The host's name cannot be set.", check=refused(_HOST_NAME)),
    Probe(
        name="kernel.host_seen",
        promise="The host's name cannot be seen.",
        check=refused(_HOST_SEEN),
        skip=needs_namespaces("it has no UTS namespace"),
    ),
    Probe(
        name="kernel.devices",
        promise="No device can be made or opened beyond null, zero, full and random.",
        check=refused(_DEVICES),
        skip=needs_our_kernel("devices are its own, and lead nowhere"),
    ),
    Probe(
        name="kernel.devices_seen",
        promise="There are no other devices in /dev.",
        check=refused(_DEVICES_SEEN),
        skip=needs_our_kernel(
            "devices are its own, and lead nowhere",
            also=needs_namespaces("/dev is the machine's, though nothing in it can be opened"),
        ),
    ),
    Probe(
        name="kernel.x32",
        promise="System calls by the x32 interface are refused.",
        check=_check_foreign(_X32),
        skip=_only_on("x86_64"),
    ),
    Probe(
        name="kernel.i386",
        promise="System calls by the 32-bit interface are refused.",
        check=_check_foreign(_I386),
        skip=_only_on("x86_64"),
    ),
    Probe(
        name="kernel.core",
        promise="A crash writes no core file.",
        check=refused(_CORE, limits=_CHILDREN, control=False),
        skip=needs_children,
    ),
    Probe(
        name="kernel.set_uid",
        promise="Set-uid programs give nobody their rights.",
        check=refused(_SET_UID),
    ),
    Probe(
        name="kernel.limits",
        promise="Resource limits cannot be raised, nor those of others read or set.",
        check=refused(_LIMITS_RAISED),
    ),
    Probe(
        name="kernel.scheduling",
        promise="Priority cannot be raised, cores cannot be added, the scheduling of others not be touched.",
        check=refused(_SCHEDULING),
        skip=needs_our_kernel("priorities are its own, and mean nothing outside"),
    ),
)
