"""Programs behave as under a plain interpreter: the same output, the same way to end."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.golden.table import read_programs

from scalebox import CaseResult, ScaleBoxClient, Settings

INPUT = "1 2\n3 4\n"
CARRIAGE = "1 2\r\n3 4\rx\n\r"
READERS = [
    "print(repr(input()))",
    "import sys\nprint([*sys.stdin], sys.stdin.newlines)",
    "import sys\nprint(repr(sys.stdin.readline()), repr(sys.stdin.read()))",
    "import fileinput\nprint([*fileinput.input('-')])",
    "import asyncio, sys\nasync def f(): print(repr(await asyncio.to_thread(sys.stdin.readline)))\nasyncio.run(f())",
    "exec('while 1: print(repr(input()))')",
    "import sys\nprint(sys.stdin.buffer.read())",
    "print([*open(0)])",
    "import sys\nsys.stdin.reconfigure(newline='')\nprint([*sys.stdin])",
]
UNPRINTABLE = ["\ufeffprint('mark of byte order')", "print('a')\r\nprint('b')\r\n", "if 1:\n\tprint(1)\n        \n"]


def test_the_same_as_a_plain_interpreter(client: ScaleBoxClient, settings: Settings, tmp_path: Path) -> None:
    alone, with_children = read_programs("interpreter"), read_programs("interpreter_with_children")
    programs = [(code, INPUT) for _, code in alone + with_children] + [(code, INPUT) for code in UNPRINTABLE]
    programs += [(code, CARRIAGE) for code in READERS]
    samples = [_sample(number, code, given) for number, (code, given) in enumerate(programs)]
    for sample in samples[len(alone) : len(alone) + len(with_children)]:
        sample["limits"]["processes"] = 8
    results = client.fetch(client.submit_batch(samples))
    interpreter = settings.interpreter or sys.executable
    wrong = []
    for (code, given), result in zip(programs, results, strict=True):
        (case,) = result.cases
        expected, got = _plainly(interpreter, code, given, tmp_path), _observed(case)
        if got != expected:
            wrong.append(f"{code!r}: expected {expected}, got {got} {case.verdict} {case.stderr[-300:]}")
    assert not wrong, "\n".join(wrong)


def _sample(number: int, code: str, given: str) -> dict[str, Any]:
    limits: dict[str, Any] = {"cpu_s": 10.0, "wall_s": 60.0}
    return {"id": str(number), "code": code, "limits": limits, "tests": [{"stdin": given, "stdout": "?"}]}


def _plainly(interpreter: str, code: str, given: str, folder: Path) -> tuple[int, str]:
    """Return the exit status and the output of a program, as Popen tells them."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        Path(place, "solution.py").write_text(code, encoding="utf-8", newline="")
        command = [interpreter, "-I", "-X", "utf8", "-W", "ignore", "solution.py"]
        done = subprocess.run(command, input=given.encode(), capture_output=True, cwd=place, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _observed(case: CaseResult) -> tuple[int, str]:
    return (-case.signal if case.signal else case.exit_code or 0), case.stdout
