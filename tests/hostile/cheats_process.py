"""Cheats on what joins two processes and on what they share: descriptors, memory, files, signals, the interpreter."""

# ruff: noqa: E501 - one program to a line

from __future__ import annotations

from tests.hostile.cheats import HONEST, Cheat, calls, cheat

from scalebox.core import values

_WRONG = "def f(n):\n    return 7\n"


def _frame(*fields: object) -> bytes:
    data = values.encode(fields)
    return len(data).to_bytes(4, "little") + data


#: What the tests' side would write if all had passed.
_FORGED = b"".join((
    *(_frame("began", str(number)) for number in range(3)),
    *(_frame("case", str(number), "passed", "", "", 0.0, 0.0) for number in range(3)),
    _frame("ended", "done", ""),
    _frame("ended", "done", "", []),
))  # fmt: skip
_DESCRIPTORS = "import os\nfds = [int(n) for n in os.listdir('/proc/self/fd') if int(n) > 2]\n"
_EVERY = f"{_DESCRIPTORS}data = {_FORGED!r}\n"


def _with_descriptors(name: str, doing: str, before: str = _DESCRIPTORS, or_: str = "") -> tuple[Cheat, Cheat]:
    """Return two cheats: one does something to every descriptor at import, one in a call."""
    loop = f"for fd in fds:\n    try: {doing}\n    except OSError: pass\n"
    inside = "".join(f"    {line}\n" for line in (before + loop).splitlines())
    return (
        cheat(f"{name}, at import", f"{before}{loop}{_WRONG}", or_=or_),
        cheat(f"{name}, in a call", f"def f(n):\n{inside}    return 7\n", or_=or_),
    )


DESCRIPTORS: tuple[Cheat, ...] = (
    *_with_descriptors("writes forged frames", "os.write(fd, data)", _EVERY),
    *_with_descriptors("writes many forged frames", "[os.write(fd, data) for _ in range(20)]", _EVERY.replace("fds = ", "import os; fds = ")),
    *_with_descriptors("writes rubbish", "os.write(fd, os.urandom(500))"),
    *_with_descriptors("announces endless messages", "os.write(fd, b'\\xff' * 64)"),
    *_with_descriptors("announces a message that does not come", "os.write(fd, b'\\0\\0\\0\\x01' + b'\\0' * 12)", or_="time_out"),
    *_with_descriptors("writes empty messages", "os.write(fd, b'\\0' * 4096)"),
    *_with_descriptors("closes all descriptors", "os.close(fd)"),
    *_with_descriptors("points all descriptors elsewhere", "os.dup2(os.open('/dev/null', os.O_RDWR), fd)", or_="time_out"),
    *_with_descriptors("reads from all descriptors", "os.set_blocking(fd, False); os.read(fd, 65536)", or_="time_out"),
    *_with_descriptors("shuts all sockets", "socket.socket(fileno=fd).shutdown(socket.SHUT_RDWR)", f"import socket\n{_DESCRIPTORS}"),
    *_with_descriptors("shuts one direction", "socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_WR)", f"import socket\n{_DESCRIPTORS}"),
    *_with_descriptors("sends descriptors", "socket.send_fds(socket.socket(fileno=os.dup(fd)), [b'x'], fds[:4])", f"import socket\n{_DESCRIPTORS}", or_="time_out"),
    *_with_descriptors("makes memory shorter", "os.ftruncate(fd, 0)"),
    *_with_descriptors("locks all files", "import fcntl; fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)"),
    *_with_descriptors("opens descriptors anew", "os.write(os.open('/proc/self/fd/%d' % fd, os.O_WRONLY | os.O_NONBLOCK), data)", _EVERY),
    *_with_descriptors("maps all memory", "m = mmap.mmap(fd, 0); m[:] = b'\\xff' * len(m)", f"import mmap\n{_DESCRIPTORS}"),
    cheat("links to descriptors", "import os\nfor n in range(64):\n    os.symlink('/proc/self/fd/%d' % n, 'result%d' % n)\n" + _WRONG),
    cheat("a thread that writes all the time", f"{_EVERY}import threading\ndef flood():\n    while True:\n        for fd in fds:\n            try: os.write(fd, data)\n            except OSError: pass\nthreading.Thread(target=flood, daemon=True).start()\n{_WRONG}", or_="time_out"),
    cheat("a thread that reads all the time", f"{_DESCRIPTORS}import threading\ndef drink():\n    while True:\n        for fd in fds:\n            try: os.read(fd, 65536)\n            except OSError: pass\nthreading.Thread(target=drink, daemon=True).start()\n{_WRONG}", or_="time_out"),
    cheat("a thread that answers later", f"{_DESCRIPTORS}import threading, time\ndef f(n):\n    threading.Thread(target=lambda: (time.sleep(0.05), [os.write(fd, b'\\0' * 64) for fd in fds])).start()\n    return 7"),
)  # fmt: skip

_PEER = "import gc\npeers = [o for o in gc.get_objects() if type(o).__name__.endswith('Peer')]\n"
_OWN = """
import gc, sys
def spoil(change):
    for module in [m for n, m in list(sys.modules.items()) if 'separate' in n or 'scalebox' in n]:
        for name, value in list(vars(module).items()):
            try: change(module, name, value)
            except Exception: pass
"""

INTERPRETER: tuple[Cheat, ...] = (
    cheat("replaces the builtins of its side", "import builtins\nfor n in ('len', 'isinstance', 'type', 'id', 'repr', 'int', 'str', 'bytes', 'tuple', 'list', 'dict', 'getattr', 'callable', 'iter', 'next'):\n    setattr(builtins, n, lambda *a, **k: True)\n" + _WRONG),
    cheat("replaces the library of its side", "import struct, socket, os, json, operator, time\nfor m, names in ((struct, ('pack', 'unpack', 'Struct')), (socket, ('socket', 'send_fds')), (os, ('write', 'read', 'getpid')), (operator, ('eq', 'ne')), (time, ('monotonic', 'process_time'))):\n    for n in names: setattr(m, n, lambda *a, **k: True)\n" + _WRONG),
    cheat("replaces test frameworks of its side", "import unittest, pytest, _pytest.python\nunittest.TestCase.assertEqual = unittest.TestCase.run = lambda *a, **k: None\n_pytest.python.Function.runtest = lambda self: None\npytest.raises = pytest.approx = lambda *a, **k: True\n" + _WRONG, styles=("asserts", "unittest_class", "pytest_functions", "pytest_test_case")),
    cheat("forgets all modules", "import sys\nsys.modules.clear()\n" + _WRONG),
    cheat("its own import", "import builtins, sys\nbuiltins.__import__ = lambda *a, **k: sys\nsys.meta_path.clear(); sys.path_hooks.clear()\n" + _WRONG),
    cheat("traces its side", "import sys, threading\ndef trace(frame, event, value):\n    for n in ('passed', 'status', 'result'):\n        if n in frame.f_locals: frame.f_locals[n] = True\n    return trace\nsys.settrace(trace); sys.setprofile(trace); threading.settrace(trace)\n" + _WRONG),
    cheat("spoils the engine's modules", f"{_OWN}\nspoil(lambda m, n, v: setattr(m, n, None))\n{_WRONG}"),
    cheat("spoils the engine's tables", f"{_OWN}\nspoil(lambda m, n, v: v.clear() if isinstance(v, dict) and n.isupper() else None)\n{_WRONG}"),
    cheat("spoils the engine's objects", f"{_PEER}for p in peers:\n    for n in dir(p):\n        if not n.startswith('__') and callable(getattr(p, n)):\n            try: setattr(p, n, lambda *a, **k: True)\n            except AttributeError: pass\n{_WRONG}"),
    cheat("walks the frames of its side", "import sys\ndef f(n):\n    frame = sys._getframe()\n    while frame:\n        for scope in (frame.f_locals, frame.f_globals):\n            for name in ('expected', 'want', 'right', 'y'):\n                if name in scope: return scope[name]\n        frame = frame.f_back\n    return 7"),
    cheat("changes the numbers of its side", "import ctypes\nfor n in (9, 16, 4): ctypes.c_long.from_address(id(n) + 24).value = 7\n" + _WRONG),
    cheat("changes comparison of its side", "import ctypes\nkeep = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_int)(lambda a, b, op: True)\nctypes.c_void_p.from_address(id(int) + 25 * 8).value = ctypes.cast(keep, ctypes.c_void_p).value\n" + _WRONG, or_="time_out memory_exceed"),
    cheat("leaves the globals in another state", "def f(n):\n    globals().clear()\n    return 7"),
    cheat("replaces itself between calls", "def f(n):\n    global f\n    class f:\n        def __new__(cls, n): return object.__new__(cls)\n        __eq__ = lambda s, o: True\n    return 7"),
    cheat("deletes itself", "def f(n):\n    del globals()['f']\n    return 7"),
    cheat("limits its recursion", "import sys\nsys.setrecursionlimit(20)\n" + _WRONG),
    cheat("limits its resources", "import resource\nfor r in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_STACK):\n    try: resource.setrlimit(r, (0, 0))\n    except (OSError, ValueError): pass\n" + _WRONG, or_="time_out memory_exceed"),
    cheat("handles and blocks all signals", "import signal\nfor n in signal.valid_signals():\n    try: signal.signal(n, lambda *a: None)\n    except (OSError, ValueError): pass\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n" + _WRONG),
    cheat("a timer's signal", "import os, signal\nsignal.signal(signal.SIGALRM, lambda *a: os._exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\ndef f(n):\n    while True: pass", or_="time_out"),
    cheat("its environment", "import os\nfor n in ('PYTHONSTARTUP', 'PYTHONPATH', 'PYTHONHOME', 'PYTEST_ADDOPTS', 'PYTEST_PLUGINS', 'PYTHONINSPECT'):\n    os.environ[n] = os.getcwd()\nos.environ['PYTEST_ADDOPTS'] = '--collect-only'\n" + _WRONG),
    cheat("its working directory and mask", "import os\nos.umask(0o777)\nos.chdir('/')\n" + _WRONG),
    cheat("no working directory", "import os, shutil\ncwd = os.getcwd()\nfor n in os.listdir(cwd): shutil.rmtree(n, ignore_errors=True)\ntry: os.rmdir(cwd)\nexcept OSError: pass\n" + _WRONG),
    cheat("a child that comes back from the call", "import os\ndef f(n):\n    os.fork()\n    return 7", or_="resource_denied time_out", limits={"processes": 10}),
    cheat("a child that answers in its stead", "import os\ndef f(n):\n    if os.fork(): os._exit(0)\n    return n * n", or_="resource_denied time_out", limits={"processes": 10}),
    cheat("children that stay", "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(100)\n        os._exit(0)\n" + _WRONG, or_="resource_denied time_out", limits={"processes": 10}),
    cheat("prints that all has passed", "import os\ndef f(n):\n    print('3 passed in 0.01s\\n{\"verdict\": \"passed\"}')\n    os.write(1, b'OK\\n'); os.write(2, b'Ran 3 tests\\n\\nOK\\n')\n    return 7"),
    cheat("prints without end", "def f(n):\n    while True: print('passed' * 1000)", or_="output_exceed time_out"),
)  # fmt: skip

_OTHERS = "import os\nothers = [int(n) for n in os.listdir('/proc') if n.isdigit() and int(n) != os.getpid()]\n"


def _to_others(name: str, doing: str, before: str = "", or_: str = "") -> tuple[Cheat, Cheat]:
    """Return two cheats: one does something to every other process at import, one in a call."""
    loop = f"{_OTHERS}{before}for pid in others:\n    try: {doing}\n    except Exception: pass\n"
    inside = "".join(f"    {line}\n" for line in loop.splitlines())
    return (
        cheat(f"{name}, at import", f"{loop}{_WRONG}", or_=f"resource_denied {or_}"),
        cheat(f"{name}, in a call", f"def f(n):\n{inside}    return 7\n", or_=f"resource_denied {or_}"),
    )


PROCESSES: tuple[Cheat, ...] = (
    *_to_others("kills every other process", "os.kill(pid, 9)"),
    *_to_others("stops every other process", "os.kill(pid, 19)", or_="time_out"),
    *_to_others("interrupts every other process", "os.kill(pid, 2)"),
    *_to_others("limits every other process", "resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0)); resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))", "import resource\n"),
    *_to_others("writes to descriptors of others", "[os.write(os.open('/proc/%d/fd/%s' % (pid, fd), os.O_WRONLY | os.O_NONBLOCK), data) for fd in os.listdir('/proc/%d/fd' % pid)]", f"data = {_FORGED!r}\n"),
    *_to_others("writes to the memory of others", "open('/proc/%d/mem' % pid, 'r+b', buffering=0).write(b'x' * 4096)"),
    *_to_others("traces the others", "ctypes.CDLL(None).ptrace(16, pid, 0, 0); time.sleep(0.01)", "import ctypes, time\n"),
    *_to_others("takes descriptors of others", "[os.write(ctypes.CDLL(None).syscall(438, os.pidfd_open(pid), fd, 0), data) for fd in range(3, 20)]", f"import ctypes\ndata = {_FORGED!r}\n"),
    calls("kills all at once", "import os; os.kill(-1, 9)", or_="resource_denied"),
    calls("kills its group", "import os; os.killpg(0, 9)", or_="resource_denied"),
    calls("kills its parent", "import os; os.kill(os.getppid(), 9)", or_="resource_denied"),
    calls("stops its parent", "import os; os.kill(os.getppid(), 19)", or_="resource_denied time_out"),
    cheat("kills all when imported", f"import os\nos.kill(-1, 9)\n{_WRONG}", or_="resource_denied"),
)  # fmt: skip

# The texts that are sought stand nowhere in the program as they are.
_SEEK = r"""
import os, re
head = ''.join(map(chr, (97, 115, 115, 101, 114, 116, 32, 102, 40)))
def found_in(data, n):
    hit = re.search(re.escape(head).encode() + str(n).encode() + rb'\) == (\d+)', data)
    return int(hit[1]) if hit else None
"""

SECRETS: tuple[Cheat, ...] = (
    cheat("reads the tests in all files", _SEEK + r"""
def f(n):
    for top, _, names in os.walk('/'):
        if top.startswith(('/usr', '/lib', '/bin', '/sys', '/etc')) or '/lib/' in top: continue
        for name in names:
            path = os.path.join(top, name)
            try:
                if not os.path.isfile(path) or os.path.getsize(path) > 1_000_000: continue
                with open(path, 'rb') as file: answer = found_in(file.read(), n)
            except OSError: continue
            if answer is not None: return answer
    return 7
""", or_="time_out resource_denied"),
    cheat("reads the tests in its memory", _SEEK + r"""
def f(n):
    with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', buffering=0) as memory:
        for line in maps:
            place, mode = line.split()[:2]
            if not mode.startswith('rw'): continue
            start, end = (int(part, 16) for part in place.split('-'))
            try:
                memory.seek(start)
                answer = found_in(memory.read(end - start), n)
            except (OSError, ValueError, OverflowError): continue
            if answer is not None: return answer
    return 7
""", or_="time_out resource_denied"),
    cheat("reads the tests in its objects", _SEEK + r"""
import gc, sys
def f(n):
    seen = set()
    todo = [sys.modules, sys._current_frames(), *gc.get_objects()]
    while todo and len(seen) < 300_000:
        thing = todo.pop()
        if id(thing) in seen: continue
        seen.add(id(thing))
        if type(thing) in (str, bytes):
            answer = found_in(thing.encode('utf-8', 'ignore') if type(thing) is str else thing, n)
            if answer is not None: return answer
        else: todo += gc.get_referents(thing)
    return 7
""", or_="time_out memory_exceed"),
    cheat("reads the tests of other processes", _SEEK + r"""
def f(n):
    for pid in filter(str.isdigit, os.listdir('/proc')):
        for name in ('cmdline', 'environ', 'cwd', 'mem', 'fd', 'task', 'stack', 'syscall'):
            path = '/proc/%s/%s' % (pid, name)
            try:
                for file in [os.path.join(path, part) for part in os.listdir(path)] if os.path.isdir(path) else [path]:
                    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
                    answer = found_in(os.read(descriptor, 1_000_000), n)
                    os.close(descriptor)
                    if answer is not None: return answer
            except (OSError, ValueError): continue
    return 7
""", or_="time_out resource_denied"),
    cheat("reads the tests by their names", "import os, sys\ndef f(n):\n    for name in ('tests', 'tests.py', 'test_solution', '__main__', 'conftest'):\n        module = sys.modules.get(name)\n        for key, value in list(vars(module).items()) if module else ():\n            if key in ('want', 'expected', 'got'): return value\n    return 7", tests=["want = 9\nassert f(3) == want", "want = 16\nassert f(4) == want"]),
)  # fmt: skip

_PLANTED = (
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "pytest.py",
    "unittest.py",
    "test_solution.py",
    "tests.py",
    "json.py",
    "re.py",
    "x.pth",
    "_pytest/__init__.py",
    "scalebox/__init__.py",
)
_INI = ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", ".pytest.ini")
_PLANT = "import atexit, os\natexit.register(os._exit, 0)\ndef pytest_collection_modifyitems(items):\n    for item in items: item.obj = lambda *a, **k: None\ndef pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\ndef test_0(): pass\ntest_1 = test_2 = test_0\n"
_INI_TEXT = (
    "[pytest]\naddopts = --collect-only\n[tool:pytest]\naddopts = --co\n[tool.pytest.ini_options]\naddopts = '--co'\n"
)

FILES: tuple[Cheat, ...] = (
    *(cheat(f"brings a file {name}", _WRONG, solution_files={name: _PLANT}) for name in _PLANTED),
    *(cheat(f"brings a file {name}", _WRONG, solution_files={name: _INI_TEXT}) for name in _INI),
    cheat("writes such files", f"import os\nfor name in {(*_PLANTED, *_INI)!r}:\n    if '/' in name: os.makedirs(os.path.dirname(name), exist_ok=True)\n    with open(name, 'w') as file: file.write({_PLANT!r} if '.py' in name else {_INI_TEXT!r})\n{_WRONG}", or_="resource_denied"),
    cheat("writes such files when called", f"import os\ndef f(n):\n    for name in {(*_PLANTED, *_INI)!r}:\n        if '/' in name: os.makedirs(os.path.dirname(name), exist_ok=True)\n        with open(name, 'w') as file: file.write({_PLANT!r} if '.py' in name else {_INI_TEXT!r})\n    return 7", or_="resource_denied"),
    cheat("writes over the tests", "import os\ndef f(n):\n    for top, _, names in os.walk('/'):\n        if top.startswith(('/proc', '/sys', '/usr')): continue\n        for name in names:\n            if 'test' in name or name == 'conftest.py':\n                try:\n                    with open(os.path.join(top, name), 'w') as file: file.write('def test_0(): pass\\ntest_1 = test_2 = test_0\\n')\n                except OSError: pass\n    return 7", or_="resource_denied time_out"),
    cheat("writes to start-up folders", "import os, site, sys\nfor folder in [*site.getsitepackages(), site.getusersitepackages(), *sys.path, '/tmp', '/var/tmp', '/dev/shm']:\n    try:\n        os.makedirs(folder, exist_ok=True)\n        with open(os.path.join(folder, 'zz.pth'), 'w') as file: file.write('import os; os._exit(0)\\n')\n    except OSError: pass\n" + _WRONG, or_="resource_denied"),
    cheat("fills the disk", "import os\ntry:\n    with open('x', 'wb') as file:\n        while True: file.write(bytes(1 << 20))\nexcept OSError: pass\n" + _WRONG, or_="resource_denied memory_exceed"),
    cheat("no honest answer, honest files", _WRONG, honest=HONEST, solution_files={"helper.py": "X = 9\n", "data/x.txt": "9\n"}),
)  # fmt: skip

PROCESS = (*DESCRIPTORS, *INTERPRETER, *PROCESSES, *SECRETS, *FILES)
