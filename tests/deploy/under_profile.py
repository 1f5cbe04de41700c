"""Runs a command under a container's seccomp profile: under_profile.py PROFILE.json COMMAND…

Only what the profiles here use is understood: names with an action, and no arguments but clone's mask of flags.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

from scalebox.sandbox.linux.syscalls import ARCHITECTURES

_LOAD, _EQUAL, _AND, _RETURN = 0x20, 0x15, 0x54, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_SET_SECCOMP, _FILTER, _NO_NEW_PRIVS = 22, 2, 38


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def program(profile: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """Return the filter, as (code, jump if true, jump if false, constant)."""
    known = ARCHITECTURES[os.uname().machine]
    code = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, known.audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    for rule in profile["syscalls"]:
        allowed = rule["action"] == "SCMP_ACT_ALLOW"
        answer = _ALLOW if allowed else _ERRNO | rule["errnoRet"]
        for number in (known.number_of[name] for name in rule["names"] if name in known.number_of):
            if "args" in rule:
                (condition,) = rule["args"]
                assert condition["op"] == "SCMP_CMP_MASKED_EQ"
                flags = [(_LOAD, 0, 0, 16 + 8 * condition["index"]), (_AND, 0, 0, condition["value"])]
                code += [(_EQUAL, 0, 5, number), *flags, (_EQUAL, 0, 1, 0), (_RETURN, 0, 0, answer)]
                code.append((_RETURN, 0, 0, _ERRNO | profile["defaultErrnoRet"]))
            else:
                code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]
    return [*code, (_RETURN, 0, 0, _ERRNO | profile["defaultErrnoRet"])]


def main() -> None:
    code = program(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    raw = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *instruction) for instruction in code))
    libc = ctypes.CDLL(None, use_errno=True)
    told = _Program(len(code), ctypes.addressof(raw))
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(told), 0, 0):
        raise OSError(ctypes.get_errno(), "the profile cannot be applied")
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 (what this is for)


if __name__ == "__main__":
    main()
