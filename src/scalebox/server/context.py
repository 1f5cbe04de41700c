"""What the routes share, and how it comes and goes."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from scalebox.client import AsyncScaleBoxClient
from scalebox.core.events import Event, Sink
from scalebox.core.settings import Settings
from scalebox.problems import ProblemStore
from scalebox.schedule.cores import worker_cores
from scalebox.server.access import open_access
from scalebox.server.aside import Aside
from scalebox.server.batches import Batches
from scalebox.server.feed import Feed
from scalebox.server.journal import Journal
from scalebox.server.readiness import Readiness
from scalebox.server.telemetry import Telemetry
from scalebox.server.tokens import TokenStore
from scalebox.sinks.audit_log import AuditLog

_log = logging.getLogger(__name__)

_ABSENT: Any = None  # what a test of other parts leaves out


@dataclass(slots=True)
class Context:
    """The parts of one server.

    Every verification goes through `client`, and in its client's turn where it goes through `feed.run`.
    """

    settings: Settings
    client: AsyncScaleBoxClient
    journal: Journal = _ABSENT
    feed: Feed = _ABSENT
    batches: Batches = _ABSENT
    readiness: Readiness = _ABSENT
    tokens: TokenStore | None = None
    audit: AuditLog | None = None
    problems: ProblemStore | None = None
    telemetry: Telemetry | None = None
    aside: Aside = _ABSENT
    draining: bool = False


@contextlib.asynccontextmanager
async def open_context(settings: Settings, *, sinks: Sequence[Sink] = ()) -> AsyncIterator[Context]:
    """Start an engine and what stands before it, on the running loop, once a first sample has passed.

    Raises SettingsError, and SandboxError or EngineClosed where the engine cannot run.

    `sinks` are told of the batches of clients, and of the engine's workers.
    """
    capacity = len(worker_cores(settings.workers))
    telemetry = Telemetry(settings, capacity=capacity)
    with contextlib.ExitStack() as stack:
        path = settings.server_journal or _journal_path(settings)
        if not path:
            path = os.path.join(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="scalebox-server-")), "journal.db"
            )
        journal = Journal(path)
        stack.callback(journal.close)
        access = stack.enter_context(open_access(settings))
        listening: list[Sink] = [telemetry, *sinks, *access.sinks]
        feed = Feed(capacity, settings.max_pending)
        told = [feed.by_batch(sink) for sink in listening]

        def emit(event: Event) -> None:
            for sink in told:
                try:
                    sink(event)
                except Exception:  # as the engine does: one that fails keeps nothing else from going on
                    _log.exception("a sink fails")

        client = AsyncScaleBoxClient(settings=access.engine, sinks=[feed.sink, *told])
        try:
            feed.open(client)
            readiness = Readiness(settings, feed)
            await readiness.prove()
            batches = Batches(settings, journal, feed, emit)
            await batches.start()
            aside = Aside()
            stack.callback(aside.close)
            yield Context(
                settings,
                client,
                journal,
                feed,
                batches,
                readiness,
                access.tokens,
                access.audit,
                access.problems,
                telemetry,
                aside,
            )
            await batches.stop()
        finally:
            await client.close()


def _journal_path(settings: Settings) -> str:
    """Return a file of the user's own for this address, "" where that is another at every start."""
    if settings.server_socket:
        socket = hashlib.sha256(os.path.abspath(settings.server_socket).encode()).hexdigest()
        name = f"server-{socket[:12]}.db"
    elif settings.server_port:
        name = f"server-{settings.server_port}.db"
    else:
        return ""
    home = os.environ.get("XDG_STATE_HOME", "")
    base = home if os.path.isabs(home) else os.path.expanduser("~/.local/state")
    return os.path.join(base, "scalebox", name)
