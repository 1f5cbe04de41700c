"""The synchronous facade of the client."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from scalebox.client.asynchronous import AsyncScaleBoxClient
from scalebox.client.waiting import ThreadWaiting
from scalebox.core.limits import Limits
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.schedule.ledger import State

_T = TypeVar("_T")


class _Blocking(AsyncScaleBoxClient):
    """The implementation, waiting by blocking the thread: its coroutines never suspend."""

    def __init__(self, url: str | None, settings: Settings | None, token: str | None) -> None:
        self._open(url, settings, token, ThreadWaiting())


class ScaleBoxClient:
    """Verifies samples; may be used from any thread.

    `url` says where the engine is: None or "embedded" for one in this process, `http://host:port`,
    `https://…` or `unix:///path.sock` for a server, "auto" for the daemon of this node. `settings` are by
    default what `scalebox.core.settings.load()` finds; `token` is shown to a server, by default that of the settings.
    Raises InputError or SettingsError.
    """

    def __init__(self, url: str | None = None, *, settings: Settings | None = None, token: str | None = None) -> None:
        self._client = _Blocking(url, settings, token)

    def submit(  # noqa: PLR0917  the order is part of the public interface
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
        return _finish(self._client.submit(sample_id, code, tests, language, limits, problem_id, **fields))

    def submit_batch(
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
        return _finish(self._client.submit_batch(samples, deadline_s=deadline_s, wait_s=wait_s))

    def poll(self, batch_id: str) -> State:
        """Return "PENDING", "DONE" (every sample has a result) or "FAILED"; raises BatchNotFound."""
        return _finish(self._client.poll(batch_id))

    def fetch(self, batch_id: str, timeout: float | None = None) -> list[VerificationResult]:
        """Block until the batch is done, and return its results in the order of submission.

        Raises TimeoutError after `timeout` seconds (the batch goes on), EngineClosed or SandboxError where it
        FAILED, and BatchNotFound.
        """
        return _finish(self._client.fetch(batch_id, timeout))

    def stream(self, batch_id: str) -> Iterator[VerificationResult]:
        """Yield the batch's results as they finish; raises at the end where the batch FAILED."""
        results = self._client.stream(batch_id)
        while True:
            try:
                result = _finish(anext(results))
            except StopAsyncIteration:
                return
            yield result

    def cancel(self, batch_id: str) -> None:
        """Give up what is not finished: it becomes `unknown`, and the batch DONE."""
        _finish(self._client.cancel(batch_id))

    def close(self) -> None:
        """End the engine, so that batches that are not done are FAILED; a server goes on with them.

        A second call does nothing.
        """
        _finish(self._client.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _finish(awaitable: Awaitable[_T]) -> _T:
    """Return what a coroutine returns that never suspends."""
    steps = awaitable.__await__()
    try:
        next(steps)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # StopIteration knows no type
    raise RuntimeError("the client's coroutine was suspended")
