"""Nothing is carried from one case to the next, nor from one sample to the next."""

from __future__ import annotations

import re

from scalebox.sandbox.probes.scene import Broken, Probe, Scene, Skip, always, forgotten, needs_our_kernel, told

_ERRAND = """
errand = sys.stdin.read()
def leave(name, act):
    if errand == "leave":
        attempt(name, act)
def seek(name, found):
    if errand == "look":
        try:
            look(name, found())
        except Exception as error:
            say(name, "nothing (%r)" % error)
"""

_FILES = (
    _ERRAND
    + """
def put(place):
    with open(place + "/probe-left", "w") as file:
        file.write("x")
for place in SCRATCH:
    leave("file in " + place, lambda: put(place))
    leave("hidden folder in " + place, lambda: os.makedirs(place + "/.probe-left/inner"))
    seek("file in " + place, lambda: os.path.exists(place + "/probe-left"))
    seek("folder in " + place, lambda: os.path.exists(place + "/.probe-left"))
    seek("anything in " + place, lambda: os.listdir(place)) if JAILED else None
def swap():
    os.rename(SCRATCH[0], SCRATCH[0] + "-moved")
leave("a scratch folder moved", swap) if JAILED else None
"""
)

_MARKS = (
    _ERRAND
    + """
import stat
places = SCRATCH + [".."] if JAILED else SCRATCH
for place in places:
    leave("mode of " + place, lambda: os.chmod(place, 0o751))
    leave("times of " + place, lambda: os.utime(place, (987654321, 987654321)))
    leave("attribute of " + place, lambda: os.setxattr(place, "user.probe", b"x"))
    leave("trusted attribute of " + place, lambda: os.setxattr(place, "trusted.probe", b"x"))
    leave("access list of " + place, lambda: os.setxattr(place, "system.posix_acl_access", b"\\2\\0\\0\\0"))
    seek("mode of " + place, lambda: stat.S_IMODE(os.stat(place).st_mode) == 0o751)
    seek("times of " + place, lambda: os.stat(place).st_mtime == 987654321)
    seek("attribute of " + place, lambda: os.listxattr(place))
"""
)

_MEMORY = (
    _ERRAND
    + """
import mmap
def segment(flags):
    libc.shm_open.restype = ctypes.c_int
    fd = libc.shm_open(b"/probe-left", flags, 0o600)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "shm_open")
leave("POSIX shared memory", lambda: segment(os.O_CREAT | os.O_RDWR))
seek("POSIX shared memory", lambda: segment(os.O_RDWR) is None)
key = 0x5CA1EB
leave("SysV shared memory", lambda: call("shmget", key, 4096, 0o1600))
seek("SysV shared memory", lambda: call("shmget", key, 0, 0) >= 0)
leave("SysV semaphores", lambda: call("semget", key, 1, 0o1600))
seek("SysV semaphores", lambda: call("semget", key, 0, 0) >= 0)
leave("SysV message queue", lambda: call("msgget", key, 0o1600))
seek("SysV message queue", lambda: call("msgget", key, 0) >= 0)
leave("POSIX message queue", lambda: call("mq_open", b"probe-left", os.O_CREAT | os.O_RDWR, 0o600, 0))
seek("POSIX message queue", lambda: call("mq_open", b"probe-left", os.O_RDWR, 0, 0) >= 0)
def keep(ring):
    call("add_key", b"user", b"probe-left", b"x", 1, ring)
for name, ring in (("thread", -1), ("process", -2), ("session", -3), ("user", -4), ("user session", -5)):
    leave("key in the %s keyring" % name, lambda: keep(ring))
    seek("key in the %s keyring" % name, lambda: call("keyctl", 10, ring, b"user", b"probe-left", 0) >= 0)
def named_semaphore(flags):
    libc.sem_open.restype = ctypes.c_void_p
    if not libc.sem_open(b"/probe-left", flags, 0o600, 1):
        raise OSError(ctypes.get_errno(), "sem_open")
leave("named semaphore", lambda: named_semaphore(os.O_CREAT))
seek("named semaphore", lambda: named_semaphore(0) is None)
if errand == "tidy":
    for act in (lambda: libc.shm_unlink(b"/probe-left"), lambda: libc.sem_unlink(b"/probe-left"),
                lambda: call("shmctl", call("shmget", key, 0, 0), 0, 0),
                lambda: call("semctl", call("semget", key, 0, 0), 0, 0),
                lambda: call("msgctl", call("msgget", key, 0), 0, 0), lambda: call("mq_unlink", b"probe-left"),
                lambda: call("keyctl", 9, call("keyctl", 10, -4, b"user", b"probe-left", 0), -4)):
        try:
            act()
        except OSError:
            pass
"""
)

_PIPES = (
    _ERRAND
    + """
import fcntl
names = {0: "standard input", 1: "standard output", 2: "standard error"}
for fd, name in names.items():
    if errand == "look":
        look("flags of " + name, fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_ASYNC | os.O_APPEND))
        look("size of " + name, fcntl.fcntl(fd, 1032) not in (65536, 1 << 20, 4096))
        look("owner of " + name, fcntl.fcntl(fd, fcntl.F_GETOWN))
    else:
        attempt("size of " + name, fcntl.fcntl, fd, 1031, 8192)
        attempt("owner of " + name, fcntl.fcntl, fd, fcntl.F_SETOWN, os.getpid())
        attempt("signal of " + name, fcntl.fcntl, fd, fcntl.F_SETSIG, 10)
        attempt("lock of " + name, fcntl.flock, fd, fcntl.LOCK_EX)
        attempt("lease of " + name, fcntl.fcntl, fd, 1024, fcntl.F_WRLCK)
        attempt("flags of " + name, fcntl.fcntl, fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
"""
)

_INTERPRETER = (
    _ERRAND
    + """
import builtins, gc, locale, random, signal, sys as system
import json, math, string
seek("attribute of builtins", lambda: hasattr(builtins, "probe_left"))
seek("attribute of a module", lambda: hasattr(math, "probe_left") or hasattr(json, "probe_left"))
seek("module", lambda: "probe_left" in sys.modules)
seek("search path", lambda: "/probe/left" in sys.path)
seek("environment", lambda: "PROBE_LEFT" in os.environ)
seek("working folder", lambda: JAILED and os.path.realpath(os.getcwd()) == "/")
seek("signal handler", lambda: signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN)
seek("signal mask", lambda: signal.SIGUSR2 in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
seek("timer", lambda: any(signal.getitimer(signal.ITIMER_REAL)))
seek("recursion limit", lambda: sys.getrecursionlimit() == 7777)
seek("hook", lambda: sys.gettrace() or sys.getprofile() or sys.displayhook is print)
seek("limit", lambda: __import__("resource").getrlimit(7)[0] == 77)
seek("name", lambda: open("/proc/self/comm").read() == "probe-left\\n")
seek("file mask", lambda: os.umask(0o77) == 0o123)
def change():
    builtins.probe_left = math.probe_left = json.probe_left = sys.modules["probe_left"] = 1
    sys.path.append("/probe/left")
    os.environ["PROBE_LEFT"] = "x"
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    signal.setitimer(signal.ITIMER_REAL, 1000)
    sys.setrecursionlimit(7777)
    sys.displayhook = print
    __import__("resource").setrlimit(7, (77, 77))
    libc.prctl(15, b"probe-left", 0, 0, 0)
    os.umask(0o123)
    os.chdir("/")
leave("all state of the interpreter and the process", change)
"""
)

_RANDOM = """
import random, uuid
say("numbers", (random.random(), os.urandom(8).hex(), hash("probe"), id(object()) and 0))
"""

_PIDS = """
say("pid", os.getpid())
"""


def _check_random(scene: Scene) -> str:
    runs = [told(scene.run(_RANDOM, again=again).stdout)["numbers"] for again in (False, True, False)]
    first = [re.split(r", ", run.strip("()")) for run in runs]
    if len({run[0] for run in first}) > 1 or len({run[2] for run in first}) > 1:
        raise Broken("generators or hashes are not the same for the same seed")
    if len({run[1] for run in first}) < len(first):
        raise Broken("the kernel's random numbers repeat")
    return "the same case draws the same numbers each time, and the kernel's are fresh"


def _probe(name: str, promise: str, program: str, *, control: bool = True, skip: Skip = always) -> Probe:
    return Probe(name=f"carried.{name}", promise=promise, check=forgotten(program, control=control), skip=skip)


PROBES = (
    _probe("files", "No file is carried over, in any folder that can be written to.", _FILES),
    _probe("marks", "No mode, time or attribute of a scratch folder is carried over.", _MARKS),
    _probe("memory", "No shared memory, semaphore, message queue or key is carried over.", _MEMORY),
    _probe(
        "pipes",
        "No state of the standard streams is carried over.",
        _PIPES,
        control=False,
        skip=needs_our_kernel("pipes have no size that could be asked for"),
    ),
    _probe("interpreter", "No state of the interpreter or the process is carried over.", _INTERPRETER, control=False),
    Probe(
        name="carried.random",
        promise="Seeded generators and hashes depend on the case alone; the kernel's random numbers are always fresh.",
        check=_check_random,
    ),
)
