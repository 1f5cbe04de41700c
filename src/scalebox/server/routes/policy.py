"""The face of the server that policies see: three verbs; and what their trainers see of it."""

from __future__ import annotations

from typing import Any

from litestar import Request, get, post
from litestar.params import FromPath, FromQuery

from scalebox.core.errors import InputError
from scalebox.core.result import VerificationResult
from scalebox.core.views import operator_view, trainer_view
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.objects import body_of
from scalebox.server.policy import Answer, Desk
from scalebox.server.principal import Principal, Role

_Request = Request[Principal, Any, Any]
_MOST_WAIT_S = 60.0


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""
    desk = Desk(context)

    @post("/v1/policy/submit", guards=[needs(Role.POLICY)], status_code=202, tags=["policy"])
    async def submit(request: _Request) -> Answer:
        """Hand in a program: `problem_id`, `code` or `response`, and `language`."""
        return desk.submit(request.user, await body_of(request)).answer()

    @post("/v1/policy/{submission_id:str}/run", guards=[needs(Role.POLICY)], status_code=202, tags=["policy"])
    async def run(request: _Request, submission_id: FromPath[str]) -> Answer:
        """Have its tests run: `{"tests": "visible"}`, or "all", of which only the visible ones are told about."""
        submission = desk.find(request.user.client, submission_id)
        body = await body_of(request)
        which = body.pop("tests", "visible")
        if body:
            raise InputError("no such field", field=next(iter(body))[:64], mend="tests is the only one")
        await desk.run(request.user, submission, which if isinstance(which, str) else repr(which))
        return submission.answer()

    @get("/v1/policy/{submission_id:str}", guards=[needs(Role.POLICY)], tags=["policy"])
    async def result(request: _Request, submission_id: FromPath[str], wait_s: FromQuery[float] = 0.0) -> Answer:
        """Look at what came of it; `wait_s` seconds at most where it still runs."""
        submission = desk.find(request.user.client, submission_id)
        await desk.wait(submission, min(wait_s, _MOST_WAIT_S))
        return submission.answer()

    @get("/v1/submissions/{submission_id:str}", guards=[needs(Role.TRAINER)], tags=["policy"])
    async def submission(
        request: _Request, submission_id: FromPath[str], client: FromQuery[str] = ""
    ) -> dict[str, Any]:
        """Look at a policy's program as its trainer, whose token has the same client's name; an operator names one."""
        operator = request.user.role == Role.OPERATOR
        found = desk.find(client if operator and client else request.user.client, submission_id)
        view = None
        if found.result is not None:
            seen: VerificationResult = operator_view(found.result)
            view = seen if operator else trainer_view(seen, found.sample)
        return {"id": submission_id, "state": found.state, "running": found.running > 0, "result": view}

    return [submit, run, result, submission]
