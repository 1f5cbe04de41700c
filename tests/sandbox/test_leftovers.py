"""The sweeper: it removes what the dead left, and touches nothing of the living, whatever they do meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hostile.outside import comes_true
from tests.sandbox.stage import NOBODY, make_library, public_interpreter

from scalebox import ScaleBoxClient, Settings
from scalebox.sandbox import leftovers, tiers
from scalebox.sandbox.leftovers import LeftOver, sweep, sweep_behind
from scalebox.sandbox.linux import calls, cgroup, owner
from scalebox.sandbox.linux.cgroup import CaseCgroup

_PREFIX = owner.PREFIX
_HOUR_AGO = time.time() - 3600
#: Starts a process that bears the mark of this one, tells its number, makes a group, and is gone.
_LEAVE = """
import os, subprocess, sys
from scalebox.sandbox.linux import owner
owner.PREFIX = sys.argv[1]
from scalebox.sandbox.linux.cgroup import CaseCgroup
wait, null = "import signal; signal.pause()", subprocess.DEVNULL
child = subprocess.Popen([sys.executable, "-X", owner.argument(), "-c", wait], stdin=null, stdout=null)
group = CaseCgroup.create("lost")
print(os.getpid(), child.pid, *(group.procs_files if group else ()), flush=True)
os._exit(0)
"""


def dead(name: str = "dead") -> str:
    """Return a name with the mark of a process that is gone."""
    mark = owner.tagged(name)
    return mark.replace(f"-{os.getpid()}-", "-1-")


def names(found: list[LeftOver], kind: str) -> list[str]:
    return sorted(one.name for one in found if one.kind == kind)


def below(found: list[LeftOver], folder: Path) -> list[str]:
    """Return the names of files found; the machine may hold what others left."""
    return sorted(Path(one.name).name for one in found if one.kind == "file" and Path(one.name).parent == folder)


@pytest.fixture(autouse=True)
def _marks_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use marks that other engines of the machine do not know: they sweep, too."""
    monkeypatch.setattr(owner, "PREFIX", f"scalebox-test{os.getpid()}-")
    monkeypatch.setattr(leftovers, "_ENDING_S", 0.2)


def test_what_launches_a_jail_says_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped, it would stay for ever when its owner is killed: nothing else of a jail is marked by then."""
    started: list[list[str]] = []

    class Started(Exception):
        pass

    def start(words: list[str], **_: object) -> None:
        started.append(words)
        raise Started

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(Started):
        tiers.start("process", tiers.LaunchSpec(argv=[sys.executable], env={}), {}, trial=True)
    monkeypatch.undo()
    monkeypatch.setattr(owner, "PREFIX", f"scalebox-test{os.getpid()}-")
    words = [*started[0][:3], "-c", "import signal; signal.pause()"]
    with subprocess.Popen(words) as launcher:
        assert comes_true(lambda: owner.mark_of_process(launcher.pid) is not None)
        mark = owner.mark_of_process(launcher.pid)
        launcher.kill()
    assert mark is not None
    assert (mark.pid, mark.dead) == (os.getpid(), False)


# -- files ---------------------------------------------------------------------------------------------------------


def test_files_of_the_dead_go_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / owner.tagged("mine")
    gone = tmp_path / dead()
    elsewhere = tmp_path / f"{owner.PREFIX}n1-1-1-old"
    elsewhere_new = tmp_path / f"{owner.PREFIX}n1-1-1-new"
    elsewhere_used = tmp_path / f"{owner.PREFIX}n1-1-1-used"
    foreign = tmp_path / "scalebox-notes"
    for folder in (mine, gone, elsewhere, elsewhere_new, elsewhere_used, foreign):
        (folder / "work").mkdir(parents=True)
    (gone / "work").chmod(0)
    listener = socket.socket(socket.AF_UNIX)
    with listener:
        listener.bind(dead("socket"))  # a whole path may be too long
    for folder in (mine, elsewhere, elsewhere_used, foreign):
        os.utime(folder, (_HOUR_AGO, _HOUR_AGO))
    lock = os.open(elsewhere_used, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)

    expected = sorted([gone.name, dead("socket"), elsewhere.name])
    looked = sweep(str(tmp_path), dry_run=True)
    assert below(looked, tmp_path) == expected
    assert not any(one.removed for one in looked)
    assert gone.exists()

    swept = sweep(str(tmp_path))
    assert below(swept, tmp_path) == expected
    assert all(one.removed and not one.why for one in swept if Path(one.name).parent == tmp_path)
    kept = [mine.name, elsewhere_new.name, elsewhere_used.name, foreign.name]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)

    os.close(lock)
    assert below(sweep(str(tmp_path)), tmp_path) == [elsewhere_used.name]


def test_a_tree_goes_however_deep_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    gone = tmp_path / dead()
    gone.mkdir()
    os.symlink(outside, tmp_path / dead("link"))
    fd = os.open(gone, os.O_RDONLY)
    for level in range(3000):
        os.symlink(outside, "link", dir_fd=fd)
        os.mkdir("folder", dir_fd=fd)
        inner = os.open("folder", os.O_RDONLY, dir_fd=fd)
        if level % 1000 == 500:
            os.chmod("folder", 0, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    assert below(sweep(str(tmp_path)), tmp_path) == sorted([gone.name, dead("link")])
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (outside / "kept").is_dir()


# -- mounts --------------------------------------------------------------------------------------------------------


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A folder of a dead owner, with a file system mounted in it that holds a file."""
    point = tmp_path / dead() / "a b"
    point.mkdir(parents=True)
    try:
        calls.mount("none", str(point), "tmpfs")
    except OSError as error:
        pytest.skip(f"may not mount: {error}")
    (point / "file").touch()
    yield point
    with contextlib.suppress(OSError):
        calls.unmount(str(point), calls.MNT_DETACH)


def test_mounts_of_the_dead_go_and_then_their_folders(tmp_path: Path, mounted: Path) -> None:
    swept = sweep(str(tmp_path))
    assert str(mounted) in names(swept, "mount")
    assert str(mounted) not in leftovers._mount_points()
    assert list(tmp_path.iterdir()) == []


def test_what_is_mounted_is_not_emptied(tmp_path: Path, mounted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "_mounts", lambda *_, **__: [])  # as where unmounting is refused
    (one,) = [one for one in sweep(str(tmp_path)) if one.kind == "file" and Path(one.name).parent == tmp_path]
    assert not one.removed
    assert "mounted" in one.why
    assert (mounted / "file").exists()


# -- processes and groups ------------------------------------------------------------------------------------------


class Remains:
    """What a process left that is gone: another one that bears its mark, and groups."""

    def __init__(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c", _LEAVE, owner.PREFIX], stdout=subprocess.PIPE, text=True, check=True, timeout=60
        )
        owner_pid, child, *groups = done.stdout.split()
        self.owner, self.child = int(owner_pid), int(child)
        self.groups = [os.path.dirname(path) for path in groups]

    def child_lives(self) -> bool:
        return owner.start_time(self.child) is not None

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGKILL)
        for folder in self.groups:
            with contextlib.suppress(OSError):
                os.rmdir(folder)


@pytest.fixture
def remains() -> Iterator[Remains]:
    made = Remains()
    yield made
    made.end()


@pytest.mark.parametrize("stopped", [False, True], ids=["waiting", "stopped"])
def test_processes_and_groups_of_the_dead_go(remains: Remains, tmp_path: Path, *, stopped: bool) -> None:
    if stopped:
        os.kill(remains.child, signal.SIGSTOP)
    looked = sweep(str(tmp_path), dry_run=True)
    assert str(remains.child) in names(looked, "process")
    assert set(remains.groups) <= set(names(looked, "cgroup"))
    assert remains.child_lives()
    swept = sweep(str(tmp_path))
    assert str(remains.child) in names(swept, "process")
    assert not remains.child_lives()
    assert not any(map(os.path.exists, remains.groups))


def test_groups_are_found_wherever_they_are(tmp_path: Path) -> None:
    """An engine that ran in a group of its own, as a service does, made its groups there."""
    try:
        home = cgroup.find_home("pids").folder
        aside = Path(home, f"aside-{os.getpid()}")
        (aside / "deep" / dead()).mkdir(parents=True)
    except OSError as error:
        pytest.skip(f"may make no control group: {error}")
    try:
        swept = names(sweep(str(tmp_path)), "cgroup")
        assert str(aside / "deep" / dead()) in swept
        assert list((aside / "deep").glob(f"{owner.PREFIX}*")) == []
    finally:
        for folder in (aside / "deep" / dead(), aside / "deep", aside):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def test_groups_of_another_namespace_go_when_old_and_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{owner.PREFIX}n1-1-1-empty").mkdir()
    (tmp_path / f"{owner.PREFIX}n1-1-1-full" / "process").mkdir(parents=True)
    (tmp_path / f"{owner.PREFIX}n1-1-1-new").mkdir()
    for name in ("empty", "full"):
        os.utime(tmp_path / f"{owner.PREFIX}n1-1-1-{name}", (_HOUR_AGO, _HOUR_AGO))
    monkeypatch.setattr(cgroup, "_mounts", lambda: {"": cgroup.Mount(str(tmp_path), "/")})
    swept = sweep(str(tmp_path / "none"))
    assert names(swept, "cgroup") == [str(tmp_path / f"{owner.PREFIX}n1-1-1-empty")]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{owner.PREFIX}n1-1-1-full",
        f"{owner.PREFIX}n1-1-1-new",
    ]


def test_what_belongs_to_the_left_over_is_left_over(remains: Remains, tmp_path: Path) -> None:
    """A worker that outlived its engine lives, and so do its jails: one look shows all of them, one sweep ends them."""
    start = owner.start_time(remains.child)
    mine = owner.mark_of(owner.tagged("x"))
    assert mine is not None
    folder = tmp_path / f"{owner.PREFIX}n{mine.namespace}-{remains.child}-{start}-scratch"
    folder.mkdir()
    assert below(sweep(str(tmp_path), dry_run=True), tmp_path) == [folder.name]
    assert below(sweep(str(tmp_path)), tmp_path) == [folder.name]
    assert not folder.exists()


def test_behind_one_process_only_its_own_goes(remains: Remains, tmp_path: Path) -> None:
    other = Remains()
    try:
        for pid in (remains.owner, os.getpid()):
            (tmp_path / owner.tagged("x").replace(f"-{os.getpid()}-", f"-{pid}-")).mkdir()
        sweep_behind(remains.owner, str(tmp_path))
        assert not remains.child_lives()
        assert not any(map(os.path.exists, remains.groups))
        assert [path.name for path in tmp_path.iterdir()] == [owner.tagged("x")]
        assert other.child_lives()
        assert all(map(os.path.exists, other.groups))
        sweep_behind(os.getpid(), str(tmp_path))
        assert [path.name for path in tmp_path.iterdir()] == [owner.tagged("x")], "who asks, lives"
    finally:
        other.end()


def test_an_ordinary_user_leaves_what_is_others_alone(remains: Remains) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to be two users")
    library = make_library()
    try:
        (library / dead("of-root")).mkdir()
        code = f"""if True:
            from scalebox.sandbox.leftovers import sweep
            from scalebox.sandbox.linux import owner
            owner.PREFIX = {owner.PREFIX!r}
            for dry_run in (True, False):
                print(*(one.name for one in sweep({str(library)!r}, dry_run=dry_run)))
        """
        env = {"PYTHONPATH": str(library)}
        command = [public_interpreter(), "-c", code]
        done = subprocess.run(
            command, user=NOBODY, env=env, cwd="/", capture_output=True, text=True, check=True, timeout=60
        )
        found = done.stdout.split()
        assert not {str(remains.child), *remains.groups, str(library / dead("of-root"))} & set(found)
        assert remains.child_lives()
        assert (library / dead("of-root")).exists()
    finally:
        shutil.rmtree(library)


# -- beside the living ---------------------------------------------------------------------------------------------

_SAMPLE = {"code": "print(int(input()) + 1)\n", "tests": [{"stdin": "1\n", "stdout": "2\n"}] * 2}


@pytest.mark.parametrize("tier", ["namespace", "process"])
def test_a_sweeper_without_rest_beside_a_living_engine_takes_nothing(
    tier: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers come and go, and with them all that bears marks; each sample is right, and no worker is lost."""
    monkeypatch.setattr(owner, "PREFIX", _PREFIX)
    done, swept = threading.Event(), list[LeftOver]()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - samples run as a user of their own
        settings = Settings(workers=2, tier=tier, recycle_after=3, scratch_dir=folder, interpreter=public_interpreter())

        def keep_sweeping() -> None:
            while not done.is_set():
                swept.extend(sweep(folder))

        sweeper = threading.Thread(target=keep_sweeping)
        sweeper.start()
        try:
            with ScaleBoxClient(settings=settings) as client:
                samples = [{**_SAMPLE, "id": str(n), "code": f"{_SAMPLE['code']}# {n}\n"} for n in range(12)]
                results = client.fetch(client.submit_batch(samples))
        finally:
            done.set()
            sweeper.join()
        assert {result.verdict.value for result in results} == {"passed"}
        assert "was lost" not in caplog.text
        assert below(swept, Path(folder)) == []
        assert os.listdir(folder) == []


def test_an_engine_sweeps_at_its_start(remains: Remains, tmp_path: Path) -> None:
    (tmp_path / dead()).mkdir()
    with ScaleBoxClient(settings=Settings(workers=1, scratch_dir=str(tmp_path))) as client:
        client.fetch(client.submit("s", "print(1)", [{"stdin": "", "stdout": "1\n"}]))
        assert comes_true(lambda: not remains.child_lives())
        assert comes_true(lambda: not any(map(os.path.exists, remains.groups)))
        assert comes_true(lambda: not (tmp_path / dead()).exists())


def test_the_temporary_folder_is_where_the_system_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / dead()).mkdir()
    assert below(sweep(), tmp_path) == [dead()]


def test_a_group_is_where_it_was(tmp_path: Path) -> None:
    """What this process has made is still there after a sweep."""
    group = CaseCgroup.create("kept")
    if group is None:
        pytest.skip(f"may make no control group: {cgroup.why_not()}")
    try:
        assert not any(path.startswith(one.name) for one in sweep(str(tmp_path)) for path in group.procs_files)
        assert all(map(os.path.exists, group.procs_files))
    finally:
        assert group.remove()
