"""The daemon of a node: joined or started, one for all, and nothing that its end leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.client.daemon_driver import peer

from scalebox import InputError, ScaleBoxClient, ServerError, Settings, Verdict
from scalebox.client import daemon
from scalebox.client.daemon import Daemon
from scalebox.core.limits import Limits
from scalebox.core.settings import load
from scalebox.core.toml import as_toml

DRIVER = str(Path(__file__).with_name("daemon_driver.py"))
SETTINGS = Settings(workers=1, client_retry_s=240.0, daemon_idle_s=600.0)
ECHO = [{"stdin": "7", "stdout": "7"}]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of this test's daemon, which is ended."""
    base = tempfile.mkdtemp(prefix="sbx-")
    monkeypatch.setenv("XDG_RUNTIME_DIR", base)
    monkeypatch.setenv("XDG_STATE_HOME", f"{base}/state")
    yield Path(base, "scalebox")
    for socket in Path(base, "scalebox").glob("*.sock"):
        with contextlib.suppress(ConnectionRefusedError):
            end(peer(str(socket)), signal.SIGTERM)
    shutil.rmtree(base, ignore_errors=True)


def end(pid: int, with_signal: int | None = None) -> None:
    """Send a process a signal, if any, and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            if with_signal is not None:
                signal.pidfd_send_signal(descriptor, with_signal)
            assert select.select([descriptor], [], [], 240)[0], f"process {pid} lives on"
        finally:
            os.close(descriptor)


def test_twenty_starters_give_one_daemon_that_ends_when_unused(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", DRIVER, "20", "3"],
        check=False, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    verdicts, pids = zip(*(line.split() for line in done.stdout.splitlines()), strict=True)
    assert verdicts == ("passed",) * 20
    (pid,) = map(int, set(pids))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    end(pid)
    assert sorted(path.suffix for path in folder.iterdir()) == [".lock", ".log", ".toml"]


def test_a_daemon_that_is_killed_is_started_anew_and_has_lost_nothing(folder: Path) -> None:
    with ScaleBoxClient("auto", settings=SETTINGS) as client:
        slow = client.submit("slow", "import time\nend = float(input())\nwhile time.time() < end: pass\nprint(7)", [
            {"stdin": str(time.time() + 5.0), "stdout": "7"}
        ], limits={"cpu_s": 60.0, "wall_s": 120.0})  # fmt: skip
        socket = Daemon(SETTINGS).address.socket
        first = peer(socket)
        assert os.getpgid(first) == os.getsid(first) == first, "it has a session of its own"
        assert stat.S_IMODE(os.stat(socket).st_mode) == 0o600
        end(first, signal.SIGKILL)
        assert client.fetch(client.submit("s", "print(input())", ECHO), timeout=240)[0].verdict == Verdict.PASSED
        assert client.fetch(slow, timeout=240)[0].verdict == Verdict.PASSED
        assert peer(socket) != first
    assert folder.joinpath(os.path.basename(socket)).exists(), "who leaves does not end it"


def test_a_daemon_that_cannot_start_says_why(folder: Path) -> None:
    settings = Settings(interpreter="/no/such/python", client_retry_s=5.0)
    with (
        ScaleBoxClient("auto", settings=settings) as client,
        pytest.raises(ServerError, match=r"ended when it was started: .*/no/such/python"),
    ):
        client.submit("s", "print(input())", ECHO)
    assert list(folder.glob("*.sock")) == []


def test_a_daemon_that_neither_answers_nor_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "_START_S", 0.2)
    made = Daemon(SETTINGS)
    with open(folder / os.path.basename(made.address.socket).replace(".sock", ".lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ServerError, match="neither answers nor ends"):
            asyncio.run(made.ensure())


def test_a_folder_of_others_is_not_trusted(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(InputError, match=r"url: .* is not this user's alone \(remove it"):
        ScaleBoxClient("auto")


def test_a_path_that_no_socket_can_have(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = folder.parent / ("x" * 100)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    with pytest.raises(InputError, match=r"too long for a socket \(set XDG_RUNTIME_DIR"):
        ScaleBoxClient("auto")


def test_without_a_runtime_folder_there_is_the_temporary_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr(tempfile, "tempdir", str(folder.parent))
    assert Daemon(SETTINGS).address.socket.startswith(f"{folder.parent}/scalebox-{os.geteuid()}/")


def test_a_runtime_folder_of_others_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with sudo: whose it is could put a folder or a link in the place of ours."""
    monkeypatch.setattr(tempfile, "tempdir", str(folder.parent))
    theirs = folder.parent / "theirs"
    theirs.mkdir()
    theirs.chmod(0o777)
    (folder.parent / "link").symlink_to(theirs)
    for base in (theirs, folder.parent / "link"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
        assert Daemon(SETTINGS).address.socket.startswith(f"{folder.parent}/scalebox-{os.geteuid()}/")
    assert list(theirs.iterdir()) == []


def test_settings_pass_through_a_file(tmp_path: Path) -> None:
    settings = Settings(
        workers=3, interpreter='/odd "path"\\ä\x7f\n', preload=("numpy",), cache_audit=0.5, early_stop=True,
        profiles={"big one": Limits(cpu_s=8.0), "other": Limits(memory_mb=64)}, profile="big one",
    )  # fmt: skip
    path = tmp_path / "settings.toml"
    path.write_text(as_toml(settings), encoding="utf-8")
    assert load(str(path), environ={}) == settings
    assert as_toml(Settings()) == ""
