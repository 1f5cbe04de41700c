"""The first program in a container: makes of what the runtime has set up a jail, and becomes the agent.

It is the argument of `python -c`, with a call of `main` behind it, and imports nothing of ScaleBox. What it has to say
it writes to the descriptor "status", in lines of JSON, as the launcher does: {"facts": …} or {"failed": …}.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import struct
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_NOSUID, _MS_NODEV, _MNT_DETACH = 2, 4, 2
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 24, 38, 47, 2
_CAPABILITY_VERSION_3 = 0x20080522
#: Above all numbers that descriptors have or are to have.
_FREE, _ALL_FDS = 900, 65536


class _Failed(Exception):
    """A step that failed: its name, the errno, and what the kernel said."""

    def __init__(self, step: str, error: OSError) -> None:
        super().__init__(step)
        self.told = {"step": step, "errno": error.errno or 0, "text": str(error)}


def _try(step: str, action: Any, *arguments: Any) -> Any:
    try:
        return action(*arguments)
    except OSError as error:
        raise _Failed(step, error) from None


def _call(name: str, *arguments: Any) -> None:
    """Call a function of the C library that returns 0 where it succeeds."""
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, name + ": " + os.strerror(number))


def main(config: dict[str, Any]) -> None:
    """Set up what the runtime cannot, and execute the agent.

    Returns only where there is nothing to execute, for what stands behind the call is the agent.
    """
    status = config["status"]
    try:
        facts = _enter(config)
        status = _arrange_descriptors(config)
        _say(status, {"facts": facts})
        if config["trial"]:
            os._exit(0)
        if not config["executable"]:
            os.close(status)
            return
        for number in signal.valid_signals():
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        _try("execute " + config["executable"], os.execve, config["executable"], config["argv"], config["env"])
    except _Failed as failure:
        _say(status, {"failed": failure.told})
    except BaseException as error:  # whatever it is, the worker must hear of it
        _say(status, {"failed": {"step": "container", "errno": 0, "text": repr(error)[:500]}})
    os._exit(1)


def _say(status: int, message: dict[str, Any]) -> None:
    os.write(status, json.dumps(message).encode("ascii") + b"\n")


def _enter(config: dict[str, Any]) -> dict[str, Any]:
    for number in config["groups"]:
        _try("join the control group", os.write, number, b"0")
        os.close(number)
    os.umask(0o077)
    if config["inner_id"] is not None:
        _enter_user_namespace(config["inner_id"])
    for path in config["covered"]:
        _try(
            "cover " + path,
            _call,
            "mount",
            b"none",
            path.encode(),
            b"tmpfs",
            ctypes.c_ulong(1),
            b"mode=0000,uid=0,gid=0",
        )
    scratch = config["scratch"]
    options = config["scratch_options"] + (",mode=0711" if scratch["owner"] else ",mode=0700")
    if config["trial"]:  # it will be renewed between cases
        _mount_scratch(scratch["root"], options)
        _try("unmount scratch", _call, "umount2", scratch["root"].encode(), _MNT_DETACH)
    _mount_scratch(scratch["root"], options)
    for name in scratch["folders"]:
        _try("fill scratch", os.mkdir, scratch["root"] + "/" + name, 0o700)
        if scratch["owner"]:
            os.chmod(scratch["root"] + "/" + name, 0o777)  # noqa: S103 - both users write there
            os.chown(scratch["root"] + "/" + name, scratch["owner"], scratch["owner"])
    _try("enter the scratch folder", os.chdir, scratch["root"] + "/work")
    if config["inner_id"] is not None:
        _try("drop capabilities", _keep_only, config["capabilities"])
    _try("no_new_privs", _call, "prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return {"proc": os.path.exists("/proc/self/stat"), "scratch": dict(scratch, options=options)}


def _enter_user_namespace(inner: int) -> None:
    """Become one unprivileged user in a namespace in which every mount made so far is locked."""
    user, group = os.getuid(), os.getgid()
    _try("create inner user namespace", _call, "unshare", _CLONE_NEWUSER | _CLONE_NEWNS)
    for name, text in (
        ("setgroups", "deny"), ("uid_map", "%d %d 1" % (inner, user)), ("gid_map", "%d %d 1" % (inner, group))
    ):  # fmt: skip
        _try("map the agent's ids", _write, "/proc/self/" + name, text)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _mount_scratch(root: str, options: str) -> None:
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV)
    _try("mount the scratch tmpfs", _call, "mount", b"scratch", root.encode(), b"tmpfs", flags, options.encode())


def _keep_only(kept: list[int]) -> None:
    """Drop every capability but these, for good, and let those pass through exec."""
    for number in range(64):
        if number not in kept and _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            break  # beyond the kernel's last one
    mask = sum(1 << number for number in kept)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _call("capset", header, struct.pack("=6I", low, low, low, high, high, high))
    for number in kept:
        _call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, number, 0, 0)


def _arrange_descriptors(config: dict[str, Any]) -> int:
    """Give the agent's descriptors the numbers that it knows, close all others; return the one to report on."""
    status = fcntl.fcntl(config["status"], fcntl.F_DUPFD_CLOEXEC, _FREE)
    held = [(fcntl.fcntl(at, fcntl.F_DUPFD_CLOEXEC, _FREE), wanted) for at, wanted in config["passed"]]
    os.closerange(0, _FREE)
    os.open("/dev/null", os.O_RDWR)  # which is 0 then
    os.set_inheritable(0, True)
    os.dup2(0, 1)
    os.dup2(0, 2)
    for at, wanted in held:
        os.dup2(at, wanted)
        os.close(at)
    os.closerange(status + 1, _ALL_FDS)
    return status
