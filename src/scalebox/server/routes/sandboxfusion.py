"""The paths of SandboxFusion, for its clients: docs/guides/compat.md."""

from __future__ import annotations

from typing import Any

from litestar import MediaType, Response, Router, get, post
from litestar.params import JSONBody

from scalebox.server.authentication import OPEN
from scalebox.server.bodies import AnyRequest
from scalebox.server.compat import datasets, jupyter, prompts, sandboxfusion
from scalebox.server.compat.fusion import (
    EvalResult,
    MetricsFunction,
    MetricsRequest,
    Prompt,
    PromptsRequest,
    RunCodeRequest,
    RunCodeResponse,
    RunJupyterRequest,
    RunJupyterResponse,
    SubmitRequest,
)
from scalebox.server.compat.http import HANDLERS, waited_for
from scalebox.server.compat.running import Runner
from scalebox.server.context import Context
from scalebox.server.guards import needs
from scalebox.server.principal import Role


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""

    @post("/run_code", status_code=200, summary="Run a program")
    async def run_code(request: AnyRequest, data: JSONBody[RunCodeRequest]) -> RunCodeResponse:
        """Build and run a program in one of SandboxFusion's languages."""
        return await waited_for(request, sandboxfusion.run_code(Runner(context, request.user.client), data))

    @post("/run_jupyter", status_code=200, summary="Run the cells of a notebook")
    async def run_jupyter(request: AnyRequest, data: JSONBody[RunJupyterRequest]) -> RunJupyterResponse:
        """Run cells one after another in one interpreter."""
        return await waited_for(request, jupyter.run_jupyter(Runner(context, request.user.client), data))

    @post("/submit", status_code=200, summary="Judge a completion")
    async def submit(request: AnyRequest, data: JSONBody[SubmitRequest]) -> EvalResult:
        """Judge a completion by the row of a data set that the request carries."""
        return await waited_for(request, datasets.submit(Runner(context, request.user.client), data))

    routes = [run_code, run_jupyter, submit, *_of_rows()]
    trainers = Router(
        "",
        route_handlers=routes,
        guards=[needs(Role.TRAINER)],
        exception_handlers=HANDLERS,
        tags=["sandboxfusion"],
    )
    return [trainers, ping]


@get("/v1/ping", summary="Whether the server answers", opt={OPEN: True}, tags=["sandboxfusion"], sync_to_thread=False)
def ping() -> Response[bytes]:
    """Answer "pong"."""
    return Response(b'"pong"', media_type=MediaType.JSON)


def _of_rows() -> list[Any]:
    """Return the handlers that run nothing."""

    @get("/list_datasets", summary="Data sets held here", sync_to_thread=False)
    def list_datasets() -> list[str]:
        """Return the data sets held here: none."""
        return []

    @post("/list_ids", status_code=200, summary="Ids of rows", sync_to_thread=True)
    def list_ids(data: JSONBody[PromptsRequest]) -> list[int | str]:
        """Return the ids of the rows that the request carries."""
        return prompts.ids(data)

    @post("/get_prompts", status_code=200, summary="Prompts of rows", sync_to_thread=True)
    def get_prompts(data: JSONBody[PromptsRequest]) -> list[Prompt]:
        """Return the prompts of the rows that the request carries."""
        return prompts.prompts(data)

    @post("/get_prompt_by_id", status_code=200, summary="The prompt of a row", sync_to_thread=True)
    def get_prompt_by_id(data: JSONBody[PromptsRequest]) -> Prompt:
        """Return the prompt of the row that the request carries."""
        return prompts.prompt_by_id(data)

    @post("/get_metrics", status_code=200, summary="Metrics of a data set", sync_to_thread=False)
    def get_metrics(data: JSONBody[MetricsRequest]) -> dict[str, Any]:
        """Return nothing: no data set here has metrics of its own."""
        del data
        return {}

    @post("/get_metrics_function", status_code=200, summary="Their function", sync_to_thread=False)
    def get_metrics_function(data: JSONBody[MetricsRequest]) -> MetricsFunction:
        """Return no function."""
        del data
        return MetricsFunction()

    return [list_datasets, list_ids, get_prompts, get_prompt_by_id, get_metrics, get_metrics_function]
