"""What the API's own description allows, and what it does not, is answered, and never by a 500.

The requests are made from `/schema/openapi.json` by schemathesis; what bodies without a schema of their own may hold
is for the other tests here.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from tests.server.conftest import PLACE, Server, serving

from scalebox import Settings

#: A stream of what happens ends when its client leaves.
_ENDLESS = "/v1/telemetry/stream"
#: Seconds after which no further operation is begun.
_SOAK_S = 300.0


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(Settings(**PLACE, server_ready_s=3600)) as running:
        yield running


@pytest.fixture(scope="module")
def operations(server: Server) -> list[Any]:
    schema = schemathesis.openapi.from_url(f"{server.url}/schema/openapi.json")
    found: list[Any] = list(schema.get_all_operations())
    return [each.ok() for each in found]


def test_no_request_fails_the_server(server: Server, operations: list[Any]) -> None:
    """Of the operation with the richest schema; the others take minutes."""
    (operation,) = [each for each in operations if each.path == "/run_code"]
    right = _ask(server, operation, GenerationMode.POSITIVE, 5)
    wrong = _ask(server, operation, GenerationMode.NEGATIVE, 5)
    assert right
    assert {400, 422} & set(wrong), "what is wrong is refused"


@pytest.mark.soak
def test_no_request_of_any_operation_fails_the_server(server: Server, operations: list[Any]) -> None:
    until = time.monotonic() + _SOAK_S
    random.shuffle(operations)
    statuses: list[int] = []
    for operation in operations:
        for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
            # Where anything is right, looking for what is wrong takes long and comes to nothing.
            vague = mode == GenerationMode.NEGATIVE and not (operation.body or operation.query)
            if operation.path != _ENDLESS and not vague and time.monotonic() < until:
                statuses += _ask(server, operation, mode, 50)
    assert {200, 400} <= set(statuses), "some were right and some were wrong"


def _ask(server: Server, operation: Any, mode: GenerationMode, examples: int) -> list[int]:
    statuses: list[int] = []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    def ask(case: Any) -> None:
        answer = case.call(base_url=server.url, timeout=300)
        assert answer.status_code < 500 or answer.status_code == 503, (case.as_curl_command(), answer.text)
        statuses.append(answer.status_code)

    try:
        ask()
    except Unsatisfiable:
        return []
    return statuses
