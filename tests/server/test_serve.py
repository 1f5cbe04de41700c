"""The command: where it listens, how it ends, and what is there after it was killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.server.conftest import sample
from tests.server.process import REAL, Process

from scalebox import Settings, SettingsError
from scalebox.cli.main import main
from scalebox.server import listening
from scalebox.server.context import _journal_path

Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def starter(*arguments: str, **more: Any) -> Process:
            place = () if "--socket" in arguments else ("--port", "0")
            made = Process(*place, "--journal", str(tmp_path / "journal.db"), *arguments, **more)
            stack.callback(made.kill)
            return made

        yield starter


def failed(*arguments: str) -> tuple[int, str]:
    """Return the exit code of a server that does not start, and what it says."""
    done = CliRunner().invoke(main, ["serve", *arguments])
    return done.exit_code, done.output


def test_what_was_taken_is_finished_after_a_kill_and_nothing_twice(start: Start, tmp_path: Path, gate: Path) -> None:
    note = tmp_path / "note"
    quick = [sample(f"s{number}", f"#{number}\nnote {note}") for number in range(40)]
    held = [sample(f"h{number}", f"#{number}\nawait {gate}") for number in range(4)]
    server = start()
    done = server.submit([sample()])
    assert len(server.results(done)["results"]) == 1
    batch = server.submit([*quick, *held], key="k")
    while server.http.get(f"/v1/batches/{batch}").json()["finished"] < 40:
        pass
    server.kill()
    once = Counter(line.split()[0] for line in note.read_text().splitlines())
    assert set(once) == {f"s{number}" for number in range(40)}

    again = start()
    assert again.http.get(f"/v1/batches/{batch}").json()["finished"] == 40
    assert again.submit([*quick, *held], key="k") == batch
    gate.write_bytes(b"x" * 4)
    results = again.results(batch)
    assert results["state"] == "DONE"
    assert [result["id"] for result in results["results"]] == [each["id"] for each in [*quick, *held]]
    assert len(again.results(done)["results"]) == 1
    assert Counter(line.split()[0] for line in note.read_text().splitlines()) == once, "they did not run again"
    assert again.terminate() == 0


def test_it_drains_on_a_signal_and_leaves_the_rest_to_the_next(start: Start, gate: Path) -> None:
    server = start()
    running = server.submit([sample(f"s{number}", f"#{number}\nawait {gate}") for number in range(2)])
    answers: list[Any] = []
    waiter = threading.Thread(target=lambda: answers.append(server.results(running)))
    waiter.start()
    server.process.send_signal(signal.SIGTERM)
    while server.http.get("/readyz").status_code == 200:
        pass
    refused = server.http.post("/v1/batches", json={"samples": []})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "draining")
    assert int(refused.headers["retry-after"]) >= 1
    assert server.http.get("/healthz").status_code == 200
    gate.write_bytes(b"xx")
    waiter.join(60)
    assert [result["verdict"] for result in answers[0]["results"]] == ["passed", "passed"]
    assert server.end() == 0


def test_what_does_not_finish_in_time_waits_in_the_journal(start: Start, gate: Path) -> None:
    server = start(env={"SCALEBOX_SERVER_DRAIN_S": "0.1"})
    batch = server.submit([sample(f"s{number}", f"#{number}\nawait {gate}") for number in range(10)])
    with server.http.stream("GET", f"/v1/batches/{batch}/stream") as stream:
        assert server.terminate() == 0, "an open stream does not hold it back"
        assert stream.status_code == 200
    again = start()
    assert again.http.get(f"/v1/batches/{batch}").json()["state"] == "PENDING"
    gate.write_bytes(b"x" * 10)
    assert len(again.results(batch)["results"]) == 10
    assert again.terminate() == 0


def test_a_unix_socket(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    server = start("--socket", str(path))
    assert server.said == {"url": f"unix://{path}", "tier": "none", "workers": 2, "tokens": False}
    assert path.stat().st_mode & 0o777 == 0o600
    assert server.http.get("/readyz").status_code == 200
    code, said = failed("--socket", str(path), "--journal", str(tmp_path / "other.db"))
    assert code == 2
    assert "server_socket" in said
    server.kill()
    assert path.exists()
    again = start("--socket", str(path))
    assert again.http.get("/readyz").status_code == 200, "over the socket of one that was killed"
    assert again.terminate() == 0
    assert not path.exists()


def test_a_real_engine(start: Start) -> None:
    server = start(driver=REAL)
    assert server.said["tier"] in ("namespace", "process")
    batch = server.submit(
        [
            {"id": "a", "code": "print(int(input()) * 2)", "tests": [{"stdin": "4", "stdout": "8"}]},
            {"id": "b", "code": "print(1", "tests": [{"stdin": "", "stdout": "1"}]},
        ]
    )
    assert [result["verdict"] for result in server.results(batch)["results"]] == ["passed", "compile_error"]
    assert server.terminate() == 0
    lines = [json.loads(line) for line in server.log]
    assert {"batch": batch, "client": "local", "samples": 2}.items() <= next(
        line for line in lines if line["event"] == "batch accepted"
    ).items()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104  that it is refused is what is tested
def test_tokens_are_needed_beyond_this_machine(host: str) -> None:
    code, said = failed("--host", host, "--port", "0")
    assert code == 2
    assert "no tokens are asked for (name their file as server_tokens" in said


def test_places_that_cannot_be_had(tmp_path: Path) -> None:
    journal = ("--journal", str(tmp_path / "journal.db"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = failed("--port", str(taken.getsockname()[1]), *journal)
    assert code == 2
    assert "Address already in use (choose another)" in said
    assert failed("--host", "256.0.0.1", *journal)[0] == 2
    code, said = failed("--socket", str(tmp_path / "no" / "such.sock"), *journal)
    assert code == 2
    assert "server_socket" in said
    code, said = failed("--port", "0", "--journal", str(tmp_path))
    assert code == 2
    assert "server_journal" in said


@pytest.mark.parametrize("seconds", ["nan", "0", "-1"])
def test_a_server_that_would_never_be_idle_is_refused(seconds: str) -> None:
    ended = CliRunner().invoke(main, ["serve", "--port", "0", "--idle-exit", seconds])
    assert (ended.exit_code, "--idle-exit" in ended.stderr) == (2, True)


def test_a_machine_that_cannot_isolate_ends_it() -> None:
    code, said = failed("--port", "0", "--tier", "container:/no/such/runtime")
    assert code in (2, 3)
    assert "/no/such/runtime" in said


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalebox.cli.serve.find_spec", lambda _: None)
    code, said = failed("--port", "0")
    assert code == 2
    assert "pip install 'scalebox[server]'" in said


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_needs_none(host: str) -> None:
    try:
        listener = listening.listen(Settings(server_host=host, server_port=0))
    except SettingsError as error:
        if "Cannot assign" in str(error) or "not supported" in str(error):
            pytest.skip(f"no such address here: {error}")
        raise
    url = listening.place_of(listener)
    assert url.startswith("http://")
    assert not url.endswith(":0")
    listening.close(listener, url)


def test_a_socket_of_the_next_server_is_left_alone(tmp_path: Path) -> None:
    """One that takes its place while another ends would be out of reach."""
    settings = Settings(server_socket=str(tmp_path / "s"))
    first = listening.listen(settings)
    place = listening.place_of(first)
    first.close()  # as uvicorn does, some time before the end
    second = listening.listen(settings)
    listening.close(first, place)
    assert (tmp_path / "s").is_socket()
    listening.close(second, place)
    assert list(tmp_path.iterdir()) == []


def test_a_journal_for_each_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    places = [{"server_port": 8080}, {"server_port": 8081}, {"server_socket": "/a"}, {"server_socket": "/b"}]
    paths = {_journal_path(Settings(**place)) for place in places}  # type: ignore[arg-type]  # of the settings' types
    assert len(paths) == 4
    assert {os.path.dirname(path) for path in paths} == {str(tmp_path / "scalebox")}
    assert _journal_path(Settings(server_port=0)) == ""
