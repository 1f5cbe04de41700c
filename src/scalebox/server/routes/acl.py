"""The paths that ScaleBox-ACL adds to SandboxFusion's: docs/guides/compat.md."""

from __future__ import annotations

from typing import Any

from litestar import Router, post
from litestar.params import JSONBody

from scalebox.server.bodies import AnyRequest
from scalebox.server.compat import acl
from scalebox.server.compat.fusion import EvalResult, SubmitRequest
from scalebox.server.compat.http import HANDLERS, waited_for
from scalebox.server.compat.running import Runner
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.principal import Role


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""

    @post("/common_evaluate", status_code=200, summary="Judge a completion by a list of tests")
    async def common_evaluate(request: AnyRequest, data: JSONBody[SubmitRequest]) -> EvalResult:
        """Judge by test cases that are a list of objects."""
        return await waited_for(request, acl.common_evaluate(Runner(context, request.user.client), data))

    @post("/common_evaluate_batch", status_code=200, summary="Judge a completion by tests in columns")
    async def common_evaluate_batch(request: AnyRequest, data: JSONBody[SubmitRequest]) -> EvalResult:
        """Judge by test cases that are an object of lists, or by assertions."""
        return await waited_for(request, acl.common_evaluate_batch(Runner(context, request.user.client), data))

    routes = [common_evaluate, common_evaluate_batch]
    return [
        Router(
            "", route_handlers=routes, guards=[needs(Role.TRAINER)], exception_handlers=HANDLERS, tags=["scalebox-acl"]
        )
    ]
