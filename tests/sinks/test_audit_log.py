"""The audit log: whole after anything that may happen to a process, and telling of anything that happens to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox import sinks
from scalebox.core.errors import SettingsError
from scalebox.core.events import AccessDenied, BatchAccepted, SampleFinished
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.sinks.audit_log import AuditLog, BrokenLog, check, records
from scalebox.sinks.audit_log import writer as writer_module


def _log(folder: Path, **options: Any) -> AuditLog:
    return AuditLog(str(folder), sync_s=60, **options)


def _records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for _, _, line in records(str(folder))]


def _write(folder: Path, number: int, **options: Any) -> tuple[int, str]:
    log = _log(folder, **options)
    for index in range(number):
        log.record("thing", index=index)
    head = log.head()
    log.close()
    return head


def test_records_are_numbered_and_chained_over_openings(tmp_path: Path) -> None:
    _write(tmp_path, 3)
    head = _write(tmp_path, 2)
    assert [one["n"] for one in _records(tmp_path)] == [1, 2, 3, 4, 5]
    found = check(str(tmp_path))
    assert (found.records, found.first, found.faults, (found.last, found.digest)) == (5, 1, [], head)


def test_what_the_engine_says_is_recorded(tmp_path: Path) -> None:
    (log,) = sinks.open_sinks(Settings(audit_log=str(tmp_path / "log")))
    assert isinstance(log, AuditLog)
    result = VerificationResult(
        id="s", problem_id="p@2", verdict=Verdict.RESOURCE_DENIED, tier="namespace", denied=["socket"], risk="high",
        code="print(1)",
    )  # fmt: skip
    log(BatchAccepted(1.0, "b", 1))
    log(SampleFinished(2.0, "b", result, 0))
    log(AccessDenied(3.0, "s", "0", ("socket",)))
    log.close()
    first, second, third = _records(tmp_path / "log")
    assert (first["event"], first["batch_id"], first["samples"]) == ("batch_accepted", "b", 1)
    wanted = {"event": "execution", "sample_id": "s", "problem_id": "p@2", "verdict": "resource_denied", "at": 2.0}
    assert wanted.items() <= second.items()
    assert (second["denied"], second["tier"], len(second["code_sha256"])) == (["socket"], "namespace", 64)
    assert (third["event"], third["what"]) == ("access_denied", ["socket"])


def _change(line: bytes) -> bytes:
    return line.replace(b"thing", b"thong")


@pytest.mark.parametrize(
    ("harm", "word"),
    [
        (lambda lines: lines[:3] + lines[4:], "missing"),
        (lambda lines: [*lines[:3], _change(lines[3]), *lines[4:]], "changed"),
        (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], "out of order"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], "out of order"),
        (lambda lines: lines[1:], "missing"),
        (lambda lines: [*lines[:3], b"{}\n", *lines[3:]], "no record"),
    ],
)
def test_a_log_that_was_changed_is_found_out(
    tmp_path: Path, harm: Callable[[list[bytes]], list[bytes]], word: str
) -> None:
    _write(tmp_path, 8)
    (file,) = tmp_path.glob("audit-*.jsonl")
    file.write_bytes(b"".join(harm(file.read_bytes().splitlines(keepends=True))))
    assert word in " ".join(check(str(tmp_path)).faults)


@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_any_byte_that_changes_is_found_out_by_what_was_noted(
    tmp_path_factory: pytest.TempPathFactory, place: float, flip: int
) -> None:
    folder = tmp_path_factory.mktemp("log")
    noted = _write(folder, 3)
    (file,) = folder.glob("audit-*.jsonl")
    content = bytearray(file.read_bytes())
    content[int(place * len(content))] ^= flip
    file.write_bytes(bytes(content))
    assert check(str(folder), noted=noted).faults


def test_a_tail_that_was_cut_shows_against_what_was_noted(tmp_path: Path) -> None:
    noted = _write(tmp_path, 5)
    (file,) = tmp_path.glob("audit-*.jsonl")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:3]))
    assert check(str(tmp_path)).faults == []
    assert "was cut" in check(str(tmp_path), noted=noted).faults[0]


def test_files_are_begun_by_size_and_by_day_and_the_chain_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "MIB", 400)
    _write(tmp_path, 6, max_mb=1)
    by_size = len(list(tmp_path.glob("audit-*.jsonl")))
    assert by_size > 1
    monkeypatch.setattr(writer_module, "MIB", 1 << 20)
    log = _log(tmp_path)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_400)
    log.record("tomorrow")
    log.close()
    assert len(list(tmp_path.glob("audit-*.jsonl"))) == by_size + 1
    assert check(str(tmp_path)).faults == []
    newest = max(tmp_path.glob("audit-*.jsonl"))
    assert newest.name == "audit-000000000007.jsonl"
    assert check(str(newest)).faults == []


def test_a_file_that_is_taken_away_leaves_a_gap(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.record("one")
    (file,) = tmp_path.glob("audit-*.jsonl")
    file.unlink()
    assert log.record("two") == 2
    log.close()
    assert "missing" in " ".join(check(str(tmp_path)).faults)


def test_a_line_that_a_power_cut_tore_is_told_about(tmp_path: Path) -> None:
    _write(tmp_path, 2)
    (file,) = tmp_path.glob("audit-*.jsonl")
    with file.open("ab") as stream:
        stream.write(b'{"n": 3, "at"')
    assert check(str(tmp_path)).faults
    _write(tmp_path, 1)
    assert [one["event"] for one in _records(tmp_path)] == ["thing", "thing", "line_torn", "thing"]
    assert check(str(tmp_path)).faults == []


def test_what_cannot_be_written_raises_and_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _log(tmp_path)
    log.record("one")
    real = os.write

    def half(fd: int, data: bytes) -> int:
        if len(data) < 40:
            raise OSError(28, "No space left on device")
        return real(fd, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            log.record("two")
    assert log.failing
    monkeypatch.undo()
    log.record("three")
    log.close()
    assert not log.failing
    assert [(one["event"], one.get("count")) for one in _records(tmp_path)] == [
        ("one", None), ("records_lost", 2), ("three", None),
    ]  # fmt: skip
    assert check(str(tmp_path)).faults == []


def test_threads_and_processes_share_a_log(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom scalebox.sinks.audit_log import AuditLog\n"
        "log = AuditLog(sys.argv[1], sync_s=60)\n"
        "for _ in range(100): log.record('from a process')\nlog.close()\n"
    )
    others = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    log = _log(tmp_path)
    threads = [threading.Thread(target=lambda: [log.record("from a thread") for _ in range(100)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.wait(60) for other in others] == [0, 0]
    log.close()
    found = check(str(tmp_path))
    assert (found.records, found.faults) == (400, [])


def test_each_record_is_on_disk_at_once_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    log = AuditLog(str(tmp_path), sync_s=0)
    log.record("one")
    log.record("two")
    assert len(synced) == 2
    log.close()


def test_records_reach_the_disk_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = threading.Event()
    monkeypatch.setattr(os, "fdatasync", lambda _: synced.set())
    log = AuditLog(str(tmp_path), sync_s=0.01)
    log.record("one")
    assert synced.wait(60)
    log.close()
    log.close()
    with pytest.raises(OSError, match="closed"):
        log.record("two")


def test_odd_fields_are_written_all_the_same(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.record("odd", text="\ud800", number=1 << 90, thing=object())
    log.close()
    assert check(str(tmp_path)).faults == []


def test_a_folder_that_cannot_be_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"^audit_log: .*name a folder that may be written"):
        AuditLog(str(tmp_path / "file"))
    (tmp_path / "audit-000000000001.jsonl").write_text("no record\n")
    with pytest.raises(SettingsError, match="is no record"):
        AuditLog(str(tmp_path))
    with pytest.raises(BrokenLog):
        check(str(tmp_path / "nothing"))
