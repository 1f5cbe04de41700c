"""Hostile programs, each with the verdicts it may get. The task they do not do is to square a number."""

# ruff: noqa: E501 - one program to a line

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

#: What honest programs answer: stdin "3" → "9", and f(3) == 9.
HONEST_SCRIPT = "print(int(input()) ** 2)\n"
HONEST_FUNCTION = "def f(n):\n    return n * n\n"


class Attack(NamedTuple):
    """A program, the kind of its tests, the verdicts that are right for it, and changes to the default limits.

    `denied` is what must be named where the verdict is resource_denied; `cases` is how many equal tests there are.
    """

    name: str
    kind: str
    verdicts: frozenset[str]
    code: str
    limits: dict[str, Any]
    language: str = "python"
    denied: str = ""
    cases: int = 1

    def record(self, number: int = 0) -> dict[str, Any]:
        """Return the attack as a sample in the input format."""
        if self.kind == "stdin":
            tests: list[dict[str, Any]] = [{"stdin": "3\n", "stdout": "9\n"}] * self.cases
        else:
            tests = [{"call": "f", "args": [value], "expect": value * value} for value in (3, 4)]
        limits = {"cpu_s": 1.0, "wall_s": 60.0, "memory_mb": 100, **self.limits}
        return {
            "id": f"{self.name}-{number}", "language": self.language, "code": self.code, "tests": tests,
            "limits": limits,
        }  # fmt: skip


def _attack(kind: str, name: str, verdicts: str, code: str, limits: dict[str, Any]) -> Attack:
    return Attack(
        name.replace(" ", "-"), kind, frozenset(verdicts.split("|")), textwrap.dedent(code).strip() + "\n", limits
    )


def script(name: str, verdicts: str, code: str, **limits: Any) -> Attack:
    """Return an attack by a whole program."""
    return _attack("stdin", name, verdicts, code, limits)


def function(name: str, verdicts: str, code: str, **limits: Any) -> Attack:
    """Return an attack by a function that is called."""
    return _attack("call", name, verdicts, code, limits)


def native(language: str, name: str, verdicts: str, code: str, denied: str = "", **limits: Any) -> Attack:
    """Return an attack by a whole program in another language than Python; building it may take its time."""
    given = {"build_s": 60.0, "memory_mb": 256, **limits}
    return _attack("stdin", name, verdicts, code, given)._replace(language=language, denied=denied)


_C = "import ctypes, os, signal, sys, time\nlibc = ctypes.CDLL(None, use_errno=True)\n"

#: Ends that pretend success, or hide what happened.
ENDS = (
    script("exit at once", "output_mismatch", "import sys; sys.exit(0)"),
    script("exit hard at once", "output_mismatch", "import os; os._exit(0)"),
    script("right, then exit 3", "runtime_error", "print(9); raise SystemExit(3)"),
    script("right, then exit with a text", "runtime_error", "print(9); raise SystemExit('passed')"),
    script("right, then killed by itself", "runtime_error", "import os; print(9, flush=True); os.kill(os.getpid(), 9)"),
    script("right, then terminated", "runtime_error", "import os; print(9, flush=True); os.kill(os.getpid(), 15)"),
    script("right, then aborted", "runtime_error", "import os; print(9, flush=True); os.abort()"),
    script("right, then a null pointer", "runtime_error", "import ctypes; print(9, flush=True); ctypes.string_at(0)"),
    script("right, then an alarm", "runtime_error", "import signal; print(9, flush=True); signal.setitimer(0, .01); signal.pause()"),
    script("right, then an exception", "runtime_error", "print(9)\nraise ValueError"),
    script("right, then an interrupt", "runtime_error", "print(9)\nraise KeyboardInterrupt"),
    script("right, then a generator's end", "runtime_error", "print(9)\nraise GeneratorExit"),
    script("right, then a bad system call's signal", "resource_denied|runtime_error", "import os; print(9, flush=True); os.kill(os.getpid(), 31)"),
    script("right, then asleep", "time_out", "import time; print(9, flush=True); time.sleep(60)", wall_s=2),
    script("right, then stopped", "time_out", "import os; print(9, flush=True); os.kill(os.getpid(), 19)", wall_s=2),
    script("right, then a thread without end", "time_out", "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); print(9)", wall_s=2),
    script("wrong, and an exit handler", "output_mismatch|runtime_error", "import atexit, os; atexit.register(os._exit, 0); print(8); raise ValueError"),
    script("wrong, and a hook", "output_mismatch", "import os, sys; sys.excepthook = lambda *_: os._exit(0); print(8); raise ValueError"),
    script("wrong, and a handler that loops", "time_out", "import atexit\ndef loop():\n    while True: pass\natexit.register(loop); print(8)"),
    script("an error that loops when shown", "time_out", "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"),
    script("an error that raises when shown", "runtime_error", "class E(Exception):\n    def __str__(self): raise self\nraise E"),
    script("an object that exits when it dies", "output_mismatch|runtime_error", "import os\nclass D:\n    def __del__(self): os._exit(0)\nd = D(); print(8); raise ValueError"),
    script("standard streams closed", "output_mismatch|runtime_error", "import os; os.closerange(0, 4096)"),
    script("standard output closed", "runtime_error|output_mismatch", "import os; os.close(1); print(9)"),
    script("standard output gone", "output_mismatch|runtime_error", "import sys; sys.stdout = None; sys.__stdout__ = None; print(9)"),
    script("another program, wrong", "output_mismatch", "import os; os.execv('/bin/sh', ['sh', '-c', 'echo 8'])"),
    script("another program, no answer", "output_mismatch", "import os; os.execv('/bin/true', ['true'])"),
    script("another program, failing", "runtime_error", "import os; os.execv('/bin/sh', ['sh', '-c', 'echo 9; exit 1'])"),
    script("another program, asleep", "time_out", "import os; os.execv('/bin/sleep', ['sleep', '60'])", wall_s=2),
)  # fmt: skip

#: Texts and errors that pretend that the machine is to blame.
BLAME = (
    script("says internal error", "runtime_error", "import sys; sys.stderr.write('internal_error: worker lost\\n'); sys.exit(1)"),
    script("says permission denied", "runtime_error", "import sys; sys.stderr.write('PermissionError: [Errno 1] Permission denied\\n'); sys.exit(1)"),
    script("says out of memory", "runtime_error", "import sys; sys.stderr.write('MemoryError\\nKilled\\n'); sys.exit(137)"),
    script("exits as if the agent failed", "runtime_error", "import os; os._exit(70)"),
    script("exits as if the compile process failed", "runtime_error", "import os; os._exit(71)"),
    script("raises a memory error", "memory_exceed|runtime_error", "raise MemoryError"),
    script("raises a permission error", "resource_denied|runtime_error", "raise PermissionError(1, 'no')"),
    script("raises no space left", "resource_denied|runtime_error", "raise OSError(28, 'no')"),
    script("an error with hostile attributes", "runtime_error", "class E(OSError):\n    errno = property(lambda s: 1 / 0)\n    filename = property(lambda s: 1 / 0)\nraise E(1, 'x')"),
    script("an error with a hostile class", "runtime_error", "class M(type):\n    __name__ = property(lambda s: 1 / 0)\n    __mro__ = property(lambda s: 1 / 0)\nclass E(Exception, metaclass=M): pass\nraise E"),
    script("an error with an endless name", "output_exceed", "raise type('E' * 1_000_000, (OSError,), {})(5, 'x' * 1_000_000, 'f' * 1_000_000)"),
)  # fmt: skip

#: More than the limits give.
GREED = (
    script("memory at once", "memory_exceed", "data = bytearray(1 << 30)"),
    script("memory by and by", "memory_exceed", "kept = []\nwhile True: kept.append(' ' * 1_000_000)"),
    script("memory in small objects", "memory_exceed", "kept = []\nwhile True: kept.append([])", cpu_s=10),
    script("memory by doubling", "memory_exceed", "text = 'x'\nwhile True: text += text"),
    script("memory, swallowing the error", "memory_exceed|time_out", "kept = []\nwhile True:\n    try: kept.append(bytearray(1 << 20))\n    except MemoryError: pass"),
    script("memory in nameless files", "memory_exceed", "import os\nfd = os.memfd_create('x')\nwhile True: os.write(fd, bytes(1 << 20))", disk_mb=1000),
    script("memory in scratch files", "memory_exceed", "for n in range(1000): open(str(n), 'wb').write(bytes(1 << 20))", disk_mb=2000),
    script("memory in children", "memory_exceed", "import os, time\nfor _ in range(5):\n    if os.fork() == 0: data = bytearray(40 << 20); time.sleep(1); os._exit(0)\nfor _ in range(5): os.wait()\nprint(9)", processes=10),
    script("memory of a child, unnoticed", "memory_exceed", "import os\nif os.fork() == 0: data = bytearray(1 << 30)\nos.wait(); print(9)", processes=2),
    script("an integer without end", "memory_exceed|time_out", "n = 7\nwhile True: n *= n"),
    script("disk", "resource_denied", "file = open('x', 'wb')\nwhile True: file.write(bytes(1 << 20))", disk_mb=20),
    script("very many files", "resource_denied|time_out", "import os\nfor n in range(10**7): os.close(os.open(str(n), os.O_CREAT))", disk_mb=20),
    script("output", "output_exceed", "while True: print('9' * 1000)"),
    script("errors", "output_exceed", "import sys\nprint(9)\nwhile True: sys.stderr.write('9' * 1000)"),
    script("output from threads", "output_exceed", "import os, threading\ndef flood():\n    while True: os.write(1, b'9' * 65536)\nfor _ in range(8): threading.Thread(target=flood).start()"),
    script("a loop", "time_out", "while True: pass"),
    script("a loop with signals blocked", "time_out", "import signal\nfor n in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(n, signal.SIG_IGN)\nsignal.pthread_sigmask(0, range(1, 65))\nwhile True: pass"),
    script("a regular expression", "time_out", "import re; re.match('(a+)+$', 'a' * 64 + 'b')"),
    script("a sum", "time_out", "print(sum(range(10**12)))"),
    script("a power", "time_out|memory_exceed", "print(7 ** 7 ** 9)"),
    script("loops in threads", "time_out", "import threading\ndef loop():\n    while True: pass\nfor _ in range(8): threading.Thread(target=loop).start()"),
    script("loops in children", "time_out", "import os\nfor _ in range(3): os.fork()\nwhile True: pass", processes=10),
    script("a deadlock", "time_out", "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()", wall_s=2),
    script("a pause", "time_out", "import signal; signal.pause()", wall_s=2),
    script("recursion without end", "runtime_error", "def f(n): return f(n + 1)\nprint(f(0))"),
    script("recursion of C without end", "runtime_error|memory_exceed", "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr(self)\nprint(A())", cpu_s=10),
    script("recursion beyond the stack", "runtime_error|memory_exceed", "import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return [f(n + 1)]\nprint(f(0))", cpu_s=10),
    script("threads", "runtime_error", "import threading, time\nfor _ in range(100_000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"),
    script("a fork bomb, none allowed", "resource_denied", "import os\nwhile True: os.fork()"),
    script("a fork bomb, some allowed", "time_out|runtime_error|resource_denied|memory_exceed", "import os, signal\nwhile True:\n    try: os.fork()\n    except OSError: pass", processes=20),
    script("limits set to nothing", "runtime_error|memory_exceed|time_out|output_mismatch", "import resource\nfor n in range(16):\n    try: resource.setrlimit(n, (0, 0))\n    except (OSError, ValueError): pass\nkept = [bytearray(1 << 16) for _ in range(1000)]\nprint(8)"),
)  # fmt: skip

#: Ways out of the jail. Where nothing but the attempt is wrong, it is named. (`unknown`: on a machine busy with others.)
ESCAPES = (
    script("socket", "resource_denied", "import socket; socket.create_connection(('1.1.1.1', 53), 1)"),
    script("socket, unnoticed and wrong", "resource_denied", "import socket\ntry: socket.socket()\nexcept OSError: pass\nprint(8)"),
    script("socket, unnoticed and right", "passed", "import socket\ntry: socket.socket()\nexcept OSError: pass\nprint(9)"),
    script("asks without end", "time_out|unknown", "import socket\nwhile True:\n    try: socket.socket()\n    except OSError: pass", cpu_s=30, wall_s=2),
    script("asks without end, in threads", "time_out|unknown", "import socket, threading\ndef ask():\n    while True:\n        try: socket.socket()\n        except OSError: pass\nfor _ in range(16): threading.Thread(target=ask).start()", cpu_s=30, wall_s=2),
    script("asks without end, in children", "time_out|unknown", "import os, socket\nfor _ in range(4): os.fork()\nwhile True:\n    try: os.kill(os.getppid(), 0); socket.socket()\n    except OSError: pass", cpu_s=30, wall_s=2, processes=20),
    script("asks, and is killed while it waits", "runtime_error|resource_denied", "import os, socket, threading\ndef ask():\n    while True:\n        try: socket.socket()\n        except OSError: pass\nfor _ in range(8): threading.Thread(target=ask).start()\nos.kill(os.getpid(), 9)"),
    script("its own answers to what is asked", "resource_denied", _C + "import socket, struct\ncode = struct.pack('HBBI', 6, 0, 0, 0x7FFF0000)\nbuffer = ctypes.create_string_buffer(code, 8)\nhead = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 1, ctypes.addressof(buffer)))\nlibc.prctl(22, 2, head, 0, 0)\nsocket.socket()"),
    script("write to the root", "resource_denied", "open('/x', 'w')"),
    script("write to the interpreter", "resource_denied", "import os; open(os.__file__, 'a')"),
    script("read a secret", "runtime_error|resource_denied", "print(open('/etc/shadow').read())"),
    script("kill the compile process", "resource_denied", "import os; os.kill(os.getppid(), 9)"),
    script("stop the compile process", "resource_denied", "import os; os.kill(os.getppid(), 19)"),
    script("kill the agent", "resource_denied", "import os; os.kill(1, 9)"),
    script("kill all", "resource_denied", "import os; os.kill(-1, 9)"),
    script("kill all, children allowed", "passed", "import os; print(9, flush=True); os.fork() or os.kill(-1, 9) or os._exit(0); os.wait()", processes=4),
    script("kill the parent, children allowed", "resource_denied", "import os; os.kill(os.getppid(), 9)", processes=4),
    script("trace the compile process", "resource_denied", _C + "libc.ptrace(16, os.getppid(), 0, 0); print(8)"),
    script("read the compile process", "resource_denied|runtime_error", "import os; open('/proc/%d/mem' % os.getppid(), 'rb')"),
    script("read the agent", "resource_denied|runtime_error", "open('/proc/1/environ', 'rb')"),
    script("become root", "runtime_error|resource_denied", "import os; os.setuid(0)"),
    script("a new namespace", "resource_denied", _C + "libc.unshare(0x10000000); print(8)"),
    script("a mount", "resource_denied", _C + "libc.mount(b'none', b'/work', b'tmpfs', 0, None); print(8)"),
    script("a strange system call", "output_mismatch", _C + "[libc.syscall(n, 0, 0, 0, 0, 0, 0) for n in (500, 1000, 1 << 20)]; print(8)"),
    script("its own filter", "output_mismatch|runtime_error", _C + "libc.prctl(38, 1, 0, 0, 0); libc.prctl(22, 1, 0, 0, 0); print(8)"),
    script("vfork", "resource_denied", _C + "pid = libc.vfork() if False else libc.syscall(58); print(8)"),
    script("a stack by hand", "runtime_error", _C + "libc.memset(ctypes.c_void_p(id(sys) & ~0xFFF), 0, 1 << 30)"),
    script("every descriptor", "output_mismatch", "import os\nfor fd in range(3, 1024):\n    try: os.write(fd, b'9\\n')\n    except OSError: pass\nprint(8)"),
    script("every descriptor by name", "output_mismatch|runtime_error|resource_denied", "import os\nfor pid in ('self', '1', str(os.getppid())):\n    try: names = os.listdir('/proc/%s/fd' % pid)\n    except OSError: names = range(99)\n    for name in names:\n        if int(name) > 2:\n            try: open('/proc/%s/fd/%s' % (pid, name), 'wb', 0).write(b'9\\n')\n            except OSError: pass\nprint(8)"),
    script("our modules", "runtime_error", "import sys; print(sys.modules['scalebox.sandbox.agent.case'])"),
    script("our objects", "output_mismatch", "import gc\nfor item in gc.get_objects():\n    if isinstance(item, dict) and ('expect' in item or 'stdout' in item and 'tests' in item): print(item)\nprint(8)"),
    script("our frames", "output_mismatch|runtime_error", "import sys\nframe = sys._getframe()\nwhile frame:\n    for space in (frame.f_globals, frame.f_builtins):\n        for name in ('report', 'finish', 'exit_status', 'note', 'run_script', 'act'):\n            if name in space: space[name] = lambda *a, **k: 0\n    frame = frame.f_back\nprint(8); raise ValueError"),
    script("our builtins", "output_mismatch|runtime_error", "import builtins\nfor name in ('len', 'isinstance', 'type', 'getattr', 'open', 'print', 'exec', 'compile'): setattr(builtins, name, lambda *a, **k: 9)"),
    script("our streams", "output_mismatch|runtime_error", "import sys\nclass S:\n    def __getattr__(self, name): return self\n    def __call__(self, *a): return self\nsys.stdout = sys.stderr = sys.__stdout__ = S()\nprint(9)"),
)  # fmt: skip

_BOARD = """
import os, struct, sys
def boards():
    for line in open('/proc/self/maps'):
        span, mode, *_, name = line.split(None, 5) + ['']
        if mode[1] == 'w' and mode[3] == 's':
            start, end = (int(part, 16) for part in span.split('-'))
            yield start, end - start
import ctypes
def scribble(data):
    for start, size in boards():
        try: ctypes.memmove(start, data[:size], min(size, len(data)))
        except Exception: pass
"""

#: The compile process's board for notes, which a case can write to.
BOARD = (
    script("board: garbage", "runtime_error|resource_denied|memory_exceed", _BOARD + "scribble(b'\\xff' * 4096); os._exit(1)"),
    script("board: a length that lies", "runtime_error|resource_denied|memory_exceed", _BOARD + "scribble(struct.pack('<I', 0xFFFFFFFF) + b't'); os._exit(1)"),
    script("board: nothing in it", "runtime_error|resource_denied|memory_exceed", _BOARD + "scribble(struct.pack('<I', 0)); os._exit(1)"),
    script("board: nested without end", "runtime_error|resource_denied|memory_exceed", _BOARD + "scribble(struct.pack('<I', 4000) + b'l\\1\\0\\0\\0' * 800); os._exit(1)"),
    script("board: wrong types", "runtime_error|resource_denied|memory_exceed", _BOARD + "scribble(struct.pack('<I', 21) + b't\\4\\0\\0\\0' + b'NNNN' + bytes(12)); os._exit(1)"),
    script("board: then a clean end", "output_mismatch|resource_denied", _BOARD + "scribble(b'\\xff' * 4096); print(8)"),
)  # fmt: skip

#: Left-overs, with a right answer: these pass, and the next sample must not notice.
LEFT_OVERS = (
    script("leaves files", "passed", "import os\nfor n in range(500): open(str(n), 'w').write('x')\nprint(9)"),
    script("leaves a deep tree", "passed", "import os\nfor _ in range(2000): os.mkdir('d'); os.chdir('d')\nprint(9)"),
    script("leaves closed folders", "passed", "import os\nos.makedirs('a/b'); os.chmod('a/b', 0); os.chmod('a', 0); os.chmod('.', 0); print(9)"),
    script("leaves links", "passed", "import os\nfor n, to in enumerate(('/', '/etc', '..', '/proc/self/root', 'loop')): os.symlink(to, 'l%d' % n)\nos.symlink('loop', 'loop'); os.mkfifo('fifo'); print(9)"),
    script("leaves the working folder", "passed", "import os; os.chdir('/'); print(9)"),
    script("leaves a daemon", "passed", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.closerange(0, 99)\n        while True: time.sleep(1)\n    os._exit(0)\nos.wait(); print(9)", processes=4),
    script("leaves a child that holds the pipes", "passed", "import os, time\nprint(9, flush=True)\nif os.fork() == 0: time.sleep(60)", processes=4),
    script("leaves flags on its pipes", "passed", "import fcntl, os\nprint(9, flush=True)\nfor fd in (0, 1, 2): fcntl.fcntl(fd, 4, os.O_NONBLOCK | os.O_ASYNC); fcntl.fcntl(fd, 1031, 4096)"),
    script("leaves interpreter state", "passed", "import builtins, sys, os\nprint(9, flush=True)\nbuiltins.print = builtins.open = None; sys.modules.clear(); os.environ.clear()"),
    script("leaves its input unread", "passed", "print(9)"),
    script("answers without buffering", "passed", "import os; os.write(1, b'9\\n'); os._exit(0)"),
    script("answers through a copy", "passed", "import os; os.dup2(1, 2); os.write(2, b'9\\n')"),
    script("answers by another program", "passed", "import os; os.execv('/bin/sh', ['sh', '-c', 'read n; echo $((n * n))'])"),
)  # fmt: skip

_FRAME = """
import os, struct
def put(index, value, size=None, status=0):
    data = b"i" + struct.pack("<q", value)
    os.write(3, struct.pack("<IIBff", 13 + len(data) if size is None else size, index, status, 0, 0) + data)
"""

#: What a called function can return or do to the frames that carry values.
CALLS = (
    function("equal to all", "assert_fail", "class A:\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(n): return A()"),
    function("a lying integer", "assert_fail", "class I(int):\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\ndef f(n): return I(8)"),
    function("a class that pretends", "assert_fail", "class A:\n    __class__ = int\n    def __index__(self): return 9\ndef f(n): return A()"),
    function("a metaclass that raises", "assert_fail|runtime_error", "class M(type):\n    def __hash__(cls): raise ValueError\nclass A(metaclass=M): pass\ndef f(n): return A()"),
    function("a metaclass without a name", "assert_fail|runtime_error", "class M(type):\n    __module__ = property(lambda c: 1 / 0)\nclass A(metaclass=M): pass\ndef f(n): return A()"),
    function("not a number", "assert_fail", "def f(n): return float('nan')"),
    function("text for a number", "assert_fail", "def f(n): return str(n * n)"),
    function("a generator without end", "assert_fail", "def f(n):\n    while True: yield 9"),
    function("a cycle", "assert_fail", "def f(n):\n    a = [n]; a[0] = a\n    return a"),
    function("nested deeply", "assert_fail|runtime_error", "def f(n):\n    a = 9\n    for _ in range(100_000): a = [a]\n    return a"),
    function("keys that collide", "assert_fail|time_out|runtime_error", "def f(n): return {i * ((1 << 61) - 1): 1 for i in range(1, 4000)}", cpu_s=5),
    function("a huge integer", "assert_fail", "def f(n): return 1 << 10_000_000"),
    function("a huge text", "output_exceed", "def f(n): return 'x' * 20_000_000", memory_mb=300),
    function("lone surrogates", "assert_fail", "def f(n): return '\\ud800' * 9"),
    function("a dictionary that changes", "assert_fail|runtime_error", "class D(dict):\n    def items(self): return iter([(1, self)])\ndef f(n): return D(a=1)"),
    function("exits in the call", "runtime_error", "import os\ndef f(n): os._exit(0)"),
    function("leaves in the call", "runtime_error", "def f(n): raise SystemExit(0)"),
    function("exits at import", "runtime_error", "raise SystemExit(0)"),
    function("no such function", "runtime_error", "def g(n): return n * n"),
    function("loops in the call", "time_out", "def f(n):\n    while True: pass"),
    function("sleeps in the call", "time_out", "import time\ndef f(n): time.sleep(60)", wall_s=2),
    function("frames: wrong value, then the end", "assert_fail|runtime_error", _FRAME + "def f(n):\n    for i in range(2): put(i, 8)\n    os._exit(0)"),
    function("frames: wrong value, then the real one", "runtime_error", _FRAME + "def f(n):\n    put(0, 8); put(1, 8)\n    return n * n"),
    function("frames: right twice", "runtime_error", _FRAME + "def f(n):\n    put(n - 3, n * n)\n    return n * n"),
    function("frames: another index", "runtime_error", _FRAME + "def f(n):\n    put(7, n * n); os._exit(0)"),
    function("frames: a length too large", "runtime_error", _FRAME + "def f(n):\n    put(n - 3, n * n, size=0xFFFFFFFF); os._exit(0)"),
    function("frames: a length too small", "runtime_error", _FRAME + "def f(n):\n    put(n - 3, n * n, size=2); os._exit(0)"),
    function("frames: cut short", "runtime_error", _FRAME + "def f(n):\n    put(n - 3, n * n, size=99); os._exit(0)"),
    function("frames: unknown status", "runtime_error", _FRAME + "def f(n):\n    put(n - 3, n * n, status=9); os._exit(0)"),
    function("frames: garbage before", "runtime_error", "import os\ndef f(n):\n    os.write(3, b'garbage')\n    return n * n"),
    function("frames: garbage after", "runtime_error", "import atexit, os\natexit.register(os.write, 3, b'garbage')\ndef f(n): return n * n"),
    function("frames: without end", "output_exceed|time_out", "import os\ndef f(n):\n    while True: os.write(3, bytes(65536))"),
    function("frames: very many", "output_exceed|time_out|runtime_error", _FRAME + "def f(n):\n    for i in range(10**7): put(i, 9)"),
    function("frames: closed", "runtime_error", "import os\ndef f(n):\n    os.close(3)\n    return n * n"),
    function("frames: turned to standard output", "runtime_error", "import os\ndef f(n):\n    os.dup2(1, 3)\n    return n * n"),
    function("frames: all that can be found", "runtime_error|passed", "import os\ndef f(n):\n    for fd in range(100):\n        if fd != 3:\n            try: os.write(fd, b'x')\n            except OSError: pass\n    return n * n"),
    function("our encoder replaced", "assert_fail|runtime_error", "import sys\ndef f(n):\n    sys._getframe(1).f_globals['values'].encode = lambda value: b'\\xff'\n    return 8"),
    function("our frames replaced", "assert_fail|runtime_error", "import sys\ndef f(n):\n    space = sys._getframe(1).f_globals\n    space['VALUE'] = 77\n    return n * n"),
    function("our loop replaced", "runtime_error|assert_fail", "import sys, os\nframe = sys._getframe(1)\nfor name in list(frame.f_globals):\n    if name in ('resolve', 'finish', '_Frames', 'note', 'report'): frame.f_globals[name] = lambda *a, **k: os._exit(0)\ndef f(n): return 8"),
    function("raises what it likes", "runtime_error|memory_exceed", "def f(n): raise type('X', (MemoryError,), {})"),
    function("state between calls", "assert_fail", "calls = []\ndef f(n):\n    calls.append(n)\n    return n * n if len(calls) > 1 else 0"),
)  # fmt: skip

ATTACKS = (*ENDS, *BLAME, *GREED, *ESCAPES, *BOARD, *LEFT_OVERS, *CALLS)
#: Those that take no noticeable time, for runs of thousands.
QUICK = tuple(
    attack for attack in ATTACKS if not attack.verdicts & {"time_out", "memory_exceed"} and "tree" not in attack.name
)
