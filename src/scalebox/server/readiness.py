"""Whether the server is ready: a sample has passed not long ago, any client's or one of its own."""

from __future__ import annotations

import asyncio

from scalebox.core.errors import EngineClosed, ScaleBoxError
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.parse import parse_sample
from scalebox.server.feed import Feed

#: Seconds that a question waits for a probe; a busy server is not ready after so many `server_ready_s` without a pass.
_WAIT_S, _STALE = 2.0, 3.0
_DEADLINE_S = 120.0
_PROBE = {"id": "readiness", "code": "print(int(input()) + 1)", "tests": [{"stdin": "1", "stdout": "2"}]}


class Readiness:
    """Runs one probe at a time, and none where the clients' samples show enough."""

    def __init__(self, settings: Settings, feed: Feed) -> None:
        self._ready_s = settings.server_ready_s
        self._feed = feed
        self._sample = parse_sample(_PROBE, settings=settings)
        self._probe: asyncio.Task[None] | None = None
        self._problem = ""

    async def problem(self) -> str:
        """Return why the engine is not ready, "" where it is."""
        if self._feed.lost is not None:
            return str(self._feed.lost)
        if self._age() <= self._ready_s:
            return ""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(self._run())
        await asyncio.wait([self._probe], timeout=_WAIT_S)
        if self._age() <= _STALE * self._ready_s:
            return ""
        return self._problem or "no sample has passed lately"

    async def prove(self) -> None:
        """Have a first sample pass; raises the engine's error where it cannot run, EngineClosed where it is wrong."""
        (result,) = await self._feed.run("readiness", [self._sample], deadline_s=_DEADLINE_S, told=False)
        if result.verdict is not Verdict.PASSED:
            raise EngineClosed(f"a sample that passes was {result.verdict.value}: {result.message}")

    def _age(self) -> float:
        return asyncio.get_running_loop().time() - self._feed.passed_at

    async def _run(self) -> None:
        try:
            await self.prove()
            self._problem = ""
        except ScaleBoxError as error:
            self._problem = str(error)
