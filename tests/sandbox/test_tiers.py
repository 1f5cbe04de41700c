"""Choosing a tier: what works here, what does not and why, and never less than was asked for."""

from __future__ import annotations

import errno
import importlib
import os
import time
from pathlib import Path

import pytest
from tests.sandbox.stage import Stage

from scalebox.core.errors import SandboxError
from scalebox.sandbox import probe, process, tiers
from scalebox.sandbox.linux import landlock, owner

CHOOSE = """
tier = tiers.choose({name!r})
seen["tier"] = tier.name
"""


def test_auto_takes_the_strongest(stage: Stage) -> None:
    assert stage.agent("auto", lines=CHOOSE.format(name="auto"))["tier"] == "namespace"


def test_auto_takes_the_process_tier_where_namespaces_are_refused(stage: Stage) -> None:
    seen = stage.agent("auto", lines=CHOOSE.format(name="auto"), deny=True)
    assert seen["tier"] == "process"
    assert seen["children"] == []


def test_asking_for_more_than_the_machine_has_is_an_error(stage: Stage) -> None:
    seen = stage.agent("namespace", lines=CHOOSE.format(name="namespace"), deny=True)
    assert "tier" not in seen
    assert seen["errno"] == errno.EPERM
    assert seen["step"] == ("create PID namespace" if stage.user == "root" else "create user namespace")
    assert seen["step"] in seen["error"]
    assert "seccomp" in seen["mend"]
    assert seen["children"] == []


def test_probe_says_what_a_tier_does_not_cover(stage: Stage) -> None:
    lines = "seen['notes'] = {name: tiers.find(name).probe().notes for name in tiers.names()}"
    notes = stage.agent("auto", lines=lines)["notes"]
    assert list(notes) == ["namespace", "process"], "the strongest first"
    assert all(notes.values())
    assert any("names, sizes" in note for note in notes["process"])


def test_unknown_tier_is_an_error() -> None:
    with pytest.raises(SandboxError, match="no isolation tier 'strong'") as caught:
        tiers.choose("strong")
    assert "namespace" in caught.value.mend


def test_every_tier_is_found_by_its_file_and_documents_itself() -> None:
    for name in tiers.names():
        module = importlib.import_module(f"scalebox.sandbox.{name}")
        tier: tiers.Tier = module.TIER
        assert tier.name == name
        assert "does not cover" in (module.__doc__ or "").replace("\n", " ")


@pytest.mark.parametrize(
    ("step", "number", "sysctls", "mend"),
    [
        ("create user namespace", errno.ENOSPC, {}, "user.max_user_namespaces"),
        ("create user namespace", errno.EPERM, {"user.max_user_namespaces": "0"}, "user.max_user_namespaces"),
        (
            "create user namespace",
            errno.EPERM,
            {"kernel.unprivileged_userns_clone": "0"},
            "unprivileged_userns_clone=1",
        ),
        ("map ids", errno.EPERM, {"kernel.apparmor_restrict_unprivileged_userns": "1"}, "AppArmor"),
        ("mount the root tmpfs", errno.EACCES, {"kernel.apparmor_restrict_unprivileged_userns": "1"}, "AppArmor"),
        ("create user namespace", errno.EPERM, {}, "seccomp"),
        ("create user namespace", errno.EINVAL, {}, "kernel"),
        ("use Landlock", errno.EOPNOTSUPP, {}, "CONFIG_SECURITY_LANDLOCK"),
    ],
)
def test_mend_follows_the_step_and_the_errno(step: str, number: int, sysctls: dict[str, str], mend: str) -> None:
    assert mend in probe.mend_for(step, number, sysctls)


def test_sweep_removes_what_the_dead_left_and_nothing_else(tmp_path: Path) -> None:
    mine = tmp_path / owner.tagged("mine")
    dead = tmp_path / mine.name.replace(f"-{os.getpid()}-", "-1-")
    elsewhere = tmp_path / "scalebox-n1-1-1-old"
    elsewhere_new = tmp_path / "scalebox-n1-1-1-new"
    foreign = tmp_path / "scalebox-notes"
    for folder in (mine, dead, elsewhere, elsewhere_new, foreign):
        (folder / "work").mkdir(parents=True)
    (dead / "work").chmod(0)
    hour_ago = time.time() - 3600
    for folder in (mine, elsewhere, foreign):
        os.utime(folder, (hour_ago, hour_ago))
    assert process.sweep(str(tmp_path)) == sorted([dead.name, elsewhere.name])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([mine.name, elsewhere_new.name, foreign.name])


def test_sweep_removes_a_tree_however_deep_and_follows_no_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    dead = tmp_path / owner.tagged("dead").replace(f"-{os.getpid()}-", "-1-")
    dead.mkdir()
    fd = os.open(dead, os.O_RDONLY)
    for level in range(3000):
        os.symlink(outside, "link", dir_fd=fd)
        os.mkdir("folder", dir_fd=fd)
        inner = os.open("folder", os.O_RDONLY, dir_fd=fd)
        if level % 1000 == 500:
            os.chmod("folder", 0, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    assert process.sweep(str(tmp_path)) == [dead.name]
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (outside / "kept").is_dir()


def test_process_tier_needs_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    process.probe_here.cache_clear()
    try:
        found = process.TIER.probe()
    finally:
        process.probe_here.cache_clear()
    assert not found.ok
    assert found.step == "use Landlock"


@pytest.mark.parametrize(("version", "told"), [(1, {"TCP", "signals"}), (4, {"signals"}), (6, set())])
def test_process_tier_tells_what_its_landlock_lacks(
    monkeypatch: pytest.MonkeyPatch, version: int, told: set[str]
) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: version)
    process.probe_here.cache_clear()
    try:
        notes = process.TIER.probe().notes
    finally:
        process.probe_here.cache_clear()
    assert {
        word for word in ("TCP", "signals") if any(f"ABI {version}" in note and word in note for note in notes)
    } == told
