"""Who may make processes and send signals: as the supervisor answers, and as a filter of each case where it cannot."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from tests.sandbox.linux.kernel import in_child
from tests.sandbox.stage import public_interpreter

from scalebox.core.limits import Limits
from scalebox.sandbox import agent, conformance, tiers
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.linux import family, seccomp
from scalebox.sandbox.outcome import Outcome

#: A supervisor and, in a child, a process that puts the filter on itself. `serve` answers until the child has ended.
SUPERVISED = """
import select, signal
from scalebox.sandbox.linux.notifications import Notifications
def serve(heard, asked):
    poll = select.poll()
    poll.register(heard.fileno(), select.POLLIN)
    while True:
        for _, event in poll.poll(30000):
            if event & select.POLLIN:
                asked.append(heard.answer())
        if os.waitpid(pid, os.WNOHANG)[0]:
            return [one for one in asked if one]
a, b = socket.socketpair()
pid = os.fork()
if pid == 0:
    b.close()
    fd = install(seccomp.base_filter(True), 8)
    socket.send_fds(a, [b"x"], [fd]); os.close(fd)
    try:
        program()
    finally:
        os._exit(0)
a.close()
fd = socket.recv_fds(b, 1, 1)[1][0]
"""


def supervised(program: str, supervisor: str) -> list[str]:
    return in_child(f"def program():\n{_indented(program)}\n{SUPERVISED}\n{supervisor}").splitlines()


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


# -- the answers, in the kernel ------------------------------------------------------------------------------------


def test_refusals_are_recorded_and_answered() -> None:
    told = supervised(
        'print(attempt("socket", 2, 1, 0), attempt("ptrace", 16, 1, 0, 0), attempt("getpid"), '
        'attempt("keyctl", 0, 0, 0), flush=True)',
        "print(serve(Notifications(fd), []))",
    )
    assert told == ["EACCES EPERM  EPERM", "['network: socket(AF_INET)', 'debugging: ptrace(16)', 'keyring: keyctl']"]


def test_a_killed_asker_and_a_stolen_descriptor_do_no_harm() -> None:
    told = supervised(
        'attempt("ptrace", 0, 1, 0, 0)',
        """
heard = Notifications(fd)
select.select([heard], [], [], 30)
os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
print(heard.answer())
os.close(fd)
print(heard.answer())
assert os.open("/dev/null", os.O_RDONLY) == fd
print(heard.answer())
heard.close(); heard.close()
print(heard.fileno(), heard.answer())
""",
    )
    assert told == ["None", "None", "None", "-1 None"]


_FAMILY = """
if os.fork() == 0:
    try:
        os.fork() or os._exit(0)
        os.wait()
        print("did", flush=True)
    except PermissionError:
        print("EPERM", flush=True)
    thread = threading.Thread(target=print, args=("thread",), kwargs={"flush": True}); thread.start(); thread.join()
    os._exit(0)
os.wait()
os.posix_spawn("/bin/true", ["true"], {})
os.wait()
"""


@pytest.mark.parametrize(
    ("allowed", "wanted"),
    [(False, ["EPERM", "thread", "['process creation: clone']"]), (True, ["did", "thread", "[]"])],
)
def test_the_first_process_may_make_others_and_those_only_where_that_is_allowed(
    allowed: bool, wanted: list[str]
) -> None:
    assert supervised(_FAMILY, f"print(serve(Notifications(fd, processes={allowed}), []))") == wanted


_YOUNGER = """
code = bytearray(seccomp.base_filter(True, processes_allowed=True))
for place in seccomp.younger_places(bytes(code))["younger"]:
    code[place : place + 4] = struct.pack("<I", os.getpid() + 1)
os.close(install(bytes(code), 8))
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.close(writer)
    os.setpgid(0, 0)
    os.read(reader, 1)  # till its parent ends
    os._exit(0)
while os.getpgid(child) != child: pass
def of(pid):
    return [attempt("kill", pid, 0), attempt("tkill", pid, 0), attempt("tgkill", pid, pid, 0), attempt("kill", -pid, 0),
            attempt("pidfd_open", pid, 0), attempt("rt_sigqueueinfo", pid, 0, 0), attempt("setpgid", child, pid)]
older = [1, os.getpid(), *([os.getppid()] if os.getppid() < os.getpid() else [])]
if os.getpid() < child:
    print(of(child), *map(of, older), attempt("kill", -1, 0), attempt("kill", 0, 0),
          attempt("kill", -(1 << 31), 0), attempt("clone", 0x10000000), sep="\\n")
"""


def test_processes_and_signals_to_what_is_younger_are_not_asked_about() -> None:
    """What is asked fails here, for nobody answers: ENOSYS. Once more where the numbers of processes began anew."""
    told = in_child(_YOUNGER) or in_child(_YOUNGER)
    child, *older = told.splitlines()
    assert child == str(["", "", "", "", "", "EFAULT", ""])
    assert len(older) in (6, 7)
    assert set(older[:-4]) == {str(["ENOSYS"] * 7)}
    assert older[-4:] == ["ENOSYS"] * 4


_TARGETS = """
grandparent, parent = os.getppid(), os.getpid()
if os.fork():
    os.wait()
    return
os.setpgid(0, 0)
me = os.getpid()
reader, writer = os.pipe()
child = os.fork() if CHILDREN else 0
if CHILDREN and child == 0:
    os.close(writer)
    os.read(reader, 1)
    os._exit(0)
seen = {}
def tried(name, call, *args):
    seen[name] = attempt(call, *args) or "did"
tried("self", "kill", me, 0)
tried("own group", "kill", 0, 0)
tried("own group by name", "kill", -me, 0)
tried("own thread", "tkill", threading.get_native_id(), 0)
tried("own pidfd", "pidfd_open", me, 0)
tried("join own group", "setpgid", 0, me)
thread = threading.Thread(target=lambda: tried("thread itself", "tkill", threading.get_native_id(), 0))
thread.start(); thread.join()
tried("thread by group", "tgkill", me, threading.get_native_id(), 0)
for call in ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open"):
    tried(call + " parent", call, parent, parent if "tg" in call else 0, 0)
tried("group of parent", "kill", -parent, 0)
tried("join group of parent", "setpgid", 0, parent)
tried("grandparent", "kill", grandparent, 0)
tried("init", "kill", 1, 0)
tried("all", "kill", -1, 0)
tried("most negative", "kill", -(1 << 31), 0)
if CHILDREN:
    tried("child", "kill", child, 0)
    tried("join group of child", "setpgid", child, child)
    tried("group of child", "kill", -child, 9)
    os.close(writer)
    os.waitpid(child, 0)
print(json.dumps(seen), flush=True)
os._exit(0)
"""
_OWN = {
    "self", "own group", "own group by name", "own thread", "own pidfd", "join own group", "thread itself",
    "thread by group",
}  # fmt: skip


@pytest.mark.parametrize("children", [False, True])
@pytest.mark.parametrize("others", [False, True])
def test_signals_stay_within_the_case(children: bool, others: bool) -> None:
    how = f"Notifications(fd, processes={children}, signal_others={others})"
    answers, refused = supervised(_TARGETS.replace("CHILDREN", str(children)), f"print(serve({how}, []))")
    seen: dict[str, str] = json.loads(answers)
    reached = {name for name, answer in seen.items() if answer == "did"}
    family = {"child", "group of child", "join group of child"} if children and others else set()
    assert reached == _OWN | family
    assert {answer for name, answer in seen.items() if name not in reached} == {"EPERM"}
    assert "signal to another process: kill" in refused
    assert "process control: setpgid" in refused


def test_without_a_supervisor_nobody_waits_for_ever() -> None:
    told = supervised(
        """
print(attempt("fork"), flush=True)
print(attempt("kill", os.getpid(), 0), flush=True)
""",
        """
heard = Notifications(fd)
select.select([heard], [], [], 30)
heard.close()
os.waitpid(pid, 0)
""",
    )
    assert told == ["ENOSYS", "ENOSYS"]


# -- in a jail, with a supervisor that answers and without -----------------------------------------------------------

LIMITS = Limits(cpu_s=5.0, wall_s=20.0, memory_mb=200)
WITH_CHILDREN = Limits(cpu_s=5.0, wall_s=20.0, memory_mb=200, processes=8)
_base_filter = seccomp.base_filter


def _no_listener(notify: bool, **options: Any) -> bytes:
    return b"" if notify else _base_filter(notify, **options)


def start(tier: str, interpreter: str = "") -> Jail:
    jail = Jail(tiers.choose(tier), conformance.config(interpreter))
    jail.start()
    return jail


@pytest.fixture(scope="module", params=["supervised", "filter-per-case"])
def kept(request: pytest.FixtureRequest) -> Iterator[tuple[Jail, bool]]:
    supervised = request.param == "supervised"
    with pytest.MonkeyPatch.context() as patch:
        if not supervised:
            patch.setattr(seccomp, "base_filter", _no_listener)
        jail = start("namespace")
    yield jail, supervised
    jail.stop()


@pytest.fixture
def jail(kept: tuple[Jail, bool], monkeypatch: pytest.MonkeyPatch) -> Iterator[Jail]:
    if not kept[1]:  # should it be started again
        monkeypatch.setattr(seccomp, "base_filter", _no_listener)
    yield kept[0]
    kept[0].close()


@pytest.fixture
def supervises(kept: tuple[Jail, bool]) -> bool:
    return kept[1]


def run(jail: Jail, source: str, limits: Limits = LIMITS) -> Outcome:
    build = jail.open(source.encode(), limits, None)
    assert build.ok, build.message
    return jail.run(stdin=b"")


def test_a_fork_is_refused_and_told_of(jail: Jail, supervises: bool) -> None:
    outcome = run(jail, "import os\nos.fork()")
    assert (outcome.exit_code, outcome.fault.kind, outcome.fault.errno) == (1, "PermissionError", 1)
    assert outcome.denied == (["process creation: clone"] if supervises else [])
    assert run(jail, "import subprocess\nsubprocess.run(['/bin/true'])").exit_code == 1
    assert run(jail, "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()").clean


@pytest.mark.parametrize(
    "attack",
    ["os.kill(parent, 9)", "os.kill(-1, 9)", "os.killpg(parent, 9)", "os.setpgid(0, parent); os.kill(0, 9)",
     "fcntl.fcntl(reader, fcntl.F_SETOWN, parent); armed()",
     "fcntl.fcntl(reader, 15, struct.pack('ii', 1, parent)); armed()", "signal.pidfd_send_signal(parent_folder, 9)"],
)  # fmt: skip
@pytest.mark.parametrize("limits", [LIMITS, WITH_CHILDREN], ids=["alone", "with-children"])
def test_no_signal_reaches_the_compile_process(jail: Jail, supervises: bool, attack: str, limits: Limits) -> None:
    outcome = run(
        jail,
        f"""
import fcntl, os, signal, struct
parent = os.getppid()
parent_folder = os.open("/proc/%d" % parent, os.O_RDONLY) if os.path.exists("/proc/self") else 0
reader, writer = os.pipe()
def armed():
    fcntl.fcntl(reader, 10, signal.SIGKILL)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writer, b"x")
try:
    {attack}
except PermissionError:
    print("refused")
""",
        limits,
    )
    assert (outcome.cause, outcome.exit_code, outcome.stdout) == ("exited", 0, b"refused\n")
    if "setpgid" not in attack:  # which the kernel itself may refuse, before there is anything to ask about
        assert bool(outcome.denied) >= supervises


def test_a_program_can_end_itself(jail: Jail) -> None:
    for way in ("os.kill(os.getpid(), 15)", "os.kill(0, 15)", "signal.raise_signal(15)", "os.killpg(os.getpid(), 15)"):
        outcome = run(jail, f"import os, signal\n{way}")
        assert (outcome.cause, outcome.signal, outcome.denied) == ("exited", signal.SIGTERM, [])
    assert run(jail, "import os\nos.abort()").signal == signal.SIGABRT


def test_children_are_made_and_signalled_where_that_is_allowed(jail: Jail) -> None:
    outcome = run(
        jail,
        """
import os, signal, subprocess, multiprocessing
child = subprocess.Popen(["/bin/sh", "-c", "read x"], stdin=subprocess.PIPE, start_new_session=True)
child.terminate()
print(child.wait())
child = subprocess.Popen(["/bin/sh", "-c", "/bin/true; read x"], stdin=subprocess.PIPE, start_new_session=True)
os.killpg(child.pid, signal.SIGKILL)
print(child.wait())
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
""",
        WITH_CHILDREN,
    )
    assert (outcome.stdout, outcome.denied) == (b"-15\n-9\n[1, 2]\n", []), outcome.stderr


def test_a_flood_of_refused_calls_is_stopped_in_time_and_noted_in_short(jail: Jail, supervises: bool) -> None:
    flood = """
import socket, threading
def ask(family):
    while True:
        family += 1
        try: socket.socket(100 + family % 500)
        except OSError: pass
for number in range(4):
    threading.Thread(target=ask, args=(number * 100,)).start()
"""
    outcome = run(jail, flood, Limits(cpu_s=5.0, wall_s=0.5))
    assert outcome.cause in ("wall", "cpu")
    assert outcome.wall_s < 10
    assert (0 < len(outcome.denied) < 50) == supervises
    assert run(jail, "print(1)").stdout == b"1\n"


def test_what_waits_for_an_answer_can_be_killed(jail: Jail, supervises: bool) -> None:
    build = jail.open(b"print(1)", LIMITS, None)
    assert build.ok
    if not supervises:
        pytest.skip("nothing waits for an answer")
    assert jail._program is not None
    assert jail._program.listener is not None
    listener = os.dup(jail._program.listener.fileno())  # else its end would wake them up
    null = os.open("/dev/null", os.O_RDWR)
    try:
        jail._program.channel.send({"cases": [{"seed": 0, "files": {}, "processes": False}]}, [null, null, null])
        assert select.select([listener], [], [], 30)[0]
        assert jail.clean()["reaped"] == 1
    finally:
        os.close(null)
        os.close(listener)
    assert run(jail, "print(1)").stdout == b"1\n"


def test_a_supervisor_that_is_gone_ends_the_compile_process(jail: Jail, supervises: bool) -> None:
    if not supervises:
        pytest.skip("nothing waits for an answer")
    assert jail.open(b"print(1)", LIMITS, None).ok
    assert jail._program is not None
    assert jail._program.listener is not None
    jail._program.listener.close()
    jail._program.listener = None
    assert jail.run(stdin=b"").cause == "lost"
    assert run(jail, "print(1)").stdout == b"1\n"


def test_the_compile_process_is_answered_while_it_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building starts no process; should it ever, it must not wait for the end of the time for builds."""
    bundle = agent.bundle
    spawn = b'os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0); os.kill(os.getpid(), 0); '
    place = b"built = _build("

    def with_a_spawn(config: Any, builder: str) -> bytes:
        text = bundle(config, builder)
        assert text.count(place) == 1
        return text.replace(place, spawn + place)

    monkeypatch.setattr(agent, "bundle", with_a_spawn)
    jail = start("namespace")
    try:
        outcome = run(jail, "print(1)", Limits(build_s=20.0))
    finally:
        jail.stop()
    assert (outcome.stdout, outcome.denied) == (b"1\n", [])


@pytest.mark.parametrize("supervised", [True, False])
def test_in_the_process_tier_only_the_case_is_reached(supervised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not supervised:
        monkeypatch.setattr(seccomp, "base_filter", _no_listener)
    jail = start("process", public_interpreter())
    agent_pid = jail.agent_pid
    (zygote_pid,) = family.children(agent_pid)
    try:
        attack = f"""
import os, signal
for pid in (os.getppid(), {agent_pid}, {zygote_pid}, {os.getpid()}):
    for target in (pid, -pid):
        try: os.kill(target, 0); print("reached", target)
        except OSError: pass
    try: os.setpgid(0, pid); print("joined", pid)
    except OSError: pass
os.kill(os.getpid(), 0)
"""
        child = "pid = os.fork()\nif pid == 0: signal.pause()\nos.kill(pid, 9)\nprint(os.wait()[1])\n"
        assert run(jail, attack).stdout == b""
        outcome = run(jail, attack + child, WITH_CHILDREN)
    finally:
        jail.stop()
    assert (outcome.exit_code, outcome.stdout) == (0, b"9\n"), outcome.stderr


@pytest.mark.parametrize("supervised", [True, False])
def test_in_the_namespace_tier_the_zygote_is_out_of_reach(supervised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not supervised:
        monkeypatch.setattr(seccomp, "base_filter", _no_listener)
    jail = start("namespace")
    attack = """
import os
for pid in range(1, 200):
    for target in (pid, -pid):
        if pid != os.getpid():
            try: os.kill(target, 9); print("reached", target)
            except OSError: pass
"""
    try:
        before = family.children(jail.agent_pid)
        for limits in (Limits(), WITH_CHILDREN):
            outcome = run(jail, attack, limits)
            assert (outcome.exit_code, outcome.stdout) == (0, b""), outcome.stderr
        jail.close()
        assert family.children(jail.agent_pid) == before
    finally:
        jail.stop()
