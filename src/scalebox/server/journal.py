"""What the server has promised, on disk: batches taken, their samples until they are verified, then the results.

An sqlite database in WAL mode. What was written survives a killed server; what the system had not yet brought to disk
may be lost with the machine itself. A sample is here exactly until its result is: both change in one transaction,
so that after a restart nothing is lost and nothing is there twice. Every method blocks; any thread may call.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from scalebox.core.errors import SettingsError
from scalebox.core.limits import MIB

#: Samples of one batch: a row's key is the batch's number and a place in it.
MAX_SAMPLES = 1 << 24
_SCHEMA = """
    CREATE TABLE batches (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, client TEXT NOT NULL, key TEXT,
        digest BLOB NOT NULL, deadline REAL, samples INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'PENDING',
        error TEXT NOT NULL DEFAULT '', ended REAL, UNIQUE (client, key)
    );
    CREATE INDEX ended ON batches (ended) WHERE ended IS NOT NULL;
    CREATE INDEX pending ON batches (number) WHERE ended IS NULL;
    CREATE TABLE samples (row INTEGER PRIMARY KEY, record BLOB NOT NULL);
    CREATE TABLE results (row INTEGER PRIMARY KEY, place INTEGER NOT NULL, result BLOB NOT NULL);
"""
_SIZE = "SELECT coalesce(sum(length(result)), 0) FROM results WHERE row BETWEEN ? AND ?"
_VERSION = 1
#: Bytes that a batch counts for beside its results, and most batches that make room for others at once.
_BATCH_BYTES, _AT_ONCE = 512, 16


class Entry(msgspec.Struct, frozen=True):
    """A batch: `deadline` and `ended` are seconds since the epoch, `digest` is of what was submitted."""

    number: int
    id: str
    client: str
    key: str | None
    digest: bytes
    deadline: float | None
    samples: int
    state: str
    error: str
    ended: float | None


class Finished(msgspec.Struct, frozen=True):
    """The result of a batch's sample number `place`, which is result number `turn` of the batch."""

    number: int
    turn: int
    place: int
    result: bytes


class Ended(msgspec.Struct, frozen=True):
    """A batch that is over, DONE or FAILED with an error."""

    number: int
    state: str
    error: str = ""


class Journal:
    """The database at a path, which one server has for itself."""

    def __init__(self, path: str) -> None:
        """Open or create the file; raises SettingsError where it is another server's, another version's, or none."""
        self._path = path
        self._lock_fd = _lock(path)
        try:
            self._write = sqlite3.connect(path, check_same_thread=False)
            self._read = sqlite3.connect(path, check_same_thread=False)
            self._set_up()
        except sqlite3.DatabaseError as error:
            self._write.close()
            self._read.close()
            os.close(self._lock_fd)
            raise SettingsError(f"server_journal: {path}: {error} (name another file, or move this one away)") from None
        self._writing, self._reading = threading.Lock(), threading.Lock()
        #: Bytes that are kept for each client.
        self._kept = self._kept_by_client()

    def _set_up(self) -> None:
        version = self._write.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"of another version of ScaleBox ({version}, not {_VERSION})")
        if version == 0:
            self._write.executescript(
                f"PRAGMA auto_vacuum = INCREMENTAL; BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;"
            )
        for connection in (self._write, self._read):
            connection.isolation_level = None
            connection.executescript(
                f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = {64 * MIB};"
            )

    def close(self) -> None:
        """Close the file, and let others have it."""
        with self._writing, self._reading:
            self._write.close()
            self._read.close()
            os.close(self._lock_fd)

    # --- writing ---------------------------------------------------------------------------------

    def accept(
        self,
        batch_id: str,
        client: str,
        records: Sequence[bytes],
        *,
        key: str | None,
        digest: bytes,
        deadline: float | None,
    ) -> tuple[Entry, bool]:
        """Take a batch, and return it and that it is new; or the batch that the client has submitted by this key."""
        with self._transaction() as write:
            if key is not None and (known := self._by_key(write, client, key)) is not None:
                return known, False
            state, ended = ("PENDING", None) if records else ("DONE", time.time())
            number = write.execute(
                "INSERT INTO batches (id, client, key, digest, deadline, samples, state, ended) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (batch_id, client, key, digest, deadline, len(records), state, ended),
            ).lastrowid
            assert number is not None
            rows = ((number * MAX_SAMPLES + place, record) for place, record in enumerate(records))
            write.executemany("INSERT INTO samples VALUES (?, ?)", rows)
        self._count(Counter({client: _BATCH_BYTES}))
        entry = Entry(number, batch_id, client, key, digest, deadline, len(records), state, "", ended)
        return entry, True

    def enter(self, finished: Sequence[Finished], ended: Sequence[Ended] = ()) -> None:
        """Enter results in the place of their samples, and then the ends of batches."""
        now = time.time()
        sizes: Counter[int] = Counter()
        for one in finished:
            sizes[one.number] += len(one.result)
        with self._transaction() as write:
            owners = {number: self._client_of(number) for number in sizes}
            for one in finished:
                write.execute("DELETE FROM samples WHERE row = ?", (one.number * MAX_SAMPLES + one.place,))
                row = one.number * MAX_SAMPLES + one.turn
                write.execute("INSERT INTO results VALUES (?, ?, ?)", (row, one.place, one.result))
            for end in ended:
                write.execute(
                    "UPDATE batches SET state = ?, error = ?, ended = ? WHERE number = ?",
                    (end.state, end.error, now, end.number),
                )
                write.execute("DELETE FROM samples WHERE row BETWEEN ? AND ?", _rows(end.number))
        for number, size in sizes.items():
            self._count(Counter({owners[number]: size}))

    def clean(self, keep_s: float, most_bytes: int) -> list[str]:
        """Forget batches that ended over `keep_s` seconds ago, more where the file is too big; return their ids.

        Room is made by the client that has most here, so that nobody's results push out those of who keeps less.
        """
        gone = self._forget("ended < ?", (time.time() - keep_s,), 1000)
        while self.size() > most_bytes:
            oldest = self._make_room()
            if not oldest:
                break
            gone += oldest
        return gone

    def _make_room(self) -> list[str]:
        """Forget the oldest finished batches of the client that has most, as far as it then still has."""
        ended = dict(self._all("SELECT client, count(*) FROM batches WHERE ended IS NOT NULL GROUP BY client", ()))
        if not ended:
            return []
        largest = max(ended, key=lambda client: self._kept[client])
        few = max(1, min(_AT_ONCE, ended[largest] // 4))  # or another client would have most before the last of them
        return self._forget("ended IS NOT NULL AND client = ?", (largest,), few)

    def _forget(self, which: str, values: tuple[Any, ...], most: int) -> list[str]:
        # `which` is one of this module's own two conditions
        query = f"SELECT number, id, client FROM batches WHERE {which} ORDER BY ended LIMIT {most}"  # noqa: S608 - no text of others
        gone: Counter[str] = Counter()
        with self._transaction() as write:
            old = write.execute(query, values).fetchall()
            for number, _, client in old:
                gone[client] -= _BATCH_BYTES + write.execute(_SIZE, _rows(number)).fetchone()[0]
                write.execute("DELETE FROM results WHERE row BETWEEN ? AND ?", _rows(number))
                write.execute("DELETE FROM batches WHERE number = ?", (number,))
        self._count(gone)
        if old:
            with self._writing:
                self._write.execute("PRAGMA incremental_vacuum").fetchall()
        return [batch_id for _, batch_id, _ in old]

    def _count(self, change: Counter[str]) -> None:
        """Note what was written, once it was."""
        with self._writing:
            self._kept.update(change)
            for client in change:
                if self._kept[client] <= 0:
                    del self._kept[client]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing:
            self._write.execute("BEGIN IMMEDIATE")
            try:
                yield self._write
            except BaseException:
                self._write.execute("ROLLBACK")
                raise
            self._write.execute("COMMIT")

    # --- reading ---------------------------------------------------------------------------------

    def find(self, batch_id: str) -> Entry | None:
        """Return a batch by its id."""
        return _entry(self._one("SELECT * FROM batches WHERE id = ?", (batch_id,)))

    def find_key(self, client: str, key: str) -> Entry | None:
        """Return the batch that a client has submitted by this key."""
        with self._reading:
            return self._by_key(self._read, client, key)

    def unfinished(self) -> list[Entry]:
        """Return the batches that are not over, oldest first."""
        rows = self._all("SELECT * FROM batches WHERE ended IS NULL ORDER BY number", ())
        return [entry for entry in map(_entry, rows) if entry is not None]

    def waiting(self, number: int) -> list[int]:
        """Return the places of a batch whose samples have no result."""
        rows = self._all("SELECT row FROM samples WHERE row BETWEEN ? AND ?", _rows(number))
        return [row % MAX_SAMPLES for (row,) in rows]

    def records(self, number: int, places: Sequence[int]) -> list[bytes]:
        """Return samples of a batch as they were taken; raises LookupError for one that is not there."""
        found = [self._one("SELECT record FROM samples WHERE row = ?", (number * MAX_SAMPLES + at,)) for at in places]
        if None in found:
            raise LookupError(f"batch number {number} has lost a sample")
        return [row[0] for row in found if row is not None]

    def count(self, number: int) -> int:
        """Return how many results a batch has."""
        row = self._one("SELECT max(row) FROM results WHERE row BETWEEN ? AND ?", _rows(number))
        return 0 if row is None or row[0] is None else int(row[0]) % MAX_SAMPLES + 1

    def turns(self, number: int) -> list[int]:
        """Return the results' numbers in the order of the samples."""
        rows = self._all("SELECT row, place FROM results WHERE row BETWEEN ? AND ?", _rows(number))
        return [row % MAX_SAMPLES for row, _ in sorted(rows, key=lambda pair: pair[1])]

    def results(self, number: int, turns: Sequence[int], most_bytes: int = MIB) -> list[bytes]:
        """Return the results of these numbers, those that make up `most_bytes` or the first alone."""
        found: list[bytes] = []
        size = 0
        for turn in turns:
            row = self._one("SELECT result FROM results WHERE row = ?", (number * MAX_SAMPLES + turn,))
            if row is None or (found and size + len(row[0]) > most_bytes):
                break
            found.append(row[0])
            size += len(row[0])
        return found

    def size(self) -> int:
        """Return the bytes in use."""
        pages, free, page = (self._one(f"PRAGMA {name}", ()) for name in ("page_count", "freelist_count", "page_size"))
        assert pages is not None
        assert free is not None
        assert page is not None
        return int((pages[0] - free[0]) * page[0])

    def _kept_by_client(self) -> Counter[str]:
        kept: Counter[str] = Counter()
        for number, client in self._all("SELECT number, client FROM batches", ()):
            row = self._one(_SIZE, _rows(number))
            kept[client] += _BATCH_BYTES + (0 if row is None else row[0])
        return kept

    def _client_of(self, number: int) -> str:
        """Return whose batch it is; for the writer."""
        row = self._write.execute("SELECT client FROM batches WHERE number = ?", (number,)).fetchone()
        return "" if row is None else str(row[0])

    @staticmethod
    def _by_key(connection: sqlite3.Connection, client: str, key: str) -> Entry | None:
        return _entry(
            connection.execute("SELECT * FROM batches WHERE client = ? AND key = ?", (client, key)).fetchone()
        )

    def _one(self, query: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        with self._reading:
            row: tuple[Any, ...] | None = self._read.execute(query, values).fetchone()
            return row

    def _all(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with self._reading:
            return self._read.execute(query, values).fetchall()


def _lock(path: str) -> int:
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        lock = os.open(f"{path}-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SettingsError(f"server_journal: {path}: {error.strerror} (name a file that may be written)") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise SettingsError(f"server_journal: {path}: another server uses it (name another file)") from None
    return lock


def _rows(number: int) -> tuple[int, int]:
    return number * MAX_SAMPLES, (number + 1) * MAX_SAMPLES - 1


def _entry(row: tuple[Any, ...] | None) -> Entry | None:
    return None if row is None else Entry(*row)
