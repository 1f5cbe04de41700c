"""What of the machine a jail shows, and which user it runs as."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from scalebox.sandbox.linux import calls, ids, tree


def test_links_on_the_way_are_made_again(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "lib").mkdir(parents=True)
    (real / "inner").symlink_to("lib")
    (tmp_path / "near").symlink_to("real")
    (tmp_path / "far").symlink_to(tmp_path / "near")
    (tmp_path / "up").symlink_to("real/../real/lib")
    plan = tree.plan([str(tmp_path / "far/lib"), str(tmp_path / "up")])
    assert str(real / "lib") in plan.binds
    assert plan.links[str(tmp_path / "far")] == str(tmp_path / "near")
    assert plan.links[str(tmp_path / "near")] == "real"
    assert plan.links[str(tmp_path / "up")] == "real/../real/lib"


def test_what_lies_below_a_shown_folder_is_shown_once(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/link").symlink_to("b")
    plan = tree.plan([str(tmp_path / "a/link"), str(tmp_path / "a"), str(tmp_path / "a/b"), "/usr/bin"])
    assert [path for path in plan.binds if path.startswith(str(tmp_path))] == [str(tmp_path / "a")]
    assert str(tmp_path / "a/link") not in plan.links
    assert "/usr/bin" not in plan.binds


@pytest.mark.parametrize("path", ["/", "//", "/usr/..", "/proc", "/dev", "usr", "/proc/self/root"])
def test_the_whole_machine_is_never_shown(path: str) -> None:
    with pytest.raises(OSError, match="cannot be shown") as caught:
        tree.plan([path])
    assert caught.value.errno == errno.EINVAL


def test_loops_of_links_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="a: ") as caught:
        tree.plan([str(tmp_path / "a")])
    assert caught.value.errno == errno.ELOOP


def test_missing_paths_are_errors_and_missing_system_folders_are_not(tmp_path: Path) -> None:
    assert "/usr" in tree.plan([]).binds
    with pytest.raises(FileNotFoundError):
        tree.plan([str(tmp_path / "none")])


@pytest.mark.parametrize(("size", "inodes"), [(0, 1024), (100 << 20, 12800), (1 << 40, 65536)])
def test_inodes_are_bounded(size: int, inodes: int) -> None:
    assert tree.inodes_for(size) == inodes


def test_old_kernels_get_one_remount_for_each_mount_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    shown, inner, other = str(tmp_path), f"{tmp_path}/with blank", f"{tmp_path}x"
    (tmp_path / "with blank").mkdir()
    lines = [f"1 2 0:1 / {path} rw - tmpfs t rw" for path in (shown, inner.replace(" ", "\\040"), other)]
    table.write_text("\n".join(lines) + "\n")

    def refuse(path: str) -> None:
        raise OSError(errno.ENOSYS, path)

    made: list[tuple[str, int]] = []
    monkeypatch.setattr(calls, "protect_tree", refuse)
    monkeypatch.setattr(calls, "mount", lambda _source, target, _kind, flags: made.append((target, flags)))
    tree.protect(shown, str(table))
    assert [target for target, _ in made] == [shown, inner]
    wanted = calls.MS_REMOUNT | calls.MS_BIND | calls.MS_RDONLY | calls.MS_NOSUID | calls.MS_NODEV
    assert all(flags & wanted == wanted for _, flags in made)


@pytest.mark.parametrize(
    ("id_map", "pid", "chosen"),
    [
        ("0 0 4294967295\n", 1234, 1_000_001_234),
        ("0 100000 65536\n", 7, 20_007),
        ("0 100000 65536\n", 4_000_000, 20_000 + 4_000_000 % 45_534),
        ("1000 1000 1\n", 99, 1000),
        ("0 1000 1\n1 100000 65536\n", 5, 20_005),
    ],
)
def test_jail_user_is_one_that_the_machine_maps(id_map: str, pid: int, chosen: int) -> None:
    assert ids.pick(id_map, pid) == chosen


def test_jail_user_is_nobody_s() -> None:
    if os.geteuid() == 0:
        assert ids.jail_id() >= 1000
