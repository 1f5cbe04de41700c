"""What this server is and allows."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import msgspec
from litestar import Response, get

from scalebox.languages import registry
from scalebox.schedule.cores import worker_cores
from scalebox.server.bodies import AnyRequest, answer
from scalebox.server.context import Context


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""
    settings = context.settings
    fixed = {
        "version": version("scalebox"),
        "workers": len(worker_cores(settings.workers)),
        "languages": sorted(registry.languages()),
        "profile": settings.profile,
        "limits": msgspec.to_builtins(settings.limits_of(settings.profile)),
        "max_body_mb": settings.server_max_body_mb,
        "max_pending": settings.max_pending,
        "client_pending": settings.server_client_pending,
        "keep_s": settings.server_keep_s,
    }

    @get("/v1/info", tags=["server"], summary="Version, tier, languages and limits")
    async def info(request: AnyRequest) -> Response[Any]:
        """Say what runs here: `tier` is empty until a worker has started, `pending` samples have no result yet."""
        live = {"tier": context.feed.tier, "pending": context.batches.pending, "draining": context.draining}
        return answer(request, fixed | live)

    return [info]
