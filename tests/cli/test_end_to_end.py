"""The command line with the real engine: labels, exit codes, and that nothing is left after Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., str]

ADD = "a, b = map(int, input().split())\nprint(a {} b)\n"
STDIN = [{"stdin": "1 2\n", "stdout": "3\n"}, {"stdin": "5 7\n", "stdout": "12\n"}]
CALLS = [{"call": "f", "args": [2], "expect": 3}, {"call": "f", "args_repr": "(inf,)", "expect_repr": "inf"}]
SAMPLES = [
    {"id": "right", "code": ADD.format("+"), "tests": STDIN},
    {"id": "wrong", "code": ADD.format("*"), "tests": STDIN},
    {"id": "fenced", "response": "So:\n```python\ndef f(x):\n    return x + 1\n```\n", "tests": CALLS},
    {"id": "off", "code": "def f(x): return x", "tests": CALLS},
    {"id": "broken", "code": "def f(x: return", "tests": CALLS},
    {"id": "crash", "code": "raise SystemExit(3)", "tests": STDIN},
    {"id": "empty", "code": "x", "tests": []},
]
LABELS = {
    "right": "passed", "wrong": "output_mismatch", "fenced": "passed", "off": "assert_fail", "broken": "compile_error",
    "crash": "runtime_error",
}  # fmt: skip


def _start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scalebox.cli", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
    with _start(*arguments) as process:
        out, err = process.communicate(stdin)
    return process.returncode, out, err


def test_verify(write: Write) -> None:
    code, out, err = _run("verify", write(SAMPLES), "-o", "-", "--explain", "wrong", "--workers", "1")
    results = {result["id"]: result for result in map(json.loads, out.splitlines())}
    assert {name: result["verdict"] for name, result in results.items()} == LABELS
    assert results["off"]["reward"] == 0.5
    assert "wrong: output_mismatch" in err
    assert "expected '3', got '2'" in err
    assert "in.jsonl:7: tests: no tests" in err
    assert "tier" in err
    assert code == 2


@pytest.mark.parametrize(
    ("source", "options", "code", "out", "err"),
    [
        ("print(input()[::-1])", (), 0, "cba\n", "finished: exit code 0"),
        ("import sys; print('no', file=sys.stderr); sys.exit(7)", (), 7, "", "no\nruntime_error: exit code 7"),
        ("while True: pass", ("--cpu", "0.3"), 124, "", "time_out: "),
        ("print('x'", (), 125, "", "compile_error: line 1"),
    ],
)
def test_run(*, write: Write, source: str, options: tuple[str, ...], code: int, out: str, err: str) -> None:
    program, stdin = write(source.encode(), "a.py"), write(b"abc\n", "in.txt")
    got = _run("run", program, "--stdin", stdin, "--workers", "1", *options)
    assert got[:2] == (code, out)
    assert err in got[2]


def test_an_encoding_that_cannot_say_it(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    monkeypatch.setenv("PYTHONUTF8", "0")
    code, out, err = _run("run", write("print('\u2192')".encode(), "a.py"), "--workers", "1")
    assert (code, out) == (0, "\\u2192\n")
    assert "Traceback" not in err


def test_control_c_leaves_no_process(write: Write) -> None:
    slow = {"id": "slow", "code": "while True: pass", "tests": STDIN, "limits": {"cpu_s": 60}}
    with _start("verify", write([SAMPLES[0], slow]), "-o", "-", "--workers", "2") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["id"] == "right"
        children = _descendants(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert children
    assert not [pid for pid in children if _is_alive(pid)]


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_descendants(child)]
    return found


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_doctor() -> None:
    code, out, _ = _run("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    assert checks["self-test"]["state"] == "ok", checks["self-test"]
    assert code == 0
