"""`python driver.py ARGUMENTS…` is the command `scalebox` with scripted workers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from scalebox import Settings
from scalebox.cli.main import main
from scalebox.client import asynchronous
from scalebox.core.events import Sink
from scalebox.engine import Engine

FAKE = (sys.executable, "-P", str(Path(__file__).parents[1] / "engine" / "fake_worker.py"))


def build(settings: Settings, sinks: Sequence[Sink] = ()) -> Engine:
    """Make an engine with scripted workers."""
    return Engine(settings, sinks=sinks, command=FAKE)


if __name__ == "__main__":
    asynchronous._build_engine = build
    main()
