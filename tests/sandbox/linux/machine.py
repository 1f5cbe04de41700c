"""A machine for the classic BPF that seccomp takes, so that a filter's answer to any call can be asked for."""

from __future__ import annotations

import struct
from collections.abc import Sequence

KILL, ERRNO, NOTIFY, ALLOW = 0x80000000, 0x00050000, 0x7FC00000, 0x7FFF0000
MAX_INSTRUCTIONS = 4096


def answer(code: bytes, audit: int, number: int, arguments: Sequence[int] = ()) -> int:
    """Run a filter on one call; raises AssertionError where the kernel would not take the program."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<iIQ6Q", number, audit, 0, *(argument & (1 << 64) - 1 for argument in padded))
    program = list(struct.iter_unpack("<HBBI", code))
    assert 0 < len(program) <= MAX_INSTRUCTIONS
    at, loaded = 0, 0
    while True:
        operation, if_true, if_false, constant = program[at]
        at += 1
        if operation == 0x06:
            return int(constant)
        if operation == 0x20:
            assert constant % 4 == 0
            assert constant < len(data)
            loaded = struct.unpack_from("<I", data, constant)[0]
        elif operation == 0x05:
            at += constant
        elif operation == 0x54:
            loaded &= constant
        elif operation == 0x84:
            loaded = -loaded & 0xFFFFFFFF
        else:
            holds = {0x15: loaded == constant, 0x35: loaded >= constant, 0x45: loaded & constant != 0}[operation]
            at += if_true if holds else if_false
