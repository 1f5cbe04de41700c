"""Completions and tests as texts that fit together."""

from __future__ import annotations

import pytest

from scalebox.server.compat.around import cut, fitted

CPP = "int twice(int x) {\n    return 2 * x;\n}"
JAVA = "class Problem {\n    static int f() { return 1; }\n}"


@pytest.mark.parametrize(
    ("code", "tests", "language", "expected"),
    [
        (CPP, "}\nint main() { return 0; }\n", "cpp", "int twice(int x) {\n    return 2 * x;\n"),
        (CPP, '}\nint main() { puts("}}"); } // }', "cpp", "int twice(int x) {\n    return 2 * x;\n"),
        (CPP, "int main() { return 0; }\n", "cpp", f"{CPP}\n"),
        (JAVA, "    }\n    static void main() { }\n}", "java", "class Problem {\n    static int f() { return 1;\n"),
        ("def f(x)\n  x\nend", "require 'test/unit'", "ruby", "def f(x)\n  x\nend\n"),
        ("<?php\nfunction f() { return 1; }\n?>", "}\nf();", "php", "\nfunction f() { return 1;\n"),
        ("func f() {}", "testing.T", "go", 'package main\nimport "testing"\nfunc f() {}\n'),
        ('package x\nimport "fmt"\n', "fmt.T", "go", 'package x\n\nimport "fmt"\n\n'),
    ],
)
def test_a_whole_program_loses_what_the_tests_have(code: str, tests: str, language: str, expected: str) -> None:
    assert fitted(code, tests, language) == expected


def test_a_comment_without_end_takes_no_time() -> None:
    assert fitted("f", "/*" * 200_000, "cpp") == "f\n"


@pytest.mark.parametrize(
    ("stops", "expected"),
    [([], "a\n}\nb\nc"), (["\n}"], "a"), (["\nc", "\nb"], "a\n}"), (["\n", "x"], "a\n}\nb\nc")],
)
def test_a_continuation_ends_at_the_first_stop(stops: list[str], expected: str) -> None:
    assert cut("a\n}\nb\nc", stops) == expected
