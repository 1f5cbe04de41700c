"""All ordinary ways to read, to write and to end, at the sizes where judges have broken."""

from __future__ import annotations

import pytest
from tests.golden.table import Row, call, check_table, stdin

from scalebox import ScaleBoxClient

MIB = 1024 * 1024

READING = [
    Row(
        "buffer",
        "bytes are read from sys.stdin.buffer",
        "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))",
    ),
    Row(
        "buffer-lines",
        "lines are read from sys.stdin.buffer",
        """
        import sys
        print(sum(map(int, sys.stdin.buffer.readline().split())))
        """,
    ),
    Row("descriptor", "os.read(0, n) works", "import os\nprint(sum(map(int, os.read(0, 100000).split())))"),
    Row("open-0", "open(0) works", "print(sum(map(int, open(0).read().split())))"),
    Row("dev-stdin", "/dev/stdin works", "print(sum(map(int, open('/dev/stdin').read().split())))"),
    Row(
        "iteration",
        "sys.stdin can be iterated over",
        """
        import sys
        for line in sys.stdin: print(sum(map(int, line.split())))
        """,
    ),
    Row(
        "region-of-bytes",
        "contest boilerplate: all input read by its size from fstat, else at once",
        """
        import io, os, sys
        input = io.BytesIO(os.read(0, max(os.fstat(0).st_size, 1 << 16))).readline
        a, b = map(int, input().split())
        sys.stdout.write(str(a + b))
        """,
    ),
    Row(
        "end-of-input",
        "EOFError ends the reading",
        """
        total = 0
        try:
            while True: total += sum(map(int, input().split()))
        except EOFError:
            print(total)
        """,
    ),
    Row("unread-input", "input left unread is no fault", "print(3)", [stdin("1 2\n" * 200000, "3")]),
    Row(
        "10-mb-of-input",
        "much input arrives whole",
        """
        import sys
        data = sys.stdin.buffer.read()
        print(len(data), data[-2:-1].decode())
        """,
        [stdin("7" * (10 * MIB - 1) + "\n", f"{10 * MIB} 7")],
    ),
    Row(
        "no-final-newline", "input without a last newline is read whole", "print(input()[::-1])", [stdin("abc", "cba")]
    ),
    Row(
        "reconfigured",
        "an encoding may be chosen before the first read",
        """
        import sys
        sys.stdin.reconfigure(encoding='latin-1')
        print(len(input()))
        """,
        [stdin("é", "2")],
    ),
    Row(
        "wrapped-anew",
        "streams put over the bytes of the standard ones",
        """
        import io, sys
        sys.stdin = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8')
        sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding='utf-8')
        print(sum(map(int, input().split())))
        """,
    ),
    Row(
        "contest-boilerplate",
        "a widespread class that asks the streams for their mode",
        """
        import os, sys
        from io import BytesIO, IOBase
        class FastIO(IOBase):
            def __init__(self, file):
                self.fd, self.buffer = file.fileno(), BytesIO()
                self.writable = 'x' in file.mode or 'r' not in file.mode
                self.write = self.buffer.write
            def read(self): return os.read(self.fd, 1 << 16)
            def flush(self):
                if self.writable:
                    os.write(self.fd, self.buffer.getvalue())
                    self.buffer.truncate(0), self.buffer.seek(0)
        reader, sys.stdout = FastIO(sys.stdin), FastIO(sys.stdout)
        sys.stdout.write(b'%d' % sum(map(int, reader.read().split())))
        sys.stdout.flush()
        """,
    ),
]

ENDING = [
    Row("exit-0", "exit(0) at the end is a normal end", "print(sum(map(int, input().split())))\nexit(0)"),
    Row("exit-nothing", "exit() is a normal end", "print(sum(map(int, input().split())))\nexit()"),
    Row("quit", "quit() is a normal end", "print(sum(map(int, input().split())))\nquit()"),
    Row(
        "sys-exit-main",
        "sys.exit(main()) is a normal end",
        """
        import sys
        def main(): print(3)
        sys.exit(main())
        """,
    ),
    Row(
        "os-exit-flushed",
        "os._exit(0) with all written is a normal end",
        """
        import os
        print(3, flush=True)
        os._exit(0)
        """,
    ),
    Row("raise-system-exit", "raise SystemExit is a normal end", "print(3)\nraise SystemExit"),
    Row("main-guard", "the program runs as __main__", "if __name__ == '__main__': print(3)"),
    Row(
        "exit-in-call-caught",
        "a caught SystemExit is no end",
        """
        import sys
        def f():
            try: sys.exit(0)
            except SystemExit: return 1
        """,
        [call("f", expect=1)],
    ),
    Row("at-exit-output", "exit handlers run", "import atexit\natexit.register(print, 3)"),
    Row(
        "stderr-noise",
        "what is said on stderr is no fault",
        """
        import sys
        print('debug', file=sys.stderr)
        print(3)
        """,
    ),
    Row(
        "warning",
        "a warning is no fault",
        """
        import warnings
        warnings.warn('old')
        print(3)
        """,
    ),
    Row(
        "generator-left-half-way",
        "the handlers of a generator run when the program ends",
        """
        def numbers():
            try: yield 1
            finally: print(3)
        held = numbers()
        next(held)
        """,
    ),
    Row(
        "finaliser",
        "objects of the module die when the program ends",
        """
        class Last:
            def __del__(self): print(3)
        last = Last()
        """,
    ),
    Row("stdout-removed", "there is nothing left to flush", "import sys\nprint(3, flush=True)\ndel sys.stdout"),
    Row(
        "interrupt-caught",
        "SIGINT is KeyboardInterrupt",
        """
        import os, signal, time
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            print(3)
        """,
    ),
    Row(
        "huge-exit-code",
        "an exit code that no C integer holds is not 0",
        "print(3)\nraise SystemExit(2 ** 70)",
        verdict="runtime_error",
    ),
]

OUTPUT = [
    Row("trailing-space", "white space at the end is none under tokens", "print('3 ')"),
    Row("no-newline", "a last line without its newline is whole", "print(3, end='')"),
    Row("blank-lines", "blank lines are none under tokens", "print('\\n3\\n\\n')"),
    Row("written-to-descriptor", "os.write(1, …) is output", "import os\nos.write(1, b'3\\n')"),
    Row("stdout-buffer", "bytes are written to sys.stdout.buffer", "import sys\nsys.stdout.buffer.write(b'3\\n')"),
    Row(
        "reopened-stdout",
        "a file over descriptor 1 writes at the end",
        """
        import os
        out = os.fdopen(1, 'w')
        out.write('3\\n')
        """,
    ),
    Row("unicode", "UTF-8 comes out as it is", "print(input() + '✓')", [stdin("žluťoučký\n", "žluťoučký✓")]),
    Row(
        "binary",
        "bytes that are no text are compared as bytes",
        "import os\nos.write(1, b'3 \\xff\\xfe')",
        verdict="output_mismatch",
    ),
    Row(
        "150-kb",
        "150 KB arrive to the last byte",
        "print('x' * 153_599 + 'y')",
        [stdin("", "x" * 153599 + "y\n")],
        match={"mode": "exact"},
    ),
    Row(
        "1-mb",
        "1 MB arrives to the last byte",
        f"print('x' * {MIB - 2} + 'y')",
        [stdin("", "x" * (MIB - 2) + "y\n")],
        match={"mode": "exact"},
    ),
    Row(
        "1-mb-of-lines",
        "1 MB in many lines",
        "for n in range(131072): print(f'{n:07d}')",
        [stdin("", "".join(f"{n:07d}\n" for n in range(131072)))],
    ),
    Row(
        "1-mb-on-stderr",
        "much on stderr, up to the cap, is no fault",
        f"import sys\nprint(3)\nsys.stderr.write('x' * {MIB})",
    ),
    Row("at-the-cap", "an output of the cap's own size is within it", f"print('3' + ' ' * {MIB - 2})"),
    Row("over-the-cap", "a byte more is not", f"print('3' + ' ' * {MIB - 1})", verdict="output_exceed"),
    Row(
        "3-mb-expected",
        "the cap is never under twice the expected output",
        f"print('x' * {3 * MIB})",
        [stdin("", "x" * (3 * MIB))],
    ),
    Row("large-value", "1 MB of value comes back whole", f"def f(): return 'x' * {MIB}", [call("f", expect="x" * MIB)]),
    Row(
        "two-buffers",
        "what print holds comes before what dies later",
        """
        late = open(1, 'w')
        late.write('b')
        print('a')
        """,
        [stdin("", "a b")],
    ),
    Row(
        "printed-by-c",
        "C has a buffer of its own",
        "import ctypes\nctypes.CDLL(None).puts(b'3')",
    ),
    Row(
        "source-lines",
        "a program can look at its own functions",
        "import inspect\ndef f(): pass\nprint(len(inspect.getsource(f)) // 4)",
    ),
]

FAMILIES = {"reading": READING, "ending": ENDING, "output": OUTPUT}


@pytest.mark.parametrize("family", FAMILIES)
def test_streams_are_those_of_a_script(client: ScaleBoxClient, family: str) -> None:
    check_table(client, FAMILIES[family])
