"""The journal: what it was told, whatever happens to the server."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalebox import SettingsError
from scalebox.server.journal import Ended, Entry, Finished, Journal


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "deep" / "journal.db")


@pytest.fixture
def journal(path: str) -> Iterator[Journal]:
    made = Journal(path)
    yield made
    made.close()


def accept(journal: Journal, batch_id: str, samples: int = 3, *, key: str | None = None, client: str = "ada") -> Entry:
    records = [f"{batch_id}-{place}".encode() for place in range(samples)]
    return journal.accept(batch_id, client, records, key=key, digest=b"d", deadline=None)[0]


def finish(journal: Journal, batch_id: str, size: int, client: str) -> None:
    number = accept(journal, batch_id, 1, client=client).number
    journal.enter([Finished(number, 0, 0, bytes(size))], [Ended(number, "DONE")])


def test_a_sample_is_there_until_its_result_is(journal: Journal) -> None:
    number = accept(journal, "a").number
    other = accept(journal, "b").number
    journal.enter([Finished(number, 0, 2, b"two"), Finished(number, 1, 0, b"zero")])
    assert journal.waiting(number) == [1]
    assert journal.waiting(other) == [0, 1, 2]
    assert journal.records(number, [1]) == [b"a-1"]
    assert journal.count(number) == 2
    assert journal.results(number, range(2)) == [b"two", b"zero"]
    assert journal.turns(number) == [1, 0], "in the order of the samples"
    with pytest.raises(LookupError):
        journal.records(number, [0])


def test_a_second_result_of_a_turn_takes_nothing(journal: Journal) -> None:
    number = accept(journal, "a").number
    journal.enter([Finished(number, 0, 0, b"first")])
    with pytest.raises(sqlite3.IntegrityError):
        journal.enter([Finished(number, 1, 1, b"x"), Finished(number, 0, 0, b"again")])
    assert journal.results(number, range(9)) == [b"first"]
    assert journal.waiting(number) == [1, 2]


def test_results_come_in_pages(journal: Journal) -> None:
    number = accept(journal, "a").number
    journal.enter([Finished(number, turn, turn, bytes(10)) for turn in range(3)])
    assert len(journal.results(number, range(3), most_bytes=25)) == 2
    assert len(journal.results(number, range(3), most_bytes=1)) == 1


def test_a_key_is_of_one_batch(journal: Journal) -> None:
    first = accept(journal, "a", key="k")
    again, new = journal.accept("other", "ada", [b"x"], key="k", digest=b"e", deadline=None)
    assert (again, new) == (first, False)
    assert journal.find("other") is None
    assert journal.accept("other", "bob", [b"x"], key="k", digest=b"d", deadline=None)[1]
    found = journal.find_key("bob", "k")
    assert found is not None
    assert found.id == "other"


def test_an_end_is_final(journal: Journal) -> None:
    number = accept(journal, "a").number
    journal.enter([], [Ended(number, "FAILED", "why")])
    found = journal.find("a")
    assert found is not None
    assert (found.state, found.error) == ("FAILED", "why")
    assert journal.unfinished() == []
    assert journal.waiting(number) == []
    assert accept(journal, "empty", 0).state == "DONE"


def test_old_batches_go_and_open_ones_stay(journal: Journal) -> None:
    for name in ("a", "b", "open"):
        number = accept(journal, name).number
        journal.enter([Finished(number, 0, 0, bytes(100_000))])
        if name != "open":
            journal.enter([], [Ended(number, "DONE")])
    assert journal.clean(3600, 1 << 30) == []
    full = journal.size()
    assert journal.clean(3600, full // 2) == ["a", "b"]
    assert journal.size() < full // 2
    assert [entry.id for entry in journal.unfinished()] == ["open"]
    assert journal.clean(0, 0) == []


def test_no_client_pushes_out_the_results_of_one_that_keeps_less(journal: Journal, path: str) -> None:
    finish(journal, "old and small", 100_000, "bob")
    for number in range(12):
        finish(journal, f"flood {number}", 100_000, "eve")
    assert journal.clean(3600, journal.size() - 450_000) == [f"flood {number}" for number in range(5)]
    for number in range(12, 15):
        finish(journal, f"flood {number}", 100_000, "eve")
    # What is kept is known to the next server, too, and the last of one that has least goes last.
    journal.close()
    journal.__init__(path)  # type: ignore[misc]  # so that the fixture closes it
    gone = journal.clean(3600, 250_000)
    assert gone == [f"flood {number}" for number in range(5, 14)], "one each is what fits"
    assert journal.find("old and small") is not None
    finish(journal, "grown", 150_000, "bob")
    assert journal.clean(3600, 300_000) == ["old and small"], "bob has most by now"


def test_one_server_has_it(journal: Journal, path: str) -> None:
    with pytest.raises(SettingsError, match="another server uses it"):
        Journal(path)
    accept(journal, "a")


@pytest.mark.parametrize("content", [b"no database at all, certainly not" * 50, None])
def test_what_is_no_journal_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "journal.db"
    if content is not None:
        path.write_bytes(content)
    else:
        sqlite3.connect(path).execute("PRAGMA user_version = 99").connection.close()
    with pytest.raises(SettingsError, match=r"server_journal: .*\(name another file, or move this one away\)"):
        Journal(str(path))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="name a file that may be written"):
        Journal(str(tmp_path / "file" / "journal.db"))


_KILLED = """
import os, sys
from scalebox.server.journal import Finished, Journal
journal = Journal(sys.argv[1])
number = journal.accept("a", "ada", [b"0", b"1"], key=None, digest=b"", deadline=5.0)[0].number
journal.enter([Finished(number, 0, 1, b"one")])
print("written", flush=True)
sys.stdin.read()
"""


def test_a_killed_server_loses_nothing(path: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        os.kill(process.pid, signal.SIGKILL)
    journal = Journal(path)
    (entry,) = journal.unfinished()
    assert (entry.id, entry.samples, entry.deadline) == ("a", 2, 5.0)
    assert journal.waiting(entry.number) == [0]
    assert journal.results(entry.number, [0]) == [b"one"]
    journal.close()
