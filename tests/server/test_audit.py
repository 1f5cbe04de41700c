"""The audit log over HTTP and on the command line; and that what cannot be recorded is not done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from tests.server.access import Site, site
from tests.server.conftest import sample

from scalebox.cli.main import main
from scalebox.sinks.audit_log import AuditLog
from scalebox.sinks.audit_log import writer as writer_module


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site")) as opened:
        yield opened


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["audit", *arguments])


def _submit(here: Site, key: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {here.tokens['trainer']}", "Idempotency-Key": key}
    return here.http.post("/v1/batches", json={"samples": [sample(key)]}, headers=headers)


def test_the_newest_records_come_last_and_the_chain_is_whole(here: Site) -> None:
    batch = here.ask("trainer", "POST", "/v1/batches", json={"samples": [sample("a"), sample("b")]}).json()["batch_id"]
    here.ask("trainer", "GET", f"/v1/batches/{batch}/results?wait_s=60")
    records = here.ask("operator", "GET", "/v1/audit?limit=3").json()["records"]
    numbers = [record["n"] for record in records]
    assert numbers == sorted(numbers)
    assert len(numbers) == 3
    (found,) = here.ask("operator", "GET", "/v1/audit?event=execution&sample_id=b").json()["records"]
    assert (found["sample_id"], found["batch_id"]) == ("b", batch)
    about = here.ask("operator", "GET", "/v1/audit?sample_id=b").json()["records"]
    assert [record["event"] for record in about] == ["batch_submitted", "execution"]
    first = found["n"]
    page = here.ask("operator", "GET", f"/v1/audit?limit=2&after={first - 2}").json()["records"]
    assert [record["n"] for record in page] == [first - 1, first]
    assert here.ask("operator", "GET", "/v1/audit?after=1000000").json()["records"] == []
    checked = here.ask("operator", "GET", "/v1/audit/check").json()
    assert checked["faults"] == []
    assert checked["records"] == checked["last"]


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "a\0b", "é", "\U0001f4a5", "a/b", "\u2028", "<x>", " "])
def test_a_sample_is_found_whatever_its_id(here: Site, name: str) -> None:
    batch = here.ask("trainer", "POST", "/v1/batches", json={"samples": [sample(name)]}).json()["batch_id"]
    here.ask("trainer", "GET", f"/v1/batches/{batch}/results?wait_s=60")
    found = here.ask("operator", "GET", "/v1/audit", params={"sample_id": name}).json()["records"]
    assert [record["event"] for record in found] == ["batch_submitted", "execution"]


def test_a_line_that_is_no_record_hides_no_other(tmp_path: Path) -> None:
    with site(tmp_path) as here:
        _submit(here, "whole")
        (file,) = (tmp_path / "audit").iterdir()
        whole = file.read_bytes()
        for noise in (
            b'{"sample_id": "whole"',
            b"[]",
            b'"whole"',
            b"[" * 100_000,
            b"\xff whole",
            b'{"event": "whole"}',
        ):
            file.write_bytes(noise + b"\n" + whole)
            for path in ("/v1/audit", "/v1/audit?sample_id=whole", "/v1/audit?after=0"):
                answer = here.ask("operator", "GET", path)
                assert answer.status_code == 200, (noise, answer.text)
                assert any("whole" in record.get("ids", ()) for record in answer.json()["records"])
            assert _run(str(tmp_path / "audit"), "--sample", "whole").exit_code == 0


def test_what_was_noted_is_never_passed_over(tmp_path: Path) -> None:
    result = _run(str(tmp_path), "--noted", f"1:{'0' * 64}")
    assert result.exit_code == 2
    assert "--noted goes with --check" in result.output


def test_a_log_that_cannot_be_read_is_told_as_that(tmp_path: Path) -> None:
    result = _run(str(tmp_path / "nowhere"), "--check")
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 3
    assert "cannot be read: No such file or directory" in result.output
    assert "may be written" not in result.output


def test_what_cannot_be_recorded_is_not_done(here: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_fd: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer_module, "_write_all", full)
    assert _submit(here, "c").status_code == 503
    assert here.ask("operator", "PUT", "/v1/problems/p", json={"tests": sample()["tests"]}).status_code == 503
    assert here.ask("", "GET", "/v1/audit").status_code == 401, "a refusal stays one"
    monkeypatch.undo()
    assert here.ask("operator", "GET", "/v1/problems/p").status_code == 404
    here.ask("", "GET", "/v1/audit")
    assert here.events(event="records_lost")
    again = _submit(here, "c")
    assert again.status_code == 202
    done = here.ask("trainer", "GET", f"/v1/batches/{again.json()['batch_id']}/results?wait_s=60").json()
    assert [result["verdict"] for result in done["results"]] == ["passed"], "what was refused has not used up its key"
    assert [record["ids"] for record in here.events(event="batch_submitted", batch_id=again.json()["batch_id"])] == [
        ["c"]
    ]
    assert here.ask("operator", "GET", "/v1/audit/check").json()["faults"] == []


@pytest.fixture
def folder(tmp_path: Path) -> str:
    log = AuditLog(str(tmp_path / "log"), sync_s=60)
    log.record("execution", sample_id="s-1", verdict="passed")
    log.record("batch_submitted", ids=["s-1", "s-2"])
    log.record("execution", sample_id="s-2", verdict="passed")
    log.close()
    return log.folder


def test_the_command_prints_and_searches(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def events(*arguments: str) -> list[str]:
        return [json.loads(line)["event"] for line in _run(*arguments).stdout.splitlines()]

    assert events(folder) == ["execution", "batch_submitted", "execution"]
    assert events(folder, "--sample", "s-1") == ["execution", "batch_submitted"]
    assert events(folder, "--event", "execution", "--sample", "s-2") == ["execution"]
    assert "audit_log: no folder is set" in _run().stderr
    monkeypatch.setenv("SCALEBOX_AUDIT_LOG", folder)
    assert len(events()) == 3
    assert _run(folder + "/nothing").exit_code == 2


def test_the_command_checks(folder: str) -> None:
    told = _run(folder, "--check")
    assert told.exit_code == 0
    noted = told.stdout.split()[-1]
    assert _run(folder, "--check", "--noted", noted).exit_code == 0
    assert json.loads(_run(folder, "--check", "--json").stdout)["records"] == 3
    (file,) = Path(folder).glob("*.jsonl")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:2]))
    assert _run(folder, "--check").exit_code == 0, "a tail that was cut shows only against what was noted"
    cut = _run(folder, "--check", "--noted", noted)
    assert cut.exit_code == 1
    assert "was cut" in cut.stdout
    file.write_bytes(file.read_bytes().replace(b"passed", b"failed"))
    assert "BROKEN" in _run(folder, "--check").stdout
    assert _run(folder, "--check", "--noted", "x").exit_code == 2
    assert _run(folder + "/nothing", "--check").exit_code == 3
