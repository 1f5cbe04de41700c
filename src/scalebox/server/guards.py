"""What each role may do. A route says so by `guards=[needs(...)]`; one that says nothing is the operator's alone."""

from __future__ import annotations

from typing import Any

from litestar.connection import ASGIConnection
from litestar.exceptions import PermissionDeniedException
from litestar.handlers import BaseRouteHandler

from scalebox.server.authentication import is_open, refuse_login, unauthorized
from scalebox.server.context import Context
from scalebox.server.principal import Role

_Connection = ASGIConnection[Any, Any, Any, Any]


class Needs:
    """A guard that lets in the roles it names. What a trainer may do, an operator may."""

    def __init__(self, roles: frozenset[Role]) -> None:
        self.roles = roles | {Role.OPERATOR} if Role.TRAINER in roles else roles

    async def __call__(self, connection: _Connection, _handler: BaseRouteHandler) -> None:
        """Raise 401 or 403 for who may not."""
        _check(connection, self.roles)


def needs(*roles: Role) -> Needs:
    """Return a guard for a handler that only `roles` may use."""
    return Needs(frozenset(roles))


async def closed_unless_said(connection: _Connection, handler: BaseRouteHandler) -> None:
    """Let in only the operator where a route has no guard of its own and is not open to all.

    Asynchronous though it waits for nothing: a plain function would be called on another thread, at every request.
    """
    if not is_open(connection.scope) and not any(isinstance(guard, Needs) for guard in handler.resolve_guards()):
        _check(connection, frozenset([Role.OPERATOR]))


def _check(connection: _Connection, roles: frozenset[Role]) -> None:
    user = connection.scope.get("user")
    if user is None:
        raise unauthorized("no token")
    if user.role not in roles:
        context: Context | None = connection.app.state.get("context")
        if context is not None:
            refuse_login(context, connection.scope, "wrong role", client=user.client, role=user.role.value)
        raise PermissionDeniedException(f"the role {user.role.value} may not do this")
