"""Fixtures shared by all suites."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import zstandard
from tests.languages.table import pytest_terminal_summary  # noqa: F401 - a hook, where `-n` finds it too

# nohup and a shell's job in the background have them ignored, and whatever is started here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# How long an example takes says more about the machine than about what is tested.
hypothesis.settings.register_profile("any", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("any")

ThirdParty = Callable[[str], Iterator[dict[str, Any]]]


def pytest_runtest_setup() -> None:
    """Skip what would begin after the time that SCALEBOX_TEST_UNTIL names (seconds since 1970): CI has so long."""
    until = os.environ.get("SCALEBOX_TEST_UNTIL")
    if until and time.time() > float(until):
        pytest.skip("no time left: SCALEBOX_TEST_UNTIL has passed")


@pytest.fixture(scope="session")
def third_party() -> ThirdParty:
    """Return a reader of third-party records: a path below SCALEBOX_TEST_DATA → its records.

    The test is skipped only where the variable is unset; a file missing from the folder it names is a failure.
    """
    folder = os.environ.get("SCALEBOX_TEST_DATA")
    if not folder:
        pytest.skip("needs third-party data: SCALEBOX_TEST_DATA is unset")

    def records(name: str) -> Iterator[dict[str, Any]]:
        raw = Path(folder, name).read_bytes()
        data = zstandard.ZstdDecompressor().stream_reader(raw) if name.endswith(".zst") else io.BytesIO(raw)
        return map(json.loads, io.TextIOWrapper(data, encoding="utf-8"))

    return records


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder that all tests share, those of pytest's other workers too: what takes long is made once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Path]:
    """Return a path that scripted workers wait at for samples with the code `await PATH`, one for each byte written."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    fd = os.open(path, os.O_RDWR)
    yield path
    os.close(fd)
