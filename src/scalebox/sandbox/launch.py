"""The launcher: a short-lived process that confines itself, forks the agent, and goes.

Run with `python -I -S` as `main(spec_fd, status_fd)`. It reads one JSON object (see `tiers.start`), and
answers with lines of JSON: {"pid": …} of the agent, {"facts": {…}}, or {"failed": {"step", "errno", "text"}}. The
pipe's end without a failure means that the agent runs. Standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import json
import os
import resource
import signal
import socket
from collections.abc import Callable
from typing import Any, Final, NoReturn

from scalebox.sandbox.linux import calls, tree
from scalebox.sandbox.linux.steps import StepFailed, step

INSIDE_ID: Final = 1000
_NAMESPACES: Final = (
    ("PID", calls.CLONE_NEWPID), ("network", calls.CLONE_NEWNET), ("IPC", calls.CLONE_NEWIPC),
    ("UTS", calls.CLONE_NEWUTS), ("cgroup", calls.CLONE_NEWCGROUP),
)  # fmt: skip
_PROMISED_FDS: Final = 1024
_FREE: Final = 900  # above what any descriptor is numbered that is handed on
_MOST_FDS: Final = 1 << 16  # the worker passes few, and the limit may be a billion
_KEPT_CAPABILITIES: Final = (calls.CAP_KILL, calls.CAP_SYS_ADMIN)

Spec = dict[str, Any]


def main(spec_fd: int, status_fd: int) -> None:
    """Launch what `spec_fd` describes; never returns."""
    os.set_inheritable(status_fd, False)
    code = 0
    try:
        with open(spec_fd, "rb") as file:
            spec = json.load(file)
        _stay_no_longer_than(spec["owner"])
        _launch(spec, status_fd)
    except StepFailed as failure:
        _fail(status_fd, failure)
        code = 1
    except BaseException as error:  # whatever it is, the worker must hear of it
        _fail(status_fd, StepFailed("launcher", getattr(error, "errno", 0) or 0, repr(error)))
        code = 1
    os._exit(code)


def _stay_no_longer_than(owner: int) -> None:
    calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != owner:
        os._exit(1)


def _tell(status_fd: int, message: dict[str, Any]) -> None:
    os.write(status_fd, json.dumps(message).encode() + b"\n")


def _fail(status_fd: int, failure: StepFailed) -> None:
    _tell(status_fd, {"failed": {"step": failure.step, "errno": failure.errno, "text": failure.text[:500]}})


def _launch(spec: Spec, status_fd: int) -> None:
    """Do what both tiers share, fork, and see the agent off."""
    runtime = spec.get("runtime", {})
    groups = spec["cgroup_procs"] if runtime.get("hand_groups") else []
    for path in spec["cgroup_procs"]:
        with step(f"join cgroup {path}"), open(path, "wb") as file:
            file.write(b"0")
    with step("set affinity"):
        if spec["cores"]:
            os.sched_setaffinity(0, spec["cores"])
    os.umask(0o022)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _allow_descriptors()
    if runtime:
        _become_runtime(runtime, [status_fd, *_opened(groups), *spec["pass_fds"]])
    confine, grant = _CONFINERS[spec["tier"]](spec)
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _become_agent(spec, status_fd, theirs, confine)
    theirs.close()
    _tell(status_fd, {"pid": pid})
    # At most one question, "map my ids"; then the channel's end, when the agent was executed or failed.
    while ours.recv(1):
        grant(pid)
        with contextlib.suppress(BrokenPipeError):
            ours.sendall(b".")
    os.waitpid(pid, 0 if spec["trial"] else os.WNOHANG)


def _allow_descriptors() -> None:
    """See that the jail may have as many open files as programs are promised, whatever whoever started us allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _PROMISED_FDS:
        with step(f"allow {_PROMISED_FDS} open files"):
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (_PROMISED_FDS, max(hard, _PROMISED_FDS)))
            except ValueError as error:  # as Python has it where the kernel says EPERM
                raise OSError(errno.EMFILE, f"{error}, which is {hard}") from None


def _become_agent(
    spec: Spec, status_fd: int, channel: socket.socket, confine: Callable[[socket.socket], dict[str, Any]]
) -> None:
    try:
        # No session: those are scheduled against each other, and the jail and its worker take turns.
        os.setpgid(0, 0)
        facts = confine(channel)
        _arrange_descriptors(spec["pass_fds"], {status_fd, channel.fileno()})
        os.umask(0o077)
        with step("no_new_privs"):
            calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
        if spec["trial"]:
            _try_scratch(facts["scratch"])
            _tell(status_fd, {"facts": facts})
            os._exit(0)
        _tell(status_fd, {"facts": facts})
        _reset_signals()
        executable = tree.inside(spec["argv"][0]) if facts.get("moved") else spec["argv"][0]
        with step(f"execute {executable}"):
            os.execve(executable, spec["argv"], spec["env"])  # noqa: S606 - no shell is wanted
    except StepFailed as failure:
        _fail(status_fd, failure)
    except BaseException as error:  # a forked child must never return into its parent's code
        _fail(status_fd, StepFailed("launcher", getattr(error, "errno", 0) or 0, repr(error)))
    os._exit(1)


def _reset_signals() -> None:
    """Ignore and block nothing: exec would hand on what Python itself ignores, or whoever started the worker."""
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _try_scratch(scratch: dict[str, Any]) -> None:
    """Do with the scratch folder what an agent will."""
    with step("write in scratch"):
        path = f"{scratch['root']}/{scratch['folders'][0]}/probe"
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.unlink(path)
    if scratch["kind"] == "tmpfs":
        os.chdir("/")
        with step("unmount scratch"):
            calls.unmount(scratch["root"], calls.MNT_DETACH)
        tree.mount_scratch(1 << 20)


def _arrange_descriptors(passed: list[int], needed: set[int]) -> None:
    """Leave `passed` open, put /dev/null on the standard ones that are not, and close all others."""
    null = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        if standard not in passed:
            os.dup2(null, standard)
    kept = sorted({0, 1, 2, *passed, *needed})
    for low, high in itertools.pairwise(kept):
        os.closerange(low + 1, high)
    os.closerange(kept[-1] + 1, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], _MOST_FDS))
    for number in passed:
        os.set_inheritable(number, True)


def _write(path: str, text: str) -> None:
    with open(path, "wb") as file:
        file.write(text.encode())


# ── container runtimes ─────────────────────────────────────────────────────────────────────────────────────────────


def _opened(groups: list[str]) -> list[int]:
    """Return descriptors by which the agent joins its control group again, should the runtime put it into another."""
    found = []
    for path in groups:
        with step(f"open {path}"):
            found.append(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
    return found


def _become_runtime(runtime: Spec, handed: list[int]) -> NoReturn:
    """Become the runtime that makes a container; its first program gets these descriptors, one after another."""
    if runtime["unified"]:
        # Of the hierarchies of control groups let it see but one, so that it makes no more than one group, which the
        # sweeper would find; those that bound the jail are in others, or joined again.
        with step("create mount namespace"):
            calls.unshare(calls.CLONE_NEWNS)
            calls.mount("none", "/", "", calls.MS_REC | calls.MS_PRIVATE)
        with step("mount cgroup2"):
            calls.mount("none", runtime["unified"], "cgroup2", calls.MS_NOSUID | calls.MS_NODEV)
    with step("arrange descriptors"):
        kept = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FREE) for number in handed]
        for number, held in enumerate(kept, runtime["first"]):
            os.dup2(held, number)
        os.closerange(max(3, runtime["first"] + len(kept)), _FREE)
    _reset_signals()
    path = runtime["argv"][0]
    with step(f"execute {path}"):
        os.execve(path, runtime["argv"], {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})  # noqa: S606 - no shell is wanted


# ── namespace ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _namespaces(spec: Spec) -> tuple[Callable[[socket.socket], dict[str, Any]], Callable[[int], None]]:
    """Enter the namespaces that a fork is needed for; return what the child does, and what we do for it."""
    with step("find what to show"):
        shown = tree.plan(spec["readable"])
    outer = spec["outer_id"]
    if not spec["privileged"]:
        _enter_outer_namespace(outer)
        outer = INSIDE_ID
    for name, flag in _NAMESPACES:
        with step(f"create {name} namespace"):
            calls.unshare(flag)

    def grant(pid: int) -> None:
        with step("map the agent's ids"):
            _write(f"/proc/{pid}/setgroups", "deny")
            _write(f"/proc/{pid}/uid_map", f"{INSIDE_ID} {outer} 1")
            _write(f"/proc/{pid}/gid_map", f"{INSIDE_ID} {outer} 1")

    def confine(channel: socket.socket) -> dict[str, Any]:
        with step("create mount namespace"):
            calls.unshare(calls.CLONE_NEWNS)
        facts = tree.build(shown)
        with step("name the host"):
            socket.sethostname("sandbox")
        if spec["outer_id"] is not None:
            with step("drop groups"):
                os.setgroups([])
        _enter_inner_namespace(channel)
        facts["keyring"] = _has_fresh_keyring()
        facts["scratch"] = tree.mount_scratch(spec["scratch_bytes"])
        with step("enter the scratch folder"):
            os.chdir(f"{tree.SCRATCH}/work")
        with step("drop capabilities"):
            calls.keep_only_capabilities(_KEPT_CAPABILITIES)
        return facts

    return confine, grant


def _enter_outer_namespace(unprivileged: int | None) -> None:
    """Gain the capabilities to build a jail, over a user namespace of our own.

    An ordinary user can map but one id there, his own. Root without CAP_SYS_ADMIN, as in a container, can also map
    `unprivileged`, so that the agent need not be root to the machine's eyes; but only a process that stayed outside can
    do it.
    """
    uid, gid = os.geteuid(), os.getegid()
    ours, theirs = socket.socketpair()
    helper = 0 if unprivileged is None else os.fork()
    if helper == 0 and unprivileged is not None:
        ours.close()
        _map_two(os.getppid(), unprivileged, theirs)
    theirs.close()
    with step("create user namespace"):
        calls.unshare(calls.CLONE_NEWUSER)
    with step("map ids"):
        if helper == 0:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{INSIDE_ID} {uid} 1")
            _write("/proc/self/gid_map", f"{INSIDE_ID} {gid} 1")
            return
        ours.sendall(b"m")
        number = os.waitstatus_to_exitcode(os.waitpid(helper, 0)[1])
        if number != 0:
            raise OSError(number, os.strerror(number))


def _map_two(pid: int, unprivileged: int, channel: socket.socket) -> None:
    """Map root and `unprivileged` for `pid` when told to; exits with the errno."""
    code = 0
    try:
        if channel.recv(1):
            _write(f"/proc/{pid}/uid_map", f"0 {os.geteuid()} 1\n{INSIDE_ID} {unprivileged} 1")
            _write(f"/proc/{pid}/gid_map", f"0 {os.getegid()} 1\n{INSIDE_ID} {unprivileged} 1")
    except OSError as error:
        code = error.errno or 1
    os._exit(code)


def _enter_inner_namespace(channel: socket.socket) -> None:
    """Become one unprivileged user in a user namespace in which every mount made so far is locked."""
    with step("create inner user namespace"):
        calls.unshare(calls.CLONE_NEWUSER | calls.CLONE_NEWNS)
    with step("map the agent's ids"):
        channel.sendall(b"m")
        if not channel.recv(1):
            os._exit(1)  # the launcher has said why
    with step("become the agent's user"):
        os.setresgid(INSIDE_ID, INSIDE_ID, INSIDE_ID)
        os.setresuid(INSIDE_ID, INSIDE_ID, INSIDE_ID)


def _has_fresh_keyring() -> bool:
    try:
        calls.join_new_session_keyring()
    except OSError:
        return False
    return True


# ── process ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _plain(spec: Spec) -> tuple[Callable[[socket.socket], dict[str, Any]], Callable[[int], None]]:
    """Confine with what any process may do to itself; the agent's children add Landlock and seccomp."""

    def confine(_channel: socket.socket) -> dict[str, Any]:
        scratch = spec["scratch"]
        if spec["outer_id"] is not None:
            with step("become an unprivileged user"):
                os.setgroups([])
                os.setresgid(*[spec["outer_id"]] * 3)
                os.setresuid(*[spec["outer_id"]] * 3)
        keyring = _has_fresh_keyring()
        with step("enter the scratch folder"):
            os.chdir(f"{scratch}/work")
        return {
            "proc": True, "keyring": keyring,
            "scratch": {"kind": "dir", "root": scratch, "stable": scratch, "folders": list(tree.SCRATCH_FOLDERS)},
        }  # fmt: skip

    return confine, lambda _pid: None


_CONFINERS: Final = {"namespace": _namespaces, "process": _plain}
