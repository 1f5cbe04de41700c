"""An event loop beside the server's own, for requests that take computing: parsing a megabyte holds up nobody else.

Requests of the compatible interfaces become samples here, and results their answers. All else is the server's loop's.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class Aside:
    """A thread with an event loop of its own, until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="scalebox-aside", daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return what a coroutine returns that runs there; who stops waiting for it cancels it."""
        return await on_loop(self._loop, work)

    def close(self) -> None:
        """Cancel what runs, and end the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(_end())
            self._loop.close()


async def on_loop(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, _T]) -> _T:
    """Return what a coroutine returns that runs on this loop, which may be another thread's."""
    if loop is asyncio.get_running_loop():
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


async def _end() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
