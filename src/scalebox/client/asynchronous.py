"""The client's one implementation. It is asynchronous; `synchronous.py` is a facade of it."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

from scalebox.client.embedded import EmbeddedTransport
from scalebox.client.housekeeping import Housekeeping
from scalebox.client.waiting import LoopWaiting, Waiting
from scalebox.core.errors import InputError, SettingsError
from scalebox.core.events import Sink
from scalebox.core.limits import Limits
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings, load
from scalebox.engine import Engine
from scalebox.problems import Problems, open_problems
from scalebox.schedule.ledger import State


class Transport(Protocol):
    """How batches reach an engine. The methods mean what those of the client mean."""

    async def submit(
        self,
        samples: Sequence[Sample | Mapping[str, Any]],
        deadline_s: float | None,
        wait_s: float | None,
        batch_id: str | None = None,
    ) -> str: ...
    async def submit_one(self, sample: Mapping[str, Any]) -> str: ...
    async def poll(self, batch_id: str) -> State: ...
    async def fetch(self, batch_id: str, timeout: float | None) -> list[VerificationResult]: ...
    def stream(self, batch_id: str) -> AsyncIterator[VerificationResult]: ...
    async def cancel(self, batch_id: str) -> None: ...
    async def close(self) -> None: ...
    def abandon(self) -> None:
        """Begin to close without waiting; for finalizers."""


class AsyncScaleBoxClient:
    """Verifies samples, without ever blocking the event loop.

    `url` says where the engine is: None or "embedded" for one in this process, `http://host:port`,
    `https://…` or `unix:///path.sock` for a server, "auto" for the daemon of this node. `settings` are by
    default what `scalebox.core.settings.load()` finds; `token` is shown to a server, by default that of the settings;
    `sinks` are called with every event of an engine in this process, on its thread. `problems`, or a file or database
    of them, has the tests of samples that come to such an engine with a `problem_id` and none; a server has its own.
    Raises InputError or SettingsError.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        token: str | None = None,
        sinks: Sequence[Sink] = (),
        problems: Problems | str | None = None,
    ) -> None:
        self._open(url, settings, token, LoopWaiting(), sinks=sinks, problems=problems)

    def _open(
        self,
        url: str | None,
        settings: Settings | None,
        token: str | None,
        waiting: Waiting,
        *,
        sinks: Sequence[Sink] = (),
        problems: Problems | str | None = None,
    ) -> None:
        own = load() if settings is None else settings
        if not isinstance(own, Settings):
            kind = type(own).__name__
            raise SettingsError(f"settings: must be a Settings, not {kind} (such as Settings(workers=8))")
        shown = own.token if token is None else token
        own = msgspec.structs.replace(own, token="")  # nothing that runs samples is to know it
        self._place = url, own, shown
        if url in (None, "embedded"):
            held = open_problems(problems, own) if isinstance(problems, str) else problems
            self._transport: Transport = EmbeddedTransport(lambda: _build_engine(own, sinks), own, waiting, held)
        elif sinks or problems is not None:
            field = "sinks" if sinks else "problems"
            raise InputError("are for an engine in this process", field=field, mend="leave them out")
        else:
            connect = import_module("scalebox.client.remote").connect  # with it comes a client of HTTP
            self._transport = connect(url, shown, own, waiting)
        # For a client that is dropped without being closed.
        self._finalizer = weakref.finalize(self, self._transport.abandon)
        self._finalizer.atexit = False  # engines and connections close themselves then, and wait for their ends

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process, such as a Ray actor, makes the same client of a server."""
        return again, (type(self), *where(self))

    async def submit(  # noqa: PLR0917  the order is part of the public interface
        self,
        sample_id: str,
        code: str,
        tests: Sequence[Mapping[str, Any]] | None,
        language: str = "python",
        limits: Mapping[str, Any] | Limits | None = None,
        problem_id: str | None = None,
        **fields: Any,
    ) -> str:
        """Submit one sample as a batch of its own, and return the batch's id at once.

        `tests` may be None where `problem_id` names a problem. `fields` are further fields of a sample, such
        as `entry_point` or `reward`. Raises InputError, QueueFull.
        """
        raw: dict[str, Any] = {"id": sample_id, "code": code, "tests": tests, **fields}
        if language != "python":  # the default, which a problem's language goes before
            raw["language"] = language
        if limits is not None:
            raw["limits"] = msgspec.to_builtins(limits)
        if problem_id is not None:
            raw["problem_id"] = problem_id
        return await self._transport.submit_one(raw)

    async def submit_batch(
        self,
        samples: Iterable[Sample | Mapping[str, Any]],
        *,
        deadline_s: float | None = None,
        wait_s: float | None = None,
        batch_id: str | None = None,
    ) -> str:
        """Submit samples, given as records of the input format or as `Sample`, and return the batch's id at once.

        What is not finished `deadline_s` seconds from now becomes `unknown` (0: no deadline; None: as set). Where
        the queue has no room, waits for it up to `wait_s` seconds. `batch_id` is the id to have, from callers who keep
        books of their own; a server gives its own. Raises InputError, QueueFull, EngineClosed; then
        nothing of the batch is taken.
        """
        return await self._transport.submit(list(samples), deadline_s, wait_s, batch_id)

    async def poll(self, batch_id: str) -> State:
        """Return "PENDING", "DONE" (every sample has a result) or "FAILED"; raises BatchNotFound."""
        return await self._transport.poll(batch_id)

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
        await self._transport.cancel(batch_id)

    async def close(self) -> None:
        """End the engine, so that batches that are not done are FAILED; a server goes on with them.

        A second call does nothing.
        """
        self._finalizer.detach()
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def where(client: AsyncScaleBoxClient) -> tuple[str, Settings, str]:
    """Return address, settings and token of a client; raises TypeError where it has an engine of its own."""
    url, settings, token = client._place
    if url is None or url == "embedded":
        raise TypeError('an engine belongs to its process: make a client in the other one, or one of "auto"')
    return url, settings, token


def again(kind: type[Any], url: str, settings: Settings, token: str) -> Any:
    """Return a client of this kind."""
    return kind(url, settings=settings, token=token)


def _build_engine(settings: Settings, sinks: Sequence[Sink] = ()) -> Engine:
    housekeeping = Housekeeping(settings.scratch_dir)
    engine = Engine(settings, sinks=sinks, on_worker_gone=housekeeping.worker_gone)
    housekeeping.look_around()
    return engine
