"""Engines with scripted workers."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scalebox.core.events import Event
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample, StdinTest
from scalebox.core.settings import Settings
from scalebox.engine import Engine

FAKE = (sys.executable, "-P", str(Path(__file__).with_name("fake_worker.py")))
TESTS = (StdinTest(id="0", stdin="", stdout=""), StdinTest(id="1", stdin="", stdout=""))

MakeEngine = Callable[..., "Harness"]


def sample(code: str, **fields: Any) -> Sample:
    """Return a sample for the fake worker."""
    return Sample(**({"id": "s", "tests": TESTS, "code": code} | fields))


class Harness:
    """An engine, and the events that it emitted."""

    def __init__(self, engine: Engine, events: list[Event]) -> None:
        self.engine = engine
        self.events = events

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

    def fetch(self, batch_id: str) -> list[VerificationResult]:
        """Return the batch's results once it is not pending any more."""
        self.wait(lambda: self.engine.batches.state(batch_id) != "PENDING", batch_id)
        return self.engine.batches.hand_over(batch_id)

    def wait(self, ready: Callable[[], bool], batch_id: str) -> None:
        changed = threading.Event()
        leave = self.engine.batches.watch(batch_id, changed.set, each=True)
        while not ready():
            assert changed.wait(60)
            changed.clear()
        leave()

    def verify(self, *samples: Sample, **fields: Any) -> list[VerificationResult]:
        return self.fetch(self.engine.submit(samples, **fields))


@pytest.fixture
def make_engine() -> Iterator[MakeEngine]:
    """Return a maker of engines that are closed at the end."""
    with contextlib.ExitStack() as stack:

        def make(start: str = "well", workers: int = 2, on_gone: Any = None, **settings: Any) -> Harness:
            events: list[Event] = []
            engine = Engine(
                Settings(workers=workers, **settings),
                sinks=[events.append],
                command=(*FAKE, "--start", start),
                on_worker_gone=on_gone,
            )
            stack.callback(engine.close)
            return Harness(engine, events)

        yield make


class Gate:
    """Holds a fake worker at an `await` until it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDWR)

    def open(self, times: int = 1) -> None:
        os.write(self._fd, b"x" * times)

    def await_news(self) -> None:
        """Wait until the worker tells that it is there."""
        os.read(self._fd, 16)

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture(name="gate")
def opened_gate(gate: Path) -> Iterator[Gate]:
    held = Gate(gate)
    yield held
    held.close()
