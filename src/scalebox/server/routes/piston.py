"""The paths of Piston: docs/guides/compat.md."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, Router, get, post
from litestar.exceptions import HTTPException
from litestar.params import JSONBody

from scalebox.core.errors import InputError, ScaleBoxError
from scalebox.server.bodies import AnyRequest
from scalebox.server.compat import piston
from scalebox.server.compat.http import retry_of, status_of, waited_for
from scalebox.server.compat.running import Runner
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.principal import Role


def _message(status: int, text: str, headers: dict[str, str] | None = None) -> Response[bytes]:
    body = msgspec.json.encode({"message": text})
    return Response(body, status_code=status, media_type="application/json", headers=headers or {})


def _of_input(_: Request[Any, Any, Any], error: InputError) -> Response[bytes]:
    return _message(400, f"{error.field}: {error.problem}" if error.field else error.problem)


def _of_http(_: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    return _message(error.status_code, error.detail)


def _of_scalebox(_: Request[Any, Any, Any], error: ScaleBoxError) -> Response[bytes]:
    return _message(status_of(error), str(error), retry_of(error))


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""

    @post("/execute", status_code=200, summary="Run a program")
    async def execute(request: AnyRequest, data: JSONBody[piston.ExecuteRequest]) -> piston.ExecuteResponse:
        """Build and run a program; the first file is the program."""
        return await waited_for(request, piston.execute(Runner(context, request.user.client), data))

    @get("/runtimes", sync_to_thread=True, summary="The languages that are here")
    def runtimes() -> list[piston.Runtime]:
        """Return languages with their versions and other names."""
        return piston.runtimes()

    handled: Any = {InputError: _of_input, HTTPException: _of_http, ScaleBoxError: _of_scalebox}
    return [
        Router(
            "/api/v2",
            route_handlers=[execute, runtimes],
            guards=[needs(Role.TRAINER)],
            exception_handlers=handled,
            tags=["piston"],
        )
    ]
