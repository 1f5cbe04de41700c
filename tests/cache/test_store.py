"""The store: bounded, shared by processes, begun anew where it is broken, and never an error."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalebox.cache import Store
from scalebox.cache.store import FILE_NAME

MOST = 1 << 20


def test_what_was_put_is_found(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "cache"), MOST)
    store.put(b"key", "python/text", b"one")
    store.put(b"key", "python/text", b"two")
    again = Store(str(tmp_path / "cache"), MOST)
    assert (again.get(b"key"), again.get(b"other")) == (b"two", None)
    again.drop(b"key")
    assert store.get(b"key") is None
    assert store.facts()["counts"]["bytes"] == 0


def test_it_is_bounded_and_keeps_what_was_put_last(tmp_path: Path) -> None:
    store = Store(str(tmp_path), MOST)
    for number in range(300):
        store.put(str(number).encode(), "c/tokens", bytes(10_000))
    facts = store.facts()
    kept = facts["classes"]["c/tokens"]
    assert kept["bytes"] == facts["counts"]["bytes"] <= MOST
    assert store.get(b"299") is not None
    assert store.get(b"0") is None
    store.put(b"large", "c/tokens", bytes(MOST // 2))
    assert store.get(b"large") is None


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"", b"a", b"b" * 64, b"c" * 65, b"c" * 2048]),
            st.one_of(st.none(), st.binary(max_size=50)),
        )
    )
)
def test_it_is_as_a_dictionary_and_knows_its_size(steps: list[tuple[bytes, bytes | None]]) -> None:
    model: dict[bytes, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder, MOST)
        for key, data in steps:
            if data is None:
                store.drop(key)
                model.pop(key, None)
            else:
                store.put(key, "x", data)
                model[key] = data
        assert {key: store.get(key) for key in model} == model
        facts = store.facts()
        store.close()
    assert facts["counts"].get("bytes", 0) == sum(one["bytes"] for one in facts["classes"].values())


@pytest.mark.parametrize("damage", [b"", b"no database at all, and long enough to be looked at" * 100])
def test_a_broken_file_is_begun_anew(tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE_NAME).write_bytes(damage)
    store = Store(str(tmp_path), MOST)
    store.put(b"key", "python/text", b"one")
    assert store.get(b"key") == b"one"
    assert ("begun anew" in caplog.text) == bool(damage)


def test_a_file_that_breaks_under_way_is_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Store(str(tmp_path), MOST)
    for number in range(200):
        first.put(str(number).encode(), "python/text", bytes(2000))
    first.close()
    path = tmp_path / FILE_NAME
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    store = Store(str(tmp_path), MOST)
    assert [store.get(str(number).encode()) for number in range(200)] == [None] * 200
    store.put(b"key", "python/text", b"one")
    assert store.get(b"key") == b"one"
    assert "begun anew" in caplog.text


def test_an_entry_that_is_not_as_it_was_written_is_none(tmp_path: Path) -> None:
    store = Store(str(tmp_path), MOST)
    store.put(b"key", "python/text", b"passed")
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("UPDATE entries SET data = replace(data, CAST('pass' AS BLOB), CAST('fail' AS BLOB))")
        other.execute("UPDATE entries SET data = CAST(data || 'x' AS BLOB)")
    other.close()
    assert store.get(b"key") is None


def test_a_file_of_another_version_is_begun_anew(tmp_path: Path) -> None:
    Store(str(tmp_path), MOST).put(b"key", "python/text", b"one")
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("PRAGMA user_version=999")
    other.close()
    assert Store(str(tmp_path), MOST).get(b"key") is None


def test_a_file_of_other_types_holds_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path), MOST)
    store.put(b"key", "python/text", b"one")
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("UPDATE entries SET used = 'long ago'")
    assert store.get(b"key") == b"one"
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("UPDATE entries SET data = 17")
    other.close()
    assert store.get(b"key") is None


def test_a_clock_that_went_back_leaves_no_entry_that_is_never_the_oldest(tmp_path: Path) -> None:
    store = Store(str(tmp_path), MOST)
    store.put(b"key", "python/text", b"one")
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("UPDATE entries SET used = used + 1e9")
    assert store.get(b"key") == b"one"
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        assert other.execute("SELECT used FROM entries").fetchone()[0] < time.time() + 1
    other.close()


def test_a_file_that_is_locked_for_long_is_waited_for_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(str(tmp_path), MOST, busy_s=0.3)
    store.put(b"key", "python/text", b"one")
    with sqlite3.connect(tmp_path / FILE_NAME) as busy:
        busy.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        for number in range(20):
            store.put(str(number).encode(), "python/text", b"two")
            store.count(misses=1)
        assert time.monotonic() - begun < 3
        busy.rollback()
    busy.close()
    assert "locked" in caplog.text
    assert Store(str(tmp_path), MOST).get(b"key") == b"one"


_FORKS = """
import os, sys, threading
from scalebox.cache import Store

def use(folder):
    store = Store(folder, 1 << 20)
    store.put(b"key", "python/text", b"one")
    found = store.get(b"key")
    store.close()
    return found

def keep_using():
    number = 0
    while not done.is_set():
        number += 1
        use(os.path.join(sys.argv[1], str(number % 50)))

done = threading.Event()
thread = threading.Thread(target=keep_using)
thread.start()
for number in range(200):
    child = os.fork()
    if not child:
        os._exit(use(os.path.join(sys.argv[1], str(number % 50))) != b"one")
    print(os.waitpid(child, 0)[1], flush=True)
done.set()
thread.join()
"""


def test_a_process_may_fork_while_a_thread_uses_a_store(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _FORKS, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        watch = threading.Timer(300, os.killpg, (process.pid, signal.SIGKILL))  # the child that waits for ever, too
        watch.start()
        said = process.communicate()[0]
        watch.cancel()
    assert (said.split(), process.returncode) == (["0"] * 200, 0)


def test_a_mistake_of_ours_does_not_cost_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(str(tmp_path), MOST)
    store.put(b"key", "python/text", b"one")
    threading.Thread(target=lambda: store.put(b"other", "python/text", b"two")).start()
    store._do(lambda to: to.execute("INSERT INTO entries SELECT * FROM entries"))
    assert store.get(b"key") == b"one"
    assert "begun anew" not in caplog.text


def test_without_a_folder_it_is_empty_and_says_so_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING):
        store = Store(str(tmp_path / "file" / "below"), MOST)
        store.put(b"key", "python/text", b"one")
        store.count(hits=1)
        store.clear()
    assert (store.get(b"key"), store.facts(), store.works) == (None, {}, False)
    assert len(caplog.records) == 1


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o777)  # noqa: S103 - what is tested
    assert not Store(str(tmp_path), MOST).works


def test_a_full_disk_makes_it_keep_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(str(tmp_path), MOST)
    store.put(b"key", "python/text", b"one")
    store._do(lambda to: to.execute("PRAGMA max_page_count=1"))
    for number in range(30):
        store.put(str(number).encode(), "python/text", bytes(40_000))
    assert store.get(b"key") == b"one"
    assert "not kept" in caplog.text


_WRITER = """
import sys
from scalebox.cache import Store
store = Store(sys.argv[1], 1 << 22)
for number in range(100):
    store.put(f"{sys.argv[2]} {number}".encode(), "python/text", str(number).encode())
    store.count(hits=1)
"""


def test_processes_share_it(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), name]) for name in "abc"]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    store = Store(str(tmp_path), 1 << 22)
    for name in "abc":
        assert [store.get(f"{name} {number}".encode()) for number in range(100)] == [
            str(number).encode() for number in range(100)
        ]
    assert store.facts()["counts"]["hits"] == 300


def test_many_may_open_a_new_one_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(30):
            folder = str(tmp_path / str(number))
            together = threading.Barrier(8)

            def opened(folder: str = folder, together: threading.Barrier = together) -> bool:
                together.wait()
                store = Store(folder, 1 << 20)
                works = store.works
                store.close()
                return works

            assert all(future.result() for future in [pool.submit(opened) for _ in range(8)])


def test_a_class_that_was_wrong_is_off_for_all_until_it_is_trusted_again(tmp_path: Path) -> None:
    store, other = Store(str(tmp_path), MOST), Store(str(tmp_path), MOST)
    store.put(b"key", "python/bytecode", b"one")
    store.disagree("python/bytecode", "s-1", "passed", "time_out", certain=False)
    assert not store.is_off("python/bytecode")
    store.disagree("python/bytecode", "s-1", "passed", "assert_fail", certain=True)
    assert store.is_off("python/bytecode")
    assert other.is_off("python/bytecode")
    assert not other.is_off("python/text")
    store.clear()
    assert store.is_off("python/bytecode")
    store.trust()
    assert not store.is_off("python/bytecode")
    assert store.facts()["disagreements"] == []


def test_a_class_that_was_wrong_stays_off_when_the_file_breaks(tmp_path: Path) -> None:
    store = Store(str(tmp_path), MOST)
    store.disagree("python/text", "s-1", "passed", "assert_fail", certain=True)
    store.close()
    (tmp_path / FILE_NAME).write_bytes(b"no database at all, and long enough to be looked at" * 100)
    again = Store(str(tmp_path), MOST)
    assert again.is_off("python/text")
    assert [one["class"] for one in again.facts()["off"]] == ["python/text"]
    again.trust()
    assert not again.is_off("python/text")
    assert not Store(str(tmp_path), MOST).is_off("python/text")


def test_a_class_that_was_wrong_is_off_though_the_file_cannot_be_written(tmp_path: Path) -> None:
    store, other = Store(str(tmp_path), MOST), Store(str(tmp_path), MOST)
    with sqlite3.connect(tmp_path / FILE_NAME) as busy:
        busy.execute("BEGIN EXCLUSIVE")
        store.disagree("python/text", "s-1", "passed", "assert_fail", certain=True)
        assert store.is_off("python/text")
        assert other.is_off("python/text")
        busy.rollback()
    busy.close()


def test_where_nobody_can_be_told_it_is_off_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(tmp_path), MOST)
    monkeypatch.setattr(os, "open", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "no space left")))
    store.disagree("python/text", "s-1", "passed", "assert_fail", certain=True)
    assert store.is_off("python/text")
    assert not store.is_off("python/bytecode")


def test_where_it_cannot_be_known_all_are_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(tmp_path), MOST)
    monkeypatch.setattr(os, "scandir", lambda *_: (_ for _ in ()).throw(OSError(24, "too many open files")))
    assert store.is_off("python/text")


def test_trusting_a_class_again_forgets_what_its_programs_did_too(tmp_path: Path) -> None:
    store = Store(str(tmp_path), MOST)
    store.put(b"verdict", "python/text", b"one")
    store.put(b"run", "python/text run", b"two")
    store.put(b"other", "python/bytecode", b"three")
    store.disagree("python/text", "s-1", "passed", "assert_fail", certain=True)
    store.trust()
    assert [store.get(key) for key in (b"verdict", b"run", b"other")] == [None, None, b"three"]
