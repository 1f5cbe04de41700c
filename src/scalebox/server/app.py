"""The application: middleware, routes, and errors as answers."""

from __future__ import annotations

from importlib.metadata import version

from litestar import Litestar
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig

from scalebox.server.authentication import authentication
from scalebox.server.context import Context
from scalebox.server.errors import HANDLERS
from scalebox.server.guards import closed_unless_said
from scalebox.server.routes import all_handlers


def build_app(context: Context) -> Litestar:
    """Return the application over a context, which stays the caller's to close."""
    return Litestar(
        route_handlers=all_handlers(context),
        middleware=[authentication(context)],
        guards=[closed_unless_said],
        state=State({"context": context}),
        exception_handlers=HANDLERS,
        openapi_config=OpenAPIConfig(title="ScaleBox", version=version("scalebox"), path="/schema"),
    )
