"""The server's own records in the audit log; those of executions come from the engine, whose sink the log is."""

from __future__ import annotations

import logging
from typing import Any

from scalebox.server.context import Context
from scalebox.server.errors import Refused
from scalebox.server.principal import Principal

_log = logging.getLogger(__name__)

#: Ids of samples that one record names; the executions name them all.
_MOST_IDS = 1000


def record(context: Context, event: str, *, who: Principal | None = None, **fields: Any) -> None:
    """Record an event, and who did it. What cannot be recorded is not done: raises Refused.

    Does nothing where no audit log is set.
    """
    if context.audit is None:
        return
    by: dict[str, Any] = {} if who is None else {"client": who.client, "role": who.role.value}
    try:
        context.audit.record(event, **by, **fields)
    except OSError as error:
        _log.error("the audit log cannot be written: %s", error)
        raise Refused(503, "the audit log cannot be written", mend="see the server's log", retry_after_s=5) from None


def record_batch(context: Context, who: Principal, batch_id: str, ids: list[str]) -> None:
    """Record that a client's batch was accepted; call it before the batch is handed to the engine."""
    more = {"ids_left_out": len(ids) - _MOST_IDS} if len(ids) > _MOST_IDS else {}
    record(context, "batch_submitted", who=who, batch_id=batch_id, samples=len(ids), ids=ids[:_MOST_IDS], **more)
