"""Whether the server lives, and whether it is ready."""

from __future__ import annotations

from typing import Any

from litestar import get

from scalebox.server.context import Context


def handlers(_context: Context) -> list[Any]:
    """Return the handlers."""

    @get("/healthz", tags=["server"], summary="Whether the server lives", sync_to_thread=False)
    def healthz() -> dict[str, str]:
        """Answer as soon as the server takes requests, and as long as it does."""
        return {"status": "alive"}

    return [healthz]
