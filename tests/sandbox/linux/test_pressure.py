"""What is read of the machine's load, from files as a kernel writes them, and where it writes none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scalebox.sandbox.linux import pressure
from scalebox.sandbox.linux.pressure import Load, Meter

CPUS = os.cpu_count() or 1
TICK = os.sysconf("SC_CLK_TCK")


class Kernel:
    """A /proc and a control group in a folder, and a clock."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.proc, self.cgroup, self.now = folder / "proc", folder / "group", 100.0
        (self.proc / "pressure").mkdir(parents=True)
        self.cgroup.mkdir()
        monkeypatch.setattr(pressure, "_now", lambda: self.now)
        self.say(self.proc / "loadavg", "1.0 1.0 1.0 1/99 7\n")
        self.stolen(0.0)

    def say(self, file: Path, text: str) -> None:
        file.write_text(text)

    def waits(self, file: Path, share: float, total_s: float) -> None:
        line = f"avg10={share * 100:.2f} avg60=0.00 avg300=0.00 total={total_s * 1e6:.0f}\n"
        self.say(file, f"some {line}full {line}")

    def stolen(self, seconds: float) -> None:
        self.say(self.proc / "stat", f"cpu  1 2 3 4 5 6 7 {seconds * TICK:.0f} 0 0\ncpu0 1 2 3 4\n")

    def meter(self) -> Meter:
        return Meter(self.proc, self.cgroup)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(tmp_path, monkeypatch)


def test_the_pressure_of_the_window_counts_and_not_what_was_before(kernel: Kernel) -> None:
    file, meter = kernel.proc / "pressure/cpu", kernel.meter()
    kernel.waits(file, 0.9, 50.0)
    meter.mark()
    kernel.now += 4.0
    kernel.waits(file, 0.9, 50.4)
    assert meter.load().pressure == pytest.approx(0.1)
    kernel.now += 4.0
    kernel.waits(file, 0.9, 53.4)
    load = meter.load()
    assert load.pressure == pytest.approx(0.75)
    assert load.busy
    assert str(load) == "CPU pressure 75%"


@pytest.mark.parametrize("seconds", [0.05, 3600.0], ids=["short", "long ago"])
def test_without_a_window_of_use_the_last_ten_seconds_count(kernel: Kernel, seconds: float) -> None:
    file, meter = kernel.proc / "pressure/cpu", kernel.meter()
    kernel.waits(file, 0.5, 50.0)
    assert meter.load().pressure == pytest.approx(0.5)
    kernel.now += seconds
    kernel.waits(file, 0.4, 50.0)
    assert meter.load().pressure == pytest.approx(0.4)


def test_a_quota_of_the_own_group_is_pressure_too(kernel: Kernel) -> None:
    kernel.waits(kernel.proc / "pressure/cpu", 0.0, 1.0)
    kernel.waits(kernel.cgroup / "cpu.pressure", 0.6, 1.0)
    assert kernel.meter().load().busy


def test_the_run_queue_counts_where_no_pressure_is_kept(kernel: Kernel) -> None:
    kernel.say(kernel.proc / "loadavg", f"1.0 1.0 1.0 {2 * CPUS + 1}/99 7\n")
    load = kernel.meter().load()
    assert load == Load(None, 0.0, 2.0)
    assert load.busy
    assert "2.0 tasks per CPU" in str(load)
    kernel.waits(kernel.proc / "pressure/cpu", 0.0, 1.0)
    assert not kernel.meter().load().busy


def test_stolen_time_makes_busy(kernel: Kernel) -> None:
    meter = kernel.meter()
    meter.mark()
    kernel.now += 10.0
    kernel.stolen(2.0 * CPUS)
    load = meter.load()
    assert load.stolen == pytest.approx(0.2)
    assert load.busy
    assert "20% stolen" in str(load)


@pytest.mark.parametrize("rubbish", ["", "some\n", "some avg10=x total=1\n", "full avg10=1 total=1\n", "\0"])
def test_what_makes_no_sense_counts_as_none(kernel: Kernel, rubbish: str) -> None:
    for file in ("pressure/cpu", "loadavg", "stat"):
        kernel.say(kernel.proc / file, rubbish)
    assert kernel.meter().load() == Load(None, 0.0, 0.0)


def test_a_machine_without_any_of_it(tmp_path: Path) -> None:
    assert Meter(tmp_path / "none", tmp_path).load() == Load(None, 0.0, 0.0)


def test_this_machine_can_be_read() -> None:
    load = Meter().load()
    assert load.pressure is None or 0 <= load.pressure <= 1
    assert 0 <= load.stolen <= 1
    assert load.queue >= 0
