"""The server's log: one JSON object on a line of standard error, for its own parts and the libraries' alike."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog

#: What a record may carry beside its text: names and numbers, never a program, a test or a token.
_FIELDS = ("batch", "sample", "client", "samples", "verdict", "why")


def configure(level: str, stream: TextIO = sys.stderr) -> logging.Handler:
    """Have the root logger write JSON lines of at least a level to a stream; returns the handler, to remove it."""
    processors: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(allow=_FIELDS),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=processors,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level.upper())
    for chatty in ("uvicorn.access", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    return handler
