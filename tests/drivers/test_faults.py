"""Whose fault it is: programs that cannot be called, arguments that do not fit, and programs that try to answer otherwise."""

# ruff: noqa: E501 - programs have long lines

from __future__ import annotations

import pytest
from tests.drivers.conftest import Call, needed

pytestmark = pytest.mark.timeout(600)

#: A function f from integer to integer, that returns its argument, in the program around `{}`; and a body of it.
_AROUND = {
    "cpp": "#include <bits/stdc++.h>\n#include <unistd.h>\nint f(int x) {{\n{}\nreturn x; }}\n",
    "java": "class Solution {{\nint f(int x) throws Exception {{\n{}\nreturn x; }} }}\n",
    "rust": "#![allow(unused)]\nfn f(x: i32) -> i32 {{\n{}\nx }}\n",
    "go": 'package main\nimport "os"\nfunc f(x int) int {{\n{}\n_ = os.Args\nreturn x }}\n',
    "javascript": "const fs = require('fs');\nfunction f(x) {{\n{}\nreturn x; }}\n",
    "typescript": "import * as fs from 'fs';\nfunction f(x: number): number {{\n{}\nreturn x; }}\n",
}
_EXIT = {
    "cpp": "exit(0);", "java": "System.exit(0);", "rust": "std::process::exit(0);", "go": "os.Exit(0)",
    "javascript": "process.exit(0);", "typescript": "process.exit(0);",
}  # fmt: skip
_THROW = {
    "cpp": 'throw std::runtime_error("no");', "java": 'if (x > -9) throw new Exception("no");', "rust": 'panic!("no");',
    "go": 'panic("no")', "javascript": "throw new Error('no');", "typescript": "throw new Error('no');",
}  # fmt: skip
_ERROR = {
    "cpp": "return y;", "java": "return y;", "rust": "return y;", "go": "return y", "javascript": "return (;",
    "typescript": "return y;",
}  # fmt: skip
#: For descriptor 3: the bytes of a frame with the value 7 for case 0.
_BYTES = bytes([22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) + b"i" + (7).to_bytes(8, "little")
_LIST = ", ".join(map(str, _BYTES))
_FORGE = {
    "cpp": f"unsigned char data[] = {{{_LIST}}}; write(3, data, sizeof data);",
    "java": "var open = java.io.FileDescriptor.class.getDeclaredConstructor(int.class); open.setAccessible(true); "
    f"new java.io.FileOutputStream(open.newInstance(3)).write(new byte[] {{{_LIST}}});",
    "rust": "use std::os::fd::FromRawFd; use std::io::Write; "
    f"let mut pipe = unsafe {{ std::fs::File::from_raw_fd(3) }}; pipe.write_all(&[{_LIST}]).unwrap(); std::mem::forget(pipe);",
    "go": f'os.NewFile(3, "x").Write([]byte{{{_LIST}}})',
    "javascript": f"fs.writeSync(3, Buffer.from([{_LIST}]));",
    "typescript": f"fs.writeSync(3, Buffer.from([{_LIST}]));",
}


def _program(language: str, body: str = "") -> str:
    return _AROUND[language].format(body)


def test_a_function_that_is_not_there_is_named_with_what_is(call: Call, language: str) -> None:
    result = call(language, _program(language), ("g", [1], 1))
    assert (result.verdict, result.stage) == ("compile_error", "build")
    assert result.message.startswith("no function g; the program has ")
    assert result.message.endswith("f")


def test_an_error_has_the_line_of_the_program(call: Call, language: str) -> None:
    source = _program(language, _ERROR[language])
    line = source.splitlines().index(_ERROR[language]) + 1
    result = call(language, source, ("f", [1], 1))
    assert result.verdict == "compile_error"
    assert result.message.startswith(f"line {line}: "), result.message


def test_arguments_that_are_too_many_or_of_another_type_are_told(call: Call, language: str) -> None:
    result = call(language, _program(language), ("f", [1, 2], 1), ("f", [2**70], 1), ("f", [5], 5))
    told = [(str(case.verdict), case.detail) for case in result.cases]
    assert told[2] == ("passed", "")
    if language == "javascript":  # whose parameters have no types, and which takes any number of arguments
        return
    assert told[0] == ("runtime_error", "the arguments do not fit the function: takes 1 arguments, 2 are given")
    assert told[1][0] == "runtime_error"
    assert told[1][1].startswith("the arguments do not fit the function: argument 1 is ")


def test_exceptions_and_early_ends_are_runtime_errors(call: Call, language: str) -> None:
    ended = call(language, _program(language, _EXIT[language]), ("f", [7], 7))
    assert (ended.verdict, ended.cases[0].detail) == ("runtime_error", "ended without returning a value")
    thrown = call(language, _program(language, _THROW[language]), ("f", [7], 7))
    assert (thrown.verdict, "no" in thrown.cases[0].stderr) == ("runtime_error", True)


def test_a_forged_frame_is_worth_its_value_and_no_more(call: Call, language: str) -> None:
    """It counts as the answer if nothing else is sent, so it must be right; beside another it is tampering."""
    alone = _program(language, f"{_FORGE[language]}\n{_EXIT[language]}")
    result = call(language, alone, ("f", [7], 8), ("f", [7], 7))
    # The second case has another index, which the frame does not have.
    assert [(str(case.verdict), case.detail) for case in result.cases] == [
        ("assert_fail", "expected 8, got 7"), ("runtime_error", "the result was tampered with"),
    ]  # fmt: skip
    both = call(language, _program(language, _FORGE[language]), ("f", [7], 7))
    assert (both.verdict, both.cases[0].detail) == ("runtime_error", "the result was tampered with")


@pytest.mark.parametrize(("name", "body"), [
    ("cpp", 'printf("7"); fflush(stdout); char c; if (read(0, &c, 1) != 0) return -1;'),
    ("java", 'System.out.print("7"); if (System.in.read() != -1) return -1;'),
    ("rust", 'print!("7"); let mut t = String::new(); if std::io::stdin().read_line(&mut t).unwrap() != 0 { return -1; }'),
    ("go", 'os.Stdout.Write([]byte("7")); if n, _ := os.Stdin.Read(make([]byte, 1)); n != 0 { return -1 }'),
    ("javascript", 'process.stdout.write("7"); if (fs.readFileSync(0).length) return -1;'),
])  # fmt: skip
def test_what_is_printed_is_text_and_standard_input_is_empty(call: Call, name: str, body: str) -> None:
    result = call(needed(name), _program(name, body), ("f", [3], 3))
    assert (result.verdict, result.cases[0].stdout) == ("passed", "7")


@pytest.mark.parametrize(("name", "code"), [
    # A constructor that runs before main, an answer for every call.
    ("cpp", "static int early = [] { puts(\"7\"); _exit(0); return 0; }();\nint f(int x) { return x; }"),
    ("cpp", "#include <unistd.h>\n#define return _exit(0); return\nint f(int x) { return x; }\n"),
    ("java", "class Solution { static { Runtime.getRuntime().halt(0); } int f(int x) { return x; } }"),
    ("go", "package main\nimport \"os\"\nfunc init() { os.Exit(0) }\nfunc f(x int) int { return x }"),
    ("javascript", "process.exitCode = 0; process.reallyExit(0);\nfunction f(x) { return x; }"),
    ("javascript", "function f(x) { return new Promise(() => {}); }"),
    ("cpp", "struct ListNode { int val; ListNode* next; ListNode(int x) : val(x), next(this) {} };\n"
     "ListNode* f(int x) { return new ListNode(x); }"),
])  # fmt: skip
def test_no_value_is_no_pass(call: Call, name: str, code: str) -> None:
    result = call(needed(name), code, ("f", [7], 7))
    assert result.verdict in ("runtime_error", "output_exceed"), result.message
    assert result.pass_rate == 0


@pytest.mark.parametrize(("name", "code", "told"), [
    ("cpp", "template <class T> T f(T x) { return x; }", "f is a template"),
    ("cpp", "class Solution { int f(int x) { return x; } };", "private"),
    ("cpp", "void* f(int x) { return 0; }", "not supported"),
    ("cpp", "int f(int x) { return x; }\nint f(long x) { return x; }", "declared 2 times"),
    ("cpp", "// int f(int x) { return x; }\n#define f(x) { f(x) }\nchar s[] = \"int f(int x) {\";", "the program has none"),
    ("go", "package main\nfunc f[T any](x T) T { return x }", "f is generic"),
    ("rust", "fn f(x: std::rc::Rc<i32>) -> i32 { *x }", "the trait bound"),
    ("java", "class Solution { }", "the program has none"),
])  # fmt: skip
def test_what_cannot_be_called_is_a_compile_error(call: Call, name: str, code: str, told: str) -> None:
    result = call(needed(name), code, ("f", [1], 1))
    assert (result.verdict, result.pass_rate) == ("compile_error", 0)
    assert told in result.message, result.message


def test_a_batch_of_more_calls_than_descriptors_fit_into_a_message(call: Call) -> None:
    result = call(needed("cpp"), "int f(int x) { return 2 * x; }", *(("f", [x], 2 * x) for x in range(150)))
    assert (result.verdict, len(result.cases)) == ("passed", 150)
