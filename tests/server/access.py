"""A server with tokens, an audit log and problems, for the tests of who may do what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar import get
from tests.server.conftest import FAKE, PLACE, Server, serving

from scalebox import Settings
from scalebox.server import app, routes
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.principal import Role
from scalebox.server.tokens import create_token


class Site:
    """A running server, and tokens of two clients for each role: "trainer" is `run`'s, "other trainer" `other`'s."""

    def __init__(self, server: Server, tokens: dict[str, str]) -> None:
        self.server, self.context, self.http, self.tokens = server, server.context, server.http, tokens

    def ask(self, who: str, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request with the token of a role, or without one for ""."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return self.http.request(method, path, headers=headers, **options)

    def events(self, **wanted: Any) -> list[dict[str, Any]]:
        """Return the records of the audit log that have these fields."""
        found: list[dict[str, Any]] = self.ask("operator", "GET", "/v1/audit?limit=1000").json()["records"]
        return [one for one in found if wanted.items() <= one.items()]


@contextmanager
def site(folder: Path, *, command: Any = FAKE, **settings: Any) -> Iterator[Site]:
    """Run a server until the block ends, with two routes more: one that says nothing of roles, one for trainers."""
    file = str(folder / "tokens")
    tokens = {role.value: create_token(file, "run", role) for role in Role}
    tokens |= {f"other {role.value}": create_token(file, "other", role) for role in Role}
    chosen = {
        "workers": 1, "server_tokens": file, "audit_log": str(folder / "audit"),
        "server_problems": str(folder / "problems"), "server_ready_s": 3600,
    }  # fmt: skip

    def handlers(context: Context) -> list[Any]:
        return [*routes.all_handlers(context), _silent, _for_trainers]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(app, "all_handlers", handlers)
        with serving(Settings(**PLACE | chosen | settings), command=command) as server:
            yield Site(server, tokens)


@get("/test/silent", sync_to_thread=False)
def _silent() -> str:
    return "seen"


@get("/test/trainers", guards=[needs(Role.TRAINER)], sync_to_thread=False)
def _for_trainers() -> str:
    return "seen"
