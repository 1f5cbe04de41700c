"""The result log: every result as a line of JSON, appended to the file that the setting `result_log` names."""

from __future__ import annotations

import os
from typing import Any

from scalebox.core.codec import encode_result_line
from scalebox.core.errors import SettingsError
from scalebox.core.events import SampleFinished, Sink
from scalebox.core.settings import Settings


class ResultLog:
    """Appends each result in one write: several engines may share a file, and a crash loses no result before it."""

    def __init__(self, path: str) -> None:
        """Open or create the file; raises SettingsError."""
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise SettingsError(f"result_log: {path}: {error.strerror} (name a file that may be written)") from None

    def __call__(self, event: Any) -> None:
        """Write the event's result, if it is of a sample."""
        if isinstance(event, SampleFinished):
            line = memoryview(encode_result_line(event.result))
            while line:
                line = line[os.write(self._fd, line) :]

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def open_sink(settings: Settings) -> Sink:
    """Return the sink that the settings ask for."""
    return ResultLog(settings.result_log)
