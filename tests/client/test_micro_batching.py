"""Single samples of many callers share requests, and each caller has a batch of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from aiohttp import web
from tests.client.fake_server import FakeServer, refusal

from scalebox import (
    AsyncScaleBoxClient,
    AuthenticationError,
    EngineClosed,
    InputError,
    QueueFull,
    ScaleBoxClient,
    Settings,
    Verdict,
)

TESTS = [{"stdin": "", "stdout": ""}]
#: Long enough that only the answer to the request before, or a full group, has the next one sent.
SETTINGS = Settings(client_retry_s=120.0, gather_ms=1000.0)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as made:
        yield made


def with_client(server: FakeServer, work: Any, settings: Settings = SETTINGS) -> Any:
    """Return what `work` returns of an asynchronous client."""

    async def run() -> Any:
        async with AsyncScaleBoxClient(server.url, settings=settings) as client:
            return await work(client)

    return asyncio.run(run())


def submits(client: AsyncScaleBoxClient, codes: list[str]) -> list[Coroutine[Any, Any, str]]:
    return [client.submit(f"s-{number}", code, TESTS) for number, code in enumerate(codes)]


async def group(server: FakeServer, client: AsyncScaleBoxClient, codes: list[str]) -> list[Any]:
    """Return what becomes of samples that go to the server in one request, which is that of a full group."""
    server.held = True
    first = asyncio.create_task(client.submit("first", "pass", TESTS))
    while not server.requests["POST"]:
        await asyncio.sleep(0.001)
    rest = asyncio.gather(*submits(client, codes), return_exceptions=True)
    while server.requests["POST"] < 2:
        await asyncio.sleep(0.001)
    server.held = False
    await asyncio.gather(first, return_exceptions=True)
    return await rest


def grouped(server: FakeServer, work: Any, codes: list[str]) -> None:
    async def run(client: AsyncScaleBoxClient) -> None:
        await work(client, await group(server, client, codes))

    with_client(server, run, Settings(client_retry_s=120.0, gather_ms=1000.0, gather_samples=len(codes)))


def test_singles_share_requests_and_each_gets_its_own_result(server: FakeServer) -> None:
    async def one(client: AsyncScaleBoxClient, number: int) -> tuple[str, Verdict]:
        batch = await client.submit(f"s-{number}", "fail" if number % 3 else "pass", TESTS, meta=number)
        (result,) = await client.fetch(batch)
        assert (result.id, result.meta) == (f"s-{number}", number)
        assert await client.poll(batch) == "DONE"
        assert await client.fetch(batch) == [result]
        assert [each async for each in client.stream(batch)] == [result]
        return batch, result.verdict

    async def work(client: AsyncScaleBoxClient) -> list[tuple[str, Verdict]]:
        return await asyncio.gather(*(one(client, number) for number in range(200)))

    outcome = with_client(server, work)
    assert len({batch for batch, _ in outcome}) == 200
    assert [verdict == Verdict.PASSED for _, verdict in outcome] == [number % 3 == 0 for number in range(200)]
    assert sum(len(batch.samples) for batch in server.batches.values()) == 200
    assert server.requests["POST"] <= 20, "instead of 200"
    assert server.requests.total() <= 100, "instead of 800"


def test_singles_of_threads_share_requests(server: FakeServer) -> None:
    with ScaleBoxClient(server.url, settings=SETTINGS) as client, ThreadPoolExecutor(16) as pool:
        batches = list(pool.map(lambda number: client.submit(f"s-{number}", "pass", TESTS), range(160)))
        assert [client.fetch(batch)[0].id for batch in batches] == [f"s-{number}" for number in range(160)]
    assert server.requests["POST"] < 160


def test_who_is_alone_does_not_wait(server: FakeServer) -> None:
    with ScaleBoxClient(server.url, settings=SETTINGS) as client:
        batch = client.submit("s", "pass", TESTS)
        assert list(server.batches) == [batch], "and the id is the server's"
        assert client.fetch(batch)[0].id == "s"


def test_one_request_each_where_that_is_set(server: FakeServer) -> None:
    async def work(client: AsyncScaleBoxClient) -> None:
        await asyncio.gather(*submits(client, ["pass"] * 10))

    with_client(server, work, Settings(gather_samples=1))
    assert server.requests["POST"] == len(server.batches) == 10


def test_equal_ids_never_share_a_request(server: FakeServer) -> None:
    async def work(client: AsyncScaleBoxClient) -> list[Verdict]:
        codes = ["pass", "fail"] * 5
        batches = await asyncio.gather(*(client.submit("same", code, TESTS) for code in codes))
        return [(await client.fetch(batch))[0].verdict for batch in batches]

    assert with_client(server, work) == [Verdict.PASSED, Verdict.OUTPUT_MISMATCH] * 5
    assert all(len(batch.samples) == 1 for batch in server.batches.values())


def test_a_bad_sample_is_refused_alone(server: FakeServer) -> None:
    def refuse(samples: list[dict[str, Any]]) -> web.Response | None:
        for index, sample in enumerate(samples):
            if sample["code"] == "bad":
                return refusal(400, "bad_request", "is bad", field=f"samples[{index}].code")
        return None

    async def work(client: AsyncScaleBoxClient) -> Any:
        codes = ["bad" if number in {3, 7} else "pass" for number in range(20)]
        return await asyncio.gather(*submits(client, codes), return_exceptions=True)

    server.refuse = refuse
    outcome = with_client(server, work)
    errors = {number: error for number, error in enumerate(outcome) if isinstance(error, Exception)}
    assert list(errors) == [3, 7]
    assert all(isinstance(error, InputError) and error.field == "samples[0].code" for error in errors.values())
    assert sum(len(batch.samples) for batch in server.batches.values()) == 18


def test_a_group_that_is_too_large_is_sent_in_parts(server: FakeServer) -> None:
    async def work(client: AsyncScaleBoxClient) -> Any:
        return await asyncio.gather(*submits(client, ["pass"] * 16), return_exceptions=True)

    server.refuse = lambda samples: refusal(429, "too_many_requests", "quota", "1") if len(samples) > 4 else None
    assert all(isinstance(batch, str) for batch in with_client(server, work))
    server.refuse = lambda _: refusal(429, "too_many_requests", "quota", "1")
    assert {type(error) for error in with_client(server, work)} == {QueueFull}


def test_what_concerns_all_is_told_to_all(server: FakeServer) -> None:
    async def work(_: AsyncScaleBoxClient, outcome: list[Any]) -> None:
        assert {type(error) for error in outcome} == {AuthenticationError}
        assert server.requests["POST"] == 2

    server.refuse = lambda _: refusal(401, "unauthorized", "no token")
    grouped(server, work, ["pass"] * 8)


def test_a_sample_of_a_group_is_waited_for_and_cancelled_on_its_own(server: FakeServer) -> None:
    async def work(client: AsyncScaleBoxClient, outcome: list[Any]) -> None:
        slow, other, quick = outcome
        assert [len(batch.samples) for batch in server.batches.values()] == [1, 3]
        assert (await client.fetch(quick))[0].verdict == Verdict.PASSED
        assert await client.poll(slow) == "PENDING"
        with pytest.raises(TimeoutError, match="not done within 0 s"):
            await client.fetch(slow, timeout=0)
        await client.cancel(slow)
        (result,) = await client.fetch(slow)
        assert (result.id, result.verdict, result.reward, result.masked) == ("s-0", Verdict.UNKNOWN, None, True)
        assert await client.poll(other) == "PENDING"
        await client.cancel(other)
        assert (await client.fetch(other))[0].verdict == Verdict.UNKNOWN
        assert server.requests["DELETE"] == 1, "the last one of a group is cancelled on the server"

    grouped(server, work, ["wait", "wait", "pass"])


def test_a_group_that_failed_says_why_to_each(server: FakeServer) -> None:
    async def work(client: AsyncScaleBoxClient, batches: list[Any]) -> None:
        fetching = [asyncio.create_task(client.fetch(batch)) for batch in batches]
        server.fail()
        outcome = await asyncio.gather(*fetching, return_exceptions=True)
        assert {type(error) for error in outcome} == {EngineClosed}
        assert [await client.poll(batch) for batch in batches] == ["FAILED"] * 3
        with pytest.raises(EngineClosed):
            _ = [each async for each in client.stream(batches[0])]

    grouped(server, work, ["wait"] * 3)


def test_a_caller_who_leaves_takes_nobody_along(server: FakeServer) -> None:
    async def work(client: AsyncScaleBoxClient) -> None:
        tasks = [asyncio.ensure_future(submit) for submit in submits(client, ["pass"] * 10)]
        await asyncio.sleep(0)
        tasks[4].cancel()
        outcome = await asyncio.gather(*tasks, return_exceptions=True)
        assert [number for number, batch in enumerate(outcome) if not isinstance(batch, str)] == [4]

    with_client(server, work)
