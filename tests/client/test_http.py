"""Clients of a server: the same face over HTTP, and retries that double nothing."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.client.fake_server import FakeServer, refusal

from scalebox import (
    AsyncScaleBoxClient,
    AuthenticationError,
    BatchNotFound,
    CallTest,
    EngineClosed,
    InputError,
    QueueFull,
    Sample,
    SandboxError,
    ScaleBoxClient,
    ScaleBoxError,
    ServerError,
    Settings,
    StdinTest,
    Verdict,
)
from scalebox.client import records
from scalebox.client.address import parse_address
from scalebox.client.answers import Problem, failure_of
from scalebox.core import codec, values
from scalebox.parse import parse_sample
from scalebox.schedule import process

TESTS = [{"stdin": "", "stdout": ""}]
SETTINGS = Settings(client_retry_s=120.0)
DRIVER = str(Path(__file__).with_name("driver.py"))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as made:
        yield made


@pytest.fixture
def client(server: FakeServer) -> Iterator[ScaleBoxClient]:
    with ScaleBoxClient(server.url, settings=SETTINGS) as made:
        yield made


def record(code: str = "pass", **fields: Any) -> dict[str, Any]:
    return {"id": "s", "code": code, "tests": TESTS} | fields


# --- the face -------------------------------------------------------------------------------------


def test_submit_poll_and_fetch(server: FakeServer, client: ScaleBoxClient) -> None:
    batch = client.submit("s-1", "wait", TESTS, limits={"cpu_s": 1.0}, problem_id="p", meta={"n": [1, 2**80]})
    assert client.poll(batch) == "PENDING"
    with pytest.raises(TimeoutError, match=r"not done within 0\.05 s"):
        client.fetch(batch, timeout=0.05)
    server.release()
    (result,) = client.fetch(batch, timeout=60)
    assert (result.id, result.verdict, result.meta) == ("s-1", Verdict.PASSED, {"n": [1, 2**80]})
    assert client.poll(batch) == "DONE"
    (sent,) = server.batches[batch].samples
    assert (sent["limits"], sent["problem_id"]) == ({"cpu_s": 1.0}, "p")


def test_a_batch_is_fetched_in_order_and_streamed_as_it_finishes(server: FakeServer, client: ScaleBoxClient) -> None:
    batch = client.submit_batch([record("wait", id="slow"), record("fail", id="a"), record(id="b")])
    stream = client.stream(batch)
    assert [next(stream).id for _ in range(2)] == ["a", "b"]
    server.release()
    assert [result.id for result in stream] == ["slow"]
    assert [result.id for result in client.fetch(batch)] == ["slow", "a", "b"]


def test_a_stream_that_nobody_reads_on_is_closed(server: FakeServer, client: ScaleBoxClient) -> None:
    batch = client.submit_batch([record("wait", id="slow"), record(id="quick")])
    stream = client.stream(batch)
    assert next(stream).id == "quick"
    del stream
    while server.streams:
        time.sleep(0.001)
    client.cancel(batch)
    assert [result.verdict for result in client.fetch(batch)] == [Verdict.UNKNOWN, Verdict.PASSED]


def test_an_empty_batch_is_done(client: ScaleBoxClient) -> None:
    assert client.fetch(client.submit_batch([])) == []
    assert list(client.stream(client.submit_batch([]))) == []


def test_the_asynchronous_client_works_on_several_loops(server: FakeServer) -> None:
    client = AsyncScaleBoxClient(server.url, settings=SETTINGS)

    async def work(number: int) -> str:
        batch = await client.submit_batch([record(id=f"{number}.{n}") for n in range(3)])
        assert len([result async for result in client.stream(batch)]) == 3
        return (await client.fetch(batch))[-1].id

    async def many() -> list[str]:
        return await asyncio.gather(*map(work, range(10)))

    for _ in range(2):
        assert asyncio.run(many()) == [f"{number}.2" for number in range(10)]
    with ThreadPoolExecutor(4) as pool:
        for ids in pool.map(lambda _: asyncio.run(many()), range(4)):
            assert ids == [f"{number}.2" for number in range(10)]
    asyncio.run(client.close())


def test_a_fetch_can_be_cancelled(server: FakeServer) -> None:
    async def work() -> None:
        async with AsyncScaleBoxClient(server.url, settings=SETTINGS) as client:
            batch = await client.submit("s", "wait", TESTS)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await client.fetch(batch)
            await client.cancel(batch)
            assert (await client.fetch(batch))[0].verdict == Verdict.UNKNOWN

    asyncio.run(work())


def test_one_client_serves_many_threads(server: FakeServer, client: ScaleBoxClient) -> None:
    def work(number: int) -> str:
        return client.fetch(client.submit_batch([record(id=str(number))]))[0].id

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(100))) == [str(number) for number in range(100)]
    assert len(server.batches) == 100


def test_a_closed_client_says_so(server: FakeServer) -> None:
    client = ScaleBoxClient(server.url, settings=SETTINGS)
    batch = client.submit_batch([record("wait")])
    outcome: list[BaseException] = []

    def fetch() -> None:
        try:
            client.fetch(batch)
        except ScaleBoxError as error:
            outcome.append(error)

    fetching = threading.Thread(target=fetch)
    fetching.start()
    while not server.requests["GET results"]:
        time.sleep(0.001)
    client.close()
    client.close()
    fetching.join()
    assert [type(error) for error in outcome] == [EngineClosed]
    with pytest.raises(EngineClosed, match="closed"):
        client.poll(batch)


def test_the_token_is_shown(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALEBOX_TOKEN", "from-environment")
    for token, shown in (("given", "Bearer given"), (None, "Bearer from-environment"), ("", None)):
        with ScaleBoxClient(server.url, token=token) as client:
            client.submit_batch([])
        assert server.headers[-1].get("Authorization") == shown


def test_a_token_stays_out_of_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALEBOX_TOKEN", "secret")
    assert "SCALEBOX_TOKEN" not in process._environment()
    with ScaleBoxClient(settings=Settings(token="secret", workers=1)) as client:  # noqa: S106
        assert client._client._transport.engine._settings.token == ""  # type: ignore[attr-defined]


def test_a_client_can_be_sent_to_another_process(server: FakeServer) -> None:
    with ScaleBoxClient(server.url, settings=SETTINGS, token="t") as client:  # noqa: S106
        batch = client.submit_batch([record()])
        with pickle.loads(pickle.dumps(client)) as other:  # noqa: S301
            assert other.fetch(batch) == client.fetch(batch)
        assert server.headers[-2]["Authorization"] == "Bearer t"
    copy = pickle.loads(pickle.dumps(AsyncScaleBoxClient(server.url, settings=SETTINGS)))  # noqa: S301
    assert asyncio.run(copy.poll(batch)) == "DONE"
    asyncio.run(copy.close())
    with ScaleBoxClient(settings=Settings(workers=1)) as embedded, pytest.raises(TypeError, match="belongs to its"):
        pickle.dumps(embedded)


# --- retries --------------------------------------------------------------------------------------


def test_a_submit_whose_answer_is_lost_is_taken_once(server: FakeServer, client: ScaleBoxClient) -> None:
    server.faults = ["after", "before", "after"]
    batch = client.submit_batch([record()])
    assert server.requests["POST"] == 4
    assert list(server.batches) == [batch]
    assert len({headers["Idempotency-Key"] for headers in server.headers}) == 1
    client.submit_batch([record()])
    assert len(server.batches) == 2, "the same batch again is another one"


def test_whatever_is_asked_is_asked_again(server: FakeServer, client: ScaleBoxClient) -> None:
    batch = client.submit_batch([record()])
    for use in (client.poll, client.fetch, client.cancel):
        server.faults = ["after", refusal(502, "", "bad gateway"), refusal(503, "draining", "ends", "1")]
        use(batch)
        assert server.faults == []


def test_a_server_that_comes_back_is_waited_for(server: FakeServer, client: ScaleBoxClient) -> None:
    batch = client.submit_batch([record("wait")])
    with ThreadPoolExecutor(2) as pool:
        fetching = pool.submit(client.fetch, batch)
        streaming = pool.submit(lambda: list(client.stream(batch)))
        while not (server.requests["GET results"] and server.requests["GET stream"]):
            time.sleep(0.001)
        server.hang_up()
        server.listen()
        server.release()
        assert fetching.result() == streaming.result()
    assert server.requests["GET stream"] > 1


def test_a_stream_goes_on_where_it_broke_off(server: FakeServer, client: ScaleBoxClient) -> None:
    server.cuts = [0, 3, 0, 2]
    batch = client.submit_batch([record(id=str(n), meta="x" * 1000 * n) for n in range(20)])
    assert [result.id for result in client.stream(batch)] == [str(n) for n in range(20)]
    assert server.requests["GET stream"] == 5


def test_there_is_an_end_to_patience(server: FakeServer) -> None:
    server.hang_up()
    with (
        ScaleBoxClient(server.url, settings=Settings(client_retry_s=0.2)) as client,
        pytest.raises(ServerError, match=rf"http://127.0.0.1:{server.port} cannot be reached: .*tried for 0.2 s"),
    ):
        client.submit_batch([record()])


def test_a_busy_server_is_waited_for_only_where_asked(server: FakeServer, client: ScaleBoxClient) -> None:
    def busy(retry_after: str | None) -> Any:
        return refusal(429, "too_many_requests", "too much", retry_after)

    server.faults = [busy("0"), busy("0.01"), refusal(503, "unavailable", "full", "0")]
    assert client.fetch(client.submit_batch([record()], wait_s=60))
    server.faults = [busy("0")]
    with pytest.raises(QueueFull, match="too much"):
        client.submit_batch([record()], wait_s=None if server.faults[0] is None else -1)
    server.faults = [busy("3600")]
    with pytest.raises(QueueFull):
        client.submit_batch([record()], wait_s=60)
    server.faults = [busy(None)]
    with pytest.raises(QueueFull):
        client.submit_batch([record()], wait_s=60)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "bad_request", InputError),
        (401, "unauthorized", AuthenticationError),
        (403, "forbidden", AuthenticationError),
        (404, "not_found", BatchNotFound),
        (409, "conflict", InputError),
        (413, "too_large", InputError),
        (500, "internal_error", ServerError),
    ],
)
def test_refusals_are_the_errors_of_the_embedded_client(
    server: FakeServer, client: ScaleBoxClient, status: int, code: str, kind: type[ScaleBoxError]
) -> None:
    server.faults = [refusal(status, code, "is wrong", field="samples[3].tests", mend="mend it")]
    with pytest.raises(kind, match=r"is wrong \(mend it\)") as caught:
        client.submit_batch([record()])
    if isinstance(caught.value, InputError):
        assert caught.value.field == "samples[3].tests"


def test_unknown_batches(client: ScaleBoxClient) -> None:
    for use in (client.poll, client.fetch, client.cancel, lambda batch: next(client.stream(batch))):
        with pytest.raises(BatchNotFound):
            use("no such/id?")


def test_a_batch_that_failed_says_why(server: FakeServer, client: ScaleBoxClient) -> None:
    batch = client.submit_batch([record()])
    server.batches[batch].state = "FAILED"
    assert client.poll(batch) == "FAILED"
    with pytest.raises(EngineClosed, match="the engine was lost"):
        client.fetch(batch)
    with pytest.raises(EngineClosed):
        list(client.stream(batch))


def test_answers_that_are_none(server: FakeServer, client: ScaleBoxClient) -> None:
    server.faults = [refusal(200, "", "")]
    with pytest.raises(ServerError, match="cannot be understood"):
        client.submit_batch([record()])


def test_errors_of_the_address() -> None:
    assert str(parse_address("http://host:8080/prefix/")) == "http://host:8080/prefix"
    assert str(parse_address("unix:///run/s.sock")) == "unix:///run/s.sock"
    for url in ("http://user:password@host", "http://host:99999", "http://[::1"):
        with pytest.raises(InputError, match=r"^url: "):
            parse_address(url)


def test_a_missing_extra_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(InputError, match=r"aiohttp, which is not installed \(pip install \"scalebox\[client\]\"\)"):
        ScaleBoxClient("http://127.0.0.1:1")


# --- samples on the wire --------------------------------------------------------------------------


def through_the_wire(sample: Any) -> Sample:
    body = records.encode_batch([sample], None)
    (raw,) = msgspec.msgpack.decode(body, ext_hook=codec.read_extension)["samples"]
    return parse_sample(raw, settings=Settings())


@pytest.mark.parametrize(
    "test",
    [
        {"call": "f", "args": [[1, 2], {"a": None}], "expect": [1.5, float("inf")]},
        {"call": "f", "args": [2**70, -(2**64)], "expect": 2**100},
        {"call": "f", "args": ((1, 2), {3}, b"x", 1j), "expect": [(1, 2)]},
        {"call": "f", "args": [{1: 2}], "kwargs": {"k": [1]}, "expect": {(1, 2): frozenset({3})}},
        {"call": "f", "args_repr": "[{1, 2}]", "expect": None},
        {"stdin": "ä\0", "stdout": "\U0001f600", "files": {"a": "b"}, "weight": 2, "hidden": False},
    ],
)
def test_records_and_samples_mean_the_same_on_the_other_side(test: dict[str, Any]) -> None:
    embedded = parse_sample(record(tests=[test]), settings=Settings())
    for sample in (record(tests=[test]), embedded):
        (got,), (want,) = through_the_wire(sample).tests, embedded.tests
        if isinstance(got, CallTest) and isinstance(want, CallTest):
            assert values.decode(got.arguments) == values.decode(want.arguments)
            assert values.decode(got.expect) == values.decode(want.expect)
        else:
            assert got == want


def test_samples_are_the_same_on_the_other_side() -> None:
    given = [
        record(tests=TESTS, match={"mode": "float", "abs": 0.5}, limits={"cpu_s": 3.0}, meta={"a": [1]}),
        record(
            tests=TESTS, checker={"language": "python", "protocol": "python", "code": "def check(i, o, a): return 1"}
        ),
        record(
            code="  pass",
            tests=[{"assert": "assert f() == 1"}],
            setup="import math",
            prompt="def f():\n",
            entry_point="f",
        ),
        record(tests=[{"harness": "def check(f): assert f()\n"}], entry_point=["f", "g"], solution_files={"b.py": ""}),
        record(tests=[{"prefix": "import os\n", "suffix": "assert f()"}], main="other.py"),
        record(tests=[{"files": {"test_a.py": "def test(): pass"}, "required": ["test_a.py::test"]}]),
        record(language="cpp", code="int main() {}", reward="all_or_nothing", problem_id="p"),
        record(tests=TESTS, trajectory=[{"kind": "shell", "text": "ls"}, {"kind": "message"}]),
    ]
    for raw in given:
        sample = parse_sample(raw, settings=Settings())
        assert through_the_wire(sample) == through_the_wire(raw) == sample


def test_meta_may_hold_anything() -> None:
    assert through_the_wire(record(meta={"object": object, "text": "\ud800"})).meta["text"] == "\ufffd"


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (record(tests=[{"call": "f", "args": [object()], "expect": 1}]), "samples[1].tests[0].args"),
        (record(tests=[{"call": "f", "args": [], "kwargs": {"k": (1,)}, "expect": 1}]), "samples[1].tests[0].kwargs"),
        (record(tests=[{"stdin": "\ud800", "stdout": ""}]), "samples[1]"),
        (record(limits=object()), "samples[1]"),
        (
            Sample(id="x", code="", early_stop=True, tests=(StdinTest(id="0", stdin="", stdout=""),)),
            "samples[1].early_stop",
        ),
        (7, "samples[1]"),
    ],
)
def test_what_cannot_be_sent_is_named(server: FakeServer, client: ScaleBoxClient, bad: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        client.submit_batch([record(), bad])
    assert caught.value.field == field
    assert not server.requests


# --- processes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("fork", ["passed", "child passed", "exit 0", "passed"]),
        ("fork_in_use", ["child passed", "exit 0"]),
        ("fork_and_close", ["passed", "exit 0", "passed"]),
        ("daemonic", ["passed", "passed"]),
        ("in_a_loop", ["passed", "passed"]),
        ("leave_open", ["passed"]),
        ("drop", ["passed", "engine ended"]),
        ("interrupted_at_server", ["interrupted PENDING"]),
    ],
)
def test_clients_in_processes(server: FakeServer, name: str, says: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", DRIVER, name, server.url],
        check=False, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert (done.stdout.splitlines(), done.stderr) == (says, "")


def test_failures_keep_their_class() -> None:
    assert isinstance(failure_of(Problem("sandbox_error", "no tier works")), SandboxError)
    assert isinstance(failure_of("lost"), EngineClosed)
