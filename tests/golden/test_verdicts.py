"""Every verdict that a Python program can bring about, by each of the ways to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest
from tests.golden.conftest import can_run
from tests.golden.table import Row, call, check_table, stdin

from scalebox import ScaleBoxClient, Settings

MIB = 1024 * 1024
DOUBLE = [call("double", 21, expect=42)]

PASSED = [
    Row("output", "the output matches", "print(sum(map(int, input().split())))"),
    Row("value", "the value is equal", "def double(x): return 2 * x", DOUBLE),
    Row(
        "response",
        "code is found in an answer",
        "Here you are:\n```python\ndef double(x):\n    return 2 * x\n```",
        DOUBLE,
    ),
    Row(
        "method",
        "a method is called on a fresh instance",
        "class Solution:\n    def f(self): return 1",
        [call("f", expect=1)],
    ),
    Row("nothing", "no output is expected, none given, exit code 0", "pass", [stdin("", "")]),
    Row("tuple-and-set", "values that JSON lacks", "def f(): return (1, {2})", [call("f", expect=(1, {2}))]),
]

COMPILE_ERROR = [
    Row("syntax", "no program", "def f(:", DOUBLE, "compile_error"),
    Row("indentation", "no program", "def f():\nreturn 1", DOUBLE, "compile_error"),
    Row("null-byte", "no source file holds one", "print(3)\0", verdict="compile_error"),
    Row("empty", "nothing to run", "\n", verdict="compile_error"),
    Row("nested-brackets", "too deep for the compiler", f"x = {'[' * 5000}{']' * 5000}", verdict="compile_error"),
    Row("return-outside", "found only by the compiler's later passes", "print(3)\nreturn", verdict="compile_error"),
    Row("unknown-cookie", "an encoding that there is not", "# coding: klingon\nprint(3)", verdict="compile_error"),
    Row("long-integer", "too long for int()", f"x = {'9' * 5000}\nprint(3)", verdict="compile_error"),
    Row("empty-fence", "no code in the answer", "I give up.\n```python\n```", DOUBLE, "compile_error"),
]

RUNTIME_ERROR = [
    Row("exception", "uncaught", "1 / 0", verdict="runtime_error"),
    Row("exit-code", "not 0", "print(3)\nraise SystemExit(3)", verdict="runtime_error"),
    Row("exit-text", "a text is exit code 1", "import sys\nsys.exit('bye')", verdict="runtime_error"),
    Row("killed", "by its own signal", "import os\nos.kill(os.getpid(), 9)", verdict="runtime_error"),
    Row("aborted", "by its own signal", "import os\nos.abort()", verdict="runtime_error"),
    Row("segfault", "a null pointer", "import ctypes\nctypes.string_at(0)", verdict="runtime_error"),
    Row("no-function", "nothing to call", "def other(x): return x", DOUBLE, "runtime_error"),
    Row("not-callable", "nothing to call", "double = 42", DOUBLE, "runtime_error"),
    Row("wrong-signature", "a call that fails", "def double(): return 42", DOUBLE, "runtime_error"),
    Row("raises-in-call", "a call that raises", "def double(x): raise ValueError(x)", DOUBLE, "runtime_error"),
    Row("keyboard-interrupt", "not only Exception", "def double(x): raise KeyboardInterrupt", DOUBLE, "runtime_error"),
    Row("generator-exit", "not only Exception", "def double(x): raise GeneratorExit", DOUBLE, "runtime_error"),
    Row("no-module", "an import that fails", "import there_is_no_such_module", verdict="runtime_error"),
    Row("end-of-input", "EOFError", "input()\ninput()", verdict="runtime_error"),
    Row("recursion", "RecursionError", "def f(): f()\nf()", verdict="runtime_error"),
    Row(
        "closed-stdout",
        "what was printed could not be written",
        "import os\nos.close(1)\nprint(3)",
        verdict="runtime_error",
    ),
    Row("assertion", "of the program's own", "assert False", verdict="runtime_error"),
]

WRONG = [
    Row("value", "another value", "def double(x): return x", DOUBLE, "assert_fail"),
    Row("nothing", "None is a value", "def double(x): pass", DOUBLE, "assert_fail"),
    Row(
        "list-for-tuple",
        "where the expected value is a literal",
        "def f(): return [1]",
        [call("f", expect=(1,))],
        "assert_fail",
    ),
    Row("function", "no plain data", "def double(x): return double", DOUBLE, "assert_fail"),
    Row("generator", "no plain data", "def f(): yield 1", [call("f", expect=[1])], "assert_fail"),
    Row(
        "cyclic",
        "no plain data",
        "def f():\n    x = []\n    x.append(x)\n    return x",
        [call("f", expect=[])],
        "assert_fail",
    ),
    Row("output", "another output", "print(4)", verdict="output_mismatch"),
    Row("no-output", "no output", "pass", verdict="output_mismatch"),
    Row(
        "some-cases",
        "the sample's verdict is the worst of its cases'",
        "def f(x): return 10 // x",
        [call("f", 1, expect=10), call("f", 2, expect=4), call("f", 0, expect=0)],
        "runtime_error",
        cases=("passed", "assert_fail", "runtime_error"),
    ),
]

QUICK = {"cpu_s": 0.3, "wall_s": 5.0}
TIME_OUT = [
    Row("loop", "CPU time", "while True: pass", verdict="time_out", limits=QUICK),
    Row("loop-in-call", "CPU time", "def double(x):\n    while True: pass", DOUBLE, "time_out", QUICK),
    Row("loop-at-import", "CPU time", "while True: pass\ndef double(x): return 42", DOUBLE, "time_out", QUICK),
    Row(
        "loop-in-c",
        "CPU time that no signal handler ends",
        "print(3)\nsum(range(10**12))",
        verdict="time_out",
        limits=QUICK,
    ),
    Row(
        "right-but-late",
        "output does not help",
        "print(3, flush=True)\nwhile True: pass",
        verdict="time_out",
        limits=QUICK,
    ),
    Row(
        "threads",
        "CPU time of all threads",
        "import threading\ndef spin():\n    while True: pass\nfor _ in range(4): threading.Thread(target=spin).start()",
        verdict="time_out",
        limits=QUICK,
    ),
    Row("sleep", "wall time", "import time\ntime.sleep(600)", verdict="time_out", limits={"wall_s": 0.7}),
    Row(
        "waits-for-itself",
        "wall time",
        "import threading\nthreading.Lock().acquire()\nthreading.Event().wait()",
        verdict="time_out",
        limits={"wall_s": 0.7},
    ),
    Row(
        "thread-that-stays",
        "wall time",
        "import threading\nprint(3)\nthreading.Thread(target=threading.Event().wait).start()",
        verdict="time_out",
        limits={"wall_s": 0.7},
    ),
    Row(
        "one-of-three",
        "a hang costs one case",
        "def f(x):\n    while x: pass\n    return x",
        [call("f", 0, expect=0), call("f", 1, expect=0), call("f", 0, expect=0)],
        "time_out",
        QUICK,
        cases=("passed", "time_out", "passed"),
    ),
]

SMALL = {"memory_mb": 128}
MEMORY_EXCEED = [
    Row(
        "list",
        "a list that grows",
        "held = []\nwhile True: held.append([0] * 1000)",
        verdict="memory_exceed",
        limits=SMALL,
    ),
    Row(
        "bytes",
        "one large object, all of it used",
        f"held = b'x' * {600 * MIB}\nprint(3)",
        verdict="memory_exceed",
        limits=SMALL,
    ),
    Row(
        "in-a-call",
        "a list that grows",
        """
        def double(x):
            held = []
            while True: held.append('x' * 100_000 + str(len(held)))
        """,
        DOUBLE,
        "memory_exceed",
        SMALL,
    ),
    Row(
        "caught",
        "a MemoryError that is caught is not undone",
        """
        held = []
        try:
            while True: held.append(bytearray(b'x' * 1_000_000))
        except MemoryError: pass
        held.clear()
        raise MemoryError
        """,
        verdict="memory_exceed",
        limits=SMALL,
    ),
    Row(
        "one-of-two",
        "what one case used up the next has again",
        "def f(n): return len(b'x' * n)",
        [call("f", 600 * MIB, expect=600 * MIB), call("f", 50 * MIB, expect=50 * MIB)],
        "memory_exceed",
        SMALL,
        cases=("memory_exceed", "passed"),
    ),
]

OUTPUT_EXCEED = [
    Row("stdout", "endless", "while True: print('x' * 1000)", verdict="output_exceed"),
    Row(
        "stderr",
        "endless",
        "import sys\nprint(3)\nwhile True: print('x' * 1000, file=sys.stderr)",
        verdict="output_exceed",
    ),
    Row("once", "in one piece", f"print('x' * {8 * MIB})", verdict="output_exceed"),
    Row(
        "printed-in-a-call",
        "while the value is right",
        "def double(x):\n    print('x' * 3_000_000)\n    return 2 * x",
        DOUBLE,
        "output_exceed",
    ),
    Row("small-cap", "as the sample says", "print('x' * 20_000)", verdict="output_exceed", limits={"output_mb": 0.01}),
]

LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
DENIED = [
    Row("socket", "network", "import socket\nsocket.socket()", verdict="resource_denied"),
    Row(
        "connect",
        "network, the refusal caught",
        """
        import urllib.request
        try: urllib.request.urlopen('http://127.0.0.1:9')
        except OSError: print('offline')
        """,
        verdict="resource_denied",
    ),
    Row("write-outside", "a file outside the working directory", "open('/usr/mark', 'w')", verdict="resource_denied"),
    Row("fork", "a process more than allowed", "import os\nos.fork()", verdict="resource_denied"),
    Row(
        "subprocess",
        "a process more than allowed",
        "import subprocess\nsubprocess.run(['echo', '3'])",
        verdict="resource_denied",
    ),
    Row(
        "fork-in-call",
        "a process more than allowed",
        "import os\ndef double(x): return os.fork()",
        DOUBLE,
        "resource_denied",
    ),
    Row(
        "ptrace",
        "a call by ctypes, its result ignored",
        LIBC + "libc.ptrace(16, 1, None, None)\nprint(-1)",
        verdict="resource_denied",
    ),
    Row(
        "unshare",
        "a call by ctypes, its result ignored",
        LIBC + "libc.unshare(0x10000000)\nprint(-1)",
        verdict="resource_denied",
    ),
    Row(
        "mount",
        "a call by ctypes, its result ignored",
        LIBC + "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)\nprint(-1)",
        verdict="resource_denied",
    ),
]

FAMILIES = {
    "passed": PASSED,
    "compile error": COMPILE_ERROR,
    "runtime error": RUNTIME_ERROR,
    "wrong": WRONG,
    "time-out": TIME_OUT,
    "memory": MEMORY_EXCEED,
    "output": OUTPUT_EXCEED,
    "denied": DENIED,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_verdict_is_reached(client: ScaleBoxClient, family: str) -> None:
    check_table(client, FAMILIES[family])


def test_what_was_denied_is_named(client: ScaleBoxClient) -> None:
    row = next(row for row in DENIED if row.name == "socket")
    (result,) = client.fetch(client.submit_batch([row.sample()]))
    assert any("socket" in name for name in result.denied)
    assert result.risk == "high"


@pytest.fixture
def hurried(settings: Settings) -> Iterator[ScaleBoxClient]:
    """Return a client whose engine ends a sample at its first failed case."""
    with ScaleBoxClient(settings=msgspec.structs.replace(settings, early_stop=True)) as client:
        yield client


def test_not_run_after_the_first_failure(hurried: ScaleBoxClient) -> None:
    tests = [call("f", 1, expect=1), call("f", 2, expect=0), call("f", 3, expect=3)]
    code = "import random\nrandom.random()\ndef f(x): return x"
    (result,) = hurried.fetch(hurried.submit_batch([{"id": "stopped", "code": code, "tests": tests}]))
    assert [case.verdict for case in result.cases] == ["passed", "assert_fail", "not_run"]
    assert result.verdict == "assert_fail"
    assert result.partial


def test_unknown_after_the_deadline(client: ScaleBoxClient) -> None:
    sample = {"id": "late", "code": "import time\ntime.sleep(5)\nprint(3)", "tests": [stdin("1 2\n", "3")]}
    (result,) = client.fetch(client.submit_batch([sample], deadline_s=0.5))
    assert result.verdict == "unknown"
    assert result.masked
    assert result.reward is None


NUMPY = [
    Row(
        "too-large",
        "memory of a library",
        "import numpy\nheld = numpy.ones(80_000_000)\nprint(3)",
        verdict="memory_exceed",
        limits={"memory_mb": 256},
    ),
    Row("within", "memory of a library", "import numpy\nheld = numpy.ones(10_000_000)\nprint(3)"),
    Row("scalar", "a NumPy number is a number", "import numpy\ndef double(x): return numpy.int64(2 * x)", DOUBLE),
]


@pytest.fixture
def scientific(settings: Settings) -> Iterator[ScaleBoxClient]:
    """Return a client whose samples run under an interpreter that has NumPy, if need be another than ours."""
    base = os.path.join(sys.base_exec_prefix, "bin", "python3")
    interpreter = next((path for path in (settings.interpreter, base) if _has_numpy(path, settings.tier)), "")
    if not interpreter:
        pytest.skip(f"no interpreter with NumPy that the {settings.tier} tier can run")
    with ScaleBoxClient(settings=msgspec.structs.replace(settings, interpreter=interpreter)) as client:
        yield client


def _has_numpy(interpreter: str, tier: str) -> bool:
    if not os.path.exists(interpreter) or not can_run(interpreter, tier):
        return False
    return subprocess.run([interpreter, "-I", "-c", "import numpy"], capture_output=True, check=False).returncode == 0


def test_memory_of_numpy(scientific: ScaleBoxClient) -> None:
    check_table(scientific, NUMPY)
