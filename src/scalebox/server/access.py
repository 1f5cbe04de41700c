"""The parts of a server's context that say who may do what, and that keep the books of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import msgspec

from scalebox.core.events import Sink
from scalebox.core.settings import Settings
from scalebox.problems import ProblemStore
from scalebox.server.tokens import TokenStore
from scalebox.sinks.audit_log import AuditLog, open_sink


class Access(msgspec.Struct, frozen=True):
    """None stands for what is not asked for. `engine` are the settings of the engine."""

    tokens: TokenStore | None
    audit: AuditLog | None
    problems: ProblemStore | None
    engine: Settings

    @property
    def sinks(self) -> Sequence[Sink]:
        """Those that are to be told what the engine says."""
        return [] if self.audit is None else [self.audit]


@contextlib.contextmanager
def open_access(settings: Settings) -> Iterator[Access]:
    """Open what the settings name, and close it at the end; raises SettingsError."""
    with contextlib.ExitStack() as stack:
        tokens = TokenStore(settings.server_tokens) if settings.server_tokens else None
        problems = ProblemStore(settings.server_problems) if settings.server_problems else None
        audit = open_sink(settings) if settings.audit_log else None
        for opened in (problems, audit):
            if opened is not None:
                stack.callback(opened.close)
        # One writer for the engine and the server: the engine does not open the log again.
        yield Access(tokens, audit, problems, msgspec.structs.replace(settings, audit_log=""))
