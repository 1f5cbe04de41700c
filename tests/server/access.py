"""A server with tokens, an audit log and problems over an engine, for the tests of who may do what."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from litestar import Litestar, get
from litestar.testing import TestClient

from scalebox import AsyncScaleBoxClient, Settings
from scalebox.server.access import open_access
from scalebox.server.app import build_app
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.principal import Role
from scalebox.server.tokens import create_token


class Site:
    """The server's test client, its context, and a token for each role of the client `run`."""

    def __init__(self, http: TestClient[Litestar], context: Context, tokens: dict[str, str]) -> None:
        self.http, self.context, self.tokens = http, context, tokens

    def ask(self, who: str, method: str, path: str, **options: Any) -> Any:
        """Send a request with the token of a role ("" for none) or of another client ("other trainer")."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return self.http.request(method, path, headers=headers, **options)

    def events(self, **wanted: Any) -> list[dict[str, Any]]:
        """Return the records of the audit log that have these fields."""
        found: list[dict[str, Any]] = self.ask("operator", "GET", "/v1/audit?limit=1000").json()["records"]
        return [one for one in found if wanted.items() <= one.items()]


@contextmanager
def site(folder: Path, **settings: Any) -> Iterator[Site]:
    """Open a server in this process."""
    file = str(folder / "tokens")
    tokens = {role.value: create_token(file, "run", role) for role in Role}
    tokens |= {f"other {role.value}": create_token(file, "other", role) for role in Role}
    chosen = Settings(
        workers=1, server_tokens=file, audit_log=str(folder / "audit"), server_problems=str(folder / "problems"),
        **settings,
    )  # fmt: skip
    access = open_access(chosen)
    assert access.audit is not None
    client = AsyncScaleBoxClient(settings=access.engine, sinks=[access.audit], problems=access.problems)
    context = Context(chosen, client, tokens=access.tokens, audit=access.audit, problems=access.problems)
    app = build_app(context)
    app.register(_silent)
    app.register(_for_trainers)
    with TestClient(app) as http:
        yield Site(http, context, tokens)
    asyncio.run(client.close())
    access.audit.close()
    assert access.problems is not None
    access.problems.close()


@get("/test/silent", sync_to_thread=False)
def _silent() -> str:
    """Stand for a route that says nothing of roles."""
    return "seen"


@get("/test/trainers", guards=[needs(Role.TRAINER)], sync_to_thread=False)
def _for_trainers() -> str:
    """Stand for a route that trainers may use."""
    return "seen"
