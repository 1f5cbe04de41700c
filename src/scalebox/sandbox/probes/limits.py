"""Memory, output and time are bounded whatever a program does, and a program within them is left alone."""

from __future__ import annotations

from scalebox.core.limits import MIB, Limits
from scalebox.sandbox.probes.scene import (
    Probe,
    Scene,
    Skip,
    always,
    needs_cgroup,
    needs_children,
    needs_namespaces,
    needs_our_kernel,
    stopped,
)

_FAST = "data = bytearray(200 << 20)\n"
_SLOW = """
kept = []
for _ in range(200):
    kept.append(b"x" * (1 << 20))
"""
_SMALL_OBJECTS = "kept = [[number] for number in range(1_700_000)]\n"
_MAPPED = """
import mmap
area = mmap.mmap(-1, 200 << 20)
for at in range(0, len(area), 4096):
    area[at] = 1
"""
_NAMELESS = """
fd = os.memfd_create("x")
for _ in range(200):
    os.write(fd, bytes(1 << 20))
"""
_IN_SCRATCH = """
for number in range(200):
    with open(SCRATCH[number % len(SCRATCH)] + "/%d" % number, "wb") as file:
        file.write(bytes(1 << 20))
"""
_IN_PIPES = """
import fcntl
kept = []
for _ in range(400):
    reader, writer = os.pipe()
    kept += [reader, writer]
    os.set_blocking(writer, False)
    try:
        fcntl.fcntl(writer, 1031, 1 << 20)
    except OSError:
        pass
    try:
        while True:
            os.write(writer, bytes(65536))
    except BlockingIOError:
        pass
"""
_IN_CHILD = """
pid = os.fork()
if pid == 0:
    data = bytearray(200 << 20)
    os._exit(0)
_, status = os.waitpid(pid, 0)
if status:
    sys.exit(1)
"""
_IN_CHILDREN = """
import time
for _ in range(4):
    if os.fork() == 0:
        data = bytearray(50 << 20)
        time.sleep(1)
        os._exit(0)
if any(os.wait()[1] for _ in range(4)):
    sys.exit(1)
"""

_FLOOD = """
for _ in range({size} // 4096):
    os.write({fd}, b"x" * 4096)
"""
_ENDLESS = """
import threading
def flood():
    while True:
        os.write(1, b"x" * 65536)
for _ in range(4):
    threading.Thread(target=flood, daemon=True).start()
flood()
"""

_LOOP = """
import time
until = time.process_time() + {seconds}
while time.process_time() < until:
    pass
"""
_DEAF = """
import signal
for number in range(1, 65):
    if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
        signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
"""
_LOOP_IN_CHILDREN = """
import time
for _ in range(3):
    if os.fork() == 0:
        until = time.process_time() + {seconds}
        while time.process_time() < until:
            pass
        os._exit(0)
for _ in range(3):
    os.wait()
"""
_LOOP_IN_THREADS = """
import threading, time
until = time.process_time() + {seconds}
def loop():
    while time.process_time() < until:
        pass
threads = [threading.Thread(target=loop) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
_SPARE = """
import resource, time
try:
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except ValueError:
    pass
"""
_POWER = "len(str(3 ** {size})) if sys.version_info < (3, 11) else hash(3 ** {size})\n"

_SLEEP = "import time\ntime.sleep({seconds})\n"
_SHORT_SLEEPS = """
import time
until = time.monotonic() + {seconds}
while time.monotonic() < until:
    time.sleep(0.01)
"""
_STOPPED = "import signal\nos.kill(os.getpid(), signal.SIGSTOP)\n"
_HUNG_UP = "import time\nos.dup2(os.open('/dev/null', 1), 2)\nos.close(0)\nos.close(1)\ntime.sleep({seconds})\n"
_LAST_THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=({seconds},)).start()\nsys.exit()\n"


def _needs_scratch_in_memory(scene: Scene) -> str:
    own = needs_our_kernel("there is no folder for shared memory", also=needs_cgroup)
    return own(scene) or needs_namespaces("the scratch folders are on the machine's disk")(scene)


def _memory(
    name: str,
    what: str,
    program: str,
    *,
    memory_mb: int = 100,
    processes: int = 0,
    disk_mb: int = 20,
    skip: Skip = needs_cgroup,
) -> Probe:
    def limits(megabytes: int) -> Limits:
        return Limits(cpu_s=10.0, wall_s=30.0, memory_mb=megabytes, disk_mb=disk_mb, processes=processes)

    return Probe(
        name=f"limits.memory_{name}",
        promise=f"Memory beyond memory_mb is not given: {what}.",
        check=stopped(program, ("memory",), limits=limits(memory_mb), errors=("MemoryError",), enough=limits(500)),
        skip=skip,
    )


def _output(name: str, what: str, program: str, within: str) -> Probe:
    limits = Limits(cpu_s=10.0, wall_s=30.0, output_mb=1.0)
    return Probe(
        name=f"limits.output_{name}",
        promise=f"A program is stopped at output_mb: {what}.",
        check=stopped(program, ("output",), limits=limits, within=within),
    )


def _cpu(name: str, what: str, program: str, *, processes: int = 0, few: str = "0.02", many: str = "60") -> Probe:
    limits = Limits(cpu_s=0.5, wall_s=60.0, processes=processes)
    fill = program.replace
    return Probe(
        name=f"limits.cpu_{name}",
        promise=f"A program is stopped at cpu_s: {what}.",
        check=stopped(fill("{seconds}", many), ("cpu",), limits=limits, within=fill("{seconds}", few)),
        skip=needs_children if processes else always,
    )


def _wall(name: str, what: str, program: str, within: str = "") -> Probe:
    fill = program.replace
    return Probe(
        name=f"limits.wall_{name}",
        promise=f"A program is stopped at wall_s: {what}.",
        check=stopped(
            fill("{seconds}", "60"),
            ("wall",),
            limits=Limits(cpu_s=5.0, wall_s=1.0),
            within=within or fill("{seconds}", "0.01"),
            enough=Limits(cpu_s=5.0, wall_s=60.0),
        ),
    )


def _flood(fd: int, size: int) -> str:
    return _FLOOD.format(fd=fd, size=size)


PROBES = (
    _memory("fast", "one large object", _FAST, skip=always),
    _memory("slow", "many, one after another", _SLOW, skip=always),
    _memory("objects", "very many small ones", _SMALL_OBJECTS, skip=always),
    _memory("mapped", "anonymous mappings", _MAPPED),
    _memory("nameless", "nameless files", _NAMELESS, disk_mb=1000),
    _memory("scratch", "files in scratch folders", _IN_SCRATCH, disk_mb=1000, skip=_needs_scratch_in_memory),
    _memory("pipes", "what waits in pipes", _IN_PIPES, memory_mb=20),
    _memory("child", "a child's", _IN_CHILD, processes=2),
    _memory("children", "several children's together", _IN_CHILDREN, processes=8),
    _output("stdout", "standard output", _flood(1, 2 * MIB), _flood(1, MIB // 2)),
    _output("stderr", "standard error", _flood(2, 2 * MIB), _flood(2, MIB // 2)),
    _output("endless", "several threads that write without end", _ENDLESS, _flood(1, MIB // 2)),
    _cpu("loop", "an endless loop", _LOOP),
    _cpu("deaf", "with all signals ignored and blocked", _DEAF + _LOOP),
    _cpu("raised", "after trying to lift the limit", _SPARE + _LOOP),
    _cpu("threads", "in threads", _LOOP_IN_THREADS),
    _cpu("children", "in children", _LOOP_IN_CHILDREN, processes=8),
    _cpu("integer", "inside one long operation of the interpreter", _POWER.replace("{size}", "{seconds}"),
         few="1000", many="3_000_000_000"),
    _wall("sleep", "asleep", _SLEEP),
    _wall("deaf", "with all signals ignored and blocked", _DEAF + _SHORT_SLEEPS),
    _wall("stopped", "stopped by itself", _STOPPED, "pass"),
    _wall("hung_up", "with its standard streams closed", _HUNG_UP, "pass"),
    _wall("thread", "its last thread still running", _LAST_THREAD, "pass"),
)  # fmt: skip
