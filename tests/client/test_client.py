"""Both clients, with scripted workers."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from scalebox import (
    AsyncScaleBoxClient,
    BatchNotFound,
    EngineClosed,
    InputError,
    Limits,
    QueueFull,
    Sample,
    ScaleBoxClient,
    Settings,
    SettingsError,
    StdinTest,
    Verdict,
)
from scalebox.client import asynchronous
from scalebox.engine import Engine

FAKE = (sys.executable, "-P", str(Path(__file__).parents[1] / "engine" / "fake_worker.py"))
TESTS = [{"stdin": "", "stdout": ""}]


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asynchronous, "_build_engine", lambda settings, _sinks: Engine(settings, command=FAKE))


@pytest.fixture
def client() -> Iterator[ScaleBoxClient]:
    with ScaleBoxClient(settings=Settings(workers=2, max_pending=50)) as made:
        yield made


def record(code: str | None = "pass", **fields: Any) -> dict[str, Any]:
    return {"id": "s", "code": code, "tests": TESTS} | fields


def test_submit_and_fetch(client: ScaleBoxClient) -> None:
    batch = client.submit(
        "s-1", "fail", TESTS, limits={"cpu_s": 1.0}, problem_id="p", reward="all_or_nothing", meta=[1]
    )
    (result,) = client.fetch(batch)
    assert (result.id, result.problem_id, result.meta) == ("s-1", "p", [1])
    assert (result.verdict, result.reward) == (Verdict.OUTPUT_MISMATCH, 0.0)
    assert client.poll(batch) == "DONE"
    client.fetch(client.submit("s-2", "pass", TESTS, "python", Limits(cpu_s=1.0), "p"))


def test_samples_and_records_mix(client: ScaleBoxClient) -> None:
    made = Sample(id="b", code="fail", tests=(StdinTest(id="0", stdin="", stdout=""),))
    results = client.fetch(client.submit_batch([record(id="a"), made, record(id="c", response="fail", code=None)]))
    assert [result.id for result in results] == ["a", "b", "c"]


def test_stream_yields_each_result_once_as_it_comes(client: ScaleBoxClient, gate: Path) -> None:
    batch = client.submit_batch([record(f"await {gate}", id="slow"), *(record(f"#{n}", id=f"s{n}") for n in range(20))])
    stream = client.stream(batch)
    quick = {next(stream).id for _ in range(20)}
    assert quick == {f"s{n}" for n in range(20)}
    assert client.poll(batch) == "PENDING"
    gate.write_bytes(b"x")
    assert [result.id for result in stream] == ["slow"]
    assert next(result.id for result in client.fetch(batch)) == "slow", "and it can be fetched as well"


def test_a_fetch_that_times_out_changes_nothing(client: ScaleBoxClient, gate: Path) -> None:
    batch = client.submit_batch([record(f"await {gate}")])
    with pytest.raises(TimeoutError, match=r"not done within 0\.05 s"):
        client.fetch(batch, timeout=0.05)
    gate.write_bytes(b"x")
    assert client.fetch(batch, timeout=60)[0].verdict == Verdict.PASSED


def test_cancel(client: ScaleBoxClient, gate: Path) -> None:
    batch = client.submit_batch([record(f"await {gate}")])
    client.cancel(batch)
    assert client.fetch(batch, timeout=60)[0].verdict == Verdict.UNKNOWN


def test_fetched_batches_are_remembered_for_a_while(client: ScaleBoxClient) -> None:
    batches = [client.submit_batch([record(f"#{n}")]) for n in range(18)]
    for batch in batches:
        client.fetch(batch)
    assert client.fetch(batches[-1])[0].id == "s"
    for unknown in (batches[0], "no such id"):
        for use in (client.poll, client.fetch, client.cancel, lambda batch: next(client.stream(batch))):
            with pytest.raises(BatchNotFound):
                use(unknown)


def test_an_empty_batch_is_done(client: ScaleBoxClient) -> None:
    assert client.fetch(client.submit_batch([])) == []
    assert list(client.stream(client.submit_batch([]))) == []


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (record(tests=[]), "samples[1].tests"),
        (record(codee="x"), "samples[1].codee"),
        (Sample(id="x", tests=(), code="pass"), "samples[1].tests"),
        (Sample(id="x", tests=(StdinTest(id="0", stdin="", stdout=""),)), "samples[1]"),
        (Sample(id=7, tests=(StdinTest(id="0", stdin="", stdout=""),), code=""), "samples[1]"),  # type: ignore[arg-type]  # the test
    ],
)
def test_bad_samples_are_named(client: ScaleBoxClient, bad: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        client.submit_batch([record(), bad])
    assert caught.value.field == field


@pytest.mark.parametrize("url", ["ray://", "nonsense", "", "http://", "unix://run/scalebox.sock", "http://h/?q"])
def test_other_places_are_refused_clearly(url: str) -> None:
    with pytest.raises(InputError, match=r"url: '.*' is not supported \(leave it out"):
        ScaleBoxClient(url)


def test_settings_of_another_kind_are_refused_clearly() -> None:
    with pytest.raises(SettingsError, match="settings: must be a Settings, not dict"):
        ScaleBoxClient(settings={"workers": 2})  # type: ignore[arg-type]


def test_a_full_queue_is_waited_for_only_where_asked(client: ScaleBoxClient, gate: Path) -> None:
    held = client.submit_batch([record(f"await {gate}"), *(record(f"#{n}") for n in range(48))])
    assert len(list(islice(client.stream(held), 48))) == 48
    with pytest.raises(QueueFull, match="raise max_pending"):
        client.submit_batch([record(f"#{n}") for n in range(51)], wait_s=60)
    with pytest.raises(QueueFull):
        client.submit_batch([record(f"#{n}") for n in range(50)])
    opener = threading.Timer(0.05, gate.write_bytes, (b"x",))
    opener.start()
    assert len(client.fetch(client.submit_batch([record(f"#{n}") for n in range(50)], wait_s=60))) == 50
    opener.join()


def test_a_closed_client_says_so(client: ScaleBoxClient, gate: Path) -> None:
    batch = client.submit_batch([record(f"await {gate}")])
    client.close()
    client.close()
    assert client.poll(batch) == "FAILED"
    with pytest.raises(EngineClosed):
        client.fetch(batch)
    with pytest.raises(EngineClosed):
        list(client.stream(batch))
    with pytest.raises(EngineClosed):
        client.submit_batch([record()])


def test_the_asynchronous_client_never_blocks_the_loop(gate: Path) -> None:
    async def work() -> None:
        async with AsyncScaleBoxClient(settings=Settings(workers=2)) as client:
            batch = await client.submit_batch([record(f"await {gate}", id="slow"), record("fail", id="quick")])
            fetching = asyncio.create_task(client.fetch(batch))
            stream = client.stream(batch)
            assert (await anext(stream)).id == "quick"
            assert not fetching.done()
            assert await client.poll(batch) == "PENDING"
            with pytest.raises(TimeoutError):
                await client.fetch(batch, timeout=0.01)
            gate.write_bytes(b"x")
            assert [result.id for result in await fetching] == ["slow", "quick"]
            assert [result.id async for result in stream] == ["slow"]

    asyncio.run(work())


def test_a_fetch_can_be_cancelled_and_the_batch_too(gate: Path) -> None:
    async def work() -> None:
        async with AsyncScaleBoxClient(settings=Settings(workers=1)) as client:
            batch = await client.submit("s", f"await {gate}", TESTS)
            fetching = asyncio.create_task(client.fetch(batch))
            await asyncio.sleep(0)
            fetching.cancel()
            with pytest.raises(asyncio.CancelledError):
                await fetching
            await client.cancel(batch)
            assert (await client.fetch(batch))[0].verdict == Verdict.UNKNOWN

    asyncio.run(work())


def test_one_client_serves_many_tasks() -> None:
    async def work() -> None:
        async with AsyncScaleBoxClient(settings=Settings(workers=2)) as client:

            async def one(number: int) -> list[str]:
                batch = await client.submit_batch([record(f"#{number} {n}", id=f"{number}.{n}") for n in range(5)])
                return [result.id for result in await client.fetch(batch)]

            for number, ids in enumerate(await asyncio.gather(*map(one, range(20)))):
                assert ids == [f"{number}.{n}" for n in range(5)]

    asyncio.run(work())
