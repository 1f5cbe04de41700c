"""The application: middleware, routes, limits, and errors as answers."""

from __future__ import annotations

from importlib.metadata import version

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.types import ASGIApp

from scalebox.core.limits import MIB
from scalebox.server.authentication import authentication
from scalebox.server.bodies import bounded_bodies
from scalebox.server.context import Context
from scalebox.server.errors import HANDLERS
from scalebox.server.guards import closed_unless_said, needs
from scalebox.server.pages import PlainPage
from scalebox.server.principal import Role
from scalebox.server.routes import all_handlers


def build_app(context: Context) -> Litestar:
    """Return the application over a context, which stays the caller's to close."""
    most = context.settings.server_max_body_mb * MIB

    def bounded(app: ASGIApp) -> ASGIApp:
        return bounded_bodies(app, most)

    return Litestar(
        route_handlers=all_handlers(context),
        middleware=[authentication(context), bounded],
        guards=[closed_unless_said],
        state=State({"context": context}),
        exception_handlers=HANDLERS,
        logging_config=None,
        request_max_body_size=most,
        openapi_config=OpenAPIConfig(
            title="ScaleBox",
            version=version("scalebox"),
            openapi_router=Router("/schema", route_handlers=[], guards=[needs(*Role)], include_in_schema=False),
            use_handler_docstrings=True,
            render_plugins=[PlainPage(), JsonRenderPlugin()],
        ),
    )
