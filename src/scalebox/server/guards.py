"""Who may use a route."""

from __future__ import annotations

from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.types import Guard

from scalebox.server.errors import Refused
from scalebox.server.principal import Role


def needs(*roles: Role) -> Guard:
    """Return a guard that lets clients with one of `roles` pass; an operator may do what a trainer may."""
    allowed = {*roles, *([Role.OPERATOR] if Role.TRAINER in roles else [])}

    def guard(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
        if connection.user.role not in allowed:
            raise Refused(403, f"this is not for the role {connection.user.role}", mend="use a token with another role")

    return guard
