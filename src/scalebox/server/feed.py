"""Between the clients and the engine: slices of batches go in by turns, results come out one by one.

Everything but `Feed.sink` is called on the event loop, and nothing blocks it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from scalebox.client import AsyncScaleBoxClient
from scalebox.core import events
from scalebox.core.errors import EngineClosed, QueueFull, ScaleBoxError
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.verdicts import Verdict
from scalebox.server.turns import Pace, Turns

_log = logging.getLogger(__name__)

#: Between the id of a batch and the number of its slice, in what is the batch's id to the engine.
_SLICE = "."
#: Samples that are given up at once; the deadline of those that have none left; how long to wait for the engine's room.
_GIVEN_UP_AT_ONCE, _NOW_S, _ROOM_S = 256, 1e-6, 30.0
#: Seconds of a worker for each sample beside what is measured.
_OVERHEAD_S = 0.0005


class Work(Protocol):
    """Samples of one client: a batch. Its samples are known by their places."""

    client: str
    id: str
    deadline: float | None  # on the event loop's clock
    at_hand: bool  # whether `load` never blocks

    def load(self, places: Sequence[int]) -> list[Sample]:
        """Return samples; may block, and is called on other threads then."""

    def deliver(self, place: int, result: VerificationResult) -> None:
        """Take a result."""

    def fail(self, error: ScaleBoxError) -> None:
        """Learn that there will be no more results."""


class _Slice:
    def __init__(self, work: Work, name: str, places: list[int]) -> None:
        self.work, self.name, self.places = work, name, places
        self.left = set(places)


class Feed:
    """Hands the engine as much as it needs at hand, from each client in turn."""

    def __init__(self, workers: int, most_direct: int) -> None:
        self.workers = workers
        self._most_direct = most_direct
        self._direct = 0
        self.turns = Turns()
        self.pace = Pace(workers)
        #: The tier of the workers, as soon as one has started.
        self.tier = ""
        #: When, on the event loop's clock, a sample last passed.
        self.passed_at = float("-inf")
        #: Why the engine takes no more, where it was lost.
        self.lost: ScaleBoxError | None = None
        self._paused = False
        self._stopped = False
        self._numbers = itertools.count()
        self._works: dict[str, tuple[Work, deque[int]]] = {}
        self._slices: dict[str, _Slice] = {}
        self._given_up: set[str] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrived: deque[events.SampleFinished] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: AsyncScaleBoxClient | None = None

    def open(self, client: AsyncScaleBoxClient) -> None:
        """Begin, on the running loop, with a client whose engine has `sink` among its sinks."""
        self._client = client
        self._loop = asyncio.get_running_loop()

    # --- what is to be verified ------------------------------------------------------------------

    def add(self, work: Work, places: Sequence[int]) -> None:
        """Have samples verified when it is their turn, and as unknown where the deadline passes before."""
        self._works[work.id] = (work, deque(places))
        self.turns.add(work.client, work.id, len(places))
        if work.deadline is not None:
            self._timers[work.id] = self.loop.call_at(work.deadline, self._give_up, work.id)
        self._pump()

    def cancel(self, batch_id: str) -> None:
        """Give up what is not finished: it is delivered as unknown."""
        if batch_id not in self._works:
            return
        self._given_up.add(batch_id)
        self._give_up(batch_id)
        self._cancel_slices(batch_id)

    async def run(
        self, client: str, samples: Sequence[Sample], *, deadline_s: float | None = None, told: bool = True
    ) -> list[VerificationResult]:
        """Verify samples that a request waits for, in the client's turn, and return their results in order.

        They are in no journal; where the caller is cancelled, so are they. `told` says whether those who watch, count
        and record hear of them. Raises QueueFull where too many wait already, and what the engine raises.
        """
        if self._stopped:
            raise _ending()
        if self._direct + len(samples) > self._most_direct:
            raise QueueFull(f"{self._direct} samples are waited for, of at most {self._most_direct} (try again later)")
        deadline = None if deadline_s is None else self.loop.time() + deadline_s
        work = _Direct(client, f"direct-{next(self._numbers)}", deadline, samples, told)
        if not samples:
            return []
        self._direct += len(samples)
        self.add(work, range(len(samples)))
        try:
            await work.done
        finally:
            self._direct -= len(samples)
            self.forget(work.id)
        return [result for result in work.results if result is not None]

    def pause(self, paused: bool) -> None:
        """Hand over nothing for a while: results cannot be kept."""
        self._paused = paused
        self._pump()

    def stop(self) -> None:
        """Hand over nothing more; what is in the engine and does not come out is left as it is."""
        self._stopped = True
        for work, _ in self._works.values():
            if isinstance(work, _Direct):
                work.fail(_ending())

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is in the engine."""
        return not self._works

    # --- into the engine -------------------------------------------------------------------------

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop on which all is called."""
        assert self._loop is not None, "the feed is not open"
        return self._loop

    def _pump(self) -> None:
        while not self._paused and not self._stopped and (taken := self.turns.take(self.pace.window)) is not None:
            _, batch_id, count = taken
            work, waiting = self._works[batch_id]
            self._hand_over(work, [waiting.popleft() for _ in range(count)])

    def _hand_over(self, work: Work, places: list[int]) -> asyncio.Task[None]:
        each = _Slice(work, f"{work.id}{_SLICE}{next(self._numbers)}", places)
        self._slices[each.name] = each
        return self._spawn(self._verify(each))

    async def _verify(self, each: _Slice) -> None:
        assert self._client is not None
        work = each.work
        try:
            samples = work.load(each.places) if work.at_hand else await asyncio.to_thread(work.load, each.places)
            left = 0.0 if work.deadline is None else max(_NOW_S, work.deadline - self.loop.time())
            await self._client.submit_batch(samples, deadline_s=left, wait_s=_ROOM_S, batch_id=each.name)
            if work.id in self._given_up or work.id not in self._works:
                await self._client.cancel(each.name)
            results = await self._client.fetch(each.name)  # which also has the engine forget them
        except QueueFull:
            self._put_back(each)
        except ScaleBoxError as error:
            if isinstance(error, EngineClosed) and not self._stopped:
                self.lost = error
            self._fail(each, error)
        except Exception as error:
            if work.id in self._works:
                _log.exception("slice %s cannot be verified", each.name)
            self._fail(each, ScaleBoxError(f"the server failed: {type(error).__name__} (its log says more)"))
        else:
            for place, result in zip(each.places, results, strict=True):
                self._deliver(each, place, result)  # for a sink that failed
        finally:
            self._slices.pop(each.name, None)
            self._pump()

    def _put_back(self, each: _Slice) -> None:
        """Have a slice wait again: somebody else has filled the engine."""
        work = each.work
        self.turns.gone(work.client, len(each.places))
        if work.id in self._works:
            self._works[work.id][1].extendleft(reversed(each.places))
            self.turns.add(work.client, work.id, len(each.places))

    def _give_up(self, batch_id: str) -> None:
        if batch_id in self._works and self._works[batch_id][1]:
            work, waiting = self._works[batch_id]
            places = list(waiting)
            waiting.clear()
            self.turns.drop(work.client, batch_id)
            self._spawn(self._abandon(work, places))

    async def _abandon(self, work: Work, places: list[int]) -> None:
        """Pass samples through the engine that it will not run: it knows best what an unknown result looks like."""
        for start in range(0, len(places), _GIVEN_UP_AT_ONCE):
            some = places[start : start + _GIVEN_UP_AT_ONCE]
            self.turns.entered(work.client, len(some))
            await self._hand_over(work, some)

    def _cancel_slices(self, batch_id: str) -> None:
        for each in self._slices.values():
            if each.work.id == batch_id and each.left:
                self._spawn(self._cancel(each.name))

    async def _cancel(self, name: str) -> None:
        assert self._client is not None
        try:
            await self._client.cancel(name)
        except ScaleBoxError as error:  # it has not come to the engine yet, and is cancelled then; or it is over
            _log.debug("slice %s: %s", name, error)

    def _spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # --- out of the engine -----------------------------------------------------------------------

    def sink(self, event: Any) -> None:
        """Take an event, on the engine's thread."""
        if isinstance(event, events.WorkerStarted):
            self.tier = event.tier
        if isinstance(event, events.SampleFinished) and self._loop is not None and not self._stopped:
            self._arrived.append(event)
            if len(self._arrived) == 1:
                self._loop.call_soon_threadsafe(self._collect)

    def by_batch(self, sink: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a sink that knows batches, not slices: the server itself tells it when one begins and ends."""

        def translated(event: Any) -> None:
            batch_id = getattr(event, "batch_id", "")
            if _SLICE not in batch_id:
                sink(event)
            elif isinstance(event, events.SampleFinished):
                each = self._slices.get(batch_id)  # there until its results are fetched, which is after this
                if each is not None and isinstance(each.work, _Direct) and not each.work.told:
                    return
                place = event.index if each is None else each.places[event.index]
                sink(events.SampleFinished(event.at, batch_id.partition(_SLICE)[0], event.result, place, event.steps))

        return translated

    def _collect(self) -> None:
        while self._arrived:
            event = self._arrived.popleft()
            try:
                self._take_in(event)
            except Exception:
                _log.exception("result %s of slice %s cannot be taken in", event.result.id, event.batch_id)
        self._pump()

    def _take_in(self, event: events.SampleFinished) -> None:
        if event.result.verdict is Verdict.PASSED:
            self.passed_at = self.loop.time()
        each = self._slices.get(event.batch_id)
        if each is not None:
            timings = event.result.timings
            self.pace.learn(timings.build_s + timings.run_s + timings.judge_s + _OVERHEAD_S)
            self._deliver(each, each.places[event.index], event.result)

    def _deliver(self, each: _Slice, place: int, result: VerificationResult) -> None:
        if place not in each.left:
            return
        each.left.remove(place)
        self.turns.gone(each.work.client)
        if each.work.id in self._works:
            each.work.deliver(place, result)

    def forget(self, batch_id: str) -> None:
        """Forget a batch: it has all its results, or nobody wants more."""
        work, _ = self._works.pop(batch_id, (None, None))
        self._given_up.discard(batch_id)
        if (timer := self._timers.pop(batch_id, None)) is not None:
            timer.cancel()
        if work is not None:
            self.turns.drop(work.client, batch_id)
            self._cancel_slices(batch_id)

    def _fail(self, each: _Slice, error: ScaleBoxError) -> None:
        self.turns.gone(each.work.client, len(each.left))
        each.left.clear()
        if self._stopped:
            return  # it stays in the journal
        if each.work.id in self._works:
            self.forget(each.work.id)
            each.work.fail(error)


class _Direct:
    """Samples in memory that a coroutine waits for."""

    at_hand = True

    def __init__(self, client: str, name: str, deadline: float | None, samples: Sequence[Sample], told: bool) -> None:
        self.client, self.id, self.deadline, self.told = client, name, deadline, told
        self.results: list[VerificationResult | None] = [None] * len(samples)
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._samples = samples
        self._left = len(samples)

    def load(self, places: Sequence[int]) -> list[Sample]:
        return [self._samples[place] for place in places]

    def deliver(self, place: int, result: VerificationResult) -> None:
        self.results[place] = result
        self._left -= 1
        if not self._left and not self.done.done():
            self.done.set_result(None)

    def fail(self, error: ScaleBoxError) -> None:
        if not self.done.done():
            self.done.set_exception(error)


def _ending() -> ScaleBoxError:
    return EngineClosed("the server is about to end (send it again, here or elsewhere)")
