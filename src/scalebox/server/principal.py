"""Who asks: the name of a client, and what it may do."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from litestar.types import ASGIApp, Receive, Scope, Send


class Role(StrEnum):
    """What a client may do."""

    POLICY = "policy"
    TRAINER = "trainer"
    OPERATOR = "operator"
    READER = "reader"


class Principal(msgspec.Struct, frozen=True):
    """A client by its name: batches, quotas and turns are the client's."""

    client: str
    role: Role


#: Everybody, where no tokens are asked for.
LOCAL = Principal("local", Role.OPERATOR)


def everybody_is_local(app: ASGIApp) -> ASGIApp:
    """Return the application with each request made by `LOCAL`: the middleware where there are no tokens."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        scope["user"] = LOCAL
        await app(scope, receive, send)

    return wrapped
