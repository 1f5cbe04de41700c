"""Plays the worker in a process of its own: launches a stand-in agent, and tells what came of it.

Run as a script with one JSON object on stdin; prints one. See `stage`.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import struct
import sys
from pathlib import Path
from typing import Any

from scalebox.core.errors import SandboxError
from scalebox.sandbox import tiers
from scalebox.sandbox.linux import bpf, calls
from scalebox.sandbox.linux.syscalls import ARCHITECTURES

#: What every stand-in agent begins with: `tell` adds to the answer, `attempt` gives "" or the name of the errno.
AGENT = """
import ctypes, errno, json, os, sys
_libc = ctypes.CDLL(None, use_errno=True)
_answer = {}
def tell(**facts):
    _answer.update(facts)
def attempt(call, *args):
    try:
        result = call(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""
def libc(name, *args):
    if getattr(_libc, name)(*args) == -1:
        raise OSError(ctypes.get_errno(), name)
def status():
    return dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
try:
    exec(compile(sys.argv[2], "<agent>", "exec"))
finally:
    os.write(int(sys.argv[1]), json.dumps(_answer).encode())
"""


def _deny_namespaces() -> None:
    """Do what container runtimes do by default: refuse every new namespace, and mounts."""
    numbers = ARCHITECTURES[os.uname().machine].number_of
    allow, refuse = bpf.answer(0x7FFF0000), bpf.answer(0x00050000 | errno.EPERM)
    main = [bpf.load_number()]
    for name in ("unshare", "setns", "mount", "umount2", "pivot_root", "keyctl"):
        main += [bpf.unless_equal(numbers[name], 1), refuse]
    main += [bpf.unless_equal(numbers["clone3"], 1), bpf.answer(0x00050000 | errno.ENOSYS)]
    main += [bpf.unless_equal(numbers["clone"], 3), bpf.load_argument(0), bpf.unless_any(0x7E020000, 1), refuse, allow]
    code = bpf.assemble(main, {})
    kept = ctypes.create_string_buffer(code, len(code))
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // bpf.SIZE, ctypes.addressof(kept)))
    calls.prctl(22, 2, ctypes.addressof(head))


def _contain(*, cover_proc: bool) -> None:
    """Become what root is in a container: without the right to mount, and perhaps with parts of /proc covered."""
    if cover_proc:
        calls.unshare(calls.CLONE_NEWNS)
        calls.mount("none", "/", "", calls.MS_REC | calls.MS_PRIVATE)
        calls.mount("tmpfs", "/proc/acpi", "tmpfs", calls.MS_RDONLY)
    calls.keep_only_capabilities([0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 29, 31])


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def _drain(fd: int) -> bytes:
    pieces = []
    while piece := os.read(fd, 65536):
        pieces.append(piece)
    return b"".join(pieces)


def main() -> None:
    """Do as the JSON object on stdin says."""
    wanted = json.load(sys.stdin)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    if wanted.get("contain"):
        _contain(cover_proc=wanted.get("cover_proc", False))
    if wanted.get("deny"):
        _deny_namespaces()

    seen: dict[str, Any] = {}
    try:
        if wanted.get("lines"):
            exec(wanted["lines"], {"tiers": tiers, "seen": seen})  # noqa: S102 - the test's own code
        else:
            _launch(wanted, seen)
    except SandboxError as error:
        seen |= {"error": str(error), "step": error.step, "errno": error.errno, "mend": error.mend}
    seen["children"] = _children()
    print(json.dumps(seen))


def _launch(wanted: dict[str, Any], seen: dict[str, Any]) -> None:
    answer, answer_fd = os.pipe()
    unrelated, _ = os.pipe()
    os.set_inheritable(unrelated, True)
    readable = wanted.get("readable", [sys.base_prefix])
    spec = tiers.LaunchSpec(
        argv=[wanted["python"], "-I", "-S", "-c", AGENT, str(answer_fd), wanted["code"]],
        env={"MARK": "1"}, pass_fds=[answer_fd], readable=readable, cores=[min(os.sched_getaffinity(0))],
        scratch_bytes=1 << 20,
    )  # fmt: skip
    tier = tiers.choose(wanted["tier"])
    launched = tier.launch(spec)
    os.close(answer_fd)
    seen |= {"tier": tier.name, "facts": launched.facts, "pid": launched.pid, "answer_fd": answer_fd}
    seen["parent_is_us"] = str(launched.pid) in _children()
    if wanted.get("kill"):
        os.read(answer, 1)  # it has begun
        seen["owner"] = os.stat(f"/proc/{launched.pid}").st_uid
        tier.cleanup(launched)
        _drain(answer)  # ends only when nothing of the jail lives
    else:
        text = _drain(answer)
        seen["status"] = os.waitstatus_to_exitcode(os.waitpid(launched.pid, 0)[1])
        seen |= json.loads(text or b"{}")
        tier.cleanup(launched)
    root = launched.facts["scratch"]["root"]
    seen["left"] = launched.facts["scratch"]["kind"] == "dir" and os.path.exists(root)


if __name__ == "__main__":
    main()
