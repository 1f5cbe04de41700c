"""Parts of the agent that can be looked at without a jail."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scalebox.sandbox import agent
from scalebox.sandbox.agent import case, confine, init, program, zygote
from scalebox.sandbox.probes.host import wait_until


class _Two:
    def method(self) -> str:
        return "instance"

    @staticmethod
    def fixed() -> str:
        return "static"

    @classmethod
    def of_class(cls) -> str:
        return "class"


_SPACE: dict[str, Any] = {"f": lambda: "function", "Two": _Two, "two": _Two()}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("f", "function"),
        ("Two.method", "instance"),
        ("Two().method", "instance"),
        ("Two.fixed", "static"),
        ("Two.of_class", "class"),
        ("two.method", "instance"),
    ],
)
def test_names_of_callables_are_resolved(path: str, answer: str) -> None:
    assert case.resolve(_SPACE, path)() == answer


def test_a_lone_method_of_solution_is_found() -> None:
    assert case.resolve({"Solution": _Two}, "method")() == "instance"
    with pytest.raises(NameError):
        case.resolve({}, "method")
    with pytest.raises(AttributeError):
        case.resolve(_SPACE, "Two.nothing")


@pytest.mark.parametrize(("code", "status"), [(None, 0), (0, 0), (3, 3), (256, 0), (-1, 255), (True, 1), ("text", 1)])
def test_exit_codes_are_those_of_the_interpreter(code: Any, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert case.exit_status(SystemExit(code)) == status
    assert capsys.readouterr().err == ("text\n" if code == "text" else "")


def test_the_script_for_a_jail_compiles_and_holds_no_path_of_ours() -> None:
    script = agent.bundle({"control_fd": 3}, "scalebox.sandbox.probes.build")
    compile(script, "<agent>", "exec")
    assert str(Path(agent.__file__).parent).encode() not in script


def test_what_is_sent_into_a_jail_is_scalebox_own_and_no_more() -> None:
    names = agent.modules("scalebox.execute.jailed")
    assert all(name.startswith("scalebox.") for name in names)
    assert {"scalebox.core.values", "scalebox.sandbox.agent.init", "scalebox.execute.source"} <= set(names)
    assert not [name for name in names if "judge" in name or "worker" in name]


def test_modules_imported_ahead_exist() -> None:
    missing = [name for name in program.AHEAD if not __import__(name)]
    assert missing == []


# -- the scratch space where it is an ordinary folder --------------------------------------------------------------


@pytest.fixture
def scratch(tmp_path: Path) -> confine.Scratch:
    root = tmp_path / "scratch"
    for name in confine.SCRATCH_DIRS:
        (root / name).mkdir(parents=True, mode=0o700)
    made = confine.Scratch({"root": str(root), "kind": "dir", "bytes": 1 << 20})
    made.remember()
    return made


def _work(scratch: confine.Scratch) -> Path:
    return Path(scratch.work)


def _mark_root(scratch: confine.Scratch) -> None:
    _work(scratch).parent.chmod(0o711)


def _make_file(scratch: confine.Scratch) -> None:
    (_work(scratch) / "x").touch()


def _mark_times(scratch: confine.Scratch) -> None:
    os.utime(scratch.work, (5, 5))


def _move_away(scratch: confine.Scratch) -> None:
    _work(scratch).rename(_work(scratch).with_name("moved"))


def _add_beside(scratch: confine.Scratch) -> None:
    (_work(scratch).parent / "extra").mkdir()


@pytest.mark.parametrize("leave", [_mark_root, _make_file, _mark_times, _move_away, _add_beside])
def test_whatever_is_left_is_seen_and_goes(scratch: confine.Scratch, leave: Any) -> None:
    assert not scratch.dirty()
    leave(scratch)
    assert scratch.dirty()
    scratch.renew()
    assert not scratch.dirty()
    root = _work(scratch).parent
    assert sorted(path.name for path in root.iterdir()) == sorted(confine.SCRATCH_DIRS)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (root, *root.iterdir())] == [0o700] * 4
    assert list(_work(scratch).iterdir()) == []


def test_emptying_follows_no_link(scratch: confine.Scratch, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    (outside / "kept").touch(mode=0o400)
    work = _work(scratch)
    work.rmdir()
    work.symlink_to(outside)
    (work.parent / "tmp" / "link").symlink_to(outside)
    (work.parent / "shm" / "hard").hardlink_to(outside / "kept")
    scratch.renew()
    assert (outside / "kept").exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500
    assert not work.is_symlink()


def test_emptying_reaches_any_depth_and_any_name(scratch: confine.Scratch) -> None:
    work = _work(scratch)
    here = os.open(work, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    for name in ("-rf", "new\nline", "a b", "--", "*", "\udcff"):
        (work / name).touch()
        (work.parent / f"x{name}").mkdir()
    (work / "closed").mkdir()
    (work / "closed" / "file").touch()
    (work / "closed").chmod(0)
    os.mkfifo(work / "fifo")
    scratch.renew()
    assert list(work.iterdir()) == []
    assert len(list(work.parent.iterdir())) == 3


def test_a_size_matters_to_a_file_system_of_its_own_only(scratch: confine.Scratch) -> None:
    assert not scratch.resize(5)


# -- processes -----------------------------------------------------------------------------------------------------


def test_descendants_are_found_and_stopped() -> None:
    reader, writer = os.pipe()
    root = os.fork()
    if root == 0:
        for _ in range(2):
            if os.fork() == 0:
                os.setsid()
        os.write(writer, b"x")
        signal.pause()
    for _ in range(4):
        os.read(reader, 1)
    found = init._descendants(root)
    stopped = wait_until(lambda: {_state(pid) for pid in found} == {"T"})
    for pid in (*found, root):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(root, 0)
    os.close(reader)
    os.close(writer)
    assert len(found) == 3
    assert stopped


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


_COPIES = """
import os, signal
from scalebox.sandbox.agent import confine
ALL = 0x40000000
confine.set_subreaper()
here, there = os.pipe()
go, stay = os.pipe()

def common():
    try: return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError: return "none"

copy = confine.clone()
if copy == 0:
    sibling = confine.clone(confine.CLONE_PARENT)
    if sibling == 0:
        orphan = os.fork()
        if orphan == 0: signal.pause()
        os.write(there, b"%d %d %d" % (os.getpid(), orphan, os.getppid()))
        os.read(go, 1)
        os._exit(3)
    signal.pause()
sibling, orphan, parent = map(int, os.read(here, 99).split())
print(parent == os.getpid(), common())
os.write(stay, b"x")
print(os.waitstatus_to_exitcode(os.waitpid(sibling, ALL)[1]), common())
os.kill(orphan, 9)
print(os.waitpid(-1, 0) == (orphan, 9), common())
os.kill(copy, 9)
print(os.waitpid(-1, ALL) == (copy, 9))
"""


def test_copies_are_waited_for_apart_but_what_they_leave_is_not() -> None:
    done = subprocess.run([sys.executable, "-c", _COPIES], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["True none", "3 (0, 0)", "True none", "True"], done.stderr


@pytest.mark.parametrize("died", ["never", "idle", "with an order unread", "with an order read"])
def test_a_zygote_that_is_gone_is_noticed(died: str) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    copies = zygote.Zygote(SimpleNamespace(scratch=SimpleNamespace(clean=[1, 2])))
    copies._sock = ours
    try:
        if died == "idle":
            theirs.close()
        copies.open(0)
        if died == "with an order read":
            theirs.recvmsg(100, socket.CMSG_SPACE(4))
        elif died == "never":
            theirs.send(zygote._PID.pack(77))
        if died != "never":
            theirs.close()
        assert copies.programs() == ([77] if died == "never" else None)
    finally:
        theirs.close()
        copies.forget()
