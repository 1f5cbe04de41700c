"""What listens to the engine."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

from scalebox import sinks
from scalebox.core.codec import decode_result_line
from scalebox.core.errors import SettingsError
from scalebox.core.events import BatchAccepted, SampleFinished
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.sinks.result_log import ResultLog

RESULT = VerificationResult(id="s", verdict=Verdict.PASSED, meta={"a": [1]})


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(sinks.__path__)])
def test_each_sink_is_named_like_its_setting(name: str) -> None:
    assert not getattr(Settings(), name), "off unless asked for"
    assert callable(import_module(f"scalebox.sinks.{name}").open_sink)


def test_nothing_listens_unless_asked_for() -> None:
    assert sinks.open_sinks(Settings()) == []


def test_the_result_log_appends(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for _ in range(2):
        (log,) = sinks.open_sinks(Settings(result_log=str(path)))
        assert isinstance(log, ResultLog)
        log(BatchAccepted(0.0, "batch", 1))
        log(SampleFinished(0.0, "batch", RESULT))
        log.close()
    assert [decode_result_line(line) for line in path.read_bytes().splitlines()] == [RESULT, RESULT]


@pytest.mark.parametrize("name", ["", "no/such/folder/log"])
def test_a_log_that_cannot_be_written_is_a_clear_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"^result_log: .*name a file that may be written"):
        ResultLog(str(tmp_path / name))
