"""Who may use the interfaces: trainers and operators, and everybody may ask whether the server is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.access import Site, site

PATHS = [
    "/run_code", "/run_jupyter", "/submit", "/list_ids", "/get_prompts", "/get_prompt_by_id", "/get_metrics",
    "/get_metrics_function", "/common_evaluate", "/common_evaluate_batch", "/api/v2/execute", "/submissions",
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("site")
    with site(folder) as opened:
        yield opened


def test_roles(here: Site) -> None:
    """Bodies are wrong, which nobody learns who may not ask."""
    for path in PATHS:
        found = {who: here.ask(who, "POST", path, json={}).status_code for who in ("", "policy", "reader", "trainer")}
        assert found.pop("trainer") in (400, 422), path
        assert found == {"": 401, "policy": 403, "reader": 403}, path


def test_ping_needs_no_token(here: Site) -> None:
    answer = here.ask("", "GET", "/v1/ping")
    assert (answer.status_code, answer.json()) == (200, "pong")
