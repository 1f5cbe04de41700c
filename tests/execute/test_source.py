"""The build step: what Python would do with the file, told with line and column, whatever the source is."""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.execute.source import build


def built(source: bytes | str, calls: tuple[str, ...] = ()) -> dict[str, Any]:
    data = source.encode() if isinstance(source, str) else source
    return build(data, "solution.py", bool(calls), list(calls))


def run(source: bytes) -> dict[str, Any]:
    answer = built(source)
    assert answer["ok"], answer
    namespace: dict[str, Any] = {}
    exec(answer["code"], namespace)  # noqa: S102 - programs of this file
    return namespace


def test_compiles_and_says_what_it_found() -> None:
    source = "import os.path\nfrom math import pi\ndef f(x):\n    import json, re as r\n    return x\n"
    answer = built(source, ("f",))
    assert answer["ok"]
    assert isinstance(answer["code"], CodeType)
    assert answer["code"].co_filename == "solution.py"
    assert answer["imports"] == ["json", "math", "os", "re"]
    assert answer["threads"] is False
    assert answer["stateless"] is False
    assert "os.path" in answer["why"]


def test_proves_only_where_asked() -> None:
    source = "def f(x):\n    return x\n"
    assert built(source, ("f",))["stateless"] is True
    assert built(source)["stateless"] is False


def test_finds_imports_at_any_depth_and_no_relative_ones() -> None:
    source = """
from . import near
from .far import thing
if 1:
    try:
        import a.b
    except E:
        import c
    else:
        import d
    finally:
        for x in y:
            while z:
                with w:
                    async def g():
                        class K:
                            import e
match 1:
    case 1:
        import f
"""
    assert built(source)["imports"] == ["a", "c", "d", "e", "f"]


@pytest.mark.parametrize("name", ["threading", "concurrent.futures", "multiprocessing", "asyncio", "_thread"])
def test_says_which_programs_start_threads(name: str) -> None:
    assert built(f"def f():\n    import {name}\n")["threads"] is True


@pytest.mark.parametrize(
    ("source", "line", "column", "text"),
    [
        (b"x = (1,\ny = 2\n", 1, 5, "'(' was never closed: x = (1,"),
        (b"def f():\n    return 1 +\n", 2, 15, "invalid syntax: return 1 +"),
        (b"def f():\nreturn 1\n", 2, 1, "expected an indented block after function definition on line 1: return 1"),
        (b"  x = 1\n y = 2\n", 1, 2, "unexpected indent: x = 1"),
        (b"if x:\n\ty\n        z\n", 3, 1, "inconsistent use of tabs and spaces in indentation: z"),
        (b"x = 'abc\n", 1, 5, "unterminated string literal"),
        (b"return 1\n", 1, 1, "'return' outside function"),
        (b"x = 1\nbreak\n", 2, 1, "'break' outside loop"),
        (b"def f(a, a):\n    pass\n", 1, 10, "duplicate argument 'a'"),
        (b"x = " + b"1" * 5000, 1, 1, "Exceeds the limit (4300 digits)"),
        ("x = 1 \u201c 2\n".encode(), 1, 7, "invalid character '\u201c' (U+201C)"),
        (b"x = '\xff'\n", 1, 8, "(unicode error) 'utf-8' codec can't decode byte 0xff"),
        (b"(" * 3000, 1, 201, "too many nested parentheses"),
    ],
)
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="wording and columns are those of Python 3.11")
def test_tells_where_it_does_not_compile(source: bytes, line: int, column: int, text: str) -> None:
    answer = built(source)
    assert answer["ok"] is False
    assert (answer["line"], answer["column"]) == (line, column)
    assert answer["message"].startswith(f"line {line}, column {column}: {text}")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"x = 1\0", "null bytes"),
        (b"# coding: nope\nx = 1", "unknown encoding: nope"),
        (b"# coding: zlib\nx = 1", "not a text encoding"),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1", "encoding problem"),
        (b"-" * 100_000 + b"1", "too large or nested too deeply"),
        (b"a." * 20_000 + b"b", "nested too deeply"),
        (b"x = " + b"[" * 150 + b"]" * 150 + b"\n" + b"+".join([b"1"] * 50_000), "nested too deeply"),
    ],
)
def test_hostile_source_is_a_compile_error(source: bytes, text: str) -> None:
    answer = built(source, ("f",))
    assert answer["ok"] is False
    assert text in answer["message"]
    assert len(answer["message"]) < 1000


def test_reads_source_as_python_reads_a_file() -> None:
    assert run("# -*- coding: latin-1 -*-\nx = 'é'".encode("latin-1"))["x"] == "é"
    assert run(b"# coding: utf-7\nx = '+AOk-'")["x"] == "é"
    assert run(b"\xef\xbb\xbfx = 1")["x"] == 1
    assert run(b"x = '''a\r\nb\rc'''\r\ny = 2\r")["x"] == "a\nb\nc"
    assert run(b"x = 1\n\x0cy = 2\n")["y"] == 2
    assert run(b"")["__builtins__"]


def test_keeps_asserts_and_takes_no_flags_of_ours() -> None:
    with pytest.raises(AssertionError):
        run(b"assert False")
    # This module has annotations from the future; the program has not.
    assert run(b"def f(x: 1 + 1): pass")["f"].__annotations__ == {"x": 2}
    assert run(b"def f():\n    'doc'")["f"].__doc__ == "doc"


def test_is_silent_about_dubious_syntax() -> None:
    errors = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stderr(errors):
        warnings.simplefilter("always")
        assert built(b"x = '\\d'\ny = 1 is 1\nassert (x, y)\n")["ok"]
    assert errors.getvalue() == ""
    assert not caught


@given(st.binary(max_size=200))
def test_is_total_on_bytes(source: bytes) -> None:
    answer = built(source, ("f",))
    assert isinstance(answer["ok"], bool)


LINES = [
    "def f(x):",
    "    return x",
    "x = [",
    "]",
    "'''",
    "# coding: ascii",
    "\tx",
    "é = 1",
    "class A:",
    "    pass",
    "\\",
    "\0",
]


@given(st.lists(st.sampled_from(LINES)))
def test_is_total_on_odd_lines(lines: list[str]) -> None:
    answer = built("\n".join(lines), ("f",))
    assert answer["ok"] or answer["message"]


def interpreter(version: str) -> str | None:
    """Return the path of an interpreter of this version that really runs, if there is one."""
    found: list[str | Path | None] = [
        shutil.which(f"python{version}"),
        *Path.home().glob(f".pyenv/versions/{version}.*/bin/python"),
    ]
    for path in found:
        if path and subprocess.run([path, "-c", ""], capture_output=True, check=False, timeout=60).returncode == 0:
            return str(path)
    return None


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13"])
def test_runs_under_other_interpreters(version: str) -> None:
    """The files that go into the jail work where ScaleBox itself cannot run, without its package."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    folder = Path(__file__).parents[2] / "src"
    program = f"""
import sys, types
for name in ("scalebox", "scalebox.execute"):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [{str(folder)!r} + "/" + name.replace(".", "/")]
from scalebox.execute.source import build
source = b"import math\\ndef f(x, y=1):\\n    return [math.sqrt(i) for i in x[1:2, ...]]"
answer = build(source, "solution.py", True, ["f"])
print(answer["ok"], answer["stateless"], answer["imports"], sys.version_info[:2])
"""
    command = [python, "-I", "-S", "-B", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    major, minor = version.split(".")
    assert done.stdout.strip() == f"True True ['math'] ({major}, {minor})", done.stderr
