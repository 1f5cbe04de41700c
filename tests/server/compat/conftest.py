"""The application over a real engine, one for each pytest worker: starting one takes a second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from scalebox import AsyncScaleBoxClient, Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.server.app import build_app
from scalebox.server.context import Context

Post = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="session")
def http(cache: Path) -> Iterator[TestClient[Litestar]]:
    settings = Settings(workers=1, cache_dir=str(cache))
    client = AsyncScaleBoxClient(settings=settings)
    with TestClient(build_app(Context(settings, client))) as http:
        yield http
    asyncio.run(client.close())


@pytest.fixture
def ask(http: TestClient[Litestar]) -> Post:
    """Return what posts JSON to a path and returns the answer, which must be one."""

    def ask(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = http.post(path, json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    return ask


@pytest.fixture
def needs() -> Callable[[str], None]:
    """Return what skips a test whose toolchain is not here."""

    def needs(language: str) -> None:
        try:
            toolchain(language)
        except Missing as missing:
            pytest.skip(str(missing))

    return needs
