"""The one who writes to an audit log."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from scalebox.core import events, file_lock
from scalebox.core.codec import make_plain
from scalebox.core.errors import SettingsError
from scalebox.core.limits import MIB
from scalebox.core.result import VerificationResult
from scalebox.sinks.audit_log.chain import complaint, cut_torn_line, last_record, log_files

_NAME = "audit-{:012d}.jsonl"
_DAY_S = 86_400

_log = logging.getLogger(__name__)


class _Head(msgspec.Struct):
    """Where the log ends: the newest file, its size and the day it was begun, and its last record."""

    path: str
    size: int
    day: int
    number: int
    digest: str


class AuditLog:
    """Appends records; also a sink of the engine's events. Every method may be called from any thread.

    Several processes may share a folder on one machine: each append holds a lock on it. Records are with the kernel
    when `record` returns, so a crash of the process loses none, and on disk `sync_s` seconds later, at once for 0.
    """

    def __init__(self, folder: str, *, max_mb: int = 64, sync_s: float = 1.0) -> None:
        """Open or make the folder; raises SettingsError."""
        self._folder = folder
        self._max_bytes = max_mb * MIB
        self._sync_s = sync_s
        self._mutex = threading.Lock()
        self._head: _Head | None = None
        self._fd = -1
        self._lost = 0
        self._dirty = threading.Event()
        self._closed = False
        self._closing = threading.Event()
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise SettingsError(complaint(folder, error)) from None
        try:
            with self._locked():
                self._catch_up()
        except OSError as error:
            self.close()
            raise SettingsError(complaint(folder, error)) from None
        if sync_s > 0:
            threading.Thread(target=self._sync_often, name="scalebox-audit", daemon=True).start()

    def __call__(self, event: Any) -> None:
        """Record an event of the engine."""
        match event:
            case events.SampleFinished():
                self.record("execution", at=event.at, batch_id=event.batch_id, **_execution(event.result))
            case events.Event():
                fields = msgspec.to_builtins(event)
                name, at = fields.pop("type"), fields.pop("at")
                self.record(_snake(name), at=at, **fields)

    def record(self, event: str, *, at: float | None = None, **fields: Any) -> int:
        """Append a record, and return its number. Raises OSError where it cannot be written; the log then stays whole.

        Records that could not be written are counted, and the count is recorded as soon as it can be.
        """
        with self._mutex:
            try:
                with self._locked():
                    self._catch_up()
                    if self._lost:
                        self._append("records_lost", time.time(), {"count": self._lost})
                        self._lost = 0
                    number = self._append(event, time.time() if at is None else at, fields)
                if self._sync_s <= 0:
                    os.fdatasync(self._fd)
            except OSError:
                self._lost += 1
                raise
        self._dirty.set()
        return number

    def head(self) -> tuple[int, str]:
        """Return the number and the hash of the last record: to be noted where nobody can change both."""
        with self._mutex, self._locked():
            head = self._catch_up()
            return head.number, head.digest

    @property
    def folder(self) -> str:
        """The folder of the log."""
        return self._folder

    @property
    def failing(self) -> bool:
        """Whether the last record could not be written."""
        return self._lost > 0

    def close(self) -> None:
        """Write to disk what is not, and close; does nothing a second time."""
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            self._closing.set()
            self._dirty.set()
            if self._fd >= 0:
                with contextlib.suppress(OSError):
                    os.fdatasync(self._fd)
                os.close(self._fd)
            os.close(self._lock)

    # --- the end of the log --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if self._closed:
            raise OSError("the audit log is closed")
        with file_lock.held(self._lock):
            yield

    def _catch_up(self) -> _Head:
        """Return where the log ends; reads it anew where another process has written since."""
        head = self._head
        if head is not None:
            status = os.fstat(self._fd)
            if not status.st_nlink:  # somebody removed it: the gap in the numbers is to be seen
                self._begin_file(head)
                return head
            newer = self._next(head)
            if status.st_size == head.size and (newer == head.path or not os.path.exists(newer)):
                return head
        paths = log_files(self._folder)
        path = paths[-1] if paths else os.path.join(self._folder, _NAME.format(1))
        self._open(path)
        torn = cut_torn_line(self._fd)
        number, digest = last_record(paths)
        head = self._head = _Head(path, os.fstat(self._fd).st_size, _day(os.fstat(self._fd).st_mtime), number, digest)
        if torn:
            self._append("line_torn", time.time(), {"bytes": len(torn), "sha256": hashlib.sha256(torn).hexdigest()})
        return head

    def _next(self, head: _Head) -> str:
        return os.path.join(self._folder, _NAME.format(head.number + 1))

    def _begin_file(self, head: _Head) -> None:
        head.path, head.size = self._next(head), 0
        self._open(head.path)

    def _open(self, path: str) -> None:
        fresh = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if self._fd >= 0:
            os.fdatasync(self._fd)
            os.close(self._fd)
        self._fd = fresh

    def _append(self, event: str, at: float, fields: dict[str, Any]) -> int:
        head = self._head
        assert head is not None
        number = head.number + 1
        line = _line({"n": number, "at": at, "event": event, **fields, "prev": head.digest})
        today = _day(time.time())
        if head.size and (today != head.day or head.size + len(line) > self._max_bytes):
            self._begin_file(head)
        try:
            _write_all(self._fd, line)
        except OSError:
            os.ftruncate(self._fd, head.size)
            raise
        head.size, head.day, head.number = head.size + len(line), today, number
        head.digest = hashlib.sha256(line[:-1]).hexdigest()
        return number

    def _sync_often(self) -> None:
        while True:
            self._dirty.wait()
            if self._closed:
                return
            self._dirty.clear()
            self._closing.wait(self._sync_s)
            with self._mutex:
                if self._closed:
                    return
                fd = os.dup(self._fd)
            try:
                os.fdatasync(fd)  # without the lock: a slow disk must not hold up the engine
            except OSError:
                _log.exception("the audit log %s cannot be written to disk", self._folder)
            finally:
                os.close(fd)


def _line(record: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(record) + b"\n"
    except (TypeError, ValueError, OverflowError, RecursionError):
        return msgspec.json.encode(make_plain(record)) + b"\n"


def _execution(result: VerificationResult) -> dict[str, Any]:
    """Return what the log says of a sample; its code is there as a hash."""
    return {
        "sample_id": result.id, "problem_id": result.problem_id, "verdict": result.verdict.value,
        "stage": result.stage, "tier": result.tier, "integrity": result.integrity, "cached": result.cached,
        "risk": result.risk, "denied": result.denied, "reward": result.reward, "masked": result.masked,
        "cases": result.summary.verdicts,
        "code_sha256": hashlib.sha256(result.code.encode("utf-8", "surrogatepass")).hexdigest(),
    }  # fmt: skip


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def _day(seconds: float) -> int:
    return int(seconds // _DAY_S)


def _write_all(fd: int, line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(fd, view) :]
