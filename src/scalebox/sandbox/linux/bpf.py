"""An assembler for the classic BPF that seccomp runs; see the kernel's userspace-api/seccomp_filter.rst."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

_LOAD, _JUMP, _EQUAL, _GREATER_OR_EQUAL, _SET, _RETURN, _AND, _NEGATE = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06, 0x54, 0x84

_NR_OFFSET, _ARCH_OFFSET, _ARGS_OFFSET = 0, 4, 16
#: Size of one instruction, in bytes, and where in it the constant is.
SIZE: Final = 8
CONSTANT_AT: Final = 4


class Instruction(NamedTuple):
    """One instruction; `label` names the target of an unconditional jump until the program is assembled."""

    code: int
    constant: int = 0
    if_true: int = 0
    if_false: int = 0
    label: str = ""


def load_number() -> Instruction:
    return Instruction(_LOAD, _NR_OFFSET)


def load_architecture() -> Instruction:
    return Instruction(_LOAD, _ARCH_OFFSET)


def load_argument(index: int, *, high: bool = False) -> Instruction:
    """Load the low or the high half of an argument, on a little-endian machine."""
    return Instruction(_LOAD, _ARGS_OFFSET + 8 * index + (4 if high else 0))


def mask(bits: int) -> Instruction:
    return Instruction(_AND, bits)


def negate() -> Instruction:
    return Instruction(_NEGATE)


def unless_equal(value: int, skip: int) -> Instruction:
    """Skip `skip` instructions unless the loaded word is `value`."""
    return Instruction(_EQUAL, value, 0, skip)


def if_at_least(value: int, skip: int) -> Instruction:
    """Skip `skip` instructions if the loaded word, without sign, is not below `value`."""
    return Instruction(_GREATER_OR_EQUAL, value, skip, 0)


def if_equal(value: int, skip: int) -> Instruction:
    return Instruction(_EQUAL, value, skip, 0)


def unless_any(bits: int, skip: int) -> Instruction:
    """Skip `skip` instructions unless the loaded word has any of `bits`."""
    return Instruction(_SET, bits, 0, skip)


def jump(label: str) -> Instruction:
    return Instruction(_JUMP, label=label)


def answer(action: int) -> Instruction:
    return Instruction(_RETURN, action)


def search(ranges: Sequence[tuple[int, Instruction]], end: int) -> list[Instruction]:
    """Return a search: a loaded number below `end` is led to the last (first number, instruction) not above it.

    Halves numbers, not ranges: on installing, the kernel tries every number in turn, and that is most of the cost.
    """
    if len(ranges) == 1:
        return [ranges[0][1]]
    centre = (ranges[0][0] + end) / 2
    middle = min(range(1, len(ranges)), key=lambda i: abs(ranges[i][0] - centre))
    first = ranges[middle][0]
    low, high = search(ranges[:middle], first), search(ranges[middle:], end)
    return [Instruction(_GREATER_OR_EQUAL, first, len(low), 0), *low, *high]


def assemble(main: Sequence[Instruction], blocks: Mapping[str, Sequence[Instruction]]) -> bytes:
    """Return `main` and then the `blocks` that jumps name as an array of struct sock_filter."""
    program = list(main)
    places = {}
    for label, block in blocks.items():
        places[label] = len(program)
        program += block
    packed = []
    for at, one in enumerate(program):
        constant = places[one.label] - at - 1 if one.label else one.constant
        packed.append(struct.pack("<HBBI", one.code, one.if_true, one.if_false, constant & 0xFFFF_FFFF))
    return b"".join(packed)
