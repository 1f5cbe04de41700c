"""Problems that samples may name: operators write and read them, trainers learn that they are there."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

import msgspec
from litestar import Response, delete, get, put
from litestar.params import FromPath, FromQuery, Parameter

from scalebox.core.errors import InputError
from scalebox.problems import ProblemStore, check_problem
from scalebox.problems.store import Described
from scalebox.server.audit import record
from scalebox.server.bodies import AnyRequest, answer, object_of
from scalebox.server.context import Context
from scalebox.server.errors import Refused
from scalebox.server.guards import needs
from scalebox.server.operations import ProblemOperation
from scalebox.server.principal import Role

_MOST_LISTED, _MOST_VERSION = 1000, 999_999_999


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""
    tags, operators, trainers = ["problems"], [needs(Role.OPERATOR)], [needs(Role.TRAINER)]

    def store() -> ProblemStore:
        if context.problems is None:
            raise Refused(404, "this server holds no problems", mend="set server_problems")
        return context.problems

    @put(
        "/v1/problems/{problem_id:path}",
        summary="Keep a problem",
        guards=operators,
        tags=tags,
        operation_class=ProblemOperation,
    )
    async def write(request: AnyRequest, problem_id: FromPath[str]) -> Response[Any]:  # noqa: ARG001 - names the parameter
        """Keep a problem, as a new version where it differs from what is kept: 201, else 200."""
        kept, raw, name = store(), await object_of(request), _name(request)
        problem = await asyncio.to_thread(check_problem, raw, context.settings, problem_id=name)
        tests = len(problem.record["tests"])
        record(context, "problem_put", who=request.user, problem_id=problem.problem_id, tests=tests)
        version, new = await asyncio.to_thread(kept.put, problem, request.user.client)
        told = {"problem_id": problem.problem_id, "version": version, "new": new}
        return answer(request, told, 201 if new else 200)

    @get("/v1/problems/{problem_id:path}", summary="One problem", guards=trainers, tags=tags)
    async def read(
        request: AnyRequest,
        problem_id: FromPath[str],  # noqa: ARG001 - as above
        version: Annotated[int | None, Parameter(ge=1, le=_MOST_VERSION)] = None,
    ) -> Response[Any]:
        """Return a problem: to an operator with all its fields, to a trainer what is told in a list."""
        name = _name(request)
        if request.user.role == Role.OPERATOR:
            problem = await asyncio.to_thread(store().find, name, version)
            if problem is not None:
                return answer(request, {**problem.record, "problem_id": name, "version": problem.version})
        elif (described := await asyncio.to_thread(store().describe, name)) is not None:
            return answer(request, _public(described))
        raise Refused(404, "no such problem")

    @get("/v1/problems", summary="All problems in short", guards=trainers, tags=tags)
    async def listed(
        request: AnyRequest, after: FromQuery[str] = "", limit: FromQuery[int] = _MOST_LISTED
    ) -> Response[Any]:
        """List problems in the order of their ids; `next` is what `after` is to be for more, null at the end."""
        most = max(1, min(limit, _MOST_LISTED))
        page = await asyncio.to_thread(store().page, after, most)
        problems = [_public(one) for one in page]
        further = page[-1].problem_id if len(page) == most else None
        return answer(request, {"problems": problems, "next": further})

    @delete(
        "/v1/problems/{problem_id:path}",
        summary="Forget a problem",
        guards=[needs(Role.OPERATOR)],
        tags=["problems"],
        status_code=204,
    )
    async def remove(request: AnyRequest, problem_id: FromPath[str]) -> None:  # noqa: ARG001 - as above
        """Forget a problem's tests, in all versions."""
        name = _name(request)
        record(context, "problem_delete", who=request.user, problem_id=name)
        if not await asyncio.to_thread(store().delete, name):
            raise Refused(404, "no such problem")

    return [write, read, listed, remove]


def _name(request: AnyRequest) -> str:
    """Return a problem's id as it stands in the path, where the router takes `a//b`, `a/b/` and `a/b` for one.

    Raises InputError.
    """
    try:
        return unquote_to_bytes(request.scope["raw_path"]).decode().partition("/problems/")[2]
    except UnicodeDecodeError:
        raise InputError("is not UTF-8", field="problem_id", mend="write the id as UTF-8, percent-encoded") from None


def _public(described: Described) -> dict[str, Any]:
    told = msgspec.structs.asdict(described)
    del told["author"]
    return told
