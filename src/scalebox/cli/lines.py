"""Lines of input files, read lazily and bounded in length, whatever the files turn out to be."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

import msgspec
import zstandard

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB

STANDARD = "-"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BLOCK = 1 * MIB
#: Window of a zstd frame that the reader is willing to hold.
_ZSTD_WINDOW = 128 * MIB


class Line(msgspec.Struct, frozen=True):
    """A line that is not blank, or the reason why there is none; `number` is 1-based, 0 for a whole file."""

    source: str
    number: int
    data: bytes = b""
    error: InputError | None = None


class Lines:
    """The lines of several files in order, with how far through them the reading is."""

    def __init__(self, paths: Sequence[str], max_line_bytes: int) -> None:
        self._paths = paths
        self._max = max_line_bytes
        self._done_bytes = 0
        self._file: BinaryIO | None = None
        self._size = sum(_size(path) or 0 for path in paths)
        self._sized = all(_size(path) is not None for path in paths)

    def fraction(self) -> float | None:
        """Return the share of all bytes read so far; None where a size is not known (a pipe)."""
        if not self._sized or not self._size:
            return None
        here = 0
        with contextlib.suppress(AttributeError, ValueError, OSError):
            here = cast(BinaryIO, self._file).tell()
        return min(1.0, (self._done_bytes + here) / self._size)

    def __iter__(self) -> Iterator[Line]:
        for path in self._paths:
            yield from self._read(path)

    def _read(self, path: str) -> Iterator[Line]:
        source = "<stdin>" if path == STANDARD else path
        number = 0
        try:
            with _open(path) as file:
                self._file = file
                for line in self._split(_decompressed(file), source):
                    number = line.number
                    yield line
                self._done_bytes += _size(path) or 0
                self._file = None
        except (EOFError, zlib.error, zstandard.ZstdError, gzip.BadGzipFile) as error:
            yield _unusable(source, number + 1, f"compressed data broken or cut short: {error}")
        except OSError as error:
            yield _unusable(source, number, f"cannot be read: {error.strerror or error}")

    def _split(self, stream: BinaryIO, source: str) -> Iterator[Line]:
        number = 0
        samples = False
        while data := stream.readline(self._max + 1):
            number += 1
            if number == 1 and b"\0" in data[:4096]:
                yield _unusable(source, 0, "is binary or UTF-16", "give JSON Lines in UTF-8")
                return
            if len(data) > self._max:
                _skip_line(stream, data)
                mend = "raise the setting max_line_mb"
                yield _unusable(source, number, f"longer than the {self._max // MIB} MiB of a line", mend)
                samples = True
            elif data.strip():
                yield Line(source, number, data)
                samples = True
        if not samples:
            yield _unusable(source, 0, "holds no samples", "one JSON object on each line")


def _size(path: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        found = os.stat(0 if path == STANDARD else path)
        if stat.S_ISREG(found.st_mode):
            return found.st_size
    return None


def _open(path: str) -> BinaryIO:
    if path == STANDARD:
        return open(0, "rb", closefd=False)
    if "\0" in path:
        raise OSError("no path holds a NUL")
    return open(path, "rb")


def _decompressed(file: BinaryIO) -> BinaryIO:
    """Return the stream within; what it is compressed with is told by its first bytes."""
    head = file.peek(4)[:4] if isinstance(file, io.BufferedReader) else b""
    if head.startswith(_GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if head == _ZSTD:
        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        reader = decompressor.stream_reader(file, read_across_frames=True, closefd=False)
        return io.BufferedReader(cast(io.RawIOBase, reader), _BLOCK)
    return file


def _skip_line(stream: BinaryIO, data: bytes) -> None:
    while data and not data.endswith(b"\n"):
        data = stream.readline(_BLOCK)


def _unusable(source: str, number: int, problem: str, mend: str = "") -> Line:
    return Line(source, number, error=InputError(problem, source=source, line=number, mend=mend))
