"""The application as a whole: errors, health, the schema."""

from __future__ import annotations

import io
import json
import logging
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Server, sample

from scalebox.core import events
from scalebox.parse import parse_sample
from scalebox.server import logs


def test_it_lives_and_is_ready(server: Server) -> None:
    assert server.http.get("/healthz").json() == {"status": "alive"}
    answer = server.http.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("POST", "/healthz", 405, "method_not_allowed"),
        ("GET", "/v1/batches/nothing", 404, "not_found"),
        ("GET", "/v1/batches/nothing/results", 404, "not_found"),
        ("GET", "/v1/batches/nothing/stream", 404, "not_found"),
        ("DELETE", "/v1/batches/nothing", 404, "not_found"),
        ("GET", "/v1/batches/a%00b", 404, "not_found"),
    ],
)
def test_errors_have_one_shape(server: Server, method: str, path: str, status: int, code: str) -> None:
    answer = server.http.request(method, path)
    error: dict[str, Any] = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert set(error) == {"code", "message", "field", "mend"}


def test_info_says_what_there_is(server: Server) -> None:
    info = server.http.get("/v1/info").json()
    assert info["workers"] == 2
    assert info["tier"] == "none"
    assert "python" in info["languages"]
    assert info["limits"]["cpu_s"] == 2.0
    assert (info["max_body_mb"], info["pending"], info["draining"]) == (64, 0, False)


def test_the_schema_names_every_operation_and_needs_no_other_host(server: Server) -> None:
    schema = server.http.get("/schema/openapi.json").json()
    operations = [each for path in schema["paths"].values() for each in path.values()]
    assert len(operations) >= 8
    assert all(each["summary"] and each["description"] for each in operations)
    submit = schema["paths"]["/v1/batches"]["post"]
    assert set(submit["requestBody"]["content"]) == {"application/json", "application/msgpack"}
    assert {"202", "400", "409", "413", "415", "429", "503"} == set(submit["responses"])
    sample = submit["requestBody"]["content"]["application/json"]["schema"]["properties"]["samples"]["items"]
    assert sample["required"] == ["id"], "tests may be those of a problem"
    assert {"problem_id", "code", "response", "tests", "checker", "limits"} <= set(sample["properties"])
    assert {"200", "202", "404"} <= set(schema["paths"]["/v1/batches/{batch_id}/results"]["get"]["responses"])
    assert {"200", "201"} <= set(schema["paths"]["/v1/problems/{problem_id}"]["put"]["responses"])
    assert all("requestBody" in each["post"] for each in schema["paths"].values() if "post" in each)
    page = server.http.get("/schema").text
    assert all(each["summary"] in page for each in operations)
    assert "<script" not in page
    assert "http" not in page.replace("https://", "http://").split("<body>")[1]


def test_a_bug_is_told_without_its_traceback(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> bool:
        raise RuntimeError("secret")

    monkeypatch.setattr(type(server.context.batches), "keeps", property(lambda _: broken()), raising=False)
    answer = server.http.get("/readyz")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert "secret" not in answer.text


def test_not_ready_while_no_sample_passes(start: Callable[..., Server]) -> None:
    server = start(server_ready_s=3600)
    server.context.feed.passed_at = float("-inf")
    assert server.http.get("/readyz").json() == {"status": "ready"}, "a sample of its own shows it"
    server.context.readiness._sample = parse_sample(sample(code="fail"), settings=server.context.settings)
    server.context.feed.passed_at = float("-inf")
    answer = server.http.get("/readyz")
    assert (answer.status_code, answer.json()["reason"]) == (503, "a sample that passes was output_mismatch: ")
    server.results(server.submit([sample()]))
    assert server.http.get("/readyz").json() == {"status": "ready"}, "a client's sample shows it as well"
    assert server.http.get("/v1/telemetry").json()["counts"]["samples"] == 1, "the server's own are not counted"
    assert 'scalebox_samples_total{verdict="output_mismatch"} 0.0' in server.http.get("/metrics").text


def test_trajectories_are_counted(start: Callable[..., Server]) -> None:
    server = start()
    steps = [{"kind": "shell", "text": "ls"}, {"kind": "message", "text": "done"}]
    server.results(server.submit([sample("a", trajectory=steps), sample("b", trajectory=[]), sample("c")]))
    found = server.http.get("/v1/telemetry").json()["trajectories"]
    assert (found["count"], round(found["p99"])) == (2, 2)


def test_a_lost_engine_is_told(start: Callable[..., Server]) -> None:
    server = start()
    server.call(server.context.client.close())
    batch = server.submit([sample()])
    results = server.results(batch)
    assert results["state"] == "FAILED"
    assert "the engine was closed" in results["error"]
    for path in ("/healthz", "/readyz"):
        answer = server.http.get(path)
        assert answer.status_code == 503
        assert "the engine was closed" in answer.json()["reason"]


def test_sinks_are_told_of_batches_not_of_slices(start: Callable[..., Server]) -> None:
    told: list[Any] = []
    over = threading.Event()

    def sink(event: Any) -> None:
        told.append(event)
        if isinstance(event, events.BatchFinished):
            over.set()

    server = start(sinks=[sink])
    batch = server.submit([sample(f"s{number}") for number in range(50)])
    assert len(server.results(batch)["results"]) == 50
    assert over.wait(60)
    mine = [event for event in told if getattr(event, "batch_id", "").startswith(batch)]
    assert all(event.batch_id == batch for event in mine)
    assert isinstance(mine[0], events.BatchAccepted)
    assert isinstance(mine[-1], events.BatchFinished)
    assert sum(isinstance(event, events.SampleFinished) for event in mine) == 50
    assert any(isinstance(event, events.WorkerStarted) for event in told)


def test_a_second_signal_ends_it_at_once(start: Callable[..., Server], gate: Path) -> None:
    server = start()
    server.submit([sample("s", f"await {gate}")])
    server.draining.handle_exit(signal.SIGTERM, None)
    assert server.http.get("/readyz").json()["reason"] == "draining"
    server.draining.handle_exit(signal.SIGINT, None)
    server.thread.join(60)
    assert not server.thread.is_alive()


def test_every_line_of_the_log_is_json_and_holds_no_program(start: Callable[..., Server]) -> None:
    server = start()
    stream = io.StringIO()
    before, handler = logging.getLogger().level, logs.configure("debug", stream)
    try:
        batch = server.submit([sample("s-1", "#s3cret")])
        server.results(batch)
        logging.getLogger("scalebox.server").exception("x", exc_info=RuntimeError("a\nb"), extra={"code": "s3cret"})
    finally:
        logs.remove(handler)
        logging.getLogger().setLevel(before)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    (line,) = [line for line in lines if line.get("sample") == "s-1"]
    assert (line["batch"], line["verdict"], line["level"]) == (batch, "passed", "debug")
    assert "RuntimeError" in lines[-1]["exception"]
    assert "s3cret" not in stream.getvalue()
