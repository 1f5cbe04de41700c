"""Samples of input files, parsed in a thread of their own and held back by a budget, for an event loop.

The budget bounds what is read but not yet finished, in samples and in bytes, so that memory stays
bounded whatever the size of the input.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec

from scalebox.cli.lines import Line, Lines
from scalebox.core.errors import InputError
from scalebox.core.jsonl import decode_object
from scalebox.core.limits import MIB
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.problems import Problems, sample_of

MAX_SAMPLES = 4096
MAX_BYTES = 256 * MIB
BATCH = 256
#: How long a batch that is not full waits for more lines. Files fill it at once; a slow pipe need not.
_LINGER_S = 0.02
_LINE_BITS = 40

Item = Sample | VerificationResult | InputError


class Feed:
    """What the lines hold: samples, errors, and, where `results_too`, records that are results already."""

    def __init__(
        self, lines: Lines, settings: Settings, *, results_too: bool = False, problems: Problems | None = None
    ) -> None:
        self._lines = lines
        self._settings = settings
        self._problems = problems
        self._results_too = results_too
        self._seen: dict[bytes, int] = {}
        self._sources: list[str] = []
        self._items: deque[Item] = deque()
        self._sizes: dict[str, int] = {}
        self._held_bytes = 0
        self._room = threading.Condition()
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._stopped = False
        self._failure: Exception | None = None
        self.read = 0
        self.finished = False
        # A daemon: reading a terminal or a pipe cannot be interrupted, and must not keep the process alive.
        threading.Thread(target=self._run, name="scalebox-input", daemon=True).start()

    def expected(self) -> float | None:
        """Return how many samples there are in all: exact once all is read, before that by the bytes read."""
        if self.finished:
            return self.read
        fraction = self._lines.fraction()
        return self.read / fraction if fraction else None

    async def batch(self) -> list[Item]:
        """Wait for the next items, at most BATCH; an empty list is the end."""
        self._ready.clear()
        while not self._items and not self.finished:
            await self._ready.wait()
            self._ready.clear()
        if len(self._items) < BATCH and not self.finished:
            await asyncio.sleep(_LINGER_S)
        with self._room:
            batch = [self._items.popleft() for _ in range(min(BATCH, len(self._items)))]
        if not batch and self._failure:
            raise self._failure
        return batch

    def release(self, sample_id: str) -> None:
        """Give back the room of a finished sample."""
        with self._room:
            self._held_bytes -= self._sizes.pop(sample_id, 0)
            self._room.notify()

    def stop(self) -> None:
        """Let the thread end; what it has read so far is dropped."""
        with self._room:
            self._stopped = True
            self._room.notify()

    def _run(self) -> None:
        try:
            for line in self._lines:
                self._put(self._item(line), len(line.data))
                if self._stopped:
                    return
        except Exception as error:  # handed to the event loop, which raises it
            self._failure = error
        finally:
            with self._room:
                self.finished = True
                self._wake()

    def _item(self, line: Line) -> Item:
        if line.error is not None:
            return line.error
        try:
            raw = decode_object(line.data)
            if "verdict" in raw and "tests" not in raw:
                return _read_result(raw, wanted=self._results_too)
            sample = sample_of(raw, settings=self._settings, problems=self._problems)
            self._check_unique(sample.id, line)
        except InputError as error:
            return error.at(line.source, line.number)
        return sample

    def _check_unique(self, sample_id: str, line: Line) -> None:
        # Digests and packed places: a fraction of what a million long ids would take.
        if not self._sources or self._sources[-1] != line.source:
            self._sources.append(line.source)
        place = (len(self._sources) - 1) << _LINE_BITS | line.number
        first = self._seen.setdefault(hashlib.blake2b(sample_id.encode(), digest_size=16).digest(), place)
        if first != place:
            source, number = self._sources[first >> _LINE_BITS], first & ((1 << _LINE_BITS) - 1)
            where = f"line {number}" if source == line.source else f"{source}:{number}"
            raise InputError(f"{where} has this id too", field="id", mend="give each sample its own")

    def _put(self, item: Item, size: int) -> None:
        with self._room:
            if isinstance(item, Sample):
                self._room.wait_for(lambda: self._stopped or self._has_room(size))
                self._sizes[item.id] = size
                self._held_bytes += size
                self.read += 1
            self._items.append(item)
            if len(self._items) == 1:
                self._wake()

    def _has_room(self, size: int) -> bool:
        if not self._sizes:
            return True
        return len(self._sizes) < MAX_SAMPLES and self._held_bytes + size <= MAX_BYTES

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._ready.set)
        except RuntimeError:  # the loop is closed: nobody waits any more
            self._stopped = True


def _read_result(raw: Mapping[str, Any], *, wanted: bool) -> VerificationResult:
    if not wanted:
        raise InputError("is a result, no sample", mend="results can only be explained: --explain ID")
    try:
        return msgspec.convert(raw, VerificationResult)
    except msgspec.ValidationError as error:
        raise InputError(f"is no result: {error}") from None
