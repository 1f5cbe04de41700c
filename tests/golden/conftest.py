"""One engine for each tier and module: a tier that this machine lacks is skipped by name."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalebox import ScaleBoxClient, Settings
from scalebox.sandbox import tiers


@pytest.fixture(scope="module", params=["namespace", "process"])
def tier(request: pytest.FixtureRequest) -> str:
    """Return a tier that works here."""
    name = str(request.param)
    probe = tiers.find(name).probe()
    if not probe.ok:
        pytest.skip(f"the {name} tier does not work here: {probe.reason}")
    return name


@pytest.fixture(scope="module")
def settings(tier: str) -> Settings:
    """Return the settings of an engine that isolates by `tier`."""
    return Settings(tier=tier, interpreter=_interpreter(tier))


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[ScaleBoxClient]:
    """Return a client whose engine isolates by the tier."""
    with ScaleBoxClient(settings=settings) as client:
        yield client


def can_run(interpreter: str, tier: str) -> bool:
    """Return whether a tier can run an interpreter: as root, `process` needs one that every user may run."""
    if tier != "process" or os.geteuid() != 0:
        return True
    return all(folder.stat().st_mode & 0o001 for folder in Path(interpreter).resolve().parents)


def _interpreter(tier: str) -> str:
    for candidate in (sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin")):
        if candidate and can_run(candidate, tier):
            return candidate
    pytest.skip(f"this machine has no interpreter that the {tier} tier can run as root")
