"""A server with real workers, one for each module: starting one takes a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.conftest import Server, serving

from scalebox import Settings
from scalebox.languages.toolchain import Missing, toolchain

Post = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def server(cache: Path) -> Iterator[Server]:
    settings = Settings(workers=1, cache_dir=str(cache), server_port=0, server_ready_s=3600)
    with serving(settings, command=()) as server:
        yield server


@pytest.fixture
def http(server: Server) -> httpx.Client:
    return server.http


@pytest.fixture
def ask(http: httpx.Client) -> Post:
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
