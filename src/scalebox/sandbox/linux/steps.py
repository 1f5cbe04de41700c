"""Which step of building a sandbox failed, and how."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class StepFailed(Exception):
    """A step of the set-up failed; `errno` is the kernel's answer."""

    def __init__(self, step: str, errno: int, text: str) -> None:
        self.step = step
        self.errno = errno
        self.text = text
        super().__init__(f"{step}: {text}")


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Name what happens in the block: an OSError in it becomes a StepFailed."""
    try:
        yield
    except OSError as error:
        raise StepFailed(name, error.errno or 0, str(error)) from error
