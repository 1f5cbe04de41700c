"""The application: middleware, routes, limits, and errors as answers."""

from __future__ import annotations

from importlib.metadata import version

from litestar import Litestar
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from scalebox.core.limits import MIB
from scalebox.server.context import Context
from scalebox.server.errors import HANDLERS
from scalebox.server.pages import PlainPage
from scalebox.server.principal import everybody_is_local
from scalebox.server.routes import all_handlers


def build_app(context: Context) -> Litestar:
    """Return the application over a context, which stays the caller's to close."""
    return Litestar(
        route_handlers=all_handlers(context),
        middleware=[everybody_is_local],
        exception_handlers=HANDLERS,
        logging_config=None,
        request_max_body_size=context.settings.server_max_body_mb * MIB,
        openapi_config=OpenAPIConfig(
            title="ScaleBox",
            version=version("scalebox"),
            path="/schema",
            use_handler_docstrings=True,
            render_plugins=[PlainPage(), JsonRenderPlugin()],
        ),
    )
