"""A server that ends once nobody uses it: the daemon that clients start themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from litestar.types import ASGIApp, Receive, Scope, Send


class IdleExit:
    """The application, with its requests counted.

    Once `idle_s` seconds have passed with no request under way and without `is_busy`, `leave` is called.
    """

    def __init__(self, app: ASGIApp, idle_s: float, is_busy: Callable[[], bool], leave: Callable[[], None]) -> None:
        self._app = app
        self._idle_s = idle_s
        self._is_busy = is_busy
        self._leave = leave
        self._under_way = 0
        self._used = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._under_way += 1
        self._used.set()
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1
            self._used.set()

    async def watch(self) -> None:
        """Return once the server was told to leave."""
        while True:
            self._used.clear()
            try:
                async with asyncio.timeout(self._idle_s):
                    await self._used.wait()
            except TimeoutError:
                if not self._under_way and not self._is_busy():
                    self._leave()
                    return
