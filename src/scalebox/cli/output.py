"""Where results are written, line by line."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import BinaryIO, cast

import zstandard

from scalebox.cli.lines import STANDARD
from scalebox.core.errors import InputError, ScaleBoxError


class Output(contextlib.AbstractContextManager["Output"]):
    """Lines to a file, compressed if its name ends with .gz or .zst, or to standard output; nowhere for None.

    Raises InputError where `path` cannot be written or is one of the `inputs`. What was written is
    kept, whatever happens after; a reader of standard output who leaves is a BrokenPipeError.
    """

    def __init__(self, path: str | None, inputs: Sequence[str] = ()) -> None:
        self._path = path
        self._stream = None if path is None else _open(path, inputs)

    def write(self, line: bytes) -> None:
        """Write one line, its newline included, and hand it to the system. Raises ScaleBoxError."""
        if self._stream is None:
            return
        try:
            self._stream.write(line)
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise ScaleBoxError(f"{self._path}: cannot be written: {error.strerror}") from None

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        if self._stream is None or self._path == STANDARD:
            return
        try:
            self._stream.close()
        except OSError as error:
            if kind is None:
                raise ScaleBoxError(f"{self._path}: cannot be written: {error.strerror}") from None


def _open(path: str, inputs: Sequence[str]) -> BinaryIO:
    if path == STANDARD:
        return sys.stdout.buffer
    for given in inputs:
        with contextlib.suppress(OSError, ValueError):
            if given != STANDARD and os.path.samefile(given, path):
                raise InputError("is an input too and would be overwritten", source=path, mend="give -o another file")
    try:
        if path.endswith(".gz"):
            return cast(BinaryIO, gzip.open(path, "wb"))
        if path.endswith(".zst"):
            return cast(BinaryIO, zstandard.open(path, "wb"))
        return open(path, "wb")
    except (OSError, ValueError) as error:
        problem = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise InputError(problem, source=path, mend="give -o a file that can be created") from None
