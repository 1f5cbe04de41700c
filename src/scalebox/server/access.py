"""The parts of a server's context that say who may do what, and that keep the books of it."""

from __future__ import annotations

import msgspec

from scalebox.core.settings import Settings
from scalebox.problems import ProblemStore
from scalebox.server.tokens import TokenStore
from scalebox.sinks.audit_log import AuditLog, open_sink


class Access(msgspec.Struct, frozen=True):
    """None stands for what is not asked for. The engine gets `audit` as a sink, and the settings `engine`."""

    tokens: TokenStore | None
    audit: AuditLog | None
    problems: ProblemStore | None
    engine: Settings


def open_access(settings: Settings) -> Access:
    """Open what the settings name; raises SettingsError."""
    return Access(
        tokens=TokenStore(settings.server_tokens) if settings.server_tokens else None,
        problems=ProblemStore(settings.server_problems) if settings.server_problems else None,
        audit=open_sink(settings) if settings.audit_log else None,
        # One writer for the engine and the server: the engine does not open the log again.
        engine=msgspec.structs.replace(settings, audit_log=""),
    )
