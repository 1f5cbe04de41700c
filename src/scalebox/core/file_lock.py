"""A lock that processes share, held on an open file or folder."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator


@contextlib.contextmanager
def held(fd: int) -> Iterator[None]:
    """Hold the lock of `fd`'s file; waits for others that hold it. Raises OSError where its file system has no locks.

    It is given back, not left to the file's closing: a process forked meanwhile has the file open too.
    """
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)
