"""How many workers, on which cores."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scalebox.schedule import cores


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four physical cores with two threads each."""
    for cpu in range(8):
        topology = tmp_path / "cpus" / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text("0\n")
        (topology / "core_id").write_text(f"{cpu % 4}\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(8)))
    return tmp_path


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_threads_of_one_core_count_once(machine: Path) -> None:
    assert cores.worker_cores(cpus=machine / "cpus", cgroups=machine / "none") == [0, 1, 2, 3]


def test_affinity_is_kept(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {2, 5, 6})
    assert cores.worker_cores(cpus=machine / "cpus", cgroups=machine / "none") == [2, 5]


def test_without_topology_every_cpu_is_a_core(machine: Path) -> None:
    assert cores.physical_cores(machine / "none") == list(range(8))


def test_a_number_that_is_asked_for_is_spread_over_the_cores(machine: Path) -> None:
    assert cores.worker_cores(6, cpus=machine / "cpus") == [0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize(
    ("membership", "files", "quota"),
    [
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000", "a/cpu.max": "250000 100000"}, 2.5),
        ("0::/a/b\n", {"cpu.max": "50000 100000"}, 0.5),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000"}, None),
        ("4:cpu,cpuacct:/x\n0::/\n", {"cpu,cpuacct/x/cpu.cfs_quota_us": "300000",
                                      "cpu,cpuacct/x/cpu.cfs_period_us": "100000"}, 3.0),
        ("4:cpu:/x\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ("4:cpuset:/x\nrubbish\n", {}, None),
    ],
)  # fmt: skip
def test_quota(tmp_path: Path, membership: str, files: dict[str, str], quota: float | None) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    write(tmp_path / "membership", membership)
    assert cores.cpu_quota(tmp_path, tmp_path / "membership") == quota


def test_a_quota_bounds_the_workers(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for quota, count in ((2.5, 2), (0.3, 1), (16.0, 4)):
        monkeypatch.setattr(cores, "cpu_quota", lambda _root, quota=quota: quota)
        assert len(cores.worker_cores(cpus=machine / "cpus")) == count
