"""Fixtures of the sandbox's tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.stage import Stage, make_library


@pytest.fixture(scope="session")
def public_library() -> Iterator[Path]:
    """A folder with what the worker's side imports, that every user can read."""
    folder = make_library()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=["root", "ordinary", "contained"])
def stage(request: pytest.FixtureRequest, public_library: Path) -> Stage:
    """A worker to play: as root, as an ordinary user, and as root of a container."""
    if os.geteuid() != 0:
        if request.param != "ordinary":
            pytest.skip("needs root")
        return Stage("root", None)  # we are an ordinary user ourselves, and use our own interpreter
    return Stage(request.param, public_library if request.param == "ordinary" else None)
