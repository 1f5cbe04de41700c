"""The seccomp filters of a sample and of a case, as bytes for the kernel, and names for what they refuse."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Sequence
from typing import Final

from scalebox.core.errors import SandboxError
from scalebox.sandbox.linux import bpf, policy
from scalebox.sandbox.linux.syscalls import ARCHITECTURES, Architecture

_KILL: Final = 0x8000_0000
_ERRNO: Final = 0x0005_0000
_NOTIFY: Final = 0x7FC0_0000
_ALLOW: Final = 0x7FFF_0000

_NEW_NAMESPACE: Final = 0x7E02_0000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_CLONE_PARENT: Final = 0x8000
#: Flags of clone(2) that no process may use.
NEVER_CLONED: Final = _NEW_NAMESPACE | _CLONE_PARENT
_CLONE_THREAD: Final = 0x1_0000
_FAMILIES: Final = {1: "AF_UNIX", 2: "AF_INET", 10: "AF_INET6", 16: "AF_NETLINK", 17: "AF_PACKET", 40: "AF_VSOCK"}
_AF_UNIX: Final = 1
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_KIND = 1, 5, 0xF
_S_IFCHR: Final = 0x2000  # also set in S_IFBLK
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
#: The owner of a descriptor can be sent any signal by its input and output: with these, a stranger of the same user.
_FIOSETOWN, _SIOCSPGRP, _F_SETOWN, _F_SETOWN_EX = 0x8901, 0x8902, 8, 15
_PR_SET_MM, _PR_SCHED_CORE, _PR_SET_PTRACER = 35, 62, 0x5961_6D61
_FLAG_NEW_LISTENER: Final = 8
_IOPRIO_WHO_PROCESS: Final = 1
_SIGN: Final = 0x8000_0000
_MAGNITUDE: Final = (bpf.unless_any(_SIGN, 1), bpf.negate())  # a group is named by its negated leader
#: Stand for pids until the case is known; no pid is as large.
_SELF: Final = 0x7F5E_1F00
_PARENT: Final = 0x7FA4_E570
_AGENT: Final = 0x7FA6_E570
_ZYGOTE: Final = 0x7F2B_6073
_YOUNGER: Final = 0x7F01_DE57
_SIGNALS: Final = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")


def _known(machine: str) -> Architecture:
    name = machine or os.uname().machine
    if name not in ARCHITECTURES:
        raise SandboxError(
            f"no seccomp filter for the {name} architecture",
            step="use seccomp",
            mend=f"one of {', '.join(ARCHITECTURES)}",
        )
    return ARCHITECTURES[name]


@functools.cache
def base_filter(
    notify: bool, *, processes_allowed: bool = False, foreign_files: bool = False, machine: str = ""
) -> bytes:
    """Return the filter of a sample, an array of struct sock_filter: an allow-list, the same for all its processes.

    With `notify`, what is refused is reported to the listener, who answers; so is what depends on who asks, the making
    of processes and signals (policy.SUPERVISED). Without, the former fails with EPERM, and the latter is allowed: each
    case needs a `case_filter`, too. With `processes_allowed` the making of processes is let through unasked: a call
    that waits for an answer is broken off by signals that would else be handled after it, and a shell whose fork fails
    gives up. So are signals to what is younger than a process, where `younger_places` are filled in.

    With `foreign_files`, for jails that reach files of the same user outside of scratch, calls that change a file's
    mode, owner or times do nothing, and truncate(2) is refused. `machine` is an architecture's name, by default this
    one's.
    """
    known = _known(machine)
    deny = bpf.answer(_NOTIFY if notify else _ERRNO | errno.EPERM)
    ask = bpf.answer(_NOTIFY if notify else _ALLOW)
    make = bpf.answer(_ALLOW) if processes_allowed else ask
    verdicts = _verdicts(deny, ask, foreign_files) | {"fork": make, "vfork": make}
    if notify:
        verdicts |= dict.fromkeys(_SIGNALS, bpf.jump("target"))
    by_number = {known.number_of[name]: verdict for name, verdict in verdicts.items() if name in known.number_of}
    unknown = bpf.answer(_ERRNO | errno.ENOSYS)
    ranges: list[tuple[int, bpf.Instruction]] = []
    for number in range(max(by_number) + 2):
        verdict = by_number.get(number, unknown)
        if not ranges or ranges[-1][1] != verdict:
            ranges.append((number, verdict))
    head = [
        bpf.load_architecture(),
        bpf.if_equal(known.audit, 1),
        bpf.answer(_KILL),
        bpf.load_number(),
    ]
    return bpf.assemble(head + bpf.search(ranges, max(by_number)), _blocks(deny, ask, make))


def younger_places(code: bytes) -> dict[str, list[int]]:
    """Return where in a base filter, as in a `case_filter`, the pid "younger" is to be put in, where that is wanted.

    From it on, all processes may then be signalled, and their groups joined, unasked: only for a PID namespace in which
    all others have lower ones.
    """
    return {"younger": _offsets(code, _YOUNGER)}


def _verdicts(deny: bpf.Instruction, ask: bpf.Instruction, foreign_files: bool) -> dict[str, bpf.Instruction]:
    nothing_done = bpf.answer(_ERRNO)
    return (
        dict.fromkeys(policy.ALLOWED, bpf.answer(_ALLOW))
        | dict.fromkeys(policy.KIND_OF, deny)
        | dict.fromkeys(policy.SUPERVISED, ask)
        | {name: bpf.jump(name) for name in (*policy.DEPENDS, "setpgid")}
        | dict.fromkeys(policy.WITHOUT_EFFECT, nothing_done)
        | dict.fromkeys(policy.NOT_SUPPORTED, bpf.answer(_ERRNO | errno.EOPNOTSUPP))
        | dict.fromkeys(policy.METADATA, nothing_done if foreign_files else bpf.answer(_ALLOW))
        | {"truncate": bpf.answer(_ERRNO | errno.EPERM if foreign_files else _ALLOW)}
    )


def _blocks(deny: bpf.Instruction, ask: bpf.Instruction, make: bpf.Instruction) -> dict[str, list[bpf.Instruction]]:
    """Return the checks of arguments; all look at the low half, as the kernel takes these for 32-bit numbers."""
    allow = bpf.answer(_ALLOW)
    quiet = bpf.answer(_ERRNO | errno.EPERM)  # refused, but honest programs do it, too: not worth a record
    own = [bpf.load_argument(0), bpf.unless_equal(0, 1), allow, quiet]
    # The most negative number, which cannot be negated, names nobody.
    younger = [*_MAGNITUDE, bpf.unless_any(_SIGN, 1), ask, bpf.if_at_least(_YOUNGER, 1), ask, allow]

    def own_of_kind(kind: int) -> list[bpf.Instruction]:
        self_alone = [bpf.load_argument(1), bpf.unless_equal(0, 1), allow, quiet]
        return [bpf.load_argument(0), bpf.if_equal(kind, 1), quiet, *self_alone]

    return {
        # The C library asks a name service over a UNIX socket whenever a user is looked up.
        "socket": [bpf.load_argument(0), bpf.unless_equal(_AF_UNIX, 1), bpf.answer(_ERRNO | errno.EACCES), deny],
        # No datagrams: such a socket can be sent on to any address.
        "socketpair": [
            bpf.load_argument(0), bpf.if_equal(_AF_UNIX, 1), deny,
            bpf.load_argument(1), bpf.mask(_SOCK_KIND),
            bpf.if_equal(_SOCK_STREAM, 2), bpf.if_equal(_SOCK_SEQPACKET, 1), deny, allow,
        ],
        # A child of one's parent would be a stranger to the process that waits for cases.
        "clone": [
            bpf.load_argument(0), bpf.unless_any(NEVER_CLONED, 1), deny, bpf.unless_any(_CLONE_THREAD, 1), allow, make,
        ],
        # Whoever joins a group is hit by what hits it, and can signal it: the new one of a process is its own.
        "setpgid": [bpf.load_argument(1), bpf.unless_equal(0, 1), allow, *younger],
        "target": [bpf.load_argument(0), *younger],
        "prctl": [
            bpf.load_argument(0), bpf.if_equal(_PR_SET_PTRACER, 3), bpf.if_equal(_PR_SET_MM, 2),
            bpf.if_equal(_PR_SCHED_CORE, 1), allow, deny,
        ],
        "personality": [bpf.load_argument(0), bpf.if_equal(0, 2), bpf.if_equal(0xFFFF_FFFF, 1), deny, allow],
        "ioctl": [
            bpf.load_argument(1), bpf.if_equal(_TIOCSTI, 4), bpf.if_equal(_TIOCLINUX, 3),
            bpf.if_equal(_FIOSETOWN, 2), bpf.if_equal(_SIOCSPGRP, 1), allow, deny,
        ],
        "fcntl": [bpf.load_argument(1), bpf.if_equal(_F_SETOWN, 2), bpf.if_equal(_F_SETOWN_EX, 1), allow, deny],
        "mknod": [bpf.load_argument(1), bpf.unless_any(_S_IFCHR, 1), deny, allow],
        "mknodat": [bpf.load_argument(2), bpf.unless_any(_S_IFCHR, 1), deny, allow],
        "seccomp": [bpf.load_argument(1), bpf.unless_any(_FLAG_NEW_LISTENER, 1), deny, allow],
        "prlimit64": [bpf.load_argument(0), bpf.unless_equal(0, 1), allow, deny],
        "setpriority": own_of_kind(os.PRIO_PROCESS),
        "ioprio_set": own_of_kind(_IOPRIO_WHO_PROCESS),
        "sched_setparam": own,
        # Mono asks for a thread to be scheduled as it is, and says on standard output if it must not.
        "sched_setscheduler": [
            bpf.load_argument(0), bpf.unless_equal(0, 1), allow,
            bpf.load_argument(1), bpf.unless_equal(os.SCHED_OTHER, 1), bpf.answer(_ERRNO), quiet,
        ],
        "sched_setattr": own,
        "move_pages": own,
    }  # fmt: skip


@functools.cache
def case_filter(
    processes_allowed: bool, *, signal_others: bool = True, machine: str = ""
) -> tuple[bytes, dict[str, list[int]]]:
    """Return the filter that a case adds to a base filter without `notify`, and where its pids are to be put in.

    The offsets, in bytes, are of 32-bit little-endian words: "self" is the case's own pid, "parent" that of the process
    that forked it, "agent" that of the latter's parent, "zygote" that of the process which the latter is a copy of.
    Without `processes_allowed` the case can make threads only, and signal itself only. With it, it can signal all but
    these three and PID 1, and all at once; but itself only where not `signal_others` (for jails that share a PID
    namespace with strangers of the same user, and have no Landlock signal scope). It joins no group but its own.
    """
    known = _known(machine)
    refuse, allow = bpf.answer(_ERRNO | errno.EPERM), bpf.answer(_ALLOW)
    special = {"setpgid": bpf.jump("group")}
    special |= dict.fromkeys(_SIGNALS, bpf.jump("target"))
    if not processes_allowed:
        special |= {"fork": refuse, "vfork": refuse, "clone": bpf.jump("clone")}
    ranges = [(0, allow)]
    for number, verdict in sorted(
        (known.number_of[name], act) for name, act in special.items() if name in known.number_of
    ):
        ranges[-1:] = [(number, verdict)] if ranges[-1][0] == number else [ranges[-1], (number, verdict)]
        ranges.append((number + 1, allow))
    own = [bpf.if_equal(0, 2), bpf.if_equal(_SELF, 1), refuse, allow]
    if processes_allowed and signal_others:
        above = [bpf.if_equal(pid, skip) for pid, skip in ((1, 4), (_PARENT, 3), (_AGENT, 2), (_ZYGOTE, 1))]
        target = [bpf.load_argument(0), *_MAGNITUDE, *above, allow, refuse]
    else:
        target = [bpf.load_argument(0), *_MAGNITUDE, *own]
    clone = [
        bpf.load_argument(0), bpf.unless_any(_CLONE_THREAD, 1), allow,
        bpf.unless_any(_NEW_NAMESPACE, 1), allow,  # the base filter refuses that, and records it
        refuse,
    ]  # fmt: skip
    blocks = {"target": target, "group": [bpf.load_argument(1), *own], "clone": clone}
    code = bpf.assemble([bpf.load_number(), *bpf.search(ranges, max(known.name_of))], blocks)
    names = {"self": _SELF, "parent": _PARENT, "agent": _AGENT, "zygote": _ZYGOTE}
    return code, {name: _offsets(code, constant) for name, constant in names.items()}


def _offsets(code: bytes, constant: int) -> list[int]:
    places = range(bpf.CONSTANT_AT, len(code), bpf.SIZE)
    return [place for place in places if int.from_bytes(code[place : place + 4], "little") == constant]


def describe(nr: int, args: Sequence[int]) -> str:
    """Return a short name of a refused call, such as "network: socket(AF_INET)"; total."""
    name = _known("").name_of.get(nr, f"system call {nr}")
    kind = policy.KIND_OF.get(name)
    first = args[0] & 0xFFFF_FFFF if args else 0
    if name in ("socket", "socketpair"):
        name = f"{name}({_FAMILIES.get(first, f'family {first}')})"
    elif name == "clone" and not first & _NEW_NAMESPACE:
        kind = "process control" if first & _CLONE_PARENT else "process creation"
    elif name in ("prlimit64", "prctl", "ptrace"):
        name = f"{name}({first})"
    return f"{kind}: {name}" if kind else name
