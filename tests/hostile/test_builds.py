"""Source that is hostile to whoever parses it: it costs its own sample, with a right label."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hostile.conftest import Target
from tests.hostile.outside import look, ours
from tests.hostile.programs import HONEST_SCRIPT

_NEVER = {"internal_error", "unknown"}


def _record(code: str, **limits: Any) -> dict[str, Any]:
    given = {"cpu_s": 2.0, "wall_s": 30.0, "build_s": 5.0, **limits}
    return {"id": "build", "code": code, "tests": [{"stdin": "3\n", "stdout": "9\n"}], "limits": given}


def _verify(target: Target, code: str, **limits: Any) -> tuple[str, str]:
    target.take_over()
    before, processes = look(), len(ours())
    result = target.verify(_record(code, **limits))
    assert target.verify(_record(HONEST_SCRIPT)).verdict == "passed"
    assert look() == before
    assert len(ours()) <= max(processes, 1)
    return result.verdict.value, result.message


BROKEN = {
    "parentheses": "(" * 100_000 + ")" * 100_000,
    "brackets": "x = " + "[" * 5_000 + "]" * 5_000,
    "signs": "x = " + "-" * 500_000 + "1",
    "nots": "x = " + "not " * 100_000 + "1",
    "attributes": "x = a" + ".a" * 200_000,
    "calls": "x = a" + "()" * 200_000,
    "lambdas": "x = " + "lambda:" * 20_000 + "1",
    "indentation": "".join(" " * depth + "if 1:\n" for depth in range(500)) + " " * 500 + "pass",
    "null bytes": "print(9)\0",
    "only null bytes": "\0" * 1_000_000,
    "nonsense": "\ufffe\u202e\x1b[31m" * 1000,
    "an unclosed text": "x = '''" + "x" * 1_000_000,
    "an unknown coding": "# coding: no-such-coding\nprint(9)",
    "another coding": "# coding: utf-16\nprint(9)",
    "an integer of a million digits": "x = " + "1" * 1_000_000,
    "many formats": "x = f'" + "{a:" * 500 + "}" * 500 + "'",
    "a broken format": "print(f'{')",
    "from the future": "from __future__ import nonsense",
    "names": "global x\nx = 1\ndef f():\n    x = 1\n    global x",
    "return outside": "return 9",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_compiled_is_a_compile_error(target: Target, name: str) -> None:
    verdict, message = _verify(target, BROKEN[name])
    assert verdict == "compile_error"
    assert message
    assert len(message) < 3000


HEAVY = {
    "a tuple of a million": ("x = (" + "0," * 1_000_000 + ")\nprint(9)", {"passed", "compile_error"}),
    "a list of lists": ("x = [" + "[0]," * 300_000 + "]\nprint(9)", {"passed", "compile_error", "memory_exceed"}),
    "a long text": ("x = '" + "y" * 20_000_000 + "'\nprint(9)", {"passed", "compile_error", "memory_exceed"}),
    "a very long text": ("x = '" + "y" * 100_000_000 + "'\nprint(9)", {"passed", "compile_error", "memory_exceed"}),
    "many lines": ("x = 1\n" * 300_000 + "print(9)", {"passed", "compile_error"}),
    "many functions": ("def f(): pass\n" * 100_000 + "print(9)", {"passed", "compile_error"}),
    "a power folded": ("x = lambda: 2 ** 10 ** 9\nprint(9)", {"passed"}),
    "a product folded": ("x = lambda: 'x' * 10 ** 10\nprint(9)", {"passed"}),
    "shifts folded": ("x = lambda: 1 << 10 ** 9\nprint(9)", {"passed"}),
    "lone surrogates": ("x = '\ud800'\nprint(9)", {"passed", "compile_error"}),
    "odd escapes": ("x = '\\d'\nprint(9)", {"passed"}),
    "a byte order mark": ("\ufeffprint(9)", {"passed"}),
    "carriage returns": ("x = 3\r\nprint(\r\n9)\r\n", {"passed"}),
    "a form feed": ("\x0cprint(9)\n", {"passed"}),
    "a coding in which it prints": ("# coding: latin-1\nprint(9)", {"passed"}),
    "a coding that hides": ("# coding: utf-7\n+AHAAcgBpAG4AdAAoADkAKQ-", {"passed", "compile_error"}),
    "warnings without end": ("".join(f"{number} is {number}\n" for number in range(20_000)) + "print(9)", {"passed"}),
}


@pytest.mark.parametrize("name", HEAVY)
def test_what_is_heavy_is_compiled_or_refused(target: Target, name: str) -> None:
    code, right = HEAVY[name]
    verdict, message = _verify(target, code, memory_mb=300)
    assert verdict in right | {"unknown"}, message  # on a machine too busy to build it in four times its limit


def test_what_takes_up_more_memory_compiled_than_it_may_have_is_a_compile_error(target: Target) -> None:
    code = "x = [" + ",".join(f"'{number:0400d}'" for number in range(150_000)) + "]\nprint(9)"
    verdict, message = _verify(target, code, memory_mb=16, build_s=30.0)
    assert (verdict, "16" in message) == ("compile_error", True)


def test_a_build_over_its_time_is_a_compile_error(target: Target) -> None:
    code = "x = [" + "lambda: (a, b, c)," * 400_000 + "]\nprint(9)"
    verdict, message = _verify(target, code, build_s=0.3)
    assert verdict == "compile_error"
    assert "0.3" in message


def test_a_build_over_its_memory_is_a_compile_error(target: Target) -> None:
    code = "x = [" + "lambda: (a, b, c)," * 400_000 + "]\nprint(9)"
    verdict, _ = _verify(target, code, build_memory_mb=64, memory_mb=64, build_s=30.0)
    assert verdict == "compile_error"
