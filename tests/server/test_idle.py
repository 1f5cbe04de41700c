"""A server that ends once nobody uses it."""

from __future__ import annotations

import asyncio
from typing import Any

from scalebox.server.idle import IdleExit

SCOPE: Any = {"type": "http"}


async def _nothing(*_: Any) -> Any:
    return None


def test_a_request_under_way_is_a_use_however_long_it_takes() -> None:
    async def work() -> None:
        finish, left = asyncio.Event(), asyncio.Event()

        async def app(*_: Any) -> None:
            await finish.wait()

        idle = IdleExit(app, 0.02, lambda: False, left.set)
        watching = asyncio.create_task(idle.watch())
        request = asyncio.create_task(idle(SCOPE, _nothing, _nothing))
        await asyncio.sleep(0.1)
        assert not left.is_set()
        finish.set()
        await request
        await watching
        assert left.is_set()

    asyncio.run(work())


def test_work_without_a_request_is_a_use() -> None:
    async def work() -> None:
        busy, left = [True] * 3, asyncio.Event()
        idle = IdleExit(_nothing, 0.001, lambda: bool(busy) and busy.pop(), left.set)
        await idle.watch()
        assert busy == []
        assert left.is_set()

    asyncio.run(work())


def test_a_request_that_fails_is_over_and_the_lifespan_is_none() -> None:
    async def work() -> None:
        left = asyncio.Event()

        async def app(scope: Any, *_: Any) -> None:
            if scope["type"] == "lifespan":
                await asyncio.Event().wait()
            raise ValueError

        idle = IdleExit(app, 0.001, lambda: False, left.set)
        lifespan = asyncio.create_task(idle({"type": "lifespan"}, _nothing, _nothing))  # type: ignore[arg-type]
        outcome = await asyncio.gather(idle(SCOPE, _nothing, _nothing), return_exceptions=True)
        assert isinstance(outcome[0], ValueError)
        await idle.watch()
        assert left.is_set()
        lifespan.cancel()

    asyncio.run(work())
