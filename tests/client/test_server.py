"""Clients of a real server: what the embedded client does, over HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from scalebox import (
    AsyncScaleBoxClient,
    AuthenticationError,
    BatchNotFound,
    InputError,
    ScaleBoxClient,
    Settings,
    Verdict,
)
from scalebox.parse import parse_sample
from scalebox.server.principal import Role
from scalebox.server.tokens import create_token

SERVE = [sys.executable, "-P", "-m", "scalebox.cli", "serve", "--workers", "2", "--json"]  # one for what does not end
SETTINGS = Settings(client_retry_s=240.0)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    journal = tmp_path_factory.mktemp("journal") / "journal.db"
    process = subprocess.Popen(
        [*SERVE, "--port", "0", "--journal", str(journal)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait(240)
        process.stdout.close()


@pytest.fixture
def client(url: str) -> Iterator[ScaleBoxClient]:
    with ScaleBoxClient(url, settings=SETTINGS) as made:
        yield made


def record(code: str, **fields: Any) -> dict[str, Any]:
    return {"id": "s", "code": code, "tests": [{"stdin": "3\n", "stdout": "6\n"}]} | fields


def test_right_and_wrong(client: ScaleBoxClient) -> None:
    samples = [record("print(2 * int(input()))", id="a", meta={"n": 2**80}), record("print(3 * int(input()))", id="b")]
    batch = client.submit_batch(samples)
    right, wrong = client.fetch(batch, timeout=240)
    assert (right.id, right.verdict, right.reward, right.meta) == ("a", Verdict.PASSED, 1.0, {"n": 2**80})
    assert (wrong.id, wrong.verdict, wrong.reward, wrong.cases[0].stdout) == ("b", Verdict.OUTPUT_MISMATCH, 0.0, "9\n")
    assert client.poll(batch) == "DONE"
    assert sorted(client.stream(batch), key=lambda result: result.id) == [right, wrong] == client.fetch(batch)
    assert client.fetch(client.submit_batch([])) == []


@pytest.mark.parametrize(
    ("code", "test", "verdict"),
    [
        ("def f(x): return type(x) is tuple and x[0] is not x", {"args": ((1,),), "expect": True}, Verdict.PASSED),
        ("def f(x): return type(x) is tuple", {"args": [[1]], "expect": True}, Verdict.ASSERT_FAIL),
        ("def f(x): return {x: {1}}", {"args": [(1, 2)], "expect": {(1, 2): {1}}}, Verdict.PASSED),
        ("def f(x): return x * x", {"args": [2**70], "expect": 2**140}, Verdict.PASSED),
        ("def f(x): return x", {"args": [float("inf")], "expect": float("inf")}, Verdict.PASSED),
    ],
)
def test_values_mean_what_they_mean_to_the_embedded_client(
    client: ScaleBoxClient, code: str, test: dict[str, Any], verdict: Verdict
) -> None:
    raw = {"id": "s", "code": code, "tests": [{"call": "f", **test}]}
    results = client.fetch(client.submit_batch([raw, parse_sample(raw, settings=Settings())]), timeout=240)
    assert [result.verdict for result in results] == [verdict] * 2


def test_errors_are_those_of_the_embedded_client(client: ScaleBoxClient) -> None:
    with pytest.raises(InputError) as caught:
        client.submit_batch([record("pass"), record("pass", tests=[{"stdin": 7, "stdout": ""}])])
    assert (caught.value.field, caught.value.problem) == ("samples[1].tests[0].stdin", "must be a string, not a number")
    for use in (client.poll, client.fetch, client.cancel, lambda batch: next(client.stream(batch))):
        with pytest.raises(BatchNotFound):
            use("nothing")


def test_endless_loops_are_streamed_past_and_cancelled(client: ScaleBoxClient) -> None:
    loop = record("while True: pass", id="loop", limits={"cpu_s": 600.0, "wall_s": 600.0})
    batch = client.submit_batch([record(f"print(6) #{n}", id=f"s{n}") for n in range(5)] + [loop])
    stream = client.stream(batch)
    assert {next(stream).id for _ in range(5)} == {f"s{n}" for n in range(5)}
    with pytest.raises(TimeoutError):
        client.fetch(batch, timeout=0.01)
    client.cancel(batch)
    (last,) = stream
    assert (last.id, last.verdict, last.masked) == ("loop", Verdict.UNKNOWN, True)


def test_singles_of_many_coroutines(url: str) -> None:
    async def one(client: AsyncScaleBoxClient, number: int) -> Verdict:
        code = f"print({6 + number % 2}) #{number}"
        batch = await client.submit(f"s{number}", code, [{"stdin": "", "stdout": "6"}])
        return (await client.fetch(batch, timeout=240))[0].verdict

    async def work() -> list[Verdict]:
        async with AsyncScaleBoxClient(url, settings=SETTINGS) as client:
            return await asyncio.gather(*(one(client, number) for number in range(40)))

    assert asyncio.run(work()) == [Verdict.PASSED, Verdict.OUTPUT_MISMATCH] * 20


def test_threads(client: ScaleBoxClient) -> None:
    def work(number: int) -> str:
        return client.fetch(client.submit_batch([record(f"print(6) #t{number}", id=str(number))]), timeout=240)[0].id

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(16))) == [str(number) for number in range(16)]


def test_a_server_that_asks_for_tokens(tmp_path: Path) -> None:
    tokens = str(tmp_path / "tokens")
    one, other = (create_token(tokens, name, Role.TRAINER) for name in ("one", "other"))
    reader = create_token(tokens, "reader", Role.READER)
    command = [*SERVE, "--port", "0", "--tokens", tokens, "--journal", str(tmp_path / "journal.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        with ScaleBoxClient(url, settings=SETTINGS, token=one) as client:
            batch = client.submit_batch([record("print(6)")])
            assert client.fetch(batch, timeout=240)[0].verdict == Verdict.PASSED
        with ScaleBoxClient(url, settings=SETTINGS, token=other) as client, pytest.raises(BatchNotFound):
            client.fetch(batch)
        for token in ("", "wrong", reader):
            with ScaleBoxClient(url, settings=SETTINGS, token=token) as client, pytest.raises(AuthenticationError):
                client.submit_batch([record("print(6)")])
        process.terminate()


def test_a_unix_socket(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    command = [
        sys.executable,
        "-P",
        "-m",
        "scalebox.cli",
        "serve",
        "--socket",
        str(socket),
        "--workers",
        "1",
        "--json",
        "--idle-exit",
        "1",
    ]
    command += ["--journal", str(tmp_path / "journal.db")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["url"] == f"unix://{socket}"
    with ScaleBoxClient(f"unix://{socket}", settings=SETTINGS) as client:
        batch = client.submit_batch([record("print(6)")])
        assert client.fetch(batch, timeout=240)[0].verdict == Verdict.PASSED
    assert process.wait(240) == 0, "and it ends by itself when it is not used"
    process.stdout.close()
    assert not socket.exists()
