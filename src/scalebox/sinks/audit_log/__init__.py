"""The audit log: what happened, as JSON lines that are only ever appended to, each bound to the one before.

The setting `audit_log` names a folder. Its files are called after the number of their first record. A record has
a running number `n`, the time `at` (seconds since the epoch), an `event` with fields of its own, and `prev`, the
SHA-256 of the line before it, also where that is in the file before. So a line that was changed, put in, or taken out
shows at the next one. A tail that was cut off, or a chain written anew, shows against a number and a hash that were
noted elsewhere. docs/guides/access.md says more.
"""

from __future__ import annotations

from scalebox.core.settings import Settings
from scalebox.sinks.audit_log.chain import BrokenLog, Checked, check, records
from scalebox.sinks.audit_log.writer import AuditLog

__all__ = ["AuditLog", "BrokenLog", "Checked", "check", "open_sink", "records"]


def open_sink(settings: Settings) -> AuditLog:
    """Return the sink that the settings ask for."""
    return AuditLog(settings.audit_log, max_mb=settings.audit_log_mb, sync_s=settings.audit_log_sync_s)
