"""Problems in a database, with versions: SQLite, which several processes may use at a time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import zstandard

from scalebox.core.errors import InputError, SettingsError
from scalebox.core.jsonl import decode_object
from scalebox.core.limits import MIB
from scalebox.problems.record import Problem, encode_record

_MAGIC = b"SQLite format 3\0"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS problems (
    problem_id TEXT NOT NULL, version INTEGER NOT NULL, record BLOB, bytes INTEGER NOT NULL, digest TEXT NOT NULL,
    tests INTEGER NOT NULL, hidden INTEGER NOT NULL, language TEXT NOT NULL, created REAL NOT NULL,
    author TEXT NOT NULL, PRIMARY KEY (problem_id, version)
)"""
_APPLICATION = 0x5CA1EB0
#: Decoded records that are kept, in bytes of their JSON: samples of a problem share its texts in memory.
_MOST_KEPT = 256 * MIB
_BUSY_S = 30.0


class Described(msgspec.Struct, frozen=True):
    """A problem in short: what whoever may not read its tests may know."""

    problem_id: str
    version: int
    tests: int
    hidden: int
    language: str
    created: float
    author: str


class ProblemStore:
    """A database of problems. Every method may be called from any thread."""

    def __init__(self, path: str, *, make: bool = True) -> None:
        """Open the database, or make it; raises SettingsError."""
        self._path = path
        self._mutex = threading.RLock()
        self._kept: OrderedDict[tuple[str, int], tuple[int, dict[str, Any]]] = OrderedDict()
        self._kept_bytes = 0
        try:
            self._database = _open(path, make)
        except (sqlite3.Error, OSError) as error:
            raise SettingsError(f"server_problems: {path}: {error} (name a database of problems)") from None

    def put(self, problem: Problem, author: str = "") -> tuple[int, bool]:
        """Keep a checked problem; return its version, and whether that is new: the same again is not."""
        with self._transaction():
            return self._put(problem, author)

    def load(self, found: Iterable[tuple[int, Problem | InputError]], author: str = "") -> tuple[int, int]:
        """Keep all problems, or none of them where one is an error, which is then raised as the first of an
        ExceptionGroup of InputError. Return how many there were, and how many of them are new versions."""
        number = new = 0
        errors: list[InputError] = []
        with self._transaction():
            for _, one in found:
                if isinstance(one, InputError):
                    errors.append(one)
                elif not errors:
                    number, new = number + 1, new + self._put(one, author)[1]
            if errors:
                raise ExceptionGroup("unusable problems", errors)
        return number, new

    def find(self, problem_id: str, version: int | None = None) -> Problem | None:
        """Return a problem's version (None: the newest), None where there is none, or it was deleted."""
        query = "FROM problems WHERE problem_id = ?1 AND (?2 IS NULL OR version = ?2) ORDER BY version DESC LIMIT 1"
        with self._mutex:
            row = self._execute(f"SELECT version, record IS NOT NULL {query}", (problem_id, version)).fetchone()
            if row is None or not row[1]:
                return None
            key = (problem_id, row[0])
            if key not in self._kept:
                data = self._execute(f"SELECT record {query}", key).fetchone()[0]
                self._keep(key, zstandard.ZstdDecompressor().decompress(data))
            self._kept.move_to_end(key)
            return Problem(problem_id=problem_id, version=row[0], record=self._kept[key][1])

    def describe(self, problem_id: str) -> Described | None:
        """Return the newest version of a problem in short, None where there is none."""
        return next(iter(self._described("problem_id = ?", problem_id, 1)), None)

    def page(self, after: str = "", limit: int = 1000) -> list[Described]:
        """Return problems in short, in the order of their ids, from the one that follows `after`."""
        return self._described("problem_id > ?", after, limit)

    def delete(self, problem_id: str) -> bool:
        """Forget the tests of a problem in all its versions, whose numbers are not given again."""
        with self._transaction():
            for key in [key for key in self._kept if key[0] == problem_id]:
                self._kept_bytes -= self._kept.pop(key)[0]
            query = "UPDATE problems SET record = NULL, digest = '' WHERE problem_id = ? AND record IS NOT NULL"
            return self._execute(query, (problem_id,)).rowcount > 0

    def close(self) -> None:
        """Close the database."""
        with self._mutex:
            self._database.close()

    # --- the database --------------------------------------------------------------------------------------

    def _put(self, problem: Problem, author: str) -> tuple[int, bool]:
        data = encode_record(problem.record)
        digest = hashlib.sha256(data).hexdigest()
        query = "SELECT version, digest FROM problems WHERE problem_id = ? ORDER BY version DESC LIMIT 1"
        last = self._execute(query, (problem.problem_id,)).fetchone()
        if last is not None and last[1] == digest:
            return last[0], False
        version = last[0] + 1 if last is not None else 1
        tests = problem.record["tests"]
        self._execute(
            "INSERT INTO problems VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                problem.problem_id, version, zstandard.ZstdCompressor().compress(data), len(data), digest, len(tests),
                sum(test.get("hidden") is not False for test in tests), problem.record.get("language") or "",
                time.time(), author,
            ),
        )  # fmt: skip
        return version, True

    def _described(self, where: str, value: str, limit: int) -> list[Described]:
        query = (
            "SELECT problem_id, version, tests, hidden, language, created, author FROM problems AS p"  # noqa: S608 - no text of others
            f" WHERE {where} AND record IS NOT NULL AND version = (SELECT max(version) FROM problems AS q"
            " WHERE q.problem_id = p.problem_id) ORDER BY problem_id LIMIT ?"
        )
        with self._mutex:
            return [Described(*row) for row in self._execute(query, (value, limit))]

    def _keep(self, key: tuple[str, int], data: bytes) -> None:
        self._kept[key] = (len(data), decode_object(data))
        self._kept_bytes += len(data)
        while self._kept_bytes > _MOST_KEPT and len(self._kept) > 1:
            self._kept_bytes -= self._kept.popitem(last=False)[1][0]

    def _execute(self, query: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        return self._database.execute(query, values)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._mutex:
            self._execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._execute("ROLLBACK")
                raise
            self._execute("COMMIT")


def is_store(path: str) -> bool:
    """Return whether a file is a database."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _open(path: str, make: bool) -> sqlite3.Connection:
    if make and not os.path.exists(path):
        # Hidden tests are in it: nobody else's to read.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    elif not make and not is_store(path):
        raise OSError("no such database")
    database = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    """Make the table in a database that is empty; raises OSError for one that is another program's."""
    kind = database.execute("PRAGMA application_id").fetchone()[0]
    if kind == _APPLICATION:
        return
    if kind or database.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise OSError("another program's database")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(_SCHEMA)
    database.execute(f"PRAGMA application_id = {_APPLICATION}")
