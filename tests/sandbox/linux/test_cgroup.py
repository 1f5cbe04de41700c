"""Control groups: the real ones where we may make some, and version 2 played by plain files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalebox.sandbox.linux import cgroup
from scalebox.sandbox.linux.cgroup import CaseCgroup

JOIN = "import sys\nfor f in sys.argv[1:]: open(f, 'w').write('0')\n"
MIB = 1 << 20


@pytest.fixture
def group() -> Iterator[CaseCgroup]:
    made = CaseCgroup.create("test")
    if made is None:
        pytest.skip(f"may make no control group: {cgroup.why_not()}")
    yield made
    assert made.remove()


def in_group(group: CaseCgroup, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", JOIN + code, *group.procs_files], capture_output=True, text=True, check=False, timeout=60
    )


def test_memory_is_bounded_and_the_kill_is_counted(group: CaseCgroup) -> None:
    group.set_memory(64 * MIB)
    before = group.oom_kills()
    assert in_group(group, "x = bytearray(16 << 20)").returncode == 0
    assert group.oom_kills() == before
    assert in_group(group, "x = bytearray(256 << 20)").returncode == -9
    assert group.oom_kills() == before + 1
    assert group.peak() <= 64 * MIB


def test_limit_moves_both_ways(group: CaseCgroup) -> None:
    for size in (64, 512, 128, 32, 1024):
        group.set_memory(size * MIB)
    assert in_group(group, "x = bytearray(256 << 20)").returncode == 0


def test_a_grandchild_s_death_is_counted(group: CaseCgroup) -> None:
    group.set_memory(64 * MIB)
    before = group.oom_kills()
    code = "import os\npid = os.fork()\nif not pid: bytearray(256 << 20)\nos.waitpid(pid, 0)"
    assert in_group(group, code).returncode == 0
    assert group.oom_kills() == before + 1


def test_processes_are_bounded(group: CaseCgroup) -> None:
    group.set_pids(3)
    code = """
import os, signal
try:
    for i in range(5):
        if not os.fork():
            os.closerange(0, 3)
            signal.pause()
except OSError:
    print(i)
"""
    assert in_group(group, code).stdout == "2\n"


def test_remove_kills_what_is_left(group: CaseCgroup) -> None:
    sleeper = subprocess.Popen(
        [sys.executable, "-c", JOIN + "print(flush=True); sys.stdin.read()", *group.procs_files],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with sleeper:
        assert sleeper.stdout is not None
        sleeper.stdout.read(1)
        folders = [os.path.dirname(path) for path in group.procs_files]
        assert group.remove()
        assert sleeper.wait(30) == -9
    assert not any(os.path.exists(folder) for folder in folders)


def unified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, handed_on: dict[str, str]) -> None:
    """Play a version 2 hierarchy at `tmp_path` in which `handed_on` are the groups' subtree controllers."""
    for path, controllers in handed_on.items():
        folder = tmp_path / path.strip("/")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.procs").touch()
        (folder / "cgroup.subtree_control").write_text(controllers)
    monkeypatch.setattr(cgroup, "_own_groups", lambda: {"": own})
    monkeypatch.setattr(cgroup, "_mounts", lambda: {"": cgroup.Mount(str(tmp_path), "/")})


def test_version_2_takes_the_nearest_group_that_hands_controllers_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unified(
        tmp_path,
        monkeypatch,
        "/user/app/x.scope",
        {"/": "", "/user": "", "/user/app": "cpu memory pids", "/user/app/x.scope": ""},
    )
    busy = tmp_path / "user/app/x.scope/cgroup.subtree_control"
    busy.unlink()
    busy.mkdir()  # writing fails, as in a group that holds processes
    assert cgroup.find_home("memory") == (2, str(tmp_path / "user/app"))


def test_version_2_without_a_willing_group_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unified(tmp_path, monkeypatch, "/a", {"/": "", "/a": ""})
    for path in (tmp_path, tmp_path / "a"):
        (path / "cgroup.subtree_control").unlink()
    assert CaseCgroup.create("x") is None
    assert "hands memory on" in cgroup.why_not()


def test_version_2_files(tmp_path: Path) -> None:
    for name, text in {
        "memory.max": "max\n", "memory.current": "4096\n", "memory.peak": "8192\n", "memory.swap.max": "max\n",
        "memory.events": "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n",
        "pids.max": "max\n", "cgroup.procs": "",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    home = cgroup.Home(2, str(tmp_path))
    group = CaseCgroup(home, home)
    group.set_memory(1234567)
    group.set_pids(42)
    assert (group.usage(), group.peak(), group.oom_kills()) == (4096, 8192, 2)
    assert (tmp_path / "memory.max").read_text() == "1234567"
    assert (tmp_path / "memory.swap.max").read_text().startswith("0")
    assert (tmp_path / "pids.max").read_text().startswith("42")
    assert group.procs_files == [str(tmp_path / "cgroup.procs")]
    for path in list(tmp_path.iterdir()):
        path.unlink()
    assert group.remove()


@pytest.mark.parametrize(
    ("path", "root", "below"),
    [("/", "/", ""), ("/a/b", "/", "/a/b"), ("/docker/x", "/docker/x", ""),
     ("/docker/x/y", "/docker/x", "/y"), ("/docker/xy", "/docker/x", "/docker/xy")],
)  # fmt: skip
def test_own_group_is_found_below_the_mount(path: str, root: str, below: str) -> None:
    assert cgroup.below(path, root) == below


def test_only_its_own_limit_makes_a_group_full(group: CaseCgroup) -> None:
    group.set_memory(64 * MIB)
    assert in_group(group, "x = bytearray(16 << 20)").returncode == 0
    assert not group.was_full()
    assert in_group(group, "x = bytearray(256 << 20)").returncode == -9
    assert group.was_full()
    assert not group.was_full(), "told once"
    assert in_group(group, "x = bytearray(48 << 20)").returncode == 0
    group.set_memory(32 * MIB)
    assert not group.was_full(), "what was in use under another limit does not count"


def test_version_2_counts_what_its_own_limit_ends(tmp_path: Path) -> None:
    events = "low 0\nhigh 0\nmax 7\noom {}\noom_kill {}\noom_group_kill 0\n"
    for name in ("memory.max", "memory.current", "memory.swap.max", "pids.max", "cgroup.procs"):
        (tmp_path / name).write_text("0\n")
    (tmp_path / "memory.events").write_text(events.format(3, 2))
    home = cgroup.Home(2, str(tmp_path))
    group = CaseCgroup(home, home)
    assert not group.was_full()
    (tmp_path / "memory.events").write_text(events.format(3, 4))
    assert not group.was_full(), "killed for a group above"
    (tmp_path / "memory.events").write_text(events.format(4, 5))
    assert group.was_full()
    for path in list(tmp_path.iterdir()):
        path.unlink()
    assert group.remove()
