"""Sources that attack their build, in every language that has one: bombs, and what would show the host's files."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

import pytest
from tests.languages.conftest import Verify, lacking

from scalebox.languages.registry import languages
from scalebox.languages.toolchain import Missing, toolchain

pytestmark = [pytest.mark.languages, pytest.mark.timeout(900)]

_PRIVATE = "/etc/shadow"
#: What only the host could have said: its folders, and lines of its user files.
_OF_THE_HOST = re.compile(r"/root\b|/home\b|/work/|/tmp/[a-z]+-|root:[x*!$]|daemon:")


class Attack(NamedTuple):
    """A source that must not build, and a regular expression that the message must match."""

    language: str
    source: str
    said: str = ""


def doubled(first: str, next_of: str, times: int = 40) -> str:
    """Return `first` and declarations that each use the one before twice."""
    return first + "".join(next_of.format(n=n + 1, m=n) for n in range(times))


ATTACKS = {
    "c: a file by the assembler": Attack(
        "c", f'__asm__(".incbin \\"{_PRIVATE}\\"");\nint main(void) {{ return 0; }}\n'
    ),
    "c: an endless file by the assembler": Attack("c", '__asm__(".incbin \\"/dev/zero\\"");\nint main(void) {}\n'),
    "c: users of the host": Attack("c", '#include "/etc/passwd"\nint main(void) { return 0; }\n'),
    "c: many errors": Attack("c", "int main(void) {\n" + "x;\n" * 50_000 + "}\n", "^line 2: "),
    "c: a large program": Attack("c", "char x[200 << 20] = {1};\nint main(void) { return x[0]; }\n"),
    "cpp: a long message": Attack("cpp", f'static_assert(false, "{"x" * 1_000_000}");\nint main() {{}}\n', "^line 1: "),
    "cpp: nested templates": Attack(
        "cpp",
        "template<int N> struct A { static const int v = A<N-1>::v + A<N-2>::v; };\n"
        "template<class T> struct P { typedef P<P<T>> next; typedef typename P<P<T>>::next x; };\n"
        "P<int>::next x;\nint main() {}\n",
    ),
    "cpp: parentheses": Attack("cpp", f"int x = {'(' * 200_000};\nint main() {{}}\n"),
    "rust: a macro that doubles": Attack(
        "rust", "macro_rules! a { ($($t:tt)*) => { a!($($t)* $($t)*) } }\nfn main() { a!(x); }\n"
    ),
    "rust: an endless file": Attack("rust", 'static X: &[u8] = include_bytes!("/dev/zero");\nfn main() {}\n'),
    "rust: an endless constant": Attack(
        "rust", 'const X: u64 = { let mut i = 0u64; while i < u64::MAX { i += 1; } i };\nfn main() { print!("{X}"); }\n'
    ),
    "rust: the builder's environment": Attack(
        "rust", 'fn main() { print!("{}", env!("SCALEBOX_SECRET")); }\n', "line 1"
    ),
    "go: a file embedded": Attack(
        "go",
        f'package main\n\nimport _ "embed"\n\n//go:embed {_PRIVATE}\nvar x string\n\nfunc main() {{ print(x) }}\n',
        "line 5",
    ),
    "go: C and its flags": Attack(
        "go", 'package main\n\n// #cgo LDFLAGS: -fplugin=x\nimport "C"\n\nfunc main() {}\n', "."
    ),
    "go: a giant array": Attack("go", "package main\n\nvar x [1 << 45]byte\n\nfunc main() { print(x[0]) }\n", "line 3"),
    "java: constants that double": Attack(
        "java",
        doubled('class A {\n  static final String a0 = "0123456789";\n', "  static final String a{n} = a{m} + a{m};\n")
        + "}\n",
    ),
    "java: a method too large": Attack(
        "java", "class A {\n  void f(int x) {\n" + "    x += 100000;\n" * 20_000 + "  }\n}\n", "line 2: code too large"
    ),
    "javascript: parentheses": Attack("javascript", "(" * 200_000 + "\n"),
    "typescript: types that double": Attack(
        "typescript",
        "type T<N extends unknown[]> = N['length'] extends -1 ? N : T<[...N, ...N]>;\nconst x: T<[1]> = 1;\n",
    ),
    "typescript: a file of the host": Attack(
        "typescript", f'/// <reference path="{_PRIVATE}" />\nconst x: number = 1;\n'
    ),
    "kotlin: constants that double": Attack(
        "kotlin",
        doubled('const val a0 = "0123456789"\n', "const val a{n} = a{m} + a{m}\n") + "fun main() = print(a40)\n",
    ),
    "scala: constants that double": Attack(
        "scala",
        doubled('object Main extends App {\n  final val a0 = "0123456789"\n', "  final val a{n} = a{m} + a{m}\n")
        + "  print(a40)\n}\n",
    ),
    "csharp: classes in classes": Attack(
        "csharp",
        "class A<T, U, V, W, X, Y> { class B : A<B, B, B, B, B, B> {\n  B" + ".B" * 9 + " b;\n} }\n",
    ),
    "haskell: a file at build time": Attack(
        "haskell",
        "{-# LANGUAGE TemplateHaskell #-}\nimport Language.Haskell.TH\nimport Language.Haskell.TH.Syntax\n"
        f'main :: IO ()\nmain = putStrLn $(runIO (readFile "{_PRIVATE}") >>= lift)\n',
    ),
    "haskell: a loop at build time": Attack(
        "haskell",
        "{-# LANGUAGE TemplateHaskell #-}\nmain :: IO ()\nmain = print $(let f :: Int -> a; f n = f (n + 1) in f 0)\n",
        "took more than|signal|needed more",
    ),
    "haskell: types that double": Attack(
        "haskell",
        doubled("main :: IO ()\nmain = f24 `seq` pure ()\nf0 x = (x, x)\n", "f{n} x = f{m} (f{m} x)\n", 24),
    ),
    "d: a file at build time": Attack("d", f'enum x = import("{_PRIVATE}");\nvoid main() {{}}\n', "^line 1: "),
    "d: a loop at build time": Attack(
        "d", "int f() { int x; for (;;) x++; return x; }\nenum y = f();\nvoid main() {}\n"
    ),
    "racket: a loop at build time": Attack(
        "racket", "#lang racket\n(begin-for-syntax (let loop () (loop)))\n", "took more than"
    ),
    "racket: a file at build time": Attack(
        "racket",
        "#lang racket\n(require (for-syntax racket/base racket/file))\n"
        f'(begin-for-syntax (error (file->string "{_PRIVATE}")))\n',
    ),
    "sql: a file of the host": Attack("sql", ".read /etc/passwd\nSELECT FROM;\n"),
    "verilog: a file of the host": Attack("verilog", '`include "/etc/passwd"\nmodule main; endmodule\n'),
    "verilog: a macro bomb": Attack(
        "verilog", doubled("`define A0 x\n", "`define A{n} `A{m} `A{m}\n", 40) + "module main; `A40 endmodule\n"
    ),
    "r: parentheses": Attack("r", "(" * 100_000 + "\n"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_a_compile_error_that_tells_nothing_of_the_host(
    verify: Verify, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    attack = ATTACKS[name]
    try:
        toolchain(attack.language)
    except Missing as missing:
        lacking(attack.language, str(missing))
    monkeypatch.setenv("SCALEBOX_SECRET", os.urandom(8).hex())
    result = verify(attack.language, attack.source, ("", ""), build_s=3.0, build_memory_mb=512)
    assert (result.verdict, result.stage) == ("compile_error", "build"), result.message
    assert 0 < len(result.message) < 2000
    assert re.search(attack.said, result.message), result.message
    assert not _OF_THE_HOST.search(result.message)
    test = languages()["c"].self_test
    assert verify("c", test.program, (test.stdin, test.stdout)).verdict == "passed"
