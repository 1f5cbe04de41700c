"""Reading and checking the lines of an audit log."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

import msgspec

from scalebox.core.errors import ScaleBoxError

#: What stands for the line before the first.
FIRST = "0" * 64
_TAIL = 64 * 1024
#: Length of the end of a file's name: the number of its first record, and what follows.
_DIGITS = len("000000000001.jsonl")


class Link(msgspec.Struct):
    """What binds a record to the one before."""

    n: int
    prev: str
    at: float
    event: str


def log_files(folder: str) -> list[str]:
    """Return the files of a log, the oldest first; raises OSError."""
    names = [name for name in os.listdir(folder) if name.startswith("audit-") and name.endswith(".jsonl")]
    return [os.path.join(folder, name) for name in sorted(names)]


def records(path: str, after: int = 0) -> Iterator[tuple[str, int, bytes]]:
    """Yield (file, line number, line without its newline) of a log: a folder, or one of its files. Raises OSError.

    Files of a folder that hold no record beyond number `after` are left out.
    """
    for file in _files_beyond(path, after) if os.path.isdir(path) else [path]:
        with open(file, "rb") as stream:
            for number, line in enumerate(stream, 1):
                yield file, number, line


def _files_beyond(folder: str, after: int) -> list[str]:
    files = log_files(folder)
    begins = [int(number) if (number := file[-_DIGITS:].partition(".")[0]).isdigit() else 0 for file in files]
    return [
        file for place, file in enumerate(files) if all(begin > after + 1 for begin in begins[place + 1 : place + 2])
    ]


class Checked(msgspec.Struct, kw_only=True):
    """What a check of a log found: `faults` are in words, with file and line."""

    records: int = 0
    first: int = 0
    last: int = 0
    digest: str = FIRST
    faults: list[str] = []


class BrokenLog(ScaleBoxError):
    """The log cannot be read at all."""


def check(path: str, *, noted: tuple[int, str] | None = None, most_faults: int = 100) -> Checked:
    """Verify numbers and hashes of a log, and that it holds the record that was `noted` (number, hash).

    A folder must begin with record 1; one file may begin anywhere. Ends after `most_faults`. Raises BrokenLog where
    it cannot be read.
    """
    found = Checked()
    met = noted is None
    try:
        for file, number, line in records(path):
            _check_line(found, line, f"{file}:{number}", whole=os.path.isdir(path))
            met = met or noted == (found.last, found.digest)
            if len(found.faults) >= most_faults:
                break
    except OSError as error:
        raise BrokenLog(f"audit_log: {path}: cannot be read: {error.strerror or error}") from None
    if noted is not None and not met:
        found.faults.append(f"record {noted[0]} with the hash {noted[1]} is not there: the log was cut or written anew")
    return found


def _check_line(found: Checked, line: bytes, place: str, *, whole: bool) -> None:
    try:
        record = msgspec.json.decode(line, type=Link)
    except (msgspec.MsgspecError, RecursionError):
        found.faults.append(f"{place}: no record")
        return
    begins = found.records == 0
    if begins and not whole:
        found.first, found.last, found.digest = record.n, record.n - 1, record.prev
    if not line.endswith(b"\n"):
        found.faults.append(f"{place}: the line is cut short")
    if record.n != found.last + 1:
        found.faults.append(f"{place}: record {record.n} follows {found.last}: records are missing or out of order")
    if record.prev != found.digest:
        found.faults.append(f"{place}: record {record.n} is not bound to what stands before it, which was changed")
    found.first = found.first or record.n
    found.records += 1
    found.last, found.digest = record.n, hashlib.sha256(line.removesuffix(b"\n")).hexdigest()


def last_record(paths: list[str]) -> tuple[int, str]:
    """Return number and hash of the last record of a log; raises OSError where what is there is no log."""
    for path in reversed(paths):
        line = _last_line(path)
        if line:
            try:
                record = msgspec.json.decode(line, type=Link)
            except (msgspec.MsgspecError, RecursionError):
                raise OSError(f"the last line of {path} is no record (move the folder away)") from None
            return record.n, hashlib.sha256(line).hexdigest()
    return 0, FIRST


def _last_line(path: str) -> bytes:
    with open(path, "rb") as stream:
        at = stream.seek(0, os.SEEK_END)
        tail = b""
        while at and b"\n" not in tail[:-1]:
            step = min(_TAIL, at)
            at = stream.seek(at - step)
            tail = stream.read(step) + tail
        return tail.removesuffix(b"\n").rpartition(b"\n")[2]


def cut_torn_line(fd: int) -> bytes:
    """Remove a last line without its end, which a power cut can leave, and return it."""
    size = at = os.fstat(fd).st_size
    tail = b""
    while at and b"\n" not in tail:
        step = min(_TAIL, at)
        at -= step
        tail = os.pread(fd, step, at) + tail
    torn = tail.rpartition(b"\n")[2]
    if torn:
        os.ftruncate(fd, size - len(torn))
    return torn


def complaint(folder: str, error: OSError) -> str:
    return f"audit_log: {folder}: {error.strerror or error} (name a folder that may be written)"
