"""What is kept, on disk: one SQLite file for any number of processes, bounded in bytes.

A cache may fail, never its user: where the file cannot be had, read or written, nothing is found and nothing kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from scalebox.core import file_lock
from scalebox.core.folders import make_own

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

#: Held while SQLite is at work. No fork comes between: a child would find SQLite's locks held by a thread it has not.
_at_work = threading.RLock()
os.register_at_fork(before=_at_work.acquire, after_in_parent=_at_work.release, after_in_child=_at_work.release)

FILE_NAME = "results.sqlite"
#: How the names of files begin that say that a class is switched off.
_MARK = "off-"
_SCHEMA = 1
_BUSY_S = 2.0
#: For how long a file that was locked is left alone, so that not every sample waits for it.
_LEFT_ALONE_S = 30.0
#: An entry's time of use is written when it is this much older: a hit should not cost a write.
_USED_S = 600.0
#: A store over its bound is brought down to this share of it.
_ROOM = 0.8
#: Share of the bound that one entry may have.
_MOST_SHARE = 0.05
_CHECK_BYTES = 16
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_TABLES = """
CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, class TEXT NOT NULL, used REAL NOT NULL,
  size INTEGER NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_used ON entries (used, size);
CREATE TABLE IF NOT EXISTS counts (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS disagreements (at REAL NOT NULL, class TEXT NOT NULL, sample TEXT NOT NULL,
  kept TEXT NOT NULL, fresh TEXT NOT NULL);
"""


class Store:
    """The cache's file in `folder`, with at most `most` bytes of entries; others that write are waited for `busy_s`.

    `missed` says whether somebody should know when it does not work.
    """

    def __init__(self, folder: str, most: int, *, busy_s: float = _BUSY_S, missed: bool = True) -> None:
        self._folder = folder
        self._path = os.path.join(folder, FILE_NAME)
        self._most = most
        self._busy_s = busy_s
        self._complained = not missed
        self._off: dict[str, float] | None = {}
        self._off_read = 0.0
        self._unwritten: frozenset[str] = frozenset()
        self._left_until = 0.0
        self._connection: sqlite3.Connection | None = None
        if make_own(folder):
            self._connection = self._try(self._open)
        else:
            self._complain("its folder is not this user's alone")

    @property
    def works(self) -> bool:
        """Whether there is a file at all."""
        return self._connection is not None

    def _open(self) -> sqlite3.Connection:
        with _alone(self._folder):
            try:
                return self._connect()
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:
                    raise
                self._remove(error)
                return self._connect()

    def _connect(self) -> sqlite3.Connection:
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        connection = sqlite3.connect(self._path, timeout=self._busy_s, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            _check_version(version)
            connection.executescript(_TABLES)
            connection.execute(f"PRAGMA user_version={_SCHEMA}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _remove(self, why: Exception) -> None:
        _log.warning("the cache %s is not usable and begun anew: %s", self._path, why)
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(self._path + suffix)

    # --- entries -------------------------------------------------------------------------------------

    def get(self, key: bytes) -> bytes | None:
        """Return what is kept under `key`; an entry that is not as it was written counts as none."""
        row = self._do(lambda to: to.execute("SELECT data, used FROM entries WHERE key = ?", (key,)).fetchone())
        if row is None or not isinstance(row[0], bytes) or row[0][:_CHECK_BYTES] != _check(key, row[0][_CHECK_BYTES:]):
            return None
        if not isinstance(row[1], float) or abs(time.time() - row[1]) > _USED_S:
            self._do(lambda to: to.execute("UPDATE entries SET used = ? WHERE key = ?", (time.time(), key)))
        data: bytes = row[0][_CHECK_BYTES:]
        return data

    def put(self, key: bytes, kind: str, data: bytes) -> None:
        """Keep `data` for the class `kind`; what was used least recently goes where there is no room."""
        size = len(data) + len(key) + _CHECK_BYTES
        if size > _MOST_SHARE * self._most:
            return
        self._do(lambda to: _put(to, key, kind, _check(key, data) + data, size=size, most=self._most))

    def drop(self, key: bytes) -> None:
        """Forget an entry."""
        self._do(lambda to: _drop(to, key))

    def clear(self) -> None:
        """Forget all entries and counts; classes that are switched off stay so."""
        self._do(lambda to: to.executescript("DELETE FROM entries; DELETE FROM counts; VACUUM"))

    # --- trust ---------------------------------------------------------------------------------------

    def is_off(self, kind: str) -> bool:
        """Return whether a class was switched off, by any process, a moment ago at the latest.

        So are all where that cannot be found out.
        """
        now = time.monotonic()
        if not self._off_read or now - self._off_read > 1.0:
            self._off, self._off_read = self._marks(), now
        return self._off is None or kind in self._off or kind in self._unwritten

    def _marks(self) -> dict[str, float] | None:
        """Return the classes that are off, and since when; None where that is not known.

        Each is a file of its own beside the database, which may break and is begun anew then: trust is not.
        """
        try:
            with os.scandir(self._folder) as entries:
                marks = [entry for entry in entries if entry.name.startswith(_MARK)]
                return {_class_of(mark.name): mark.stat().st_mtime for mark in marks}
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError:
            return None

    def disagree(self, kind: str, sample: str, kept: str, fresh: str, *, certain: bool) -> None:
        """Write down that a kept result was not what a run gave; where that is certain, switch its class off."""

        def write(to: sqlite3.Connection) -> None:
            to.execute("INSERT INTO disagreements VALUES (?, ?, ?, ?, ?)", (time.time(), kind, sample, kept, fresh))

        if certain:
            self._switch_off(kind)
        self._do(write)

    def _switch_off(self, kind: str) -> None:
        self._off_read = 0.0
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            os.close(os.open(os.path.join(self._folder, _name_of(kind)), flags, 0o600))
        except OSError as error:
            self._unwritten |= {kind}  # for this process at least
            _log.warning("the cache's class %s was found wrong, and other processes cannot be told: %s", kind, error)

    def trust(self) -> None:
        """Switch all classes on again, and forget why they were off. Their entries go: one of them was wrong."""
        for kind in self._marks() or ():
            self._do(functools.partial(_distrust, kind=kind))
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self._folder, _name_of(kind)))
        self._do(lambda to: to.executescript(_TRUST))
        self._unwritten = frozenset()
        self._off_read = 0.0

    def count(self, **numbers: int) -> None:
        """Add to the counts that `facts` tells."""

        def write(to: sqlite3.Connection) -> None:
            to.executemany(
                "INSERT INTO counts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET number = number + excluded.number",
                [(name, number) for name, number in numbers.items() if number],
            )

        self._do(write)

    # --- facts ---------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """Return what is in the store, as plain data."""
        off = [{"class": name, "at": at} for name, at in sorted((self._marks() or {}).items())]
        facts = self._do(_facts) or {}
        return {**facts, "off": off} if facts or off else {}

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            with _at_work, contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    # --- failures ------------------------------------------------------------------------------------

    def _do(self, what: Callable[[sqlite3.Connection], _T]) -> _T | None:
        connection = self._connection
        if connection is None or time.monotonic() < self._left_until:
            return None
        return self._try(lambda: what(connection))

    def _try(self, what: Callable[[], _T]) -> _T | None:
        with _at_work:
            return self._try_at_work(what)

    def _try_at_work(self, what: Callable[[], _T]) -> _T | None:
        try:
            return what()
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # busy, full, read-only, or misused: it is not broken
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCKED:
                    self._left_until = time.monotonic() + _LEFT_ALONE_S
                self._complain(str(error))
                return None
            self.close()
            self._remove(error)
            with contextlib.suppress(sqlite3.Error, OSError):
                self._connection = self._connect()
        except OSError as error:
            self._complain(error.strerror or str(error))
        return None

    def _complain(self, why: str) -> None:
        if not self._complained:
            self._complained = True
            _log.warning("the cache %s does not work, and results are not kept: %s", self._path, why)


@contextlib.contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Let one process at a time open the file: SQLite waits for nobody where two make a new one use its log."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.ExitStack() as lock:
            with contextlib.suppress(OSError):  # a file system that cannot lock
                lock.enter_context(file_lock.held(fd))
            yield
    finally:
        os.close(fd)


_TRUST = """
DELETE FROM disagreements;
UPDATE counts SET number = (SELECT COALESCE(SUM(size), 0) FROM entries) WHERE name = 'bytes';
"""


def _distrust(to: sqlite3.Connection, kind: str) -> None:
    to.execute("DELETE FROM entries WHERE class IN (?, ?)", (kind, f"{kind} run"))


def _name_of(kind: str) -> str:
    return _MARK + kind.replace("/", "+")


def _class_of(name: str) -> str:
    return name.removeprefix(_MARK).replace("+", "/")


def _check_version(version: int) -> None:
    if version not in (0, _SCHEMA):
        raise sqlite3.DatabaseError(f"it is of version {version}")


def _check(key: bytes, data: bytes) -> bytes:
    """Return what stands before an entry's data; keys may be ids of problems, longer than a hash takes as its key."""
    key = key if len(key) <= hashlib.blake2b.MAX_KEY_SIZE else hashlib.blake2b(key).digest()
    return hashlib.blake2b(data, digest_size=_CHECK_BYTES, key=key).digest()


def _put(to: sqlite3.Connection, key: bytes, kind: str, data: bytes, *, size: int, most: int) -> None:
    with _transaction(to):
        _forget(to, key)
        to.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (key, kind, time.time(), size, data))
        (total,) = to.execute(f"{_GROW} RETURNING number", (size,)).fetchone()
        if total <= most:
            return
        for old, _ in to.execute("SELECT key, size FROM entries ORDER BY used").fetchall():
            if total <= _ROOM * most:
                break
            total -= _forget(to, old)


_GROW = "INSERT INTO counts VALUES ('bytes', ?) ON CONFLICT (name) DO UPDATE SET number = number + excluded.number"


def _drop(to: sqlite3.Connection, key: bytes) -> None:
    with _transaction(to):
        _forget(to, key)


def _forget(to: sqlite3.Connection, key: bytes) -> int:
    """Delete an entry, and return its size, or 0."""
    row = to.execute("DELETE FROM entries WHERE key = ? RETURNING size", (key,)).fetchone()
    if row is None:
        return 0
    to.execute(_GROW, (-row[0],))
    size: int = row[0]
    return size


@contextlib.contextmanager
def _transaction(to: sqlite3.Connection) -> Any:
    to.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            to.execute("ROLLBACK")
        raise
    to.execute("COMMIT")


def _facts(to: sqlite3.Connection) -> dict[str, Any]:
    classes = to.execute("SELECT class, COUNT(*), SUM(size) FROM entries GROUP BY class ORDER BY class").fetchall()
    wrong = to.execute("SELECT at, class, sample, kept, fresh FROM disagreements ORDER BY at").fetchall()
    return {
        "classes": {name: {"entries": entries, "bytes": size} for name, entries, size in classes},
        "counts": dict(to.execute("SELECT name, number FROM counts ORDER BY name")),
        "disagreements": [
            dict(zip(("at", "class", "sample", "kept", "fresh"), row, strict=True)) for row in wrong
        ],
    }  # fmt: skip
