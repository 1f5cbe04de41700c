"""The application as a whole."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from scalebox import AsyncScaleBoxClient, Settings
from scalebox.client import asynchronous
from scalebox.engine import Engine
from scalebox.server.app import build_app
from scalebox.server.context import Context

FAKE = (sys.executable, "-P", str(Path(__file__).parents[1] / "engine" / "fake_worker.py"))


@pytest.fixture(scope="module")
def http() -> Iterator[TestClient[Litestar]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            asynchronous, "_build_engine", lambda settings, sinks: Engine(settings, sinks=sinks, command=FAKE)
        )
        settings = Settings(workers=1)
        client = AsyncScaleBoxClient(settings=settings)
    with TestClient(build_app(Context(settings, client))) as http:
        yield http
    asyncio.run(client.close())


def test_it_lives(http: TestClient[Litestar]) -> None:
    answer = http.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


@pytest.mark.parametrize(
    ("method", "path", "code"), [("GET", "/nothing", "not_found"), ("POST", "/healthz", "method_not_allowed")]
)
def test_errors_have_one_shape(http: TestClient[Litestar], method: str, path: str, code: str) -> None:
    error: dict[str, Any] = http.request(method, path).json()["error"]
    assert error["code"] == code
    assert set(error) == {"code", "message", "field", "mend"}
