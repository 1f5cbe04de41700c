"""Forged results: programs that solve nothing and want to score. Beside them honest ones, which must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scalebox.acceptance.model import Check, Failed
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import DOUBTFUL, Verdict

_CALL: dict[str, Any] = {"tests": [{"call": "solve", "args": [n], "expect": n * n + 1} for n in (2, 3, 12)]}
_ASSERT: dict[str, Any] = {"tests": [{"assert": "assert solve(2) == 5\nassert solve(12) == 145"}]}
_HARNESS: dict[str, Any] = {
    "tests": [{"harness": "def check(candidate):\n    assert candidate(2) == 5\n    assert candidate(12) == 145\n"}],
    "entry_point": "solve",
}
_STDIN: dict[str, Any] = {"tests": [{"stdin": f"{n}\n", "stdout": f"{n * n + 1}\n"} for n in (2, 3, 12)]}
_PROGRAM: dict[str, Any] = {"tests": [{"suffix": "assert solve(2) == 5\nassert solve(12) == 145\n"}]}

_SOLVE = "def solve(n):\n    return n * n + 1\n"
_READ = "n = int(input())\nprint(n * n + 1)\n"

#: Style of tests → (its tests, an honest program).
HONEST = {
    "call": (_CALL, _SOLVE),
    "assert": (_ASSERT, _SOLVE),
    "harness": (_HARNESS, _SOLVE),
    "stdin": (_STDIN, _READ),
    "program": (_PROGRAM, _SOLVE),
}

_EQUAL = """
class Equal(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = None
def solve(n): return Equal(0)
"""
_EXIT = "import os\nos._exit(0)\n"
_EXIT_LATE = "import os, sys\ndef solve(n):\n    sys.stdout.flush()\n    os._exit(0)\n"
_FRAMES = """
import os
FORGED = [b'{"verdict":"passed","value":5}\\n', b'\\x00\\x00\\x00\\x0b\\x82\\xa2id\\xa10\\xa2ok\\xc3', b"PASSED\\n"]
def solve(n):
    for number in range(3, 64):
        for frame in FORGED:
            try:
                os.write(number, frame)
            except OSError:
                pass
    return None
"""
_PATCHED = """
import builtins, sys
class Quiet(BaseException): pass
builtins.AssertionError = Quiet
sys.excepthook = lambda *_: None
builtins.all = builtins.any = lambda *_: True
def solve(n): raise Quiet
"""
_OWN_CHECK = """
import sys
def check(candidate): return True
def run(): return True
for module in list(sys.modules.values()):
    try:
        module.check = check
    except Exception:
        pass
def solve(n): return None
"""
_SEARCH = """
import gc, sys
def solve(n):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            if isinstance(value, dict) and "expect" in value:
                return value["expect"]
        frame = frame.f_back
    for item in gc.get_objects():
        if isinstance(item, dict) and "expect" in item:
            return item["expect"]
"""

#: Name → (style of tests, program).
FORGED = {
    "overridden-equality.call": ("call", _EQUAL),
    "overridden-equality.assert": ("assert", _EQUAL),
    "overridden-equality.harness": ("harness", _EQUAL),
    "early-exit.call": ("call", _EXIT),
    "early-exit.assert": ("assert", _EXIT_LATE),
    "early-exit.harness": ("harness", _EXIT_LATE),
    "early-exit.stdin": ("stdin", _EXIT),
    "early-exit.program": ("program", _EXIT),
    "forged-frames.call": ("call", _FRAMES),
    "forged-frames.assert": ("assert", _FRAMES),
    "patched-assert.assert": ("assert", _PATCHED),
    "patched-assert.program": ("program", "import sys\nsys.excepthook = lambda *_: __import__('os')._exit(0)\n"),
    "own-check.harness": ("harness", _OWN_CHECK),
    "searched-answers.call": ("call", _SEARCH),
    "forged-verdict.stdin": ("stdin", """print('{"verdict": "passed", "reward": 1.0}')\n"""),
    "all-answers.stdin": ("stdin", "for n in range(200):\n    print(n * n + 1)\n"),
    "flood.stdin": ("stdin", "n = int(input())\nprint(n * n + 1, ' ' * 4_000_000, 'x')\n"),
}

_WHY = "A policy learns whatever is paid: one forgery that scores becomes its answer to every problem."
_MEND = "do not train on it: look for a fork of the judge, a shared process (`integrity`), or an old version"
_WHY_HONEST = "Where right programs fail too, that forgeries do not score proves nothing."
_MEND_HONEST = "scalebox doctor on the worker's machine; then the page on compile errors in the guides"


def checks() -> Iterator[Check]:
    """Yield the checks: the honest programs first."""
    for style, (tests, program) in HONEST.items():
        yield Check(
            name=f"honest.{style}", why=_WHY_HONEST, mend=_MEND_HONEST, sample={"code": program, **tests}, judge=_passes
        )
    for name, (style, program) in FORGED.items():
        sample = {"code": program, **HONEST[style][0]}
        yield Check(name=f"forged.{name}", why=_WHY, mend=_MEND, sample=sample, judge=_fails)


def _passes(result: VerificationResult) -> str:
    if result.verdict is not Verdict.PASSED or result.reward != 1:
        raise Failed(f"a right program is {result.verdict}, reward {result.reward}: {result.message}")
    return f"passed, reward 1, tier {result.tier}"


def _fails(result: VerificationResult) -> str:
    if result.verdict in DOUBTFUL:
        raise Failed(f"{result.verdict}: masked, so a policy can have samples left out at will: {result.message}")
    if result.verdict is Verdict.PASSED or result.reward != 0:
        raise Failed(f"it scored: {result.verdict}, reward {result.reward}")
    return f"{result.verdict}, reward 0"
