"""Whose samples go to the engine next. No I/O, no clock: `Turns` is told what happens and says what to do.

The engine is kept filled up to a window of samples and no further, so that who comes late finds it all but empty.
The window is shared by the clients that have work, in equal parts; of a client's batches, each has its turn.
"""

from __future__ import annotations

import math
from collections import OrderedDict

import msgspec


class _Client(msgspec.Struct):
    waiting: OrderedDict[str, int]
    in_flight: int = 0


class Turns:
    """The samples of all clients that wait or are in the engine, as numbers."""

    def __init__(self) -> None:
        self._clients: OrderedDict[str, _Client] = OrderedDict()

    def add(self, client: str, batch: str, samples: int) -> None:
        """Have samples of a batch wait."""
        if samples:
            waiting = self._clients.setdefault(client, _Client(OrderedDict())).waiting
            waiting[batch] = waiting.get(batch, 0) + samples

    def drop(self, client: str, batch: str) -> None:
        """Have samples of a batch wait no more; those in the engine are still there."""
        if client in self._clients:
            self._clients[client].waiting.pop(batch, None)
            self._tidy(client)

    def take(self, window: int) -> tuple[str, str, int] | None:
        """Return a client, a batch of it, and how many samples of that go to the engine now; None for none.

        The client with the fewest samples in the engine comes first, and none gets more than its share of the window.
        A slice is not taken before there is room for a quarter of the share: small slices cost most.
        """
        share = max(1, window // max(1, len(self._clients)))
        ready = [(name, each) for name, each in self._clients.items() if each.waiting]
        if not ready:
            return None
        name, client = min(ready, key=lambda pair: pair[1].in_flight)  # the first of equals: the longest not served
        batch, samples = next(iter(client.waiting.items()))
        room = share - client.in_flight
        if room < min(math.ceil(share / 4), samples):
            return None
        taken = min(samples, room, max(1, math.ceil(share / 2)))
        client.in_flight += taken
        del client.waiting[batch]
        if samples > taken:
            client.waiting[batch] = samples - taken
        self._clients.move_to_end(name)
        return name, batch, taken

    def gone(self, client: str, samples: int = 1) -> None:
        """Note that samples of a client have left the engine."""
        self._clients[client].in_flight -= samples
        self._tidy(client)

    def entered(self, client: str, samples: int) -> None:
        """Note that samples of a client went to the engine out of turn."""
        self._clients.setdefault(client, _Client(OrderedDict())).in_flight += samples

    def _tidy(self, name: str) -> None:
        client = self._clients[name]
        if not client.waiting and not client.in_flight:
            del self._clients[name]


class Pace:
    """How many samples the engine needs at hand: what its workers do in about `seconds`."""

    def __init__(self, workers: int, seconds: float = 0.25, *, least: int = 4, most: int = 2048) -> None:
        self._workers = workers
        self._seconds = seconds
        self._least = least * workers
        self._most = max(most, self._least)
        self._mean_s = 0.05

    def learn(self, seconds: float) -> None:
        """Note how long a worker was busy with a sample."""
        self._mean_s += (seconds - self._mean_s) / 64

    @property
    def window(self) -> int:
        """Samples to have in the engine."""
        return max(self._least, min(self._most, round(self._workers * self._seconds / max(self._mean_s, 1e-6))))

    def seconds_for(self, samples: int) -> float:
        """Return about how long so many samples take."""
        return samples * self._mean_s / self._workers
