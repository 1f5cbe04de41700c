"""Coroutines of the solution awaited by the tests, and the other way round: two event loops that take turns.

What the tests await becomes a task of an event loop in the solution's process. While any such task is open, a task of
the tests' loop (the pump) lets that loop run for a moment again and again, and brings what has finished on either side.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import sys
from types import CoroutineType
from typing import Any

from scalebox.execute.separate.own_builtins import OWN

__builtins__ = OWN

_MAX_PATIENCE_S = 0.005  # how long the solution's loop may sleep while the tests' loop waits for it


def running_loop() -> Any:
    """Return the event loop that runs in this thread, or None."""
    asyncio = sys.modules.get("asyncio")
    return None if asyncio is None else asyncio._get_running_loop()


class Awaiting:
    """The tests' side."""

    def __init__(self, peer: Any) -> None:
        self._peer = peer
        self._futures: dict[int, Any] = {}
        self._pumps: dict[int, Any] = {}  # by id of the loop
        self._finished: list[tuple[int, bool, Any]] = []
        self._lent: dict[int, Any] = {}  # tasks of ours that the solution awaits
        self._last = 0

    async def result(self, awaitable: Any) -> Any:
        """Await something of the solution."""
        import asyncio

        loop = asyncio.get_running_loop()
        number = self._peer.verb("start_task", awaitable)
        future = self._futures[number] = loop.create_future()
        if id(loop) not in self._pumps:
            self._pumps[id(loop)] = loop.create_task(self._pump(loop))
        try:
            return await future
        except asyncio.CancelledError:
            if self._futures.pop(number, None) is not None:
                self._peer.verb("cancel_task", number)
            raise

    async def _pump(self, loop: Any) -> None:
        import asyncio

        try:
            while any(future.get_loop() is loop for future in self._futures.values()):
                finished, self._finished = tuple(self._finished), []
                answer = self._peer.verb("pump", _patience(loop), finished)
                self._take(answer)
                await asyncio.sleep(0)
        except BaseException as error:
            for number, future in list(self._futures.items()):
                if future.get_loop() is loop:
                    del self._futures[number]
                    settle(future, False, error)
            if not isinstance(error, Exception):
                return
        finally:
            self._pumps.pop(id(loop), None)

    def _take(self, answer: Any) -> None:
        if type(answer) is not tuple:
            raise self._peer.broken("an answer of a wrong shape")
        for number, good, value in answer:
            future = self._futures.pop(number, None) if type(number) is int else None
            if future is not None:
                settle(future, good is True, value)

    def lend(self, coroutine: Any) -> int:
        """Have a coroutine of the tests run for the solution, which awaits it; return its number."""
        loop = running_loop()
        if type(coroutine) is not CoroutineType or loop is None:
            raise TypeError("nothing that can be awaited now")
        self._last += 1
        number = self._last
        task = self._lent[number] = loop.create_task(coroutine)
        task.add_done_callback(lambda task: self._done(number, task))
        return number

    def _done(self, number: int, task: Any) -> None:
        self._lent.pop(number, None)
        self._finished.append((number, *outcome(task)))


def outcome(task: Any) -> tuple[bool, Any]:
    """Return (whether it has a result, that or the exception) of a task that is done."""
    import asyncio

    if task.cancelled():
        return False, asyncio.CancelledError()
    error = task.exception()
    return (True, task.result()) if error is None else (False, error)


def settle(future: Any, good: bool, value: Any) -> None:
    import asyncio

    if future.done():
        return
    if good:
        future.set_result(value)
    elif isinstance(value, asyncio.CancelledError):
        future.cancel()
    elif isinstance(value, StopIteration) or not isinstance(value, BaseException):
        future.set_exception(RuntimeError("coroutine raised %s" % type(value).__name__))
    else:
        future.set_exception(value)


def _patience(loop: Any) -> float:
    """Return how long the solution's loop may sleep: not while the tests' loop has something else to do."""
    if getattr(loop, "_ready", None):
        return 0.0
    timers = getattr(loop, "_scheduled", None) or ()
    due = min([timer.when() for timer in timers if not timer.cancelled()], default=None)
    return _MAX_PATIENCE_S if due is None else min(_MAX_PATIENCE_S, max(0.0, due - loop.time()))
