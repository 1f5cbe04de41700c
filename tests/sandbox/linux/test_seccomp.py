"""The filters, asked about every call in a model of the kernel's machine, and tried in the kernel itself."""

from __future__ import annotations

import errno
import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sandbox.linux import machine
from tests.sandbox.linux.kernel import in_child
from tests.sandbox.linux.machine import ALLOW, ERRNO, KILL, NOTIFY

from scalebox.sandbox.linux import policy, seccomp
from scalebox.sandbox.linux.syscalls import ARCHITECTURES

EPERM, ENOSYS, EACCES = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS, ERRNO | errno.EACCES
NATIVE = ARCHITECTURES[os.uname().machine]
U64 = st.integers(0, (1 << 64) - 1)


@pytest.fixture(params=sorted(ARCHITECTURES))
def arch(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def ask(arch: str, name: str, *arguments: int, notify: bool = True, foreign_files: bool = False) -> int:
    code = seccomp.base_filter(notify, foreign_files=foreign_files, machine=arch)
    known = ARCHITECTURES[arch]
    return machine.answer(code, known.audit, known.number_of[name], arguments)


def test_every_call_of_the_policy_gets_its_answer(arch: str) -> None:
    for name, number in ARCHITECTURES[arch].number_of.items():
        if name in policy.DEPENDS:
            continue
        if name in policy.ALLOWED | policy.METADATA | {"truncate"}:
            wanted = ALLOW
        elif name == "setpgid":
            wanted = ALLOW  # of its own group
        elif name in policy.KIND_OF:
            wanted = NOTIFY
        elif name in policy.NOT_SUPPORTED:
            wanted = ERRNO | errno.EOPNOTSUPP
        elif name in policy.WITHOUT_EFFECT:
            wanted = ERRNO
        else:
            wanted = ENOSYS
        assert ask(arch, name) == wanted, f"{name} ({number})"


def test_policy_names_real_calls_once() -> None:
    groups = [policy.ALLOWED, policy.METADATA, set(policy.KIND_OF), policy.WITHOUT_EFFECT, policy.NOT_SUPPORTED]
    every = [name for group in groups for name in group]
    assert len(every) == len(set(every))
    assert set(every) <= set().union(*(known.number_of for known in ARCHITECTURES.values()))


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.lists(U64, max_size=6), st.booleans())
def test_calls_unknown_to_us_do_not_exist(number: int, arguments: list[int], notify: bool) -> None:
    for arch, known in ARCHITECTURES.items():
        if number not in known.name_of:
            code = seccomp.base_filter(notify, machine=arch)
            assert machine.answer(code, known.audit, number, arguments) == ENOSYS


@given(st.integers(0, (1 << 32) - 1), st.integers(0, 500))
def test_other_architectures_kill(audit: int, number: int) -> None:
    for arch, known in ARCHITECTURES.items():
        if audit != known.audit:
            code = seccomp.base_filter(True, machine=arch)
            assert machine.answer(code, audit, number) == KILL


X32 = 0x40000000


def test_x32_calls_do_not_exist() -> None:
    known = ARCHITECTURES["x86_64"]
    code = seccomp.base_filter(True, machine="x86_64")
    assert machine.answer(code, known.audit, X32 | known.number_of["read"]) == ENOSYS
    assert machine.answer(code, known.audit, X32 | 520) == ENOSYS


HIGH = 1 << 32  # the kernel drops what is above 32 bits of these arguments, and so must the filter
CLONE_THREAD_FLAGS = 0x3D0F00


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("socket", (2, 1, 0), NOTIFY), ("socket", (10, 2, 0), NOTIFY), ("socket", (16, 3, 0), NOTIFY),
        ("socket", (40, 1, 0), NOTIFY), ("socket", (1, 1, 0), EACCES), ("socket", (HIGH | 2, 1), NOTIFY),
        ("socketpair", (1, 1, 0), ALLOW), ("socketpair", (1, 5 | 0o2000000, 0), ALLOW),
        ("socketpair", (1, 2, 0), NOTIFY), ("socketpair", (1, 3 | 0o4000, 0), NOTIFY),
        ("socketpair", (2, 1, 0), NOTIFY),
        ("clone", (17,), NOTIFY), ("clone", (CLONE_THREAD_FLAGS,), ALLOW), ("clone", (0x4111,), NOTIFY),
        ("clone", (CLONE_THREAD_FLAGS | 0x20000000,), NOTIFY), ("clone", (0x10000000 | 17,), NOTIFY),
        ("clone", (0x40000000 | 17,), NOTIFY), ("clone", (0x02000000,), NOTIFY), ("clone", (0x20000,), NOTIFY),
        ("clone", (0x8000 | 17,), NOTIFY), ("clone3", (), ENOSYS), ("unshare", (0,), NOTIFY),
        ("prctl", (15,), ALLOW), ("prctl", (4, 1), ALLOW), ("prctl", (22, 2), ALLOW),
        ("prctl", (0x59616D61, 1), NOTIFY),
        ("prctl", (HIGH | 35, 1), NOTIFY), ("prctl", (62,), NOTIFY),
        ("personality", (0xFFFFFFFF,), ALLOW), ("personality", (0,), ALLOW), ("personality", (0x40000,), NOTIFY),
        ("personality", (0x400000,), NOTIFY),
        ("fcntl", (0, 8, 5), NOTIFY), ("fcntl", (0, 15, 0), NOTIFY), ("fcntl", (0, HIGH | 8, 5), NOTIFY),
        ("fcntl", (0, 4, 0), ALLOW), ("ioctl", (0, 0x8901), NOTIFY), ("ioctl", (0, 0x8902), NOTIFY),
        ("ioctl", (0, 0x5413), ALLOW), ("ioctl", (0, 0x5412), NOTIFY), ("ioctl", (0, HIGH | 0x541C), NOTIFY),
        ("setpgid", (0, 0), ALLOW), ("setpgid", (7, 0), ALLOW), ("setpgid", (0, 7), NOTIFY),
        ("setpgid", (0, HIGH), ALLOW),
        ("mknodat", (-100, 0, 0o010600), ALLOW), ("mknodat", (-100, 0, 0o020600), NOTIFY),
        ("mknodat", (-100, 0, 0o060600), NOTIFY), ("mknodat", (-100, 0, 0o100600), ALLOW),
        ("seccomp", (1, 0), ALLOW), ("seccomp", (1, 8), NOTIFY), ("seccomp", (1, 1 | 8 | 16), NOTIFY),
        ("prlimit64", (0, 3, 1, 0), ALLOW), ("prlimit64", (1, 3, 0, 1), NOTIFY),
        ("setpriority", (0, 0, 10), ALLOW), ("setpriority", (0, 7, 10), EPERM), ("setpriority", (2, 0, 10), EPERM),
        ("ioprio_set", (1, 0, 0), ALLOW), ("ioprio_set", (3, 0, 0), EPERM), ("ioprio_set", (1, 9, 0), EPERM),
        ("sched_setscheduler", (0, 0, 0), ALLOW), ("sched_setscheduler", (0, 1, 0), ALLOW),
        ("sched_setscheduler", (5, 0, 0), ERRNO), ("sched_setscheduler", (5, 1, 0), EPERM),
        ("sched_setattr", (5, 0, 0), EPERM), ("sched_setaffinity", (0, 8, 0), ERRNO), ("move_pages", (7,), EPERM),
    ],
)  # fmt: skip
def test_arguments_decide(arch: str, name: str, arguments: tuple[int, ...], wanted: int) -> None:
    assert ask(arch, name, *arguments) == wanted


def test_mknod_makes_no_devices() -> None:
    assert ask("x86_64", "mknod", 0, 0o020600) == NOTIFY
    assert ask("x86_64", "mknod", 0, 0o010600) == ALLOW


def test_without_a_listener_refusals_are_errors(arch: str) -> None:
    assert ask(arch, "ptrace", notify=False) == EPERM
    assert ask(arch, "socket", 2, notify=False) == EPERM
    assert ask(arch, "read", notify=False) == ALLOW


def test_without_a_listener_the_case_filter_decides_on_processes(arch: str) -> None:
    for name in set(policy.SUPERVISED) & set(ARCHITECTURES[arch].number_of):
        assert ask(arch, name, 7, 7, notify=False) == ALLOW, name
    assert ask(arch, "clone", 17, notify=False) == ALLOW
    assert ask(arch, "clone", 0x10000000 | 17, notify=False) == EPERM
    assert ask(arch, "pidfd_send_signal", notify=False) == EPERM
    assert ask(arch, "fcntl", 0, 8, 7, notify=False) == EPERM


def test_files_of_others_keep_their_metadata(arch: str) -> None:
    for name in policy.METADATA & set(ARCHITECTURES[arch].number_of):
        assert ask(arch, name, foreign_files=True) == ERRNO, name
    assert ask(arch, "truncate", foreign_files=True) == EPERM
    assert ask(arch, "ftruncate", foreign_files=True) == ALLOW


def case(arch: str, name: str, first: int, *, allowed: bool, others: bool = True) -> int:
    code, places = seccomp.case_filter(allowed, signal_others=others, machine=arch)
    patched = bytearray(code)
    for key, pid in (("self", 40), ("parent", 30), ("agent", 20)):
        for offset in places[key]:
            struct.pack_into("<I", patched, offset, pid)
    known = ARCHITECTURES[arch]
    arguments = (0, first) if name == "setpgid" else (first,)
    return machine.answer(bytes(patched), known.audit, known.number_of[name], arguments)


SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize(
    ("target", "alone", "with_processes"),
    [
        (40, ALLOW, ALLOW), (0, ALLOW, ALLOW), (-40, ALLOW, ALLOW), (HIGH | 40, ALLOW, ALLOW),
        (41, EPERM, ALLOW), (-41, EPERM, ALLOW),
        (20, EPERM, EPERM), (-20, EPERM, EPERM),
        (30, EPERM, EPERM), (-30, EPERM, EPERM), (1, EPERM, EPERM), (-1, EPERM, EPERM), (HIGH | 1, EPERM, EPERM),
        ((1 << 32) - 1, EPERM, EPERM), (HIGH | 30, EPERM, EPERM),
    ],
)  # fmt: skip
def test_case_signals_itself_only(arch: str, name: str, target: int, alone: int, with_processes: int) -> None:
    assert case(arch, name, target, allowed=False) == alone
    assert case(arch, name, target, allowed=True) == with_processes
    assert case(arch, name, target, allowed=True, others=False) == alone


@pytest.mark.parametrize(("group", "wanted"), [(0, ALLOW), (40, ALLOW), (41, EPERM), (30, EPERM), (1, EPERM)])
def test_case_joins_no_group(arch: str, group: int, wanted: int) -> None:
    for allowed in (False, True):
        assert case(arch, "setpgid", group, allowed=allowed) == wanted


def test_case_makes_threads_but_processes_only_when_allowed(arch: str) -> None:
    assert case(arch, "clone", 17, allowed=False) == EPERM
    assert case(arch, "clone", CLONE_THREAD_FLAGS, allowed=False) == ALLOW
    assert case(arch, "clone", 17, allowed=True) == ALLOW
    assert case(arch, "clone", 0x10000000 | 17, allowed=False) == ALLOW, "left to the base filter, which records it"
    assert case(arch, "execve", 0, allowed=False) == ALLOW
    for name in {"fork", "vfork"} & set(ARCHITECTURES[arch].number_of):
        assert case(arch, name, 0, allowed=False) == EPERM
        assert case(arch, name, 0, allowed=True) == ALLOW


@given(st.integers(0, 600), st.booleans(), st.booleans())
def test_case_filter_leaves_all_else_to_the_base_filter(number: int, allowed: bool, others: bool) -> None:
    for arch, known in ARCHITECTURES.items():
        name = known.name_of.get(number, "")
        if name not in {*SIGNALS, "setpgid", "fork", "vfork", "clone"}:
            code, _ = seccomp.case_filter(allowed, signal_others=others, machine=arch)
            assert machine.answer(code, known.audit, number) == ALLOW


def test_placeholders_are_there_to_be_patched() -> None:
    for allowed, others, wanted in ((False, True, (2, 0, 0)), (True, True, (1, 1, 1)), (True, False, (2, 0, 0))):
        _, places = seccomp.case_filter(allowed, signal_others=others)
        assert (len(places["self"]), len(places["parent"]), len(places["agent"])) == wanted


@given(st.integers(-(1 << 31), 1 << 31), st.lists(U64, max_size=6))
def test_describe_is_total_and_short(number: int, arguments: list[int]) -> None:
    told = seccomp.describe(number, arguments)
    assert told
    assert len(told) < 80


def test_describe_names_the_thing() -> None:
    def told(name: str, *arguments: int) -> str:
        return seccomp.describe(NATIVE.number_of[name], arguments)

    assert told("socket", 2, 1, 0) == "network: socket(AF_INET)"
    assert told("socket", 77) == "network: socket(family 77)"
    assert told("ptrace", 16) == "debugging: ptrace(16)"
    assert told("clone", 0x10000000) == "namespaces: clone"
    assert told("clone", 17) == "process creation: clone"
    assert told("clone", 0x8000 | 17) == "process control: clone"
    assert told("kill", 1) == "signal to another process: kill"
    assert told("shmget") == "shared memory: shmget"
    assert told("prlimit64", 12) == "limits: prlimit64(12)"
    assert seccomp.describe(99999, []) == "system call 99999"


def test_the_kernel_takes_both_filters_and_programs_still_run() -> None:
    told = in_child("""
    install(seccomp.base_filter(False))
    import asyncio, multiprocessing, subprocess, tempfile
    assert subprocess.run(["/bin/sh", "-c", "echo $((1+1)); ls / >/dev/null"], capture_output=True).stdout == b"2\\n"
    thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
    assert asyncio.run(asyncio.sleep(0, "done")) == "done"
    with tempfile.NamedTemporaryFile() as file: os.fchmod(file.fileno(), 0o600)
    a, b = multiprocessing.Pipe(); a.send([1]); assert b.recv() == [1]
    try: socket.socket()
    except PermissionError: print("no network")
    print(attempt("ptrace", 0, 0, 0, 0), attempt("shmget", 0, 4096, 0o1600))
    print(attempt("setns", 0, 0), attempt("io_uring_setup", 1, 0))
    """)
    assert told.split() == ["thread", "no", "network", "EPERM", "EPERM", "EPERM", "ENOSYS"]


def test_a_case_can_neither_fork_nor_signal_its_parent() -> None:
    told = in_child("""
    import signal
    install(seccomp.base_filter(False))
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        code, places = seccomp.case_filter(False)
        code = bytearray(code)
        for offset in places["self"]: struct.pack_into("<I", code, offset, os.getpid())
        install(bytes(code))
        seen = []
        for call in (os.fork, lambda: os.kill(parent, 0), lambda: os.kill(-1, 0), lambda: os.pidfd_open(parent)):
            try: call(); seen.append("did")
            except PermissionError: seen.append("EPERM")
        os.kill(os.getpid(), 0)
        thread = threading.Thread(target=seen.append, args=("thread",)); thread.start(); thread.join()
        print(*seen, flush=True)
        signal.raise_signal(signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """)
    assert told.split() == ["EPERM", "EPERM", "EPERM", "EPERM", "thread", "-15"]
