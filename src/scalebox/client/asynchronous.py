"""The client's one implementation. It is asynchronous; `synchronous.py` is a facade of it."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import msgspec

from scalebox.client.embedded import EmbeddedTransport
from scalebox.client.housekeeping import Housekeeping
from scalebox.client.waiting import LoopWaiting, Waiting
from scalebox.core import codec
from scalebox.core.errors import InputError
from scalebox.core.limits import Limits
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings, load
from scalebox.engine import Engine
from scalebox.parse import parse_sample
from scalebox.schedule.ledger import State


class AsyncScaleBoxClient:
    """Verifies samples on an engine of its own, without ever blocking the event loop.

    `url` says where the engine is: None or "embedded" for one in this process. `settings` are those of the engine,
    by default what `scalebox.core.settings.load()` finds. Raises InputError or SettingsError.
    """

    def __init__(self, url: str | None = None, *, settings: Settings | None = None) -> None:
        self._open(url, settings, LoopWaiting())

    def _open(self, url: str | None, settings: Settings | None, waiting: Waiting) -> None:
        if url not in (None, "embedded"):
            raise InputError(
                f"{url!r} is not supported by this version",
                field="url",
                mend='leave it out, or give "embedded": the engine then runs in this process',
            )
        own = load() if settings is None else settings
        self._settings = own
        self._transport = EmbeddedTransport(lambda: _build_engine(own), waiting)
        # For a client that is dropped without being closed.
        self._finalizer = weakref.finalize(self, EmbeddedTransport.abandon, self._transport)
        self._finalizer.atexit = False  # the engine closes itself then, and waits for its workers

    async def submit(  # noqa: PLR0917  the order is part of the public interface
        self,
        sample_id: str,
        code: str,
        tests: Sequence[Mapping[str, Any]],
        language: str = "python",
        limits: Mapping[str, Any] | Limits | None = None,
        problem_id: str | None = None,
        **fields: Any,
    ) -> str:
        """Submit one sample as a batch of its own, and return the batch's id at once.

        `fields` are further fields of a sample, such as `entry_point` or `reward`. Raises InputError, QueueFull.
        """
        raw: dict[str, Any] = {"id": sample_id, "code": code, "tests": tests, "language": language, **fields}
        if limits is not None:
            raw["limits"] = msgspec.to_builtins(limits)
        if problem_id is not None:
            raw["problem_id"] = problem_id
        return await self.submit_batch([raw])

    async def submit_batch(
        self,
        samples: Iterable[Sample | Mapping[str, Any]],
        *,
        deadline_s: float | None = None,
        wait_s: float | None = None,
    ) -> str:
        """Submit samples, given as records of the input format or as `Sample`, and return the batch's id at once.

        What is not finished `deadline_s` seconds from now becomes `unknown` (0: no deadline; None: as set). Where
        the queue has no room, waits for it up to `wait_s` seconds. Raises InputError, QueueFull, EngineClosed; then
        nothing of the batch is taken.
        """
        given = list(samples)
        settings = self._settings
        return await self._transport.submit(lambda: _checked(given, settings), deadline_s, wait_s)

    async def poll(self, batch_id: str) -> State:
        """Return "PENDING", "DONE" (every sample has a result) or "FAILED"; raises BatchNotFound."""
        return self._transport.poll(batch_id)

    async def fetch(self, batch_id: str, timeout: float | None = None) -> list[VerificationResult]:
        """Wait until the batch is done, and return its results in the order of submission.

        Raises TimeoutError after `timeout` seconds (the batch goes on), EngineClosed or SandboxError where it
        FAILED, and BatchNotFound.
        """
        return await self._transport.fetch(batch_id, timeout)

    def stream(self, batch_id: str) -> AsyncIterator[VerificationResult]:
        """Yield the batch's results as they finish; raises at the end where the batch FAILED."""
        return self._transport.stream(batch_id)

    async def cancel(self, batch_id: str) -> None:
        """Give up what is not finished: it becomes `unknown`, and the batch DONE."""
        self._transport.cancel(batch_id)

    async def close(self) -> None:
        """End the engine; batches that are not done are FAILED. A second call does nothing."""
        self._finalizer.detach()
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _build_engine(settings: Settings) -> Engine:
    housekeeping = Housekeeping(settings.scratch_dir)
    engine = Engine(settings, on_worker_gone=housekeeping.worker_gone)
    housekeeping.look_around()
    return engine


def _checked(given: Sequence[Sample | Mapping[str, Any]], settings: Settings) -> list[Sample]:
    return [_check(item, f"samples[{index}]", settings) for index, item in enumerate(given)]


def _check(item: Sample | Mapping[str, Any], place: str, settings: Settings) -> Sample:
    """Return a checked sample; the error for a bad one names it by `place`."""
    try:
        if not isinstance(item, Sample):
            return parse_sample(item, settings=settings)
        return _check_struct(item)
    except InputError as error:
        field = ".".join(part for part in (place, error.field) if part)
        raise InputError(error.problem, field=field, mend=error.mend) from None


def _check_struct(sample: Sample) -> Sample:
    """Return a sample that was made by hand, so may hold anything: what does not survive the wire is none."""
    if (sample.code is None) == (sample.response is None):
        raise InputError("exactly one of code and response is needed")
    codec.decode_sample(codec.encode_sample(msgspec.structs.replace(sample, meta=None)))
    return sample
