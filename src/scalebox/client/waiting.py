"""How a client waits: the one thing in which asynchronous and synchronous use differ."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

_T = TypeVar("_T")

#: Has a callback called when something may have changed, on any thread; returns how to end that.
Subscribe = Callable[[Callable[[], None]], Callable[[], None]]


class Waiting(Protocol):
    """Waits without polling."""

    async def until(self, ready: Callable[[], bool], subscribe: Subscribe, timeout: float | None) -> bool:
        """Return true once `ready()` is, false when `timeout` seconds have passed first."""

    async def call(self, function: Callable[[], _T]) -> _T:
        """Return what a function returns that computes or blocks."""

    async def result(self, future: Future[_T]) -> _T:
        """Return a future's result; who stops waiting for it cancels it."""


class LoopWaiting:
    """Waits on the running event loop, and never blocks it."""

    async def until(self, ready: Callable[[], bool], subscribe: Subscribe, timeout: float | None) -> bool:
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        def notify() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(changed.set)

        leave = subscribe(notify)
        try:
            async with asyncio.timeout(timeout):
                while not ready():
                    await changed.wait()
                    changed.clear()
        except TimeoutError:
            return False
        finally:
            leave()
        return True

    async def call(self, function: Callable[[], _T]) -> _T:
        return await asyncio.to_thread(function)

    async def result(self, future: Future[_T]) -> _T:
        return await asyncio.wrap_future(future)


class ThreadWaiting:
    """Blocks the calling thread, so that a coroutine that waits with it runs to its end in one step."""

    async def until(self, ready: Callable[[], bool], subscribe: Subscribe, timeout: float | None) -> bool:
        changed = threading.Event()
        deadline = None if timeout is None else time.monotonic() + timeout
        leave = subscribe(changed.set)
        try:
            while not ready():
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return False
                changed.wait(left)
                changed.clear()
        finally:
            leave()
        return True

    async def call(self, function: Callable[[], _T]) -> _T:
        return function()

    async def result(self, future: Future[_T]) -> _T:
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise
