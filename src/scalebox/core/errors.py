"""The errors that users of ScaleBox may catch.

ScaleBoxError
├── InputError        a sample, a file or an argument is unusable; says where and how to mend it
├── SettingsError     a setting, a profile or an environment variable is unusable
├── SandboxError      the machine cannot give the isolation that was asked for
├── QueueFull         the engine's bounded queue has no room; fetch results or wait
├── BatchNotFound     no such batch
├── EngineClosed      the engine was shut down, or was lost, before the batch was done
├── AuthenticationError  the server does not know the token, or does not let its owner do this
└── ServerError       the server cannot be reached, or its answer cannot be understood
"""

from __future__ import annotations


class ScaleBoxError(Exception):
    """Base of every error that ScaleBox raises on purpose."""


class InputError(ScaleBoxError):
    """An unusable sample, file or argument.

    `field` is a path such as `tests[3].expect` ("" for the whole record); `line` is 1-based, in
    `source`, where the record came from a file.
    """

    def __init__(self, problem: str, *, field: str = "", mend: str = "", source: str = "", line: int = 0) -> None:
        self.problem = problem
        self.field = field
        self.mend = mend
        self.source = source
        self.line = line
        super().__init__(problem)

    def at(self, source: str, line: int) -> InputError:
        """Return the same error with the place it was found at."""
        return InputError(self.problem, field=self.field, mend=self.mend, source=source, line=line)

    def __str__(self) -> str:
        place = ":".join(part for part in (self.source, str(self.line) if self.line else "") if part)
        head = ": ".join(part for part in (place, self.field, self.problem) if part)
        return f"{head} ({self.mend})" if self.mend else head


class SettingsError(ScaleBoxError):
    """An unusable setting; the text names the setting, where its value came from, and the mend."""


class SandboxError(ScaleBoxError):
    """The isolation asked for cannot be had here; `step` is the first step that failed."""

    def __init__(self, problem: str, *, step: str = "", errno: int = 0, mend: str = "") -> None:
        self.problem = problem
        self.step = step
        self.errno = errno
        self.mend = mend
        super().__init__(f"{problem} ({mend})" if mend else problem)


class QueueFull(ScaleBoxError):
    """The engine's queue has no room for this batch; nothing of it was taken."""


class BatchNotFound(ScaleBoxError, KeyError):
    """No batch has this id, or it was fetched and forgotten."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class EngineClosed(ScaleBoxError):
    """The engine was closed or lost before this batch was done."""


class AuthenticationError(ScaleBoxError):
    """The server wants a token, does not know the one given, or does not let its owner do this."""


class ServerError(ScaleBoxError):
    """The server cannot be reached, or answered what cannot be understood."""
