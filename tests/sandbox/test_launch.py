"""What an agent finds around it when it has been launched, in either tier, as root and as an ordinary user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.stage import Stage, public_interpreter

CAPABILITIES = (1 << 5) | (1 << 21)  # kill, and mount


@pytest.fixture
def seen(stage: Stage) -> dict[str, Any]:
    """What an agent in the namespace tier sees and can do."""
    return stage.agent(
        "namespace",
        """
        told = status()
        tell(
            pid=os.getpid(), parent=os.getppid(), ids=os.getresuid() + os.getresgid(), groups=told["Groups"].split(),
            capabilities={name: int(told[name], 16) for name in told if name.startswith("Cap")},
            no_new_privileges=told["NoNewPrivs"], cwd=os.getcwd(), env=dict(os.environ), host=os.uname().nodename,
            fds=sorted(int(name) for name in os.listdir("/proc/self/fd")),
            standard=[os.readlink(f"/proc/self/fd/{n}") for n in range(3)],
            pids=[name for name in os.listdir("/proc") if name.isdigit()], affinity=sorted(os.sched_getaffinity(0)),
            root=sorted(os.listdir("/")), etc=sorted(os.listdir("/etc")), dev=sorted(os.listdir("/dev")),
            interfaces=[line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]],
            cgroup=open("/proc/self/cgroup").read(), mask=os.umask(0), group=os.getpgid(0),
            signals=[int(told[key], 16) for key in ("SigIgn", "SigBlk")],
        )
        """,
    )


def test_agent_is_first_process_of_an_unprivileged_user(seen: dict[str, Any]) -> None:
    assert (seen["pid"], seen["parent"], seen["group"]) == (1, 0, 1)
    assert seen["ids"] == [1000] * 6
    assert seen["capabilities"] == dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), CAPABILITIES)
    assert seen["no_new_privileges"] == "1"
    assert seen["status"] == 0


def test_agent_gets_its_descriptors_and_environment_alone(seen: dict[str, Any]) -> None:
    assert {0, 1, 2, seen["answer_fd"]} < set(seen["fds"])
    assert len(seen["fds"]) == 5, "those, and the listing's own"
    assert seen["standard"] == ["/dev/null"] * 3
    assert seen["env"].pop("LC_CTYPE", "C.UTF-8") == "C.UTF-8", "CPython may set it itself"
    assert seen["env"] == {"MARK": "1"}
    assert seen["mask"] == 0o077
    ignored, blocked = seen["signals"]
    of_the_threads_library = 1 << 31 | 1 << 32  # nobody can set what those two do, and they are inherited
    assert ignored & ~of_the_threads_library == 1 << 12 | 1 << 24, "CPython itself ignores SIGPIPE and SIGXFSZ"
    assert blocked == 0
    assert len(seen["affinity"]) == 1


def test_agent_sees_no_machine(seen: dict[str, Any]) -> None:
    assert seen["pids"] == ["1"]
    assert seen["interfaces"] == ["lo"]
    assert seen["host"] == "sandbox"
    assert set(seen["root"]) <= {
        "bin", "box", "dev", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "root", "sbin", "tmp",
        "usr", "work", "home",
    }  # fmt: skip
    assert {"shadow", "hosts.allow", "machine-id", "ssh"}.isdisjoint(seen["etc"])
    assert set(seen["dev"]) == {
        "null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm",
    }  # fmt: skip
    assert all(line.endswith(":/") for line in seen["cgroup"].splitlines()), "groups of the machine show"


def test_worker_is_the_parent_and_nothing_is_left(seen: dict[str, Any]) -> None:
    assert seen["parent_is_us"]
    assert seen["children"] == []


def test_tree_is_read_only_and_locked(stage: Stage) -> None:
    seen = stage.agent(
        "namespace",
        """
        def write(path):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        MS_REMOUNT_BIND = 0x1020
        tell(
            write={path: attempt(write, path) for path in
                   ("/x", "/etc/passwd", "/usr/x", "/usr/bin/env", "/dev/x", "/proc/sys/kernel/hostname", "/box/x",
                    "/proc/sysrq-trigger")},
            scratch={path: attempt(write, path) for path in
                     ("/tmp/x", "/work/x", "/dev/shm/x", "x", "/box/scratch/y", "/dev/null")},
            unmount={path: attempt(libc, "umount2", path.encode(), 2) for path in
                     ("/proc/sys", "/usr", "/proc", "/dev/null")},
            remount={path: attempt(libc, "mount", b"none", path.encode(), None, MS_REMOUNT_BIND, None)
                     for path in ("/", "/usr", "/proc/sys")},
            device=attempt(os.mknod, "/work/sda", 0o60600, os.makedev(8, 0)),
            masked=[open("/proc/keys").read(), open("/proc/timer_list").read()],
            kept=os.access("/usr/bin/env", os.X_OK),
        )
        """,
    )
    assert set(seen["write"].values()) <= {"EROFS", "EACCES", "EPERM", "ENOENT"}, seen["write"]
    assert "EROFS" in (seen["write"]["/x"], seen["write"]["/usr/x"])
    assert set(seen["scratch"].values()) == {""}, seen["scratch"]
    assert set(seen["unmount"].values()) <= {"EINVAL", "EPERM"}, seen["unmount"]
    assert set(seen["remount"].values()) <= {"EPERM", "EACCES", "EINVAL"}, seen["remount"]
    assert seen["device"] == "EPERM"
    assert seen["masked"] == ["", ""]
    assert seen["kept"]


def test_scratch_is_bounded_and_can_be_mounted_afresh(stage: Stage) -> None:
    seen = stage.agent(
        "namespace",
        """
        open("kept", "w").write("x")
        def fill():
            with open("big", "wb") as file:
                file.write(bytes(2 << 20))
        def sow():
            for i in range(100000):
                os.close(os.open(f"f{i}", os.O_CREAT | os.O_WRONLY))
        full, many = attempt(fill), attempt(sow)
        os.chdir("/")
        again = [attempt(libc, "umount2", b"/box/scratch", 2)]
        options = b"size=4096,nr_inodes=64,mode=0700"
        again.append(attempt(libc, "mount", b"tmpfs", b"/box/scratch", b"tmpfs", 6, options))
        os.mkdir("/box/scratch/work")
        tell(full=full, many=many, again=again, fresh=os.listdir("/work"),
             inner=attempt(libc, "mount", b"tmpfs", b"/box/scratch/work", b"tmpfs", 6, None))
        """,
    )
    assert (seen["full"], seen["many"]) == ("ENOSPC", "ENOSPC")
    assert seen["again"] == ["", ""]
    assert seen["fresh"] == []
    assert seen["facts"]["scratch"]["stable"] == "/box"
    assert (seen["facts"]["foreign_files"], seen["facts"]["signal_others"]) == (False, True)


def test_agent_cannot_reach_the_machine(stage: Stage) -> None:
    seen = stage.agent(
        "namespace",
        f"""
        import socket
        def connect(address):
            with socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX) as s:
                s.connect(address)
        tell(
            network=[attempt(connect, ("127.0.0.1", 22)), attempt(connect, ("1.1.1.1", 53)),
                     attempt(connect, "/run/x")],
            signal=attempt(os.kill, {os.getpid()}, 0),
            ids=[attempt(os.setresuid, 0, 0, 0), attempt(os.setgroups, [0])],
            out=[os.path.exists(p) for p in ("/.old", "/work/main", "/var", "/sys/fs", "/home")],
            # An open folder of the old root would be a way back.
            inode=os.stat("/..").st_ino == os.stat("/").st_ino,
        )
        """,
    )
    assert seen["network"] == ["ENETUNREACH", "ENETUNREACH", "ENOENT"]
    assert seen["signal"] == "ESRCH"
    assert seen["ids"] == ["EINVAL", "EPERM"]
    assert seen["out"] == [False] * 5
    assert seen["inode"]


def test_jail_works_where_proc_cannot_be_mounted(stage: Stage) -> None:
    if stage.user != "contained":
        pytest.skip("only a container covers parts of /proc")
    code = """
    tell(pid=os.getpid(), proc=os.listdir("/proc"), uid=os.getuid(), caps=attempt(libc, "umount2", b"/box/scratch", 2))
    """
    seen = stage.agent("namespace", code, cover_proc=True)
    assert seen["facts"]["proc"] is False
    assert (seen["pid"], seen["proc"], seen["uid"], seen["caps"]) == (1, [], 1000, "")


def test_the_machine_knows_the_agent_as_nobody_of_importance(stage: Stage) -> None:
    code = "os.write(int(sys.argv[1]), b'!'); import signal; signal.pause()"
    seen = stage.agent("namespace", code, kill=True)
    assert seen["owner"] == (65534 if stage.user == "ordinary" and os.geteuid() == 0 else seen["owner"])
    assert seen["owner"] != 0


def test_kill_leaves_nothing(stage: Stage) -> None:
    code = """
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            os.fork()
    os.write(int(sys.argv[1]), b"!")
    import signal
    signal.pause()
    """
    seen = stage.agent("namespace", code, kill=True)
    assert seen["children"] == []


def test_process_tier_says_what_to_do_about_a_private_interpreter(stage: Stage, tmp_path: Path) -> None:
    if stage.user == "ordinary":
        pytest.skip("an ordinary user's samples run as himself")
    private = tmp_path / "python"
    private.write_text("#!/bin/true")
    private.chmod(0o700)
    seen = stage.agent("process", python=str(private), readable=[])
    assert seen["errno"] == 13
    assert "every user of the machine may run" in seen["mend"]
    assert seen["children"] == []


def test_process_tier_refuses_root_that_cannot_drop(stage: Stage) -> None:
    if stage.user != "root":
        pytest.skip("needs root")
    lines = "from scalebox.sandbox.linux import ids\nids.may_change_user = lambda: False\ntiers.choose('process')"
    seen = stage.agent("process", lines=lines)
    assert seen["step"] == "become an unprivileged user"
    assert "SETUID" in seen["mend"]


def test_process_tier_kills_the_whole_family(stage: Stage) -> None:
    code = """
    import ctypes, signal, struct
    libc = ctypes.CDLL(None)
    libc.prctl(36, 1, 0, 0, 0)
    # Orphans of a jail are known by a filter; this one allows everything.
    allow = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000))
    libc.prctl(22, 2, struct.pack("<HxxxxxxQ", 1, ctypes.addressof(allow)), 0, 0)
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            os.fork()
            if os.fork() == 0:
                os.setsid()
            signal.pause()
    os.write(int(sys.argv[1]), b"!")
    %s
    """
    for end in ("signal.pause()", "os._exit(0)"):
        seen = stage.agent("process", code % end, python=public_interpreter(), readable=[], kill=True)
        assert seen["children"] == []
        assert not seen["left"]


def test_paths_below_a_scratch_folder_are_shown_elsewhere_and_it_stays_writable(stage: Stage) -> None:
    seen = stage.agent(
        "namespace",
        lines="""
import os, tempfile
folder = tempfile.mkdtemp(dir="/tmp")
os.chmod(folder, 0o755)
tool = folder + "/tool"
with open(tool, "w") as file:
    file.write("#!/bin/sh\\ntest -x /shown" + tool + " && touch /tmp/new && ! touch /shown" + folder + "/new")
os.chmod(tool, 0o755)
launched = tiers.find("namespace").launch(tiers.LaunchSpec(argv=[tool], env={"PATH": "/bin"}, readable=[folder]))
seen["code"] = os.waitstatus_to_exitcode(os.waitpid(launched.pid, 0)[1])
seen["left"] = os.listdir(folder)
os.unlink(tool)
os.rmdir(folder)
""",
    )
    assert seen["code"] == 0
    assert seen["left"] == ["tool"]


@pytest.mark.parametrize(
    ("options", "step", "errno"),
    [
        ({"python": "/usr/bin/none"}, "execute /usr/bin/none", 2),
        ({"readable": ["/nowhere/at/all"]}, "find what to show", 2),
        ({"readable": ["/"]}, "find what to show", 22),
    ],
)
def test_failed_launch_names_the_step_and_leaves_nothing(
    stage: Stage, options: dict[str, Any], step: str, errno: int
) -> None:
    seen = stage.agent("namespace", **options)
    assert (seen["step"], seen["errno"]) == (step, errno)
    assert seen["children"] == []


LOSE_WORKER = """
import os, select, signal, socket, sys, time
seen["left"] = []
for delay in (0, 0.004, 0.008, 0.012, 0.016, 0.024, 0.04):  # at any moment of a launch
    witness, held = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(witness)
        ours, theirs = socket.socketpair()
        argv = [{python!r}, "-I", "-S", "-c", "import os, sys; os.read(int(sys.argv[1]), 1)", str(theirs.fileno())]
        spec = tiers.LaunchSpec(argv=argv, env={{}}, pass_fds=[theirs.fileno(), held], readable=[sys.base_prefix])
        tiers.find("namespace").launch(spec)
        theirs.close()
        signal.pause()
    os.close(held)
    time.sleep(delay)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    ended, _, _ = select.select([witness], [], [], 30)
    seen["left"].append(not ended or os.read(witness, 1) != b"")
    os.close(witness)
"""


def test_nothing_survives_a_worker_killed_while_it_launches(stage: Stage) -> None:
    seen = stage.agent("namespace", lines=LOSE_WORKER.format(python=os.path.realpath(stage.python)))
    assert not any(seen["left"])


def test_process_tier_gives_a_folder_and_a_user(stage: Stage) -> None:
    code = """
    told = status()
    tell(uid=os.getuid(), cwd=os.getcwd(), mode=os.stat("..").st_mode & 0o777, owner=os.stat("..").st_uid,
         folders=sorted(os.listdir("..")), caps=int(told["CapEff"], 16), groups=told["Groups"].split(),
         nnp=told["NoNewPrivs"],
         group=os.getpgid(0) == os.getpid(), fds=len(os.listdir("/proc/self/fd")))
    os.mkdir("locked", 0o700); open("locked/file", "w").close(); os.chmod("locked", 0)
    """
    seen = stage.agent("process", code, python=public_interpreter(), readable=[])
    assert seen["facts"]["scratch"]["kind"] == "dir"
    assert seen["cwd"] == seen["facts"]["scratch"]["root"] + "/work"
    assert (seen["mode"], seen["owner"]) == (0o700, seen["uid"])
    assert seen["folders"] == ["shm", "tmp", "work"]
    assert (seen["caps"], seen["groups"], seen["nnp"]) == (0, [], "1")
    assert seen["group"]
    assert seen["fds"] == 5
    assert seen["uid"] != 0
    assert seen["facts"]["foreign_files"] == (stage.user == "ordinary")
    assert seen["parent_is_us"]
    assert not seen["left"]
    assert seen["children"] == []
