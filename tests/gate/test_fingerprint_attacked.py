"""Programs written to be taken for others, or to be kept though they vary: each row is a way that was tried."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from tests.gate.test_fingerprint import of, same

from scalebox.core.sample import AssertTest, PytestTest

# --- Python: pairs that differ in what they do -----------------------------------------------------


def _renamed(program: str) -> tuple[str, str]:
    return program.replace("SECRET", "one"), program.replace("SECRET", "other")


def _documented(program: str) -> tuple[str, str]:
    return program.replace("DOC", "'text'"), program.replace("DOC", "'another'")


def _with_text_or_not(program: str) -> tuple[str, str]:
    return program.replace("DOC", "'text'"), program.replace("    DOC\n", "")


_UNBOUND = "        print(SECRET)\n        SECRET = 1\nf()\n"
_ENDING = (
    "def g():\n    try:\n        yield 1\n    finally:\n        print(SECRET)\n        SECRET = 1\n"
    "i = g()\nnext(i)\ndel i\n"
)
_MAKER = (
    "class M(type):\n    def __new__(m, n, b, names):\n        print(len(names))\n"
    "        return type.__new__(m, n, b, {})\n"
)

PAIRS = {
    "order of a set that a loop goes through": ("for x in {0, 8}: print(x)", "for x in {8, 0}: print(x)"),
    "order of a set that is printed": ("print({8, 0, 16})", "print({0, 8, 16})"),
    "order of a set in a tuple": ("print([*{8, 0, 16}], 1)", "print([*{16, 8, 0}], 1)"),
    "two texts before a future import": (
        "'a'\n'b'\nfrom __future__ import annotations\nprint(1)", "'a'\nfrom __future__ import annotations\nprint(1)",
    ),
    "exception given to what ends a with": _renamed(
        "from contextlib import ExitStack\ndef f():\n    with ExitStack() as s:\n"
        "        s.push(lambda t, e, tb: print(e) or True)\n" + _UNBOUND
    ),
    "the same by another name": _renamed(
        "from contextlib import ExitStack as E\ndef f():\n    with E() as s:\n"
        "        s.push(lambda t, e, tb: print(e) or True)\n" + _UNBOUND
    ),
    "end of a with that is a lambda": _renamed(
        "def f():\n    class A:\n        __enter__ = lambda s: s\n"
        "        __exit__ = lambda s, t, e, tb: print(e) or True\n"
        "    with A():\n" + _UNBOUND
    ),
    "what star imports give of operator": _renamed(
        "from operator import *\ndef f():\n    SECRET = 1\nprint(attrgetter('_' + '_code_' + '_.co_var' + 'names')(f))"
    ),
    "what star imports give of sys": _renamed(
        "from sys import *\ndef f():\n    try:\n        print(SECRET)\n        SECRET = 1\n"
        "    except: print(exc_info()[1])\nf()"
    ),
    "builtins of enum": _renamed("import enum\ndef f():\n    SECRET = 1\n    print(enum.bltns.locals())\nf()"),
    "builtins that another module has": _renamed(
        "import re\ndef f(m):\n    SECRET = 1\n    print(m.enum.bltns.locals())\nf(re)"
    ),
    "standard error that writes elsewhere": _renamed("import sys\nsys.stderr.write = sys.stdout.write\n" + _ENDING),
    "standard error made anew": _renamed("import sys\nsys.stderr.__init__(sys.stdout.buffer)\n" + _ENDING),
    "standard error by name": _renamed(
        "import sys\nfrom sys import stderr\nstderr.write = sys.stdout.write\n" + _ENDING
    ),
    "metaclass that counts": _with_text_or_not(_MAKER + "class A(metaclass=M):\n    DOC\n    x = 1\n"),
    "metaclass that is a function": _with_text_or_not(
        "class A(metaclass=lambda n, b, names: print(len(names))):\n    DOC\n    x = 1\n"
    ),
    "metaclass that is derived from another's": _with_text_or_not(
        "from abc import ABC\n" + _MAKER.replace("(type)", "(type(ABC))") + "class A(metaclass=M):\n    DOC\n"
    ),
    "metaclass among words": _with_text_or_not(
        "class A(**{'meta' + 'class': lambda n, b, names: print(len(names))}):\n    DOC\n    x = 1\n"
    ),
    "lines of overloads": (
        "import typing as t\nt.overload(lambda: 1); t.overload(lambda: 2)\nprint(len(t.get_overloads(lambda: 0)))",
        "import typing as t\nt.overload(lambda: 1)\nt.overload(lambda: 2)\nprint(len(t.get_overloads(lambda: 0)))",
    ),
    "docstring by pattern": _documented(
        "class A:\n    DOC\n    __match_args__ = ('_' + '_doc_' + '_',)\nmatch A():\n    case A(d): print(d)"
    ),
    "walrus in a comprehension": (
        "def f():\n    x = 1\n    [x := 2 for _ in (1,)]\n    return x\nprint(f())",
        "def f():\n    x = 1\n    [y := 2 for _ in (1,)]\n    return x\nprint(f())",
    ),
    "class scope in a comprehension": (
        "x = 1\nclass A:\n    x = 2\n    y = [x for _ in (1,)]\nprint(A.y)",
        "x = 1\nclass A:\n    x = 2\n    y = [z for z in (x,)]\nprint(A.y)",
    ),
    "deleted or not": (
        "def f():\n    a = b = 1\n    del a\n    print(b)\nf()",
        "def f():\n    a = b = 1\n    del a\n    print(a)\nf()",
    ),
    "name mangled": (
        "class A:\n    def f(self):\n        global __x\n        __x = 1\nA().f()\nprint(_A__x)",
        "class A:\n    def f(self):\n        global _x\n        _x = 1\nA().f()\nprint(_A__x)",
    ),
    "default evaluated": (
        "def f(a=[]):\n    a.append(1)\n    return a\nf()\nprint(f())",
        "def f(a=()):\n    a = [*a]\n    a.append(1)\n    return a\nf()\nprint(f())",
    ),
    "order of decorators": (
        "a = lambda f: lambda: 'a' + f()\nb = lambda f: lambda: 'b' + f()\n@a\n@b\ndef c(): return ''\nprint(c())",
        "a = lambda f: lambda: 'a' + f()\nb = lambda f: lambda: 'b' + f()\n@b\n@a\ndef c(): return ''\nprint(c())",
    ),
    "escape or raw": ("print(len('\\n'))", "print(len(r'\\n'))"),
    "white space in a text of many lines": ("print(len('''a\n b'''))", "print(len('''a\n  b'''))"),
    "composed or not": ("print(len('\u00e9'))", "print(len('e\u0301'))"),
    "line that goes on in a text": ("print('a\\\nb')", "print('a b')"),
    "type of a big number": ("print(10**30 + 1)", "print(1e30 + 1)"),
    "negative zero in a tuple": ("print((0.0, 1))", "print((-0.0, 1))"),
    "imaginary zero": ("print(0j)", "print(-0j)"),
    "annotation that is evaluated": ("def f(x: print('a')): pass", "def f(x: print('b')): pass"),
    "annotation of a field": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n    a: int = 1\nprint(A())",
        "from typing import NamedTuple\nclass A(NamedTuple):\n    b: int = 1\nprint(A())",
    ),
    "encoding cookie": ("# coding: latin-1\nprint(len('\u00e9'))", "print(len('\u00e9'))"),
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_no_program_is_taken_for_one_that_does_something_else(pair: str) -> None:
    assert not same(*PAIRS[pair])
    assert _did(PAIRS[pair][0]) != _did(PAIRS[pair][1])


def _did(source: str) -> tuple[int, bytes]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "/dev/stdin"], input=source.encode(), capture_output=True, timeout=60,
        env={"PYTHONHASHSEED": "0"}, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_what_is_only_written_otherwise_is_still_one_program() -> None:
    assert same("x = {8, 0, 16}", "x = {8, 0, 0x10}  # same")
    assert same("'a'\nfrom __future__ import annotations\nx = 1", "from __future__ import annotations\n'b'\nx = 1")
    assert same("\ufb01 = 1\nprint(fi)", "fi = 1\nprint(fi)"), "names are normalised by the language"
    assert same("if x:\n\tpass\n", "if x:\n        pass\n")
    for base in ("", "object", "Enum", "metaclass=ABCMeta", "Generic[T]", "namedtuple('B', 'x y')", "a.B"):
        assert same(f"class A({base}):\n    'text'\n    x = 1\n", f"class A({base}):\n    x = 1\n"), base


@pytest.mark.parametrize("depth", [100, 300, 400, 600, 900, 3000])
@pytest.mark.parametrize(
    "nested",
    [("lambda: ", "0", ""), ("(", "0", ")"), ("[", "0", "]"), ("-", "1", ""), ("x.a[", "0", "]"), ("f(", "0", ")"),
               ("[x for x in ", "y", "]"), ("f'{", "0", "}'"), ("not ", "1", ""), ("1 if 2 else ", "3", "")]
)  # fmt: skip
def test_whatever_is_nested_deeply_has_a_fingerprint_or_none(nested: tuple[str, str, str], depth: int) -> None:
    opened, inner, closed = nested
    of("f = " + opened * depth + inner + closed * depth)


# --- Python: what varies ---------------------------------------------------------------------------

VARIES = [
    "import io\nio.FileIO('/proc/self/stat')",
    "import io\nio.open_code('/proc/self/stat')",
    "from io import *\nFileIO('/proc/self/stat')",
    "import sys\nsys.stdin.buffer.raw.__init__('/proc/self/stat')",
    "import sys\ntype(sys.stdin.detach().detach())('/proc/self/stat')",
    "type(open(0, 'rb', 0))('/proc/self/stat')",
    "type(open(0, mode='rb', buffering=0))('/proc/self/stat')",
    "import statistics\nstatistics.NormalDist().samples(3)",
    "from statistics import NormalDist as N\nN().samples(3)",
    "import array\narray.array('i', [1]).buffer_info()",
    "f = lambda: 0\nf.__hash__()",
    "import queue\nq = queue\nq.time.time()",
    "import queue\n[queue][0].time.time()",
    "import queue\ndef f(m): return m.time.time()\nf(queue)",
    "import datetime\ndatetime._time",
    "from sys import *\nprint(argv)",
    "import sys\nsys._git",
    "import calendar\ncalendar.main([])",
    "import pprint\nl = []\nl.append(l)\npprint.pprint(l)",
    "import numpy as np\nnp.datetime64('now')",
    "import numpy as np\nnp.divide(a, b, where=b != 0)",
    "import numpy as np\nnp.lib.stride_tricks.as_strided(a, (50,))",
    "import numpy as np\nnp.ma.masked_all((3,)).data",
    "import numpy as np\nnp.recarray((3,), dtype=d)",
    "import numpy as np\nnp.byte_bounds(a)",
    "import numpy as np\nnp.genfromtxt('/proc/uptime')",
    "import numpy as np\nnp.info(f)",
    "from numpy import info",
    "import typing\ntyping.ForwardRef('f._' + '_code_' + '_')._evaluate({}, {}, frozenset())",
    "import dataclasses\ndataclasses._create_fn('g', [], ['return 1'])",
    "import enum\nenum.Enum._convert_('E', '__main__', all)",
]


@pytest.mark.parametrize("source", VARIES)
def test_a_program_that_may_vary_is_not_kept(source: str) -> None:
    compile(source, "", "exec")
    assert of(source).reason


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nprint(1, file=sys.stderr)\nsys.stderr.write('x')\nsys.stderr.flush()",
        "import heapq\nheapq._heappop_max([1])",
        "import numpy as np\nc = np.zeros(3)\nnp.divide(c, c, out=c, where=c != 0)\nnp.array(c, copy=True)",
        "self.samples = node.info = x.main = 1",
        "import sys\ninput = sys.stdin.readline\ndata = open(0, 'rb').read()",
    ],
)
def test_what_always_does_the_same_is_kept(source: str) -> None:
    assert of(source).reason == ""


#: Tests that may end otherwise another time, or see how the program is written.
TESTS = [
    "import timeit\nassert timeit.timeit(lambda: f(1), number=10) < 1",
    "from timeit import default_timer\nassert 1",
    "from hypothesis import given, strategies as st\n@given(st.integers())\ndef test_a(x):\n    assert f(x) == x",
    "from concurrent.futures import ThreadPoolExecutor\nassert 1",
    "import math, signal\nsignal.alarm(1)\nassert f(1) == 1",
    "import unittest\nclass T(unittest.IsolatedAsyncioTestCase): pass",
    "help(f)\nassert 1",
    "import pydoc\nassert 'x' in pydoc.getdoc(f)",
    "assert 'import' not in open('solution.py').read()",
    "import pathlib\nassert pathlib.Path('solution.py').read_text()",
    ">>> import platform\n>>> f(platform.node())\n1",
    "if 1: import weakref\nassert 1",
]  # fmt: skip


@pytest.mark.parametrize("test", TESTS)
def test_tests_that_may_vary_keep_a_program_out(test: str) -> None:
    assert of("def f(x): return x", tests=(AssertTest(id="0", source=test),)).reason


def test_tests_may_import_what_always_does_the_same() -> None:
    test = "from math import (\n  isclose)\nimport unittest, pytest\nfrom unittest.mock import patch\nimport solution\n"
    assert not of("def f(x): return x", tests=(AssertTest(id="0", source=test),)).reason
    own = PytestTest(id="0", files={"test_a.py": "import answer, tools.more", "tools/more.py": ""}, required=("t",))
    assert not of("x = 1", main="answer.py", tests=(own,)).reason


@pytest.mark.parametrize(
    "test",
    [
        ">>> f()\nTraceback (most recent call last):\nUnboundLocalError: cannot access local variable 'one' where it"
        " is not associated with a value\n",
        "class C:\n    def __enter__(s): pass\n    def __exit__(s, t, e, tb): return 'one' in str(e)\nwith C(): f()",
        "from contextlib import ExitStack\nwith ExitStack() as s:\n    s.push(lambda *e: 'one' in str(e))\n    f()",
    ],
)
def test_tests_that_get_an_exception_see_local_names(test: str) -> None:
    one, other = _renamed("def f():\n    print(SECRET)\n    SECRET = 1\n")
    assert not same(one, other, tests=(AssertTest(id="0", source=test),))


# --- other languages -------------------------------------------------------------------------------

VARIES_ELSEWHERE = {
    "c": [
        "int main(){return ti\\\nme(0);}",
        "int main(){return ti\\ \nme(0);}",
        "#define C(a,b) a##b\nint main(){return C(ti,me)(0);}",
        "#define P(x, ...) x##__VA_ARGS__\nint main(){return P(ti,me)(0);}",
        "#define C(a,b) a%:%:b\nint main(){return C(ti,me)(0);}",
        "#include <threads.h>\nint x;",
        "#include <sys/times.h>\nint x;",
        "%: include <unistd.h>\nint x;",
        "#define H <unistd.h>\n#include H\nint x;",
        '#include "sys/random.h"\nint x;',
        "# /* a */ include <unistd.h>\nint x;",
        "long syscall(long, ...);\nint main(){return syscall(201, 0);}",
        "int main(){return (long)__builtin_frame_address(0);}",
        '__asm("rd" "tsc");',
    ],
    "cpp": [
        "#include <ctime>\nint main(){timespec t; timespec_get(&t, 1);}",
        "#include <cstdlib>\nint main(){return arc4random();}",
        "#include <immintrin.h>\nint main(){}",
        "int main(){popen(\"date\", \"r\");}",
        "#include <thread>\nint main(){std::jthread t([]{});}",
        "#include <atomic>\nstd::atomic_int x;",
        "std::priority_queue<std::pair<int, N*>> q;",
        "using P = std::pair<int, N*>;\nstd::priority_queue<P> q;",
        "std::set<const N*> q;",
        "std::map<N const *, int> q;",
        "std::set<std::shared_ptr<N>> q;",
        "std::cout << &a;",
        "auto x = (unsigned long)new int;",
        "auto x = reinterpret_cast<std::size_t>(p);",
    ],
    "java": [
        "class A { int x = new SplittableRandom().nextInt(); }",
        "class A { int x = new java.util.R\\u0061ndom().nextInt(); }",
        "class A { int x = new java.util.R\\uuu0061ndom().nextInt(); }",
        "class A { int x = new GregorianCalendar().get(0); }",
        "class A { ZonedDateTime x = ZonedDateTime.now(); }",
        "class A { Timer x = new Timer(); }",
        "class A { long x = ProcessHandle.current().pid(); }",
        'class A { RandomAccessFile x = new RandomAccessFile("/proc/uptime", "r"); }',
        "class A { long x = java.lang.management.ManagementFactory.getRuntimeMXBean().getUptime(); }",
        "class A { var x = s.collect(Collectors.toUnmodifiableSet()); }",
        "class A { var x = Set.<Integer>of(1, 2, 3); }",
        "class A { var x = Set/**/.of(1, 2, 3); }",
        "class A { var x = Set // a\n .of(1, 2, 3); }",
        "class A { var x = f(Set::of); }",
        "import static java.util.Set.*;\nclass A { var x = of(1, 2, 3); }",
        'class A { static { Logger.getLogger("x").info("y"); } }',
        "class A { HashMap<Integer[], Integer> m; }",
        "class A { void f() { try { f(); } catch (StackOverflowError e) { } } }",
    ],
    "go": [
        "package main\nimport `time`\nfunc main() { }",
        'package main\nimport "ti\\x6de"\nfunc main() { }',
        'package main\nimport /* a */ "time"\nfunc main() { }',
        'package main\nimport (\n\t"fmt" // )\n\t"time"\n)\nfunc main() { }',
        'package main\nimport ("fmt"; t "time")\nfunc main() { }',
        'package main\nimport "syscall"\nfunc main() { }',
        'package main\nimport "hash/maphash"\nfunc main() { }',
        'package main\nimport "log"\nfunc main() { }',
        'package main\nimport "log/slog"\nfunc main() { }',
        'package main\nimport "runtime"\nfunc main() { }',
        'package main\nimport "reflect"\nfunc main() { }',
        'package main\nimport "os"\nfunc main() { println(os.Getppid()) }',
        'package main\nimport . "os"\nfunc main() { println(Getppid()) }',
        'package main\nimport o "os"\nfunc main() { println(o.Getppid()) }',
        'package main\nimport "mime/multipart"\nfunc main() { }',
        # What gets its imports from the driver has none in its text.
        "func f() int64 { return time.Now().Unix() }",
        "func f() int { return rand.Intn(5) }",
        "func f() { var m sync.Mutex }",
    ],
    "javascript": [
        "console.log(global['Da' + 'te'].now())",
        "require('perf' + '_hooks')",
        "require('fs')['readFile' + 'Sync']('/proc/uptime')",
        "const q = require; q('perf' + '_hooks')",
        "console.time('x'); console.timeEnd('x')",
        "console['ti' + 'me']('x')",
        "console.log(D\\u0061te.now())",
        "console.log(D\\u{61}te.now())",
        "console.log(this['\\x44ate'].now())",
        "[].constructor.constructor('return D' + 'ate.now()')()",
        "(() => 1).constructor('return D' + 'ate.now()')()",
        "const { constructor: c } = () => 1; c('return D' + 'ate.now()')()",
        "Math['ran' + 'dom']()",
        "const r = require('fs').readFileSync; r('/proc/uptime')",
        "const { readFileSync: r } = require('fs'); r('/proc/uptime')",
        "require('fs').readlinkSync('/proc/self')",
        "require('vm').runInThisContext('D' + 'ate.now()')",
        "require('v8').getHeapStatistics()",
        "require('net')",
        "AbortSignal.timeout(1)",
        "Error.captureStackTrace({})",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "source"), [(language, source) for language, all_ in VARIES_ELSEWHERE.items() for source in all_]
)
def test_a_program_that_may_vary_is_not_kept_in_other_languages(language: str, source: str) -> None:
    assert of(source, language).reason


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c", "#include <stdio.h>\n#define D(f, ...) printf(f, ##__VA_ARGS__)\nint main(void) { D(\"%d\", 1); }"),
        ("cpp", "#include <bits/stdc++.h>\nusing namespace std;\nint main() { int x; cin >> x; cout << (x & 1); }"),
        ("cpp", "struct N { N *l; };\nstd::queue<std::pair<N*, int>> q;\nstd::unordered_map<char, N*> next;"),
        ("java", "import java.util.*;\nclass A { Map<String, List<Integer>> m; boolean isUpdated; }"),
        ("go", 'package main\nimport (\n\t"bufio"\n\t. "fmt"\n\tf "math"\n)\nfunc main() { }'),
        ("go", 'package main\n\nimport "fmt"\nimport "os"\n\nfunc main() { fmt.Fprintln(os.Stdout, 1) }'),
        ("javascript", "const { readFileSync } = require('fs');\nconsole.log(readFileSync(0, 'utf8'))"),
        ("javascript", "const fs = require(\"node:fs\");\nconsole.error(fs.readFileSync('/dev/stdin', 'utf8'))"),
        ("javascript", "class A { constructor(x) { this.x = x } exists() { return 1 } }"),
        ("typescript", "declare var require: any;\nconst assert = require('node:assert');"),
        ("cpp", "int repeat(int times) { return times * 2; }"),
        ("javascript", "require('readline').createInterface({}).on('line', (x) => console.log(x))"),
    ],
)  # fmt: skip
def test_what_always_does_the_same_is_kept_in_other_languages(language: str, source: str) -> None:
    assert of(source, language).reason == ""


#: Pairs of which the one is not what the other is once it is read as its compiler reads it.
TOKENS = {
    "comment that ends at a carriage return": ("java", "int x; // a\r int y;\nint z;", "int x; // a\r int w;\nint z;"),
    "header that has what begins a comment": ("cpp", "#include <a//b>\nint x;", "#include <a//c>\nint x;"),
    "header asked for": (
        "cpp", "#if __has_include(<a//b>)\nint x;\n#endif", "#if __has_include(<a//c>)\nint x;\n#endif",
    ),
    "line number that is pasted": (
        "c", "#define P(f, ...) f(0, ##__VA_ARGS__)\nint x = C(__LI,NE__);",
        "#define P(f, ...) f(0, ##__VA_ARGS__)\n\nint x = C(__LI,NE__);",
    ),
    "character behind a number": (
        "c", "#define S(x) #x\nchar *s = S(1'a/*'2*/);", "#define S(x) #x\nchar *s = S(1'a/*'3*/);",
    ),
    "line of Go that is said to be another": ("go", "/*line a.go:1*/ var x = 1", "/*line a.go:2*/ var x = 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", TOKENS)
def test_comments_are_found_as_compilers_find_them(case: str) -> None:
    language, one, other = TOKENS[case]
    assert not same(one, other, language)


#: What texts are made long of.
PARTS = [
    "/*", "//", "/", "*/ /*", "pair<", "#include<", "#include<a/", '#include"', "include ", "priority_queue<", "set<a",
    "set<", "set ", "import(", 'import("fmt"', ' "fmt"', "import ", "readFileSync,", "require(", "\\", "\\ ", "\\u",
    "\\u{0", "\"", "'", "`", '"""', "1'", "(long ", "const ", "Hash", "Set.", ".", "<<", "##", "a", " ", "\r", "{a",
    "R", "console ", "from ", "import a;",
]  # fmt: skip


@pytest.mark.parametrize("language", ["c", "cpp", "java", "go", "javascript", "python"])
def test_a_long_text_of_whatever_kind_takes_little_time(language: str) -> None:
    for part in PARTS:
        begun = time.process_time()
        for before, behind in (
            ("", ""),
            ("package main\nimport (", ""),
            ("", "} = require('fs')"),
            ("#include ", ">*/"),
        ):
            of(before + part * (100_000 // len(part)) + behind, language)
        assert time.process_time() - begun < 5, part
