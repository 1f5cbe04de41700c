"""One engine for a long time (`make test-soak SOAK_S=3600`): every label right, and nothing grows.

It ends after so many seconds, or samples, whichever comes first: how fast the machine is does not matter.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.hostile.outside import comes_true, groups, left_files, ours
from tests.soak.mix import mix
from tests.soak.test_left_overs import Killer, nothing_left, resident_mib

from scalebox import ScaleBoxClient, Settings
from scalebox.sandbox.linux import owner
from scalebox.sandbox.linux.family import children

SOAK_S = float(os.environ.get("SCALEBOX_TEST_SOAK_S", "300"))
_MOST_SAMPLES = int(100 * SOAK_S)
_BATCH = 150
#: Shares of the time in which things come to rest, and of batches in which workers and agents are killed.
_WARM, _KILLS_EVERY = 0.25, 4
_KILLS_A_BATCH = 3
#: Of what a machine may do to samples: a doubt is no wrong label, but many would be none either.
_MOST_UNKNOWN = 0.02


class Held(NamedTuple):
    """What an engine holds of the machine: numbers, and memory in MiB."""

    descriptors: int
    workers_descriptors: int
    processes: int
    groups: int
    files: int
    mounts: int
    memory: float

    def grown(self, since: Held) -> list[str]:
        """Return what is more than it was; memory may grow by a fifth and 30 MiB."""
        found = [name for name, was, now in zip(self._fields[:-1], since, self, strict=False) if now > was]
        return found + (["memory"] if self.memory > 1.2 * since.memory + 30 else [])


def held() -> Held:
    """Look at this process and all that works for it."""
    workers = children(os.getpid())
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return Held(
        _descriptors(os.getpid()),
        sum(map(_descriptors, workers)),
        len(ours()),
        len(groups(workers)),
        len(left_files(workers)),
        sum(owner.PREFIX in line for line in mounts),
        resident_mib(),
    )


def _descriptors(pid: int) -> int:
    with suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))
    return 0


def most(looks: list[Held]) -> Held:
    return Held(*map(max, zip(*looks, strict=True)))


def verify(client: ScaleBoxClient, number: int, seen: set[int], *, kill: bool) -> Counter[str]:
    """Verify a batch, some of whose workers and agents are killed; return how many labels are in doubt."""
    mixed = mix(_BATCH, seed=1000 + number)
    every = _BATCH // (_KILLS_A_BATCH + 1)
    killer = Killer(seed=number, kills=_KILLS_A_BATCH if kill else 0, every=every, agents=bool(number % 2))
    verdicts: dict[str, str] = {}
    for count, result in enumerate(client.stream(client.submit_batch(mixed.records))):
        assert result.id not in verdicts, "one result each"
        verdicts[result.id] = result.verdict.value
        seen.update(children(os.getpid()) if count % 25 == 0 else ())
        killer(count)
    assert set(verdicts) == set(mixed.right), "a result each"
    wrong = mixed.wrong(verdicts)
    doubts = Counter(wrong.values())
    assert set(doubts) <= {"internal_error", "unknown"}, wrong
    assert doubts["internal_error"] <= 2 * len(killer.killed), wrong
    return doubts


@pytest.mark.soak
@pytest.mark.timeout(SOAK_S + 900)
def test_nothing_grows_and_every_label_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.monotonic()
    looks: list[tuple[float, Held]] = []
    doubts: Counter[str] = Counter()
    samples = 0
    with nothing_left() as seen:
        with ScaleBoxClient(settings=Settings(workers=2, recycle_after=400)) as client:
            while (passed := time.monotonic() - begun) < SOAK_S and samples < _MOST_SAMPLES:
                kill = len(looks) % _KILLS_EVERY == _KILLS_EVERY - 1
                doubts += verify(client, len(looks), seen, kill=kill)
                samples += _BATCH
                looks.append((passed / SOAK_S, held()))
            early = [look for share, look in looks if share < max(_WARM, looks[0][0])] or [looks[0][1]]
            last = held()
            limit = most(early)
            assert comes_true(lambda: not held().grown(limit), 60), (last.grown(limit), limit, last)
        with capsys.disabled():
            print(f"\nsoak: {samples} samples, {time.monotonic() - begun:.0f} s, {dict(doubts)}; {limit} → {last}")
    assert samples >= _BATCH
    assert doubts["unknown"] <= max(2, _MOST_UNKNOWN * samples), doubts
