"""A server from its start to its end in good order."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import uvicorn

from scalebox.core.settings import Settings
from scalebox.server.app import build_app
from scalebox.server.context import Context, open_context
from scalebox.server.heads import BoundedHeads
from scalebox.server.idle import IdleExit

_log = logging.getLogger(__name__)

#: Seconds between two looks whether all is done, that open streams have to end, and for which idle connections stay.
_LOOK_S, _LINGER_S, _KEEP_ALIVE_S = 0.1, 5, 75
_THREADS = 32


class Draining(uvicorn.Server):
    """Ends on a signal, once what was taken is finished or `server_drain_s` is over; at once on a second signal.

    With `idle_s`, so many seconds without a use are as good as a signal.
    """

    def __init__(self, context: Context, idle_s: float | None = None) -> None:
        """Prepare to serve a context, on the running loop."""
        app = build_app(context)
        self.idle = None if idle_s is None else IdleExit(app, idle_s, self._is_busy, self.leave)
        super().__init__(
            uvicorn.Config(
                self.idle or app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # whoever asks could call itself by any address
                lifespan="on",
                http=BoundedHeads,
                ws="none",
                limit_concurrency=context.settings.server_connections,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_LINGER_S,
            )
        )
        self._context = context
        self._drained: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 (uvicorn's signature)
        """Begin to end."""
        if self._context.draining:
            self.should_exit = self.force_exit = True
        else:
            self.leave()

    def leave(self) -> None:
        """Begin to end in good order."""
        self._context.draining = True
        self._loop.call_soon_threadsafe(self._drain)

    def _is_busy(self) -> bool:
        return not (self._context.batches.idle and self._context.feed.idle)

    def _drain(self) -> None:
        self._drained = asyncio.create_task(self._wait())

    async def _wait(self) -> None:
        settings, batches = self._context.settings, self._context.batches
        _log.info("draining: no new batches; %d samples have no result yet", batches.pending)
        give_up_at = self._loop.time() + settings.server_drain_s
        while self._is_busy() and self._loop.time() < give_up_at:
            await asyncio.sleep(_LOOK_S)
        await batches.settle()
        _log.info("drained: %d samples are left for the next start", batches.pending)
        self.should_exit = True


async def serve(
    settings: Settings, listener: socket.socket, started: Callable[[Context], None], idle_s: float | None = None
) -> None:
    """Serve until a signal ends it, or nobody has used it for `idle_s` seconds.

    Calls `started` once requests are taken. Raises what `open_context` does.
    """
    # Bodies that are read must not take the threads from the feed.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "scalebox-server"))
    async with open_context(settings) as context:
        server = Draining(context, idle_s)
        # What is here by now stays: to look through it at each collection would hold up the loop a tenth of a second.
        gc.collect()
        gc.freeze()
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        watching = asyncio.create_task(server.idle.watch()) if server.idle is not None else None
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            started(context)
        await serving
        if watching is not None:
            watching.cancel()


def run(
    settings: Settings, listener: socket.socket, started: Callable[[Context], None], idle_s: float | None = None
) -> None:
    """Do the same on an event loop of its own, where there is none."""
    import uvloop  # noqa: PLC0415 - slow to import

    work: Any = serve(settings, listener, started, idle_s)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)
