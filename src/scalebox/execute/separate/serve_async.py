"""The solution's side of two event loops that take turns (`remote_async`).

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from typing import Any

from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.remote_async import outcome, settle

__builtins__ = OWN


class Tasks:
    """Tasks of the program that the tests await, on one event loop that runs only while the tests let it."""

    def __init__(self, peer: Any) -> None:
        self._peer = peer
        self._loop: Any = None
        self._tasks: dict[int, Any] = {}
        self._finished: list[tuple[int, bool, Any]] = []
        self._borrowed: dict[int, Any] = {}  # futures of what the tests run for us
        self._wake: Any = None
        self._last = 0

    def start(self, awaitable: Any) -> int:
        import asyncio

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        self._last += 1
        number = self._last
        coroutine = awaitable if asyncio.iscoroutine(awaitable) else _wrapped(awaitable)
        task = self._tasks[number] = self._loop.create_task(coroutine)
        task.add_done_callback(lambda task: self._done(number, task))
        return number

    def cancel(self, number: int) -> None:
        task = self._tasks.get(number)
        if task is not None:
            task.cancel()

    def _done(self, number: int, task: Any) -> None:
        self._tasks.pop(number, None)
        self._finished.append((number, *outcome(task)))
        self._rouse()

    def _rouse(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def pump(self, patience: float, finished: Any) -> tuple[tuple[int, bool, Any], ...]:
        """Let the loop run for a moment; return the tasks that are done. `finished` are those of the tests."""
        for number, good, value in finished:
            future = self._borrowed.pop(number, None)
            if future is not None:
                settle(future, good, value)
        self._loop.run_until_complete(self._turn(patience))
        done, self._finished = tuple(self._finished), []
        return done

    async def _turn(self, patience: float) -> None:
        import asyncio

        await asyncio.sleep(0)
        if self._finished or self._borrowed or patience <= 0:
            await asyncio.sleep(0)
            return
        self._wake = self._loop.create_future()
        timer = self._loop.call_later(patience, self._rouse)
        try:
            await self._wake
        finally:
            timer.cancel()
            self._wake = None

    async def borrowed(self, coroutine: Any) -> Any:
        """Await a coroutine of the tests, which they run on their loop."""
        import asyncio

        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("a coroutine of the tests can only be awaited by what the tests await")
        number = self._peer.verb("start_task", coroutine)
        future = self._borrowed[number] = self._loop.create_future()
        self._rouse()
        return await future


async def _wrapped(awaitable: Any) -> Any:
    return await awaitable
