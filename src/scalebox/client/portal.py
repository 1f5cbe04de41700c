"""A thread with an event loop, for input and output that any thread, and any other loop, may ask for."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from scalebox.core.errors import EngineClosed

_T = TypeVar("_T")
_STOP_S = 10.0


class Portal:
    """Runs coroutines on its own loop until it is stopped; `clean_up` is awaited there at the end.

    The thread does not survive a fork: `pid` says whose it is.
    """

    def __init__(self, clean_up: Callable[[], Awaitable[None]]) -> None:
        self.pid = os.getpid()
        self._clean_up = clean_up
        self._loop = asyncio.new_event_loop()
        self._stopped = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="scalebox-client", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def start(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Begin a coroutine on the loop; raises EngineClosed once the portal is stopped."""
        with self._lock:
            if not self._stopped:
                return asyncio.run_coroutine_threadsafe(self._until_stopped(coroutine), self._loop)
        coroutine.close()
        raise EngineClosed("the client was closed")

    async def _until_stopped(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        try:
            return await coroutine
        except asyncio.CancelledError:
            if self._stopped:
                raise EngineClosed("the client was closed") from None
            raise

    def soon(self, function: Callable[[], object]) -> None:
        """Have a function called on the loop, unless the portal is stopped."""
        with self._lock:
            if not self._stopped:
                self._loop.call_soon_threadsafe(function)

    def abandon(self) -> None:
        """Begin to stop, without waiting; for finalizers."""
        if self.pid == os.getpid() and not self._stopped:
            self._stopped = True
            self._loop.call_soon_threadsafe(self._loop.stop)

    def stop(self) -> None:
        """Cancel what runs, and end the thread. Does nothing a second time."""
        atexit.unregister(self.stop)
        if self.pid != os.getpid():
            return
        with self._lock:
            self.abandon()
        if threading.current_thread() is not self._thread:
            self._thread.join(_STOP_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._end())
            self._loop.close()

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._clean_up()
        await self._loop.shutdown_asyncgens()
