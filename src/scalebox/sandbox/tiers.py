"""Isolation tiers: what one must offer, how one is chosen, and how a worker starts an agent in it.

A tier is a module of this folder that defines `TIER`; its file name is its name.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import msgspec

from scalebox.core.errors import SandboxError
from scalebox.sandbox.linux import calls, family, owner

_FOLDER: Final = Path(__file__).parent
_MEND_INTERPRETER: Final = (
    "choose an interpreter that is there and that every user of the machine may run: outside the namespace tier, none"
    " below a folder closed to others, such as /root"
)
_LAUNCH_TIMEOUT_S: Final = 30.0
_LOG_CHARACTERS: Final = 1000
_BOOT: Final = (
    "import sys; sys.path.append(sys.argv[1]); from scalebox.sandbox.launch import main; "
    "main(int(sys.argv[2]), int(sys.argv[3]))"
)


class LaunchSpec(msgspec.Struct, kw_only=True):
    """An agent to start.

    `argv` begins with the absolute path of the interpreter; `env` is the agent's whole environment. `pass_fds` stay
    open under their numbers, and nothing else does (0, 1 and 2 are /dev/null unless passed). `readable` are absolute
    paths shown read-only beside the system's own. The launcher writes itself into each of `cgroup_procs`.
    """

    argv: list[str]
    env: dict[str, str]
    pass_fds: list[int] = []
    readable: list[str] = []
    cores: list[int] = []
    cgroup_procs: list[str] = []
    scratch_bytes: int = 100 * 1024 * 1024


class Launched(msgspec.Struct, kw_only=True):
    """A running agent: its pid as the worker sees it (the worker is its parent and must reap it), and facts.

    Facts: "proc" (bool), "keyring" (bool: a session keyring of its own), "landlock_abi" (int), "scratch" ({"kind":
    "tmpfs" | "dir", "root", "stable": the folder for a Landlock rule, "folders", and of a tmpfs its mount "options"}),
    "foreign_files" and "signal_others" (for `seccomp.base_filter` and `seccomp.case_filter`), and in the namespace tier
    "moved" (bool: paths of the host below a scratch folder are shown elsewhere, see `tree.inside`).
    """

    pid: int
    facts: dict[str, Any]


class Probe(msgspec.Struct, kw_only=True):
    """Whether a tier works here; else the first step that failed. `notes` are what it does not cover."""

    ok: bool
    step: str = ""
    errno: int = 0
    reason: str = ""
    mend: str = ""
    notes: list[str] = []


class Tier(Protocol):
    """One way to isolate. `automatic` ones may be chosen by "auto", the highest `strength` first.

    `slowness` is how many times longer programs may take there than their limits of time say; `own_kernel` says that
    jails share no kernel with the machine, and that what runs in them cannot be seen from outside.
    """

    name: str
    strength: int
    automatic: bool
    slowness: float
    own_kernel: bool

    def probe(self) -> Probe:
        """Try the tier for real, in a throwaway child."""

    def launch(self, spec: LaunchSpec) -> Launched:
        """Start an agent; make the calling process its parent. Raises SandboxError."""

    def cleanup(self, launched: Launched) -> None:
        """Kill and reap the agent if it still is, and all its descendants; remove what it leaves outside.

        Only for a process that has no children of its own but the agents that it launched.
        """


@runtime_checkable
class Varied(Protocol):
    """A tier that comes in variants."""

    def using(self, variant: str) -> Tier:
        """Return this variant of it, usable here or not."""


def names() -> tuple[str, ...]:
    """Return the tiers there are, the strongest first."""
    return tuple(tier.name for tier in _tiers())


def find(name: str) -> Tier:
    """Return the tier of this name, usable here or not. Raises SandboxError.

    A variant follows a colon: "container:runc" is a container by that runtime, be it a name or a path.
    """
    plain, colon, variant = name.partition(":")
    for tier in _tiers():
        if tier.name == plain and not colon:
            return tier
        if tier.name == plain and variant and isinstance(tier, Varied):
            return tier.using(variant)
    known = ", ".join(("auto", *names()))
    raise SandboxError(f"there is no isolation tier {name!r}", step="choose tier", mend=f"one of {known}")


def choose(name: str) -> Tier:
    """Return the tier `name`, or for "auto" the strongest that works here; never a weaker one than asked for.

    Raises SandboxError with the first step that failed, its errno, and the mend.
    """
    if name != "auto":
        tier = find(name)
        probe = tier.probe()
        if not probe.ok:
            raise _unusable([(tier, probe)])
        return tier
    tried = []
    for tier in _tiers():
        if tier.automatic:
            probe = tier.probe()
            if probe.ok:
                return tier
            tried.append((tier, probe))
    raise _unusable(tried)


def _unusable(tried: list[tuple[Tier, Probe]]) -> SandboxError:
    told = "; ".join(f"the {tier.name} tier does not work here: {probe.reason}" for tier, probe in tried)
    mends = "; ".join(dict.fromkeys(probe.mend for _, probe in tried if probe.mend))
    return SandboxError(told, step=tried[0][1].step, errno=tried[0][1].errno, mend=mends)


@functools.cache
def _tiers() -> tuple[Tier, ...]:
    # The mark in the text spares the start the import of every module of the folder.
    modules = [path.stem for path in _FOLDER.glob("*.py") if "\nTIER: " in path.read_text(encoding="utf-8")]
    found: list[Tier] = [importlib.import_module(f"scalebox.sandbox.{module}").TIER for module in modules]
    return tuple(sorted(found, key=lambda tier: -tier.strength))


def start(tier: str, spec: LaunchSpec, standing: Mapping[str, object], *, trial: bool = False) -> Launched:
    """Run the launcher for `spec`, with what else the tier tells it (`standing`), and return the agent that it leaves.

    A `trial` executes no agent: all is set up and tried, nothing is left, and the caller does not become a subreaper.
    Raises SandboxError with the step that failed and its errno.
    """
    if not trial:
        calls.prctl(calls.PR_SET_CHILD_SUBREAPER, 1)
    told: dict[str, Any] = msgspec.to_builtins(spec) | {"tier": tier, "owner": os.getpid(), "trial": trial, **standing}
    spec_fd = os.memfd_create("launch")
    status, status_fd = os.pipe()
    try:
        os.write(spec_fd, json.dumps(told).encode())
        os.lseek(spec_fd, 0, os.SEEK_SET)
        words = str(_FOLDER.parents[1]), str(spec_fd), str(status_fd)
        launcher = subprocess.Popen(
            [sys.executable, "-X", owner.argument(), "-I", "-S", "-c", _BOOT, *words],
            stdin=None if 0 in spec.pass_fds else subprocess.DEVNULL,
            stdout=None if 1 in spec.pass_fds else subprocess.DEVNULL,
            stderr=None if 2 in spec.pass_fds else subprocess.DEVNULL,
            pass_fds=(spec_fd, status_fd, *spec.pass_fds),
            # Nothing but what an interpreter with shared libraries of its own cannot start without.
            env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
        )
    except BaseException:
        os.close(status)
        raise
    finally:
        os.close(spec_fd)
        os.close(status_fd)
    with open(status, "rb") as answers, launcher:
        return _outcome(launcher, answers.fileno(), told.get("runtime", {}), reap=not trial)


def _outcome(launcher: subprocess.Popen[bytes], answers: int, runtime: Mapping[str, str], *, reap: bool) -> Launched:
    text, timed_out = _read_until_end(answers)
    if timed_out:
        launcher.kill()
    launcher.wait()
    told: dict[str, Any] = {}
    for line in text.split(b"\n")[:-1]:
        told |= json.loads(line)
    if runtime:
        told = _told_by_runtime(runtime, launcher.returncode) | told  # what the first program said is nearer the cause
    failed = told.get("failed")
    if failed is None and "pid" in told and "facts" in told and not timed_out:
        return Launched(pid=told["pid"], facts=told["facts"])
    if reap and told.get("pid"):
        end(told["pid"])
    if failed is None:
        how = f"no answer within {_LAUNCH_TIMEOUT_S:g} s" if timed_out else f"it ended with {launcher.returncode}"
        failed = {"step": "launcher", "errno": 0, "text": how}
    raise SandboxError(
        f"{failed['step']} failed: {failed['text']}", step=failed["step"], errno=failed["errno"],
        mend=_MEND_INTERPRETER if failed["step"].startswith("execute ") else "",
    )  # fmt: skip


def _told_by_runtime(runtime: Mapping[str, str], code: int) -> dict[str, Any]:
    """Return which process a container runtime says that it has started, or why it has not."""
    told: dict[str, Any] = {} if runtime["pid_file"] else {"pid": 0}
    with contextlib.suppress(OSError, ValueError):
        told["pid"] = int(Path(runtime["pid_file"]).read_text(encoding="ascii"))
    if code != 0:
        said = ""
        with contextlib.suppress(OSError):
            said = Path(runtime["log"]).read_text(encoding="utf-8", errors="replace")[-_LOG_CHARACTERS:].strip()
        name = Path(runtime["argv"][0]).name
        told["failed"] = {"step": f"run {name}", "errno": 0, "text": said or f"it ended with {code}"}
    return told


def _read_until_end(fd: int) -> tuple[bytes, bool]:
    deadline = time.monotonic() + _LAUNCH_TIMEOUT_S
    text = b""
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    while poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
        piece = os.read(fd, 65536)
        if not piece:
            return text, False
        text += piece
    return text, True


def end(pid: int) -> None:
    """Kill and reap a child, if it still is one."""
    if family.is_our_child(pid):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
