"""What speeds up builds: made once, whole or not at all, whoever is killed meanwhile."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from scalebox.languages import toolchain as toolchain_module
from scalebox.languages.registry import languages
from scalebox.languages.toolchain import Missing, Toolchain, prepare

FOUND = Toolchain(language="rust", tools={}, home="", version="1", readable=())


@pytest.fixture
def does(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Have a shell's command in place of what prepares for Rust."""
    script: dict[str, str] = {"text": "echo x > done"}

    def one() -> Mapping[str, object]:
        own = msgspec.structs.replace(
            languages()["rust"], prepare=(("/bin/sh", "-c", script["text"]),), prepared=("done",)
        )
        return {**languages(), "rust": own}

    monkeypatch.setattr(toolchain_module, "languages", one)
    return script


def folders(place: Path) -> list[str]:
    return sorted(name.partition("-")[0] + Path(name).suffix for name in os.listdir(place / "prepared"))


def test_it_is_made_once(does: dict[str, str], tmp_path: Path) -> None:
    does["text"] = f"echo x >> {tmp_path}/made; mkdir inner; touch done inner/file"
    places = {prepare(FOUND, str(tmp_path)) for _ in range(3)}
    assert len(places) == 1
    assert Path(places.pop(), "inner", "file").is_file()
    assert (tmp_path / "made").read_text() == "x\n"
    assert folders(tmp_path) == ["rust", "rust.lock"]


def test_what_fails_leaves_nothing_and_builds_go_on_without(does: dict[str, str], tmp_path: Path) -> None:
    does["text"] = "touch half; exit 1"
    assert prepare(FOUND, str(tmp_path)) == ""
    assert folders(tmp_path) == ["rust.lock"]


def test_what_takes_too_long_is_our_failure(
    does: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain_module, "_PREPARE_S", 0.1)
    os.mkfifo(tmp_path / "gate")
    does["text"] = f"exec cat {tmp_path}/gate"
    with pytest.raises(Missing, match=r"Rust was not made within 0\.1 s \(run scalebox doctor --prepare"):
        prepare(FOUND, str(tmp_path))
    assert folders(tmp_path) == ["rust.lock"]


_KILLED = """
import sys
import msgspec
from tests.languages import test_prepared as own
command = ("/bin/sh", "-c", sys.argv[2])
changed = msgspec.structs.replace(own.languages()["rust"], prepare=(command,), prepared=("done",))
own.toolchain_module.languages = lambda: {"rust": changed}
own.prepare(own.FOUND, sys.argv[1])
"""


def test_the_compiler_of_one_that_is_killed_is_waited_for_and_its_half_not_used(
    does: dict[str, str], tmp_path: Path
) -> None:
    for name in ("begun", "gate"):
        os.mkfifo(tmp_path / name)
    does["text"] = (
        f"cd {tmp_path}/prepared/*.part; mkdir {tmp_path}/first && touch half && echo here > {tmp_path}/begun"
        f" && cat {tmp_path}/gate; ls > done"
    )
    with subprocess.Popen([sys.executable, "-c", _KILLED, str(tmp_path), does["text"]]) as process:
        assert (tmp_path / "begun").read_text() == "here\n"
        process.kill()
    (lock,) = (tmp_path / "prepared").glob("*.lock")
    with lock.open("rb") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (tmp_path / "gate").write_text("")
    assert Path(prepare(FOUND, str(tmp_path)), "done").read_text() == "done\n"
    assert folders(tmp_path) == ["rust", "rust.lock"]
