"""Whether the server lives, and whether it is ready."""

from __future__ import annotations

from typing import Any

from litestar import Response, get

from scalebox.server.bodies import AnyRequest, answer
from scalebox.server.context import Context


def handlers(context: Context) -> list[Any]:
    """Return the handlers, which ask for no token."""

    @get("/healthz", tags=["server"], summary="Whether the server lives")
    async def healthz(request: AnyRequest) -> Response[Any]:
        """200 as long as the server can do its work, 503 where its engine is lost: it should be started again."""
        if context.feed.lost is not None:
            return answer(request, {"status": "lost", "reason": str(context.feed.lost)}, 503)
        return answer(request, {"status": "alive"})

    @get("/readyz", tags=["server"], summary="Whether the server is ready")
    async def readyz(request: AnyRequest) -> Response[Any]:
        """200 where a sample passed within `server_ready_s` seconds and batches are taken, else 503 and the reason.

        Runs a sample of its own where no client's has passed lately, never more than one at a time.
        """
        reason = "draining" if context.draining else "" if context.batches.keeps else "the journal cannot be written"
        reason = reason or await context.readiness.problem()
        if reason:
            return answer(request, {"status": "not ready", "reason": reason}, 503)
        return answer(request, {"status": "ready"})

    return [healthz, readyz]
