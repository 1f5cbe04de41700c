"""Filters tried in the kernel itself, in a process of their own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

PRELUDE = """
import array, ctypes, errno, json, os, socket, struct, sys, threading
from scalebox.sandbox.linux import bpf, calls, seccomp
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
from scalebox.sandbox.linux.syscalls import ARCHITECTURES
N = ARCHITECTURES[os.uname().machine].number_of
def load(code):
    kept = ctypes.create_string_buffer(code, len(code))
    return kept, ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(kept)))
def install(code, flags=0):
    kept, head = load(code)
    done = libc.syscall(N["seccomp"], 1, flags, head)
    assert done >= 0, os.strerror(ctypes.get_errno())
    return done
def attempt(name, *args):
    ctypes.set_errno(0)
    return errno.errorcode.get(ctypes.get_errno(), "") if libc.syscall(N[name], *args) < 0 else ""
calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
"""


def in_child(code: str) -> str:
    script = PRELUDE + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
