"""A server with scripted workers, on a free port, in a thread of the test's own process."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from scalebox import Settings
from scalebox.client import asynchronous
from scalebox.engine import Engine
from scalebox.server import listening
from scalebox.server.context import Context, open_context
from scalebox.server.serving import Draining

FAKE = (sys.executable, "-P", str(Path(__file__).parents[1] / "engine" / "fake_worker.py"))
PLACE: dict[str, Any] = {"server_port": 0, "workers": 2}


class Server:
    """A running server: its context, its own loop, and a client of it."""

    def __init__(
        self, url: str, context: Context, draining: Draining, loop: asyncio.AbstractEventLoop, thread: threading.Thread
    ) -> None:
        self.url, self.context, self.draining, self.loop, self.thread = url, context, draining, loop, thread
        self.http = httpx.Client(base_url=url, timeout=300, trust_env=False)

    def submit(self, samples: list[dict[str, Any]], status: int = 202, key: str | None = None) -> Any:
        headers = {} if key is None else {"Idempotency-Key": key}
        answer = self.http.post("/v1/batches", json={"samples": samples}, headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json() if status != 202 else answer.json()["batch_id"]

    def results(self, batch_id: str, wait_s: float = 60) -> Any:
        return self.http.get(f"/v1/batches/{batch_id}/results", params={"wait_s": wait_s}).json()

    def state(self, batch_id: str) -> Any:
        return self.http.get(f"/v1/batches/{batch_id}").json()

    def call(self, work: Any) -> Any:
        """Run a coroutine on the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)


@contextmanager
def serving(settings: Settings, sinks: Any = (), command: Any = FAKE) -> Iterator[Server]:
    """Run a server until the block ends, with scripted workers, or real ones where `command` is empty."""
    started: dict[str, Any] = {}
    ready = threading.Event()

    async def serve() -> None:
        listener = listening.listen(settings)
        async with open_context(settings, sinks=sinks) as context:
            draining = Draining(context)
            task = asyncio.create_task(draining.serve(sockets=[listener]))
            while not draining.started:
                await asyncio.sleep(0.01)
            started["server"] = (listening.place_of(listener), context, draining, asyncio.get_running_loop())
            ready.set()
            await task

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            started["error"] = error
            raise
        finally:
            ready.set()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            asynchronous, "_build_engine", lambda settings, sinks: Engine(settings, sinks=sinks, command=command)
        )
        thread = threading.Thread(target=run, name="server")
        thread.start()
        assert ready.wait(300)
    if "error" in started:
        raise started["error"]
    url, context, draining, loop = started["server"]
    server = Server(url, context, draining, loop, thread)
    try:
        yield server
    finally:
        server.http.close()
        with suppress(RuntimeError):  # a test has ended it already
            loop.call_soon_threadsafe(setattr, draining, "should_exit", True)
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Return a server that all tests of a module share."""
    with serving(Settings(**PLACE, server_ready_s=3600)) as made:
        yield made


@pytest.fixture
def start() -> Iterator[Callable[..., Server]]:
    """Return how to start a server of the test's own, with settings."""
    with ExitStack() as stack:

        def starter(sinks: Any = (), **settings: Any) -> Server:
            return stack.enter_context(serving(Settings(**PLACE | settings), sinks))

        yield starter


def sample(sample_id: str = "s", code: str = "pass", **fields: Any) -> dict[str, Any]:
    """Return a sample for scripted workers."""
    return {"id": sample_id, "code": code, "tests": [{"stdin": "", "stdout": ""}]} | fields
