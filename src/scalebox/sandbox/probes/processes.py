"""Other processes are out of reach, and none that a case starts outlives it."""

from __future__ import annotations

import os
import signal

from scalebox.core.limits import Limits
from scalebox.sandbox.linux import owner
from scalebox.sandbox.probes.host import descendants, wait_until
from scalebox.sandbox.probes.scene import (
    LIMITS,
    Broken,
    Probe,
    Scene,
    describe,
    finished,
    needs_cgroup,
    needs_children,
    needs_namespaces,
    needs_our_kernel,
    refused,
    told,
)

_WITH_CHILDREN = Limits(cpu_s=10.0, wall_s=60.0, memory_mb=256, processes=20)

_LIST = """
for name in os.listdir("/proc"):
    if name.isdigit():
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                text = file.read()
            with open("/proc/%s/status" % name, "rb") as file:
                os.write(1, text + file.read() + b"\\n")
        except OSError:
            pass
        look("process " + name, int(name) not in (1, HOST["zygote"], os.getppid(), os.getpid()))
"""

_MEMORY = """
targets = {"agent": 1, "zygote": HOST["zygote"], "compile process": os.getppid()} if JAILED else {}
targets["victim"] = HOST["victim"]
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(64)
here = Vector(ctypes.addressof(buffer), 64)
def show(path):
    with open(path, "rb", 0) as file:
        file.read(64)
for who, pid in targets.items():
    attempt("descriptor of the " + who, os.readlink, "/proc/%d/fd/0" % pid)
    for name in ("mem", "environ", "maps", "stack", "pagemap", "syscall", "auxv", "fdinfo/0"):
        attempt("%s of the %s" % (name, who), show, "/proc/%d/%s" % (pid, name))
    for name in ("fd", "ns", "map_files", "task/%d/fd" % pid):
        attempt("%s of the %s" % (name, who), os.listdir, "/proc/%d/%s" % (pid, name))
    attempt("write to memory of the " + who, lambda: open("/proc/%d/mem" % pid, "r+b", 0).close())
    attempt("process_vm_readv of the " + who, call, "process_vm_readv", pid, ctypes.addressof(here), 1, 0x400000, 1, 0)
    attempt("process_vm_writev of the " + who, call, "process_vm_writev", pid, 0, 0, 0, 0, 0)
    attempt("ptrace of the " + who, call, "ptrace", 16, pid, 0, 0) if JAILED else None
    attempt("seize the " + who, call, "ptrace", 0x4206, pid, 0, 0) if JAILED else None
    attempt("compare with the " + who, call, "kcmp", os.getpid(), pid, 0, 1, 1)
    def steal(number):
        fd = call("pidfd_open", pid, 0)
        call("pidfd_getfd", fd, number, 0)
    attempt("take a descriptor of the " + who, steal, 0)
attempt("be traced", call, "ptrace", 0, 0, 0, 0) if JAILED else None
"""

_SIGNALS = """
import signal
others = {"agent": 1, "zygote": HOST["zygote"], "compile process": os.getppid()} if JAILED else {}
others["victim"] = HOST["victim"]
others["trainer"] = HOST["trainer"]
numbers = (0, signal.SIGCONT)
if JAILED:
    numbers += (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, 40)
for who, pid in others.items():
    for number in numbers:
        attempt("signal %d to the %s" % (number, who), os.kill, pid, number)
        attempt("tgkill %d to the %s" % (number, who), call, "tgkill", pid, pid, number)
        attempt("tkill %d to the %s" % (number, who), call, "tkill", pid, number)
    attempt("pidfd of the " + who, lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 0))
    attempt("queue a signal to the " + who, call, "rt_sigqueueinfo", pid, 0, bytes(128))
    if JAILED:
        attempt("signal the group of the " + who, os.killpg, pid, signal.SIGSTOP)
        attempt("own the group of the " + who, os.setpgid, pid, 0)
"""

#: What a descriptor's owner is sent when it becomes readable can be any signal; who is hit shows outside.
_SIGNALS_BY_DESCRIPTOR = """
import fcntl, signal, struct
def arm(pid, number, by_descriptor):
    reader, writer = os.pipe()
    fcntl.fcntl(reader, 10, number)
    if by_descriptor:
        fcntl.fcntl(reader, 15, struct.pack("ii", 1, pid))
    else:
        fcntl.fcntl(reader, fcntl.F_SETOWN, pid)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"x")
for pid in (1, HOST["zygote"], os.getppid(), HOST["victim"], HOST["trainer"]):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for by_descriptor in (False, True):
            try:
                arm(pid, number, by_descriptor)
            except OSError:
                pass
"""

_SIGNAL_ALL = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for number in (signal.SIGTERM, signal.SIGKILL):
    if os.fork() == 0:
        try:
            os.kill(-1, number)
        finally:
            os._exit(0)
    os.wait()
"""

_NO_CHILDREN = """
import subprocess, threading
def fork():
    if os.fork() == 0:
        os._exit(0)
attempt("fork", fork)
attempt("vfork and exec", lambda: subprocess.run(["/bin/true"], check=True))
attempt("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
attempt("forkpty", lambda: __import__("pty").fork()) if JAILED else None
"""

_BOMB = """
import signal, time
made = 0
while made < 2000:
    try:
        pid = os.fork()
    except OSError as error:
        say("stopped", errno.errorcode[error.errno])
        break
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            try:
                os.fork()
            except OSError:
                time.sleep(0.05)
    made += 1
say("made", made)
"""

_THREADS = """
import threading
stop = threading.Event()
made = 0
threading.stack_size(65536)
try:
    while made < 5000:
        threading.Thread(target=stop.wait, daemon=True).start()
        made += 1
except RuntimeError:
    say("stopped", "RuntimeError")
stop.set()
say("made", made)
"""

_DAEMON = """
import signal, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in range(1, 65):
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(number, signal.SIG_IGN)
    for fd in range(3):
        os.close(fd)
    os.write(writer, b"x")
    while True:
        time.sleep(0.1)
os.wait()
os.read(reader, 1)
say("daemon", "done")
"""

_PRIVILEGES = """
def switch(name, *ids):
    getattr(os, name)(*ids)
for name, ids in (("setuid", (0,)), ("setgid", (0,)), ("setresuid", (0, 0, 0)), ("setresgid", (0, 0, 0)),
                  ("setreuid", (0, 0)), ("setgroups", ([0],)), ("setuid", (os.getuid() + 1,))):
    attempt("%s %r" % (name, ids), switch, name, *ids) if JAILED else None
header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
libc.capget(header, data)
for number, name in enumerate(("effective", "permitted", "inheritable")):
    look(name + " capabilities", data[number] or data[number + 3])
look("new privileges", libc.prctl(39, 0, 0, 0, 0) == 0)
look("no seccomp filter", libc.prctl(21, 0, 0, 0, 0) != 2)
look("dumps core", __import__("resource").getrlimit(4) != (0, 0))
data = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
def take():
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")
attempt("take capabilities", take) if JAILED else None
"""


def _still_there(scene: Scene) -> None:
    outcome = scene.run("pass")
    if not finished(outcome):
        raise Broken(f"afterwards, an honest program does not run ({describe(outcome)})")


def _check_signals(scene: Scene) -> str:
    agent = scene.jail.agent_pid
    seen = refused(_SIGNALS)(scene)
    _still_there(scene)
    if scene.jail.agent_pid != agent:
        raise Broken("the agent had to be replaced")
    return seen


def _check_signals_by_descriptor(scene: Scene) -> str:
    outcome = scene.run(_SIGNALS_BY_DESCRIPTOR)
    if not finished(outcome):
        raise Broken(f"the compile process was hit ({describe(outcome)})")
    _still_there(scene)
    return "sixteen signals sent this way hit nobody"


def _check_signal_all(scene: Scene) -> str:
    outcome = scene.run(_SIGNAL_ALL, limits=_WITH_CHILDREN)
    _still_there(scene)
    return f"everything signalled ({describe(outcome)}): agent and host untouched, the next sample runs"


def _check_bomb(scene: Scene) -> str:
    outcome = scene.run(_BOMB, limits=_WITH_CHILDREN)
    made = told(outcome.stdout)
    if "stopped" not in made:
        raise Broken(f"{made['made']} children were made, of {_WITH_CHILDREN.processes} allowed")
    _nothing_survives(scene)
    return f"stopped ({made['stopped']}) after {made['made']} children; none outlived the case"


def _check_threads(scene: Scene) -> str:
    made = told(scene.run(_THREADS).stdout)
    if "stopped" not in made:
        raise Broken(f"{made['made']} threads were made")
    if int(made["made"]) < 8:
        raise Broken(f"only {made['made']} threads can be made")
    return f"stopped after {made['made']} threads"


def _check_daemon(scene: Scene) -> str:
    outcome = scene.run(_DAEMON, limits=_WITH_CHILDREN)
    if told(outcome.stdout) != {"daemon": "done"}:
        raise Broken(f"the daemon could not be started ({describe(outcome)})")
    _nothing_survives(scene)
    return "it had run, and was gone when the case's result was there"


def _nothing_survives(scene: Scene) -> None:
    left = scene.survivors()
    if left:
        raise Broken(f"{len(left)} processes outlived the case")


def _check_agent_killed(scene: Scene) -> str:
    agent = scene.jail.agent_pid
    scene.run("pass")
    below = descendants(agent)
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: owner.start_time(agent) is None)  # else a case may be done before the agent is
    outcome = scene.jail.run(stdin=b"")
    if outcome.cause != "lost":
        raise Broken(f"the loss of the agent went unnoticed ({describe(outcome)})")
    scene.jail.stop()
    if not wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in (agent, *below))):
        raise Broken("processes of a jail outlived its agent")
    _still_there(scene)
    return "killed from outside: all of the jail went with it, the loss was noticed, a new one runs"


PROBES = (
    Probe(
        name="processes.list",
        promise="A program sees no process but those of its own jail.",
        check=refused(_LIST),
        skip=needs_namespaces("processes of the machine are listed in /proc, though they cannot be opened"),
    ),
    Probe(
        name="processes.memory",
        promise="Memory, environment and descriptors of agent, zygote, compile process and host are out of reach.",
        check=refused(_MEMORY),
        skip=needs_our_kernel("environments and maps are shown to all; memory and descriptors are another user's"),
    ),
    Probe(
        name="processes.signals",
        promise="No signal reaches the agent, its zygote, the compile process or a process of the host.",
        check=_check_signals,
    ),
    Probe(
        name="processes.signals_by_descriptor",
        promise="Nor does one that is sent by way of a descriptor's owner.",
        check=_check_signals_by_descriptor,
    ),
    Probe(
        name="processes.signal_all",
        promise="kill(-1), where children are allowed, reaches the case's own processes only.",
        check=_check_signal_all,
        skip=needs_children,
    ),
    Probe(
        name="processes.none",
        promise="With processes = 0 no child process can be made.",
        check=refused(_NO_CHILDREN, limits=LIMITS),
    ),
    Probe(
        name="processes.bomb",
        promise="With children allowed their number is bounded, and a fork bomb is gone with its case.",
        check=_check_bomb,
        skip=needs_our_kernel("time and memory alone end a bomb", also=needs_cgroup),
    ),
    Probe(
        name="processes.threads",
        promise="The number of threads is bounded.",
        check=_check_threads,
        skip=needs_our_kernel("time and memory alone end a bomb", also=needs_cgroup),
    ),
    Probe(
        name="processes.daemon",
        promise="A child that made itself a daemon does not outlive its case.",
        check=_check_daemon,
        skip=needs_our_kernel("nobody outside sees its processes", also=needs_children),
    ),
    Probe(
        name="processes.privileges",
        promise="A program has no capability, can get none, and can become no other user.",
        check=refused(_PRIVILEGES),
    ),
    Probe(
        name="processes.agent_killed",
        promise="When the agent is killed, its whole jail goes with it, and the engine knows.",
        check=_check_agent_killed,
    ),
)
