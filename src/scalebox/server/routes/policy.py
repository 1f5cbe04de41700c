"""The face of the server that policies see: three verbs; and what their trainers see of it."""

from __future__ import annotations

from typing import Any

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB
from scalebox.core.views import operator_view, trainer_view
from scalebox.server.bodies import AnyRequest, answer, object_of
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.operations import HandInOperation, RunOperation
from scalebox.server.policy import MOST_BODY, Desk
from scalebox.server.principal import Role

_MOST_WAIT_S = 60.0


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""
    desk = Desk(context)
    policies, trainers, tags = [needs(Role.POLICY)], [needs(Role.TRAINER)], ["policy"]
    most = min(MOST_BODY, context.settings.server_max_body_mb * MIB)

    @post(
        "/v1/policy/submit", guards=policies, tags=tags, summary="Hand in a program", status_code=202,
        request_max_body_size=most, operation_class=HandInOperation,
    )  # fmt: skip
    async def submit(request: AnyRequest) -> Response[Any]:
        """Hand in a program: `problem_id`, `code` or `response`, and `language`."""
        return answer(request, (await desk.submit(request.user, await object_of(request))).answer(), 202)

    @post(
        "/v1/policy/{name:str}/run", guards=policies, tags=tags, summary="Have its tests run", status_code=202,
        request_max_body_size=most, operation_class=RunOperation,
    )  # fmt: skip
    async def run(request: AnyRequest, name: FromPath[str]) -> Response[Any]:
        """Have its tests run: `{"tests": "visible"}`, or "all", of which only the visible ones are told about."""
        submission = desk.find(request.user.client, name)
        body = await object_of(request)
        which = body.pop("tests", "visible")
        if body:
            raise InputError("no such field", field=next(iter(body))[:64], mend="tests is the only one")
        desk.run(request.user, submission, which if isinstance(which, str) else repr(which))
        return answer(request, submission.answer(), 202)

    @get("/v1/policy/{name:str}", guards=policies, tags=tags, summary="What came of a program")
    async def result(request: AnyRequest, name: FromPath[str], wait_s: FromQuery[float] = 0.0) -> Response[Any]:
        """Look at what came of it; waits `wait_s` seconds, at most 60, where it still runs."""
        submission = desk.find(request.user.client, name)
        await desk.wait(submission, min(wait_s, _MOST_WAIT_S))
        return answer(request, submission.answer())

    @get("/v1/submissions/{name:str}", guards=trainers, tags=tags, summary="One program of a policy, for its trainer")
    async def submission(request: AnyRequest, name: FromPath[str], client: FromQuery[str] = "") -> Response[Any]:
        """Look at a policy's program as its trainer, whose token has the same client's name; an operator names one."""
        operator = request.user.role == Role.OPERATOR
        found = desk.find(client if operator and client else request.user.client, name)
        view = found.result
        if view is not None:
            view = operator_view(view) if operator else trainer_view(view, found.sample)
        return answer(request, {"id": name, "state": found.state, "running": found.running > 0, "result": view})

    return [submit, run, result, submission]
