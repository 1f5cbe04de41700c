"""System calls that no program may make, by C programs: one call each, then a wrong answer, or a right one.

A call that is refused and recorded has to be named; one that does not exist for programs (ENOSYS) leaves a wrong answer
a wrong answer. Each program says "reached" instead where the kernel did what was asked, which no expected output is.
"""

# ruff: noqa: E501 - one program to a line

from __future__ import annotations

from tests.hostile.programs import Attack, native

_HEAD = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char area[65536];
static int answer = 8;
#define TRY(call) do { errno = 0; if ((long)(call) >= 0) { puts("reached"); exit(0); } } while (0)
int main(void) {
"""


def c(name: str, verdicts: str, body: str, denied: str = "", **limits: int) -> Attack:
    """Return an attack by the body of a C program's main()."""
    return native("c", name, verdicts, f'{_HEAD}{body}\nprintf("%d\\n", answer);\nreturn 0;\n}}', denied, **limits)


def _refused(kind: str, name: str, call: str) -> Attack:
    return c(f"c: {name}", "resource_denied", f"TRY({call});", kind)


def _unknown(name: str, call: str) -> Attack:
    return c(f"c: {name}", "output_mismatch", f"TRY({call});")


_ME, _ABOVE = "syscall(SYS_getpid)", "syscall(SYS_getppid)"

#: Refused, recorded and named.
REFUSED = (
    _refused("network: socket(AF_INET)", "an internet socket", "socket(AF_INET, SOCK_STREAM, 0)"),
    _refused("network: socket(AF_INET6)", "a datagram socket of IPv6", "socket(AF_INET6, SOCK_DGRAM, 0)"),
    _refused("network: socket(AF_INET)", "a raw socket", "socket(AF_INET, SOCK_RAW, 255)"),
    _refused("network: socket(AF_PACKET)", "a packet socket", "socket(AF_PACKET, SOCK_RAW, 0x0300)"),
    _refused("network: socket(AF_NETLINK)", "a netlink socket", "socket(AF_NETLINK, SOCK_RAW, 0)"),
    _refused("network: socket(AF_VSOCK)", "a socket to the hypervisor", "socket(40, SOCK_STREAM, 0)"),
    _refused("network: socket(family 38)", "a socket of the kernel's ciphers", "socket(38, SOCK_SEQPACKET, 0)"),
    _refused("network: socket(family 31)", "a Bluetooth socket", "socket(31, SOCK_RAW, 1)"),
    _refused("network: socketpair", "a pair of datagram sockets", "socketpair(AF_UNIX, SOCK_DGRAM, 0, (int *)area)"),
    _refused("network: connect", "a connection on a pair", "(socketpair(AF_UNIX, SOCK_STREAM, 0, (int *)area), connect(*(int *)area, (void *)(area + 64), 110))"),
    _refused("network: bind", "a name for a pair", "(socketpair(AF_UNIX, SOCK_STREAM, 0, (int *)area), area[64] = 1, bind(*(int *)area, (void *)(area + 64), 2))"),
    _refused("debugging: ptrace", "tracing the parent", "ptrace(PTRACE_ATTACH, getppid(), 0, 0)"),
    _refused("debugging: ptrace", "being traced", "ptrace(PTRACE_TRACEME, 0, 0, 0)"),
    _refused("debugging: process_vm_readv", "memory of the parent, read", "syscall(SYS_process_vm_readv, getppid(), (&(struct iovec){area, 8}), 1, (&(struct iovec){area, 8}), 1, 0)"),
    _refused("debugging: process_vm_writev", "memory of the parent, written", "syscall(SYS_process_vm_writev, getppid(), (&(struct iovec){area, 8}), 1, (&(struct iovec){area, 8}), 1, 0)"),
    _refused("debugging: pidfd_getfd", "a descriptor of another", "syscall(438, 0, 0, 0)"),
    _refused("debugging: kcmp", "a comparison of processes", f"syscall(SYS_kcmp, {_ME}, {_ME}, 0, 0, 0)"),
    _refused("debugging: process_madvise", "advice on another's memory", "syscall(440, 0, 0, 0, 0, 0)"),
    _refused("namespaces: unshare", "a user namespace", "unshare(CLONE_NEWUSER)"),
    _refused("namespaces: unshare", "a network namespace", "unshare(CLONE_NEWNET)"),
    _refused("namespaces: clone", "a process in a namespace", "syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)"),
    _refused("namespaces: setns", "the parent's namespace", "setns(0, 0)"),
    _refused("process creation: fork", "a child", "syscall(SYS_fork)"),
    _refused("process creation: vfork", "a child by vfork", "syscall(SYS_vfork)"),
    _refused("process creation: clone", "a child by clone", "syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)"),
    _refused("process control: clone", "a sibling", "syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)"),
    _refused("mounts: mount", "a mount", 'mount("none", "/work", "tmpfs", 0, 0)'),
    _refused("mounts: umount2", "an unmount", 'umount2("/", MNT_DETACH)'),
    _refused("mounts: pivot_root", "another root", 'syscall(SYS_pivot_root, ".", ".")'),
    _refused("mounts: chroot", "a changed root", 'chroot(".")'),
    _refused("mounts: open_tree", "a copy of the tree", 'syscall(428, -100, "/", 1)'),
    _refused("mounts: fsopen", "a file system opened", 'syscall(430, "tmpfs", 0)'),
    _refused("mounts: swapon", "swap space", 'syscall(SYS_swapon, "/work/swap", 0)'),
    _refused("kernel: bpf", "a BPF map", "syscall(SYS_bpf, 0, area, 128)"),
    _refused("kernel: perf_event_open", "a performance event", "syscall(SYS_perf_event_open, area, 0, -1, -1, 0)"),
    _refused("kernel: userfaultfd", "user faults", "syscall(SYS_userfaultfd, 1)"),
    _refused("kernel: init_module", "a module", 'syscall(SYS_init_module, area, 64, "")'),
    _refused("kernel: finit_module", "a module of a file", 'syscall(SYS_finit_module, 0, "", 0)'),
    _refused("kernel: kexec_load", "another kernel", "syscall(SYS_kexec_load, 0, 0, 0, 0)"),
    _refused("kernel: reboot", "a reboot", "syscall(SYS_reboot, 0xfee1dead, 672274793, 0, 0)"),
    _refused("kernel: syslog", "the kernel's messages", "syscall(SYS_syslog, 3, area, 4096)"),
    _refused("kernel: acct", "accounting", 'syscall(SYS_acct, "/work/log")'),
    _refused("kernel: iopl", "input and output ports", "syscall(SYS_iopl, 3)"),
    _refused("kernel: ioperm", "one port", "syscall(SYS_ioperm, 0x80, 1, 1)"),
    _refused("kernel: modify_ldt", "a segment", "syscall(SYS_modify_ldt, 1, area, 16)"),
    _refused("keyring: add_key", "a key", 'syscall(SYS_add_key, "user", "x", "y", 1, -3)'),
    _refused("keyring: request_key", "a key requested", 'syscall(SYS_request_key, "user", "x", 0, -3)'),
    _refused("keyring: keyctl", "a keyring", "syscall(SYS_keyctl, 0, -3, 1)"),
    _refused("files: fanotify_init", "all files watched", "syscall(SYS_fanotify_init, 0, 0)"),
    _refused("files: open_by_handle_at", "a file by its handle", "syscall(SYS_open_by_handle_at, -100, area, 0)"),
    _refused("shared memory: shmget", "shared memory", "syscall(SYS_shmget, 0x5ca1e, 4096, 01666)"),
    _refused("semaphores: semget", "semaphores", "syscall(SYS_semget, 0x5ca1e, 1, 01666)"),
    _refused("message queues: msgget", "a message queue", "syscall(SYS_msgget, 0x5ca1e, 01666)"),
    _refused("message queues: mq_open", "a message queue by name", 'syscall(SYS_mq_open, "x", 0102, 0666, 0)'),
    _refused("clock: clock_settime", "the clock set", "syscall(SYS_clock_settime, 0, area)"),
    _refused("clock: settimeofday", "the time of day set", "syscall(SYS_settimeofday, area, 0)"),
    _refused("clock: adjtimex", "the clock's rate", "(*(int *)area = 2, syscall(SYS_adjtimex, area))"),
    _refused("host name: sethostname", "the host's name", 'syscall(SYS_sethostname, "x", 1)'),
    _refused("signal to another process: kill", "the parent killed", "kill(getppid(), SIGKILL)"),
    _refused("signal to another process: kill", "all killed", "kill(-1, SIGKILL)"),
    _refused("signal to another process: kill", "the agent stopped", "kill(1, SIGSTOP)"),
    _refused("signal to another process: kill", "the agent's group", "kill(-getppid(), SIGTERM)"),
    _refused("signal to another process: tgkill", "a thread of the parent", "syscall(SYS_tgkill, getppid(), getppid(), SIGKILL)"),
    _refused("signal to another process: rt_sigqueueinfo", "a forged signal", "(*(int *)(area + 8) = -1, syscall(SYS_rt_sigqueueinfo, getppid(), SIGTERM, area))"),
    _refused("signal to another process: pidfd_open", "a handle on the parent", "syscall(434, getppid(), 0)"),
    _refused("signal to another process: fcntl", "input that signals the parent", "fcntl(0, F_SETOWN, getppid())"),
    _refused("signal to another process: pidfd_send_signal", "a signal by handle", "syscall(424, 0, 9, 0, 0)"),
    _refused("process control: personality", "no random addresses", "syscall(SYS_personality, 0x0040000)"),
    _refused("process control: personality", "a page at zero", "syscall(SYS_personality, 0x0100000)"),
    _refused("process control: prctl", "anybody as tracer", "prctl(PR_SET_PTRACER, -1, 0, 0, 0)"),
    _refused("process control: prctl", "another memory layout", "prctl(35, 1, 0, 0, 0)"),
    _refused("limits: prlimit64", "limits of the parent", "prlimit(getppid(), RLIMIT_CPU, (void *)area, 0)"),
    _refused("limits: prlimit64", "limits of the agent, read", "prlimit(1, RLIMIT_NOFILE, 0, (void *)area)"),
    _refused("devices: mknodat", "a device", 'mknod("memory", S_IFCHR | 0666, 0x101)'),
    _refused("devices: mknodat", "a disk", 'mknod("disk", S_IFBLK | 0666, 0xfe00)'),
    _refused("terminal: ioctl", "typed input", 'ioctl(0, 0x5412, "x")'),
    _refused("seccomp: seccomp", "its own supervisor", "syscall(SYS_seccomp, 1, 8, area)"),
)  # fmt: skip

#: Calls that do not exist for programs, or fail without a record, since honest programs try them, too.
UNKNOWN = (
    _unknown("io_uring", "syscall(425, 8, area)"),
    _unknown("io_uring entered", "syscall(426, 0, 0, 0, 0, 0)"),
    _unknown("a 32-bit call number", "syscall(0x40000000 | 39)"),
    _unknown("a call that no kernel has", "syscall(1000, 0, 0, 0, 0, 0, 0)"),
    _unknown("a negative call", "syscall(-1, 0)"),
    _unknown("clone3", "syscall(435, area, 88)"),
    _unknown("memory only for itself", "syscall(447, 0)"),
    _unknown("an abstract UNIX socket", "socket(AF_UNIX, SOCK_STREAM, 0)"),
    _unknown("real time", "sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){50})"),
    _unknown("round robin", "sched_setscheduler(0, SCHED_RR, &(struct sched_param){1})"),
    _unknown("a higher priority", "setpriority(PRIO_PROCESS, 0, -10)"),
    _unknown("everybody's priority", "setpriority(PRIO_USER, 0, 19)"),
    _unknown("the group's priority", "setpriority(PRIO_PGRP, 1, 19)"),
    _unknown("real-time input and output", "syscall(SYS_ioprio_set, 1, 0, 1 << 13)"),
    _unknown("more descriptors than given", "setrlimit(RLIMIT_NOFILE, &(struct rlimit){1 << 30, 1 << 30})"),
    _unknown("another user", "setuid(12345)"),
    _unknown("another group", "setgid(12345)"),
    _unknown("other groups", 'setgroups(1, (unsigned *)"\\0\\0\\0\\0")'),
    _unknown("an attribute", 'syscall(SYS_setxattr, ".", "user.x", "y", 1, 0)'),
)  # fmt: skip

#: Whoever is refused something and is right in spite of it has passed.
RIGHT = (
    c("c: a socket, and right", "passed", "socket(AF_INET, SOCK_STREAM, 0); answer = 9;"),
    c("c: a trace, and right", "passed", "ptrace(PTRACE_TRACEME, 0, 0, 0); answer = 9;"),
    c("c: a child, and right", "passed", "syscall(SYS_fork); answer = 9;"),
    c("c: a kill, and right", "passed", "kill(-1, 9); answer = 9;"),
    c("c: all cores, and right", "passed", "cpu_set_t all; memset(&all, 255, sizeof all); sched_setaffinity(0, sizeof all, &all); sched_setaffinity(getppid(), sizeof all, &all); answer = 9;"),
    c("c: nice, and right", "passed", "errno = 0; nice(5); answer = 9;"),
)  # fmt: skip

SYSTEM_CALLS = (*REFUSED, *UNKNOWN, *RIGHT)
