"""What OpenAPI cannot see: handlers that read the body themselves."""

from __future__ import annotations

from dataclasses import dataclass

from litestar.openapi.spec import (
    OpenAPIMediaType,
    OpenAPIType,
    Operation,
    Parameter,
    RequestBody,
    Schema,
)

_SAMPLE = Schema(
    type=OpenAPIType.OBJECT,
    description="A sample as in the reference of formats.",
    required=["id", "tests"],
    properties={
        "id": Schema(type=OpenAPIType.STRING, min_length=1),
        "code": Schema(type=OpenAPIType.STRING, description="Source as it is."),
        "response": Schema(type=OpenAPIType.STRING, description="A model's raw answer, instead of code."),
        "language": Schema(type=OpenAPIType.STRING, default="python"),
        "tests": Schema(type=OpenAPIType.ARRAY, min_items=1, items=Schema(type=OpenAPIType.OBJECT)),
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


@dataclass
class SubmitOperation(Operation):
    """The submission of a batch."""

    def __post_init__(self) -> None:
        media = {kind: OpenAPIMediaType(schema=_BATCH) for kind in ("application/json", "application/msgpack")}
        self.request_body = RequestBody(content=media, required=True)
        key = Parameter(
            name="Idempotency-Key",
            param_in="header",
            required=False,
            schema=Schema(type=OpenAPIType.STRING, min_length=1, max_length=200),
            description="The same key with the same body is the same batch; with another body it is refused (409).",
        )
        self.parameters = [*(self.parameters or []), key]
