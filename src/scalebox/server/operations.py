"""What OpenAPI cannot see: handlers that read the body themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from litestar.openapi.spec import (
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Parameter,
    RequestBody,
    Schema,
)

_TEXT, _OBJECT = Schema(type=OpenAPIType.STRING), Schema(type=OpenAPIType.OBJECT)
_TESTS = Schema(type=OpenAPIType.ARRAY, min_items=1, items=_OBJECT, description="All of one kind.")
_PROGRAM = {
    "code": Schema(type=OpenAPIType.STRING, description="Source as it is."),
    "response": Schema(type=OpenAPIType.STRING, description="A model's raw answer, instead of code."),
    "language": Schema(type=OpenAPIType.STRING, default="python"),
}
#: What a sample has of its own or from its problem.
_TASK = {
    "tests": _TESTS,
    **dict.fromkeys(("match", "checker", "interactor", "limits"), _OBJECT),
    **dict.fromkeys(("profile", "reward", "setup", "prompt", "main"), _TEXT),
    "entry_point": Schema(one_of=[_TEXT, Schema(type=OpenAPIType.ARRAY, items=_TEXT)]),
    "stop": Schema(type=OpenAPIType.ARRAY, items=_TEXT),
    "reference": _TEXT,
    "meta": Schema(description="Anything."),
}
_SAMPLE = Schema(
    type=OpenAPIType.OBJECT,
    description="A sample as in the reference of formats; without tests, it names a problem that has some.",
    required=["id"],
    properties={
        "id": Schema(type=OpenAPIType.STRING, min_length=1, max_length=512),
        "problem_id": _TEXT,
        **_PROGRAM,
        **_TASK,
        "solution_files": Schema(type=OpenAPIType.OBJECT, additional_properties=_TEXT),
        "trajectory": Schema(type=OpenAPIType.ARRAY, items=_OBJECT),
        "tests_written": Schema(description="Accepted, and not used."),
    },
)
_BATCH = Schema(
    type=OpenAPIType.OBJECT,
    required=["samples"],
    additional_properties=False,
    properties={
        "samples": Schema(type=OpenAPIType.ARRAY, items=_SAMPLE),
        "deadline_s": Schema(
            one_of=[Schema(type=OpenAPIType.NUMBER, minimum=0, maximum=1e7), Schema(type=OpenAPIType.NULL)],
            description="Seconds after which unfinished samples become unknown; 0 is never, null as the server is set.",
        ),
    },
)


_PROBLEM = Schema(
    type=OpenAPIType.OBJECT,
    description="A problem: fields mean what they mean in a sample.",
    required=["tests"],
    properties={"problem_id": _TEXT, "language": _PROGRAM["language"], **_TASK},
)
_HANDED_IN = Schema(
    type=OpenAPIType.OBJECT,
    required=["problem_id"],
    additional_properties=False,
    properties={"problem_id": _TEXT, **_PROGRAM},
)
_RUN = Schema(
    type=OpenAPIType.OBJECT,
    additional_properties=False,
    properties={"tests": Schema(type=OpenAPIType.STRING, enum=["visible", "all"], default="visible")},
)


def _body(schema: Schema) -> RequestBody:
    media = {kind: OpenAPIMediaType(schema=schema) for kind in ("application/json", "application/msgpack")}
    return RequestBody(content=media, required=True)


def _also(operation: Operation, answers: Mapping[str, str]) -> None:
    """Add answers beside the one that the handler's signature tells of: what each status means."""
    more = {status: OpenAPIResponse(description=meaning) for status, meaning in answers.items()}
    operation.responses = {**(operation.responses or {}), **more}


@dataclass
class SubmitOperation(Operation):
    """The submission of a batch."""

    def __post_init__(self) -> None:
        self.request_body = _body(_BATCH)
        key = Parameter(
            name="Idempotency-Key",
            param_in="header",
            required=False,
            schema=Schema(type=OpenAPIType.STRING, min_length=1, max_length=200),
            description="The same key with the same body is the same batch; with another body it is refused (409).",
        )
        self.parameters = [*(self.parameters or []), key]
        _also(
            self,
            {
                "400": "A sample is unusable; error.field says which part of it",
                "409": "The key was used for another batch",
                "413": "The body is too large, or has too many samples",
                "415": "The body is neither JSON nor MessagePack",
                "429": "The client has too many samples without a result; Retry-After says when to come again",
                "503": "The queue or the journal is full, or the server is about to end; Retry-After as above",
            },
        )


@dataclass
class FetchOperation(Operation):
    """The results of a batch."""

    def __post_init__(self) -> None:
        _also(self, {"202": "The batch is still PENDING after wait_s", "404": "The client has no such batch"})


@dataclass
class ProblemOperation(Operation):
    """The writing of a problem."""

    def __post_init__(self) -> None:
        self.request_body = _body(_PROBLEM)
        _also(self, {"201": "A new version"})


@dataclass
class HandInOperation(Operation):
    """A policy's program."""

    def __post_init__(self) -> None:
        self.request_body = _body(_HANDED_IN)


@dataclass
class RunOperation(Operation):
    """The run of a policy's program."""

    def __post_init__(self) -> None:
        self.request_body = _body(_RUN)
