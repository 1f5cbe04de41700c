"""Built programs on disk, by what they were built from: shared by all workers, bounded in size.

What is kept is bytes that a compiler made of hostile source. They are never looked into: they only go back into a jail.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import struct
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from scalebox.core import values
from scalebox.core.folders import make_own

#: Goes into every key: what is built is another thing from one version to the next.
_VERSION = 2
_MAGIC = b"scalebox build 2\n"
_HEAD_BYTES = len(_MAGIC) + 32
#: Entries that a process remembers to have found whole.
_MOST_MARKS = 10_000
#: A cache over its bound is brought down to this share of it, so that not every new build has to.
_ROOM = 0.8

_INDEX = struct.Struct("<I")
_MOST_INDEX = 1 << 20

#: Where in a file each of a program's files lies: offset and size, by name.
Places = dict[str, tuple[int, int]]


def key_of(language: str, version: str, commands: Iterable[Iterable[str]], files: Mapping[str, bytes]) -> str:
    """Return the name of what these commands of this toolchain make of these files."""
    parts = (_VERSION, os.uname().machine, language, version, [list(command) for command in commands], dict(files))
    return hashlib.sha256(msgspec.msgpack.encode(parts)).hexdigest()


class Built:
    """A built program: an open file, to be closed, and the places in it."""

    def __init__(self, fd: int, places: Places) -> None:
        self.fd = fd
        self.places = places

    def close(self) -> None:
        """Close the file."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


def places_in(fd: int, at: int = 0) -> Places | None:
    """Return where the files are that a jail, or this cache, has packed behind `at`; None where that is no such thing.

    Packed are an index, sizes by name in the encoding of `core.values`, with its length before it, and the contents.
    """
    head = os.pread(fd, _INDEX.size, at)
    size = _INDEX.unpack(head)[0] if len(head) == _INDEX.size else 0
    if not 0 < size <= _MOST_INDEX:
        return None
    try:
        index = values.decode(os.pread(fd, size, at + _INDEX.size), 100_000)
    except ValueError:
        return None
    if not isinstance(index, dict) or not index:
        return None
    places: Places = {}
    at += _INDEX.size + size
    for name, length in index.items():
        if not (isinstance(name, str) and _is_below(name) and type(length) is int and 0 <= length < 1 << 40):
            return None
        places[name] = (at, length)
        at += length
    return places if at == os.fstat(fd).st_size else None


def _is_below(name: str) -> bool:
    return "\0" not in name and all(part not in ("", ".", "..") for part in name.split("/"))


class Builds:
    """A folder of built programs, `most` bytes at most; without a usable folder, one that is always empty.

    Any number of processes may use it at once, and be killed at any time: an entry is there whole, or not at all.
    """

    def __init__(self, folder: str, most: int) -> None:
        self._folder = Path(folder) if folder and most > 0 and make_own(folder) else None
        self._most = most
        self._whole: set[tuple[int, int, int, int]] = set()

    def get(self, key: str) -> Built | None:
        """Return what is kept under `key`; an entry that is not as it was written is dropped."""
        if self._folder is None:
            return None
        path = self._folder / key
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            places = places_in(fd, _HEAD_BYTES) if self._is_whole(fd) else None
            if places is not None:
                os.utime(path, ns=(time.time_ns(), os.fstat(fd).st_mtime_ns))  # the one used last goes last
                return Built(fd, places)
        except OSError:
            places = None
        os.close(fd)
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def _is_whole(self, fd: int) -> bool:
        """Return whether an entry is as it was written; one that has not changed since is not read again."""
        status = os.fstat(fd)
        mark = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if mark in self._whole:
            return True
        head = os.pread(fd, _HEAD_BYTES, 0)
        whole = head == _MAGIC + _digest(fd, _HEAD_BYTES)
        if whole:
            if len(self._whole) >= _MOST_MARKS:
                self._whole.clear()
            self._whole.add(mark)
        return whole

    def put(self, key: str, packed: int) -> None:
        """Keep the packed files that the file `packed` holds, and drop those used least recently if it is too much."""
        if self._folder is None or os.fstat(packed).st_size > self._most:
            return
        with contextlib.suppress(OSError):  # a disk that is full makes builds slow, not wrong
            file, name = tempfile.mkstemp(prefix=".new-", dir=self._folder)
            try:
                with open(file, "wb") as stream:
                    stream.write(_MAGIC + _digest(packed, 0))
                    stream.flush()
                    _copy(packed, stream.fileno())
                os.replace(name, self._folder / key)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(name)
                raise
            self._shrink()

    def _shrink(self) -> None:
        assert self._folder is not None
        entries = []
        for entry in os.scandir(self._folder):
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    entries.append((max(status.st_atime_ns, status.st_mtime_ns), status.st_size, entry.path))
        size = sum(size for _, size, _ in entries)
        if size <= self._most:
            return
        for _, freed, path in sorted(entries):
            with contextlib.suppress(OSError):
                os.unlink(path)
            size -= freed
            if size <= _ROOM * self._most:
                return


def _digest(fd: int, at: int) -> bytes:
    with open(os.dup(fd), "rb") as stream:
        stream.seek(at)
        return hashlib.file_digest(stream, "sha256").digest()


def _copy(source: int, target: int) -> None:
    at, size = 0, os.fstat(source).st_size
    while at < size:
        done = os.sendfile(target, source, at, size - at)
        if not done:
            raise OSError(errno.EIO, "cut short")
        at += done
