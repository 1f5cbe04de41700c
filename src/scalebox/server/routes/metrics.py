"""Metrics for Prometheus."""

from __future__ import annotations

from typing import Any

from litestar import Response, get

from scalebox.server import metrics
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.principal import Role


def handlers(context: Context) -> list[Any]:
    """Return the handlers; there are none without telemetry."""
    if context.telemetry is None:
        return []
    registry = metrics.registry_of(context.telemetry)

    @get(
        "/metrics",
        tags=["telemetry"],
        summary="Metrics for Prometheus",
        guards=[needs(Role.READER, Role.OPERATOR)],
        sync_to_thread=True,
    )
    def prometheus() -> Response[bytes]:
        """Return every metric in Prometheus's text format; their names are in the documentation's reference."""
        return Response(metrics.exposition(registry), headers={"Content-Type": metrics.CONTENT_TYPE})

    return [prometheus]
