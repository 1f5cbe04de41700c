"""The paths of Judge0, as far as they need no memory of submissions: docs/guides/compat.md."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, Router, get, post
from litestar.params import FromQuery, JSONBody

from scalebox.core.errors import InputError
from scalebox.server.bodies import AnyRequest
from scalebox.server.compat import judge0
from scalebox.server.compat.http import waited_for
from scalebox.server.compat.running import Runner
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.principal import Role


def _of_input(_: Request[Any, Any, Any], error: InputError) -> Response[bytes]:
    body = {error.field or "error": [error.problem]}
    return Response(msgspec.json.encode(body), status_code=422, media_type="application/json")


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""

    @post("/submissions", status_code=201, summary="Run and judge a program")
    async def submit(
        request: AnyRequest,
        data: JSONBody[judge0.Submission],
        wait: FromQuery[bool] = False,
        base64_encoded: FromQuery[bool] = False,
    ) -> judge0.Judged:
        """Run a program and wait for it; submissions that are asked for later are not kept."""
        if not wait:
            raise InputError("must be true: submissions are not kept", field="wait")
        return await waited_for(
            request, judge0.judged(Runner(context, request.user.client), data, encoded=base64_encoded)
        )

    @get("/languages", sync_to_thread=False)
    def languages() -> list[judge0.Named]:
        """Return Judge0's numbers of the languages."""
        return [judge0.Named(id=number, name=name) for number, name in sorted(judge0.LANGUAGES.items())]

    @get("/statuses", sync_to_thread=False)
    def statuses() -> list[judge0.Named]:
        """Return Judge0's statuses."""
        return [judge0.Named(id=number, description=text) for number, text in judge0.STATUSES.items()]

    routes = [submit, languages, statuses]
    return [
        Router(
            "",
            route_handlers=routes,
            guards=[needs(Role.TRAINER)],
            exception_handlers={InputError: _of_input},
            tags=["judge0"],
        )
    ]
