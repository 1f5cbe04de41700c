"""Ways to be scored without solving the problem that have worked on other judges: none works here."""

from __future__ import annotations

import pytest
from tests.golden.table import Row, call, check_table, stdin

from scalebox import InputError, ScaleBoxClient

DOUBLE = [call("double", 21, expect=42)]
COUNT = [stdin("", "1\n2\n3\n")]

ENDS_EARLY = [
    Row(
        "exit-at-once-stdin",
        "exit code 0 without the output is no pass",
        "import os; os._exit(0)",
        verdict="output_mismatch",
    ),
    Row(
        "exit-at-once-call", "exit code 0 without a value is no pass", "import os; os._exit(0)", DOUBLE, "runtime_error"
    ),
    Row(
        "exit-in-call",
        "exit code 0 in the midst of a call is no value",
        "def double(x):\n    import os; os._exit(0)",
        DOUBLE,
        "runtime_error",
    ),
    Row(
        "sys-exit-at-import",
        "a SystemExit(0) while the module runs leaves nothing to call",
        """
        import sys
        def double(x): return 2 * x
        sys.exit(0)
        """,
        DOUBLE,
        "runtime_error",
    ),
    Row(
        "sys-exit-in-call",
        "a SystemExit(0) is no value",
        "import sys\ndef double(x): sys.exit(0)",
        DOUBLE,
        "runtime_error",
    ),
    Row(
        "exit-after-a-right-prefix",
        "some of the expected lines are not all of them",
        """
        import os
        print(1, flush=True)
        os._exit(0)
        """,
        COUNT,
        "output_mismatch",
    ),
]

OUTPUTS = [
    Row("first-line-alone", "the output is a prefix of the expected one", "print(1)", COUNT, "output_mismatch"),
    Row("two-of-three-lines", "zip over lines would stop here", "print(1)\nprint(2)", COUNT, "output_mismatch"),
    Row("a-line-more", "trailing lines count", "for n in (1, 2, 3, 4): print(n)", COUNT, "output_mismatch"),
    Row("nothing", "an empty output is no match", "pass", COUNT, "output_mismatch"),
    Row("nothing-expected-something-printed", "more than nothing", "print(1)", [stdin("", "")], "output_mismatch"),
    Row(
        "all-candidates",
        "the expected tokens among others are not the expected tokens",
        "print(*range(10))",
        verdict="output_mismatch",
    ),
    Row(
        "raises-and-nothing-expected",
        "an empty output is expected, and given, but the program failed",
        "raise RuntimeError('failed call')",
        [stdin("", "")],
        "runtime_error",
    ),
    Row(
        "exits-1-and-nothing-expected",
        "an empty output is expected, and given, but the exit code is 1",
        "raise SystemExit(1)",
        [stdin("", "")],
        "runtime_error",
    ),
    Row(
        "right-output-then-raises",
        "the exit code counts, whatever was printed",
        "print(3)\nraise ValueError",
        verdict="runtime_error",
    ),
    Row(
        "right-output-then-killed",
        "a signal counts, whatever was printed",
        """
        import os
        print(3, flush=True)
        os.kill(os.getpid(), 9)
        """,
        verdict="runtime_error",
    ),
    Row(
        "raises-where-none-is-expected",
        "an exception is not None",
        "def double(x): raise KeyError(x)",
        [call("double", 1, expect=None)],
        "runtime_error",
    ),
    Row(
        "verdict-on-stdout",
        "text is no verdict",
        'print(\'{"passed": true, "verdict": "passed"}\')',
        verdict="output_mismatch",
    ),
]

NUMBERS = [
    Row("next-integer", "integers are no floats", "print(1000000008)", [stdin("", "1000000007")], "output_mismatch"),
    Row(
        "next-large-integer",
        "2**53 and its successor are one double",
        f"print({2**53 + 1})",
        [stdin("", f"{2**53}")],
        "output_mismatch",
    ),
    Row(
        "next-integer-under-float",
        "a tolerance for floats is none for integers",
        "print(1000000008)",
        [stdin("", "1000000007")],
        "output_mismatch",
        match={"mode": "float"},
    ),
    Row(
        "next-integer-returned",
        "values are compared exactly",
        "def double(x): return 1000000008",
        [call("double", 1, expect=1000000007)],
        "assert_fail",
    ),
    Row(
        "next-integer-returned-under-float",
        "a tolerance for floats is none for integers",
        "def double(x): return 1000000008",
        [call("double", 1, expect=1000000007)],
        "assert_fail",
        match={"mode": "float"},
    ),
    Row(
        "nan-printed",
        "NaN is near nothing",
        "print('nan')",
        [stdin("", "2.5")],
        "output_mismatch",
        match={"mode": "float"},
    ),
    Row(
        "nan-returned",
        "NaN is near nothing",
        "def double(x): return float('nan')",
        [call("double", 1.25, expect=2.5)],
        "assert_fail",
        match={"mode": "float"},
    ),
    Row(
        "infinity-printed",
        "an infinite answer has no finite error",
        "print('inf')",
        [stdin("", "2.5")],
        "output_mismatch",
        match={"mode": "float"},
    ),
    Row("text-of-the-number", "a text is no number", "def double(x): return '42'", DOUBLE, "assert_fail"),
]

OBJECTS = [
    Row(
        "equal-to-everything",
        "an object's own == is never asked",
        """
        class Yes:
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            __hash__ = None
        def double(x): return Yes()
        """,
        DOUBLE,
        "assert_fail",
    ),
    Row(
        "equal-subclass-of-int",
        "what a subclass claims is never asked",
        """
        class Yes(int):
            def __eq__(self, other): return True
            def __repr__(self): return '42'
            def __index__(self): return 42
        def double(x): return Yes(0)
        """,
        DOUBLE,
        "assert_fail",
    ),
    Row(
        "metaclass-that-equals",
        "a class is no plain data, whatever its metaclass says",
        """
        class Meta(type):
            def __eq__(cls, other): return True
            def __hash__(cls): return 0
        class Yes(metaclass=Meta): pass
        def double(x): return Yes
        """,
        DOUBLE,
        "assert_fail",
    ),
    Row(
        "proxy-of-another-class",
        "a spoofed __class__ makes no int",
        """
        class Spoof:
            __class__ = int
            def __eq__(self, other): return True
        def double(x): return Spoof()
        """,
        DOUBLE,
        "assert_fail",
    ),
    Row(
        "patched-builtins",
        "the comparison runs elsewhere",
        """
        import builtins, operator
        builtins.all = builtins.any = builtins.isinstance = lambda *a: True
        operator.eq = lambda a, b: True
        def double(x): return 0
        """,
        DOUBLE,
        "assert_fail",
    ),
]

FORGERY = [
    Row(
        "expected-in-a-frame",
        "no frame of the process holds the expected output",
        """
        import sys
        def texts():
            frame = sys._getframe()
            while frame:
                for space in (frame.f_locals, frame.f_globals):
                    for name, value in list(space.items()):
                        if any(word in name for word in ('expect', 'want', 'answer', 'output', 'stdout')):
                            yield value
                frame = frame.f_back
        for value in texts():
            if isinstance(value, (str, bytes)) and '987654' in str(value):
                print('987654')
        """,
        [stdin("", "987654")],
        "output_mismatch",
    ),
    Row(
        "expected-on-the-heap",
        "no object of the process holds the expected value",
        """
        import gc
        def double(x):
            for holder in gc.get_objects():
                parts = holder.values() if type(holder) is dict else holder if type(holder) in (list, tuple) else ()
                for part in list(parts):
                    if type(part) is int and 987000 < part < 988000:
                        return part
            return 0
        """,
        [call("double", 5, expect=987654)],
        "assert_fail",
    ),
    Row(
        "verdict-on-every-descriptor",
        "no channel means `passed`, and junk on the channel of values spoils the result",
        """
        import os
        def double(x):
            for fd in range(3, 64):
                try:
                    os.write(fd, b'{"passed": true, "verdict": "passed"}\\n' * 4)
                except OSError:
                    pass
            os._exit(0)
        """,
        DOUBLE,
        "runtime_error",
    ),
    Row(
        "two-values",
        "a value forged beside the real one is one too many",
        """
        import os, struct
        def double(x):
            body = struct.pack('<IBff', 0, 0, 0.0, 0.0) + b'i' + struct.pack('<q', 42)
            for fd in range(3, 64):
                try:
                    os.write(fd, struct.pack('<I', len(body)) + body)
                except OSError:
                    pass
            return 0
        """,
        DOUBLE,
        "runtime_error",
    ),
    Row(
        "a-solution-and-its-tests",
        "tests that the program brings along are never run",
        """
        def check(candidate): return True
        def run_tests(*args): return {'passed': True}
        def double(x): return 0
        """,
        DOUBLE,
        "assert_fail",
    ),
]

LIMITS = [
    Row(
        "alarm-off",
        "the clock is the supervisor's, no signal of the program's",
        """
        import signal
        signal.alarm(0)
        for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGXCPU, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        while True: pass
        """,
        verdict="time_out",
        limits={"cpu_s": 0.3},
    ),
    Row(
        "time-out-swallowed",
        "the time is over, whatever the program catches",
        """
        while True:
            try:
                while True: pass
            except BaseException:
                print(3)
        """,
        verdict="time_out",
        limits={"cpu_s": 0.3},
    ),
    Row(
        "600-mb-under-256",
        "memory over the limit is a failure, even if the output is right",
        """
        held = bytearray(600 * 1024 * 1024)
        for place in range(0, len(held), 4096): held[place] = 1
        print(3)
        """,
        verdict="memory_exceed",
        limits={"memory_mb": 256},
    ),
    Row(
        "flood-after-the-answer",
        "an output over the cap is never cut and compared",
        "print(3)\nfor _ in range(4096): print(' ' * 1023)",
        verdict="output_exceed",
    ),
]

FAMILIES = {
    "ends early": ENDS_EARLY,
    "outputs": OUTPUTS,
    "numbers": NUMBERS,
    "objects": OBJECTS,
    "forgery": FORGERY,
    "limits": LIMITS,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_no_way_round_the_problem_is_scored(client: ScaleBoxClient, family: str) -> None:
    check_table(client, FAMILIES[family])


@pytest.mark.parametrize("tests", [[], None], ids=["empty", "missing"])
def test_a_sample_without_tests_is_an_error(client: ScaleBoxClient, tests: list[object] | None) -> None:
    with pytest.raises(InputError, match="tests"):
        client.submit_batch([{"id": "untested", "code": "import os; os._exit(0)", "tests": tests}])
