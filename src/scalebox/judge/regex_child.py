"""Matches patterns against hostile texts in a process of its own, which `regex.py` starts; standard library alone.

A job is a header (three u32: CPU milliseconds, bytes of the pattern, bytes of the text), the pattern and the
text. The answer is one byte: `1` match, `0` none, `m` out of memory, `e` no regular expression. A job over
its CPU time ends the process by SIGPROF: the kernel keeps that limit, so no pattern can get around it.
"""

import re
import resource
import signal
import struct
import sys
from typing import BinaryIO

_ADDRESS_SPACE_BYTES = 1 << 30
_HEADER = struct.Struct("<III")


def main() -> None:
    """Answer jobs until standard input ends."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = _ADDRESS_SPACE_BYTES if hard == resource.RLIM_INFINITY else min(_ADDRESS_SPACE_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while result := _answer_next(sys.stdin.buffer):
        sys.stdout.buffer.write(result)
        sys.stdout.buffer.flush()


def _answer_next(jobs: BinaryIO) -> bytes:
    head = jobs.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return b""
    milliseconds, pattern_bytes, text_bytes = _HEADER.unpack(head)
    pattern, data = jobs.read(pattern_bytes), jobs.read(text_bytes)
    signal.setitimer(signal.ITIMER_PROF, milliseconds / 1000)
    try:
        return _match(pattern.decode("utf-8", "surrogatepass"), data.decode("utf-8", "surrogateescape"))
    except MemoryError:
        return b"m"
    except (re.error, RecursionError, OverflowError):
        return b"e"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _match(pattern: str, text: str) -> bytes:
    compiled = re.compile(pattern)
    return b"1" if compiled.fullmatch(text.rstrip(" \t\n\r\v\f")) or compiled.fullmatch(text) else b"0"


if __name__ == "__main__":
    main()
