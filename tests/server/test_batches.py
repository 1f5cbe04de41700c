"""Batches over HTTP: what is taken is verified once, told to its client alone, and kept for a while."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.server.conftest import Server, sample

from scalebox import EngineClosed
from scalebox.client.embedded import checked
from scalebox.core.codec import decode_results
from scalebox.server import batches as batches_module
from scalebox.server import bodies
from scalebox.server.bodies import bounded_bodies
from scalebox.server.errors import Refused
from scalebox.server.feed import Feed
from scalebox.server.principal import Principal, Role

PACKED = {"Content-Type": "application/msgpack"}


def events_of(text: str) -> list[dict[str, str]]:
    """Return server-sent events, comments left out."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]


def packed_objects(data: bytes) -> list[dict[str, Any]]:
    """Return MessagePack objects that follow one another: an array's items, once they have its head."""
    for count in range(1000):
        with contextlib.suppress(msgspec.DecodeError):
            objects: list[dict[str, Any]] = msgspec.msgpack.decode(b"\xdd" + count.to_bytes(4, "big") + data)
            return objects
    raise AssertionError("no objects")


def as_client(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Have every request come from this client."""
    from scalebox.server import principal  # noqa: PLC0415

    monkeypatch.setattr(principal, "LOCAL", principal.Principal(name, principal.Role.TRAINER))


# --- submit, poll, fetch -----------------------------------------------------------------------------


def test_results_are_in_the_order_of_submission(server: Server) -> None:
    batch = server.submit([sample(f"s{number}", "fail" if number % 3 else "pass") for number in range(200)])
    answer = server.results(batch)
    assert answer["state"] == "DONE"
    assert [result["id"] for result in answer["results"]] == [f"s{number}" for number in range(200)]
    assert [result["reward"] for result in answer["results"]] == [0.0 if number % 3 else 1.0 for number in range(200)]
    assert server.state(batch) == {"batch_id": batch, "state": "DONE", "samples": 200, "finished": 200, "error": ""}


def test_equal_ids_are_kept_apart(server: Server) -> None:
    batch = server.submit([sample("same", code, meta=at) for at, code in enumerate(["pass", "fail", "pass", "fail"])])
    results = server.results(batch)["results"]
    assert [(result["meta"], result["reward"]) for result in results] == [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0)]


def test_messagepack_both_ways(server: Server) -> None:
    body = msgspec.msgpack.encode({"samples": [sample("s1", meta={"a": [1, b"2"]}), sample("s2")], "deadline_s": None})
    answer = server.http.post("/v1/batches", content=body, headers=PACKED)
    assert answer.headers["content-type"] == "application/msgpack"
    batch = msgspec.msgpack.decode(answer.content)
    assert (answer.status_code, batch["samples"]) == (202, 2)
    fetched = server.http.get(
        f"/v1/batches/{batch['batch_id']}/results", headers={"Accept": "application/msgpack"}
    ).content
    raw = msgspec.msgpack.decode(fetched)
    assert raw["state"] == "DONE"
    results = decode_results(msgspec.msgpack.encode(raw["results"]))
    assert [(result.id, result.meta) for result in results] == [("s1", {"a": [1, b"2"]}), ("s2", None)]


def test_pending_until_it_is_not(server: Server, gate: Path) -> None:
    batch = server.submit([sample("slow", f"await {gate}"), sample("quick")])
    answer = server.http.get(f"/v1/batches/{batch}/results", params={"wait_s": 0})
    assert (answer.status_code, answer.json()["state"]) == (202, "PENDING")
    opener = threading.Timer(0.1, gate.write_bytes, (b"x",))
    opener.start()
    assert [result["id"] for result in server.results(batch)["results"]] == ["slow", "quick"]
    opener.join()


def test_an_empty_batch_is_done(server: Server) -> None:
    batch = server.submit([])
    assert server.results(batch) == {"state": "DONE", "error": "", "results": []}
    (end,) = events_of(server.http.get(f"/v1/batches/{batch}/stream").text)
    assert end == {"event": "end", "data": '{"state":"DONE","error":""}'}


def test_a_deadline_ends_what_waits_and_what_runs(server: Server, gate: Path) -> None:
    samples = [sample(f"s{number}", f"await {gate}") for number in range(30)]
    answer = server.http.post("/v1/batches", json={"samples": samples, "deadline_s": 0.2})
    results = server.results(answer.json()["batch_id"])["results"]
    assert {result["verdict"] for result in results} == {"unknown"}
    assert {result["masked"] for result in results} == {True}
    assert len(results) == 30


def test_cancel(server: Server, gate: Path) -> None:
    batch = server.submit([sample(f"s{number}", f"await {gate}") for number in range(700)])
    assert server.http.delete(f"/v1/batches/{batch}").status_code == 202
    answer = server.results(batch)
    assert answer["state"] == "DONE"
    assert [result["id"] for result in answer["results"]] == [f"s{number}" for number in range(700)]
    assert {result["verdict"] for result in answer["results"]} == {"unknown"}
    assert server.http.delete(f"/v1/batches/{batch}").json()["state"] == "DONE", "and again does nothing"


# --- streams -----------------------------------------------------------------------------------------


def test_a_stream_tells_each_result_once_and_goes_on_where_it_broke_off(server: Server, gate: Path) -> None:
    batch = server.submit([sample("slow", f"await {gate}"), *(sample(f"s{number}") for number in range(20))])
    seen: list[str] = []
    with server.http.stream("GET", f"/v1/batches/{batch}/stream") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        while len(seen) < 20:
            line = next(lines)
            if line.startswith("data: "):
                seen.append(json.loads(line.removeprefix("data: "))["id"])
    assert set(seen) == {f"s{number}" for number in range(20)}
    gate.write_bytes(b"x")
    rest = events_of(server.http.get(f"/v1/batches/{batch}/stream", headers={"Last-Event-ID": "20"}).text)
    assert [(event["event"], event.get("id")) for event in rest] == [("result", "21"), ("end", None)]
    assert json.loads(rest[0]["data"])["id"] == "slow"
    whole = events_of(server.http.get(f"/v1/batches/{batch}/stream").text)
    assert [json.loads(event["data"]).get("id") for event in whole] == [*seen, "slow", None]


def test_a_stream_of_messagepack(server: Server) -> None:
    batch = server.submit([sample(f"s{number}") for number in range(40)])
    data = server.http.get(f"/v1/batches/{batch}/stream", headers={"Accept": "application/msgpack"}).content
    *results, end = packed_objects(data)
    assert sorted(each["result"]["id"] for each in results) == sorted(f"s{number}" for number in range(40))
    assert end == {"end": "DONE", "error": ""}


def test_readers_that_vanish_leave_nothing(server: Server, gate: Path) -> None:
    batch = server.submit([sample("slow", f"await {gate}")])
    for _ in range(20):
        with server.http.stream("GET", f"/v1/batches/{batch}/stream") as stream:
            assert stream.status_code == 200
    gate.write_bytes(b"x")
    assert len(server.results(batch)["results"]) == 1

    async def until_they_are_gone() -> None:
        while server.draining.server_state.tasks:
            await asyncio.sleep(0.01)

    server.call(until_they_are_gone())


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "99999999999", "٣"])
def test_a_senseless_place_in_a_stream(server: Server, given: str) -> None:
    batch = server.submit([])
    answer = server.http.get(f"/v1/batches/{batch}/stream", headers=[(b"Last-Event-ID", given.encode())])
    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == "Last-Event-ID"


# --- idempotency -------------------------------------------------------------------------------------


def test_the_same_key_is_the_same_batch(server: Server, tmp_path: Path) -> None:
    note = tmp_path / "note"
    samples = [sample("s", f"note {note}")]
    answers: list[Any] = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(
                httpx.post(
                    f"{server.url}/v1/batches",
                    json={"samples": samples},
                    headers={"Idempotency-Key": "k-1"},
                    timeout=60,
                    trust_env=False,
                ).json()
            )
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer["batch_id"] for answer in answers}) == 1
    server.results(answers[0]["batch_id"])
    assert server.submit(samples, key="k-1") == answers[0]["batch_id"]
    assert len(note.read_text().splitlines()) == 1, "it ran once"
    error = server.submit([sample("other")], 409, key="k-1")["error"]
    assert error["field"] == "Idempotency-Key"


@pytest.mark.parametrize("key", ["", "a b", "x" * 201])
def test_a_senseless_key(server: Server, key: str) -> None:
    assert server.submit([sample()], 400, key=key)["error"]["field"] == "Idempotency-Key"


# --- clients are apart -------------------------------------------------------------------------------


def test_a_client_sees_its_own_batches_alone(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    as_client(monkeypatch, "ada")
    batch = server.submit([sample()], key="mine")
    server.results(batch)
    as_client(monkeypatch, "bob")
    for method, path in (("GET", ""), ("GET", "/results"), ("GET", "/stream"), ("DELETE", "")):
        answer = server.http.request(method, f"/v1/batches/{batch}{path}")
        missing = server.http.request(method, f"/v1/batches/{'0' * len(batch)}{path}")
        assert answer.status_code == missing.status_code == 404
        assert answer.text.replace(batch, "") == missing.text.replace("0" * len(batch), "")
    assert server.submit([sample("other")], key="mine") != batch


def test_a_big_batch_does_not_hold_back_another_clients(
    server: Server, gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_client(monkeypatch, "big")
    big = server.submit([sample(f"b{number}", f"#{number}\nawait {gate}") for number in range(1000)])
    as_client(monkeypatch, "small")
    small = server.submit([sample("s")])
    gate.write_bytes(b"x" * 40)  # what is in the workers' hands; far from all that is before the small one
    assert server.results(small)["state"] == "DONE"
    as_client(monkeypatch, "big")
    assert server.state(big)["finished"] < 500
    server.http.delete(f"/v1/batches/{big}")
    assert server.results(big)["state"] == "DONE"


# --- limits ------------------------------------------------------------------------------------------


def test_quotas_and_the_bounded_queue(
    start: Callable[..., Server], gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start(server_client_pending=10, max_pending=15)
    as_client(monkeypatch, "ada")
    held = server.submit([sample(f"s{number}", f"#{number}\nawait {gate}") for number in range(8)])
    answer = server.http.post("/v1/batches", json={"samples": [sample()] * 3})
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1
    assert server.submit([sample()] * 11, 413)["error"]["mend"] == "at most 10"
    # How many there are is looked at before the samples are, which takes minutes where they are too many.
    assert server.submit([None] * 11, 413)["error"]["field"] == "samples"  # type: ignore[list-item]
    as_client(monkeypatch, "bob")
    answer = server.http.post("/v1/batches", json={"samples": [sample()] * 8})
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    fits = server.submit([sample(f"t{number}") for number in range(5)])
    gate.write_bytes(b"x" * 8)
    assert len(server.results(fits)["results"]) == 5
    as_client(monkeypatch, "ada")
    assert server.results(held)["state"] == "DONE"
    assert server.results(server.submit([sample(f"#{number}") for number in range(10)]))["state"] == "DONE"


def test_a_body_that_is_too_big(start: Callable[..., Server]) -> None:
    server = start(server_max_body_mb=1)
    body = json.dumps({"samples": [sample(code="#" * (1 << 20))]}).encode()

    def chunks() -> Any:
        yield body[:1000]
        yield body[1000:]

    for content in (body, chunks()):
        answer = server.http.post("/v1/batches", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "too_large"
    assert server.results(server.submit([sample()]))["state"] == "DONE"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"samples": [sample(), sample(tests=[])]}, "samples[1].tests"),
        ({"samples": [sample(), sample(codee="x")]}, "samples[1].codee"),
        ({"samples": [sample(), 7]}, "samples[1]"),
        ({"samples": {}}, "samples"),
        ({}, "samples"),
        ({"samples": [], "sample": 1}, "sample"),
        ({"samples": [], "deadline_s": -1}, "deadline_s"),
        ({"samples": [], "deadline_s": "soon"}, "deadline_s"),
        ({"samples": [], "deadline_s": True}, "deadline_s"),
        ({"samples": [], "deadline_s": 1e300}, "deadline_s"),
        ([], ""),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_bad_input_is_named_and_nothing_is_taken(server: Server, body: Any, field: str, packed: bool) -> None:
    before = server.http.get("/v1/info").json()["pending"]
    content = msgspec.msgpack.encode(body) if packed else msgspec.json.encode(body)
    headers = {"Content-Type": "application/msgpack" if packed else "application/json", "Accept": "application/json"}
    answer = server.http.post("/v1/batches", content=content, headers=headers)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["field"] == field
    assert server.http.get("/v1/info").json()["pending"] == before


def test_an_error_is_in_the_format_of_the_request(server: Server) -> None:
    answer = server.http.post("/v1/batches", content=b"\xc1", headers=PACKED)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/msgpack")
    assert set(msgspec.msgpack.decode(answer.content)["error"]) == {"code", "message", "field", "mend"}


@pytest.mark.parametrize(
    ("kind", "content", "status"),
    [
        ("application/json", b"", 400),
        ("application/json", b'{"samples": [', 400),
        ("application/json", b"\xff\xfe", 400),
        ("application/json", b"[" * 100_000, 400),
        ("application/json", b'{"samples": NaN}', 400),
        ("application/json", b'{"samples": [{"id": "\\ud800"}]}', 400),
        ("application/msgpack", b"", 400),
        ("application/msgpack", b"\xc1", 400),
        ("application/msgpack", b"\x91" * 100_000, 400),
        ("application/msgpack", b"\xdf\xff\xff\xff\xff", 400),
        ("application/msgpack", b"\x81\x01\x02", 400),
        ("application/msgpack", b"\x81\xa7samples\x91\x81\x01\x02", 400),
        ("application/msgpack", b"\x81\xa7samples\x91\xd6\xff\x00\x00\x00\x00", 400),
        ("application/msgpack", b"\x81\xa7samples\xc7\x01\x05a", 400),
        ("application/msgpack", b"\x80\x80", 400),
        ("text/plain", b"{}", 415),
        ("multipart/form-data; boundary=x", b"--x--", 415),
        ("nonsense", b"{}", 415),
    ],
)
def test_broken_bodies(server: Server, kind: str, content: bytes, status: int) -> None:
    headers = {"Content-Type": kind, "Accept": "application/json"}
    answer = server.http.post("/v1/batches", content=content, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]


def test_what_is_kept_goes_after_a_while(start: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "_CLEAN_EVERY_S", 0.01)
    server = start(server_keep_s=0)
    batch = server.submit([sample()])
    while server.http.get(f"/v1/batches/{batch}").status_code == 200:
        pass
    assert server.http.get(f"/v1/batches/{batch}").status_code == 404


def test_a_journal_at_its_bound_makes_room_or_refuses(start: Callable[..., Server], gate: Path) -> None:
    server = start(server_journal_mb=1)
    big = "#" * 300_000
    batches = [server.submit([sample(code=big)]) for _ in range(3)]
    for batch in batches:
        server.results(batch)  # which hold no program's text here
    held = [server.submit([sample(code=f"{big}\nawait {gate}")]) for _ in range(2)]
    assert server.submit([sample(code=big)] * 2, 503)["error"]["mend"].endswith("raise server_journal_mb")
    gate.write_bytes(b"xx")
    assert [server.results(batch)["state"] for batch in held] == ["DONE", "DONE"]
    server.results(server.submit([sample(code=big)] * 2))


def test_all_bodies_are_bounded_together() -> None:
    given: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001  (ASGI's signature)
        given.append(len((await receive())["body"]))
        await asyncio.sleep(0)
        given.append(len((await receive())["body"]))

    async def receive() -> Any:
        return {"type": "http.request", "body": bytes(30), "more_body": True}

    async def many() -> list[Any]:
        bounded: Any = bounded_bodies(app, 10)
        first = await asyncio.gather(*(bounded({}, receive, None) for _ in range(2)), return_exceptions=True)
        return [*first, await bounded({}, receive, None)]

    errors = asyncio.run(many())
    assert [type(error) for error in errors] == [Refused, type(None), type(None)], "what is refused frees its own"


def test_policies_leave_room_for_the_bodies_of_others() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001  (ASGI's signature)
        await receive()
        await asyncio.sleep(0)

    async def receive() -> Any:
        return {"type": "http.request", "body": bytes(10)}

    async def many() -> list[Any]:
        bounded: Any = bounded_bodies(app, 10)
        policies = [bounded({"user": Principal(f"p{number}", Role.POLICY)}, receive, None) for number in range(9)]
        trainer = bounded({"user": Principal("t", Role.TRAINER)}, receive, None)
        return await asyncio.gather(*policies, trainer, return_exceptions=True)

    assert [type(error) for error in asyncio.run(many())] == [type(None)] * 2 + [Refused] * 7 + [type(None)]


@pytest.mark.parametrize("path", ["/v1/batches", "/run_code", "/api/v2/execute", "/submit"])
def test_a_body_that_does_not_come_is_given_up_on_every_route(
    server: Server, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(bodies, "READ_S", 0.05)
    address = httpx.URL(server.url)
    with socket.create_connection((address.host, address.port or 80), timeout=60) as raw:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{"
        )
        raw.sendall(head.encode())
        assert raw.recv(12) == b"HTTP/1.1 408"


def test_a_journal_that_is_full_takes_nothing_and_loses_nothing(
    start: Callable[..., Server], monkeypatch: pytest.MonkeyPatch, gate: Path
) -> None:
    monkeypatch.setattr(batches_module, "_AGAIN_S", 0.01)
    server = start()
    batch = server.submit([sample("s", f"await {gate}")])
    journal = server.context.journal
    journal._write.execute("PRAGMA max_page_count = 1")  # sqlite takes as many as there are
    journal._write.execute("PRAGMA query_only = 1")
    gate.write_bytes(b"x")
    while server.http.get("/readyz").json().get("reason") != "the journal cannot be written":
        pass
    assert server.submit([sample()], 503)["error"]["code"] == "unavailable"
    assert server.state(batch)["state"] == "PENDING"
    journal._write.execute("PRAGMA query_only = 0")
    journal._write.execute("PRAGMA max_page_count = 1000000")
    assert server.results(batch)["results"][0]["verdict"] == "passed"
    assert server.results(server.submit([sample()]))["state"] == "DONE"


# --- verifications without a batch -------------------------------------------------------------------


def test_a_request_can_wait_for_its_samples(server: Server) -> None:
    settings = server.context.settings
    made = checked([sample(f"s{number}", "fail" if number % 2 else "pass") for number in range(9)], settings)
    results = server.call(server.context.feed.run("ada", made))
    assert [result.id for result in results] == [f"s{number}" for number in range(9)]
    assert [result.reward for result in results] == [1.0, 0.0] * 4 + [1.0]
    assert server.call(server.context.feed.run("ada", [])) == []


def test_a_request_that_is_given_up_is_cancelled(server: Server, gate: Path) -> None:
    made = checked([sample(f"s{number}", f"#{number}\nawait {gate}") for number in range(50)], server.context.settings)

    async def give_up() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(server.context.feed.run("eve", made), 0.2)

    server.call(give_up())
    assert server.results(server.submit([sample("next")]))["state"] == "DONE"
    assert server.context.feed.idle


def test_a_request_that_waits_is_told_of_the_end(start: Callable[..., Server], gate: Path) -> None:
    server = start()
    feed = server.context.feed
    made = checked([sample("s", f"await {gate}")], server.context.settings)

    async def end() -> Any:
        waiting = asyncio.ensure_future(feed.run("eve", made))
        await asyncio.sleep(0)
        feed.stop()
        return await asyncio.gather(waiting, feed.run("eve", made), return_exceptions=True)

    assert [type(error) for error in server.call(end())] == [EngineClosed, EngineClosed]


def test_a_batch_that_cannot_be_read_is_failed_and_no_other(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> list[bytes]:
        raise LookupError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(server.context.journal, "records", broken)
        answer = server.results(server.submit([sample(f"s{number}") for number in range(50)]))
    assert (answer["state"], answer["error"]) == ("FAILED", "the server failed: LookupError (its log says more)")
    assert answer["results"] == []
    assert server.results(server.submit([sample()]))["state"] == "DONE"
    assert server.http.get("/healthz").status_code == 200


def test_giving_up_what_is_over_leaves_no_trace() -> None:
    feed = Feed(1, 1)
    feed.cancel("a batch that is over")
    assert not feed._given_up
