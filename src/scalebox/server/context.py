"""What the routes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scalebox.client import AsyncScaleBoxClient
from scalebox.core.settings import Settings


@dataclass(slots=True)
class Context:
    """The parts of one server. Every verification goes through `client`."""

    settings: Settings
    client: AsyncScaleBoxClient
    journal: Any = None
    tokens: Any = None
    audit: Any = None
    problems: Any = None
    telemetry: Any = None
    draining: bool = False
