"""Forged results: programs that solve nothing and want to score. Beside them honest ones, which must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

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

_FETCH = """
import socket
n = int(input())
try:
    with socket.create_connection(("127.0.0.1", 9), 2) as judge:
        judge.sendall(b"%d" % n)
        print(judge.recv(100).decode())
except OSError:
    print("no answer")
"""
_OTHERS = """
import os, re
def solve(n):
    for pid in (os.getppid(), 1, *range(2, 40)):
        try:
            with open(f"/proc/{pid}/mem", "rb", 0) as memory, open(f"/proc/{pid}/maps") as maps:
                for line in maps:
                    first, last = (int(part, 16) for part in line.split()[0].split("-"))
                    memory.seek(first)
                    if found := re.search(rb'"expect": ?(\\d+)', memory.read(min(last - first, 1 << 20))):
                        return int(found[1])
        except (OSError, ValueError, OverflowError):
            pass
"""
_HOOK = "import sys\nsys.excepthook = lambda *_: __import__('os')._exit(0)\n"

#: No answer, or one that was written by somebody else; a wrong value; a wrong output; a wall.
_ENDED, _VALUE, _OUTPUT, _DENIED = (
    Verdict.RUNTIME_ERROR,
    Verdict.ASSERT_FAIL,
    Verdict.OUTPUT_MISMATCH,
    Verdict.RESOURCE_DENIED,
)


class Forgery(NamedTuple):
    """A program that wants to score by the tests of a style, and how that ends: where by several verdicts, by tier."""

    style: str
    program: str
    verdicts: tuple[Verdict, ...]


FORGED = {
    "overridden-equality.call": Forgery("call", _EQUAL, (_VALUE,)),
    "overridden-equality.assert": Forgery("assert", _EQUAL, (_VALUE,)),
    "overridden-equality.harness": Forgery("harness", _EQUAL, (_VALUE,)),
    "early-exit.call": Forgery("call", _EXIT, (_ENDED,)),
    "early-exit.assert": Forgery("assert", _EXIT_LATE, (_ENDED,)),
    "early-exit.harness": Forgery("harness", _EXIT_LATE, (_ENDED,)),
    "early-exit.stdin": Forgery("stdin", _EXIT, (_OUTPUT,)),
    "early-exit.program": Forgery("program", _EXIT, (_ENDED,)),
    # Where the descriptors of results cannot be met, the function just returns nothing.
    "forged-frames.call": Forgery("call", _FRAMES, (_ENDED, _VALUE)),
    "forged-frames.assert": Forgery("assert", _FRAMES, (_ENDED, _VALUE)),
    "patched-assert.assert": Forgery("assert", _PATCHED, (_ENDED,)),
    "patched-assert.program": Forgery("program", _HOOK, (_ENDED,)),
    "own-check.harness": Forgery("harness", _OWN_CHECK, (_VALUE,)),
    "searched-answers.call": Forgery("call", _SEARCH, (_VALUE,)),
    "searched-processes.call": Forgery("call", _OTHERS, (_VALUE, _DENIED)),
    "fetched-answers.stdin": Forgery("stdin", _FETCH, (_DENIED, _OUTPUT)),
    "forged-verdict.stdin": Forgery("stdin", """print('{"verdict": "passed", "reward": 1.0}')\n""", (_OUTPUT,)),
    "all-answers.stdin": Forgery("stdin", "for n in range(200):\n    print(n * n + 1)\n", (_OUTPUT,)),
    "flood.stdin": Forgery(
        "stdin", "n = int(input())\nprint(n * n + 1, ' ' * 4_000_000, 'x')\n", (Verdict.OUTPUT_EXCEED,)
    ),
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
    for name, forgery in FORGED.items():
        sample = {"code": forgery.program, **HONEST[forgery.style][0]}
        verdicts = frozenset(forgery.verdicts)
        yield Check(name=f"forged.{name}", why=_WHY, mend=_MEND, sample=sample, judge=_fails, verdicts=verdicts)


def _passes(result: VerificationResult) -> str:
    if result.verdict is not Verdict.PASSED or result.reward != 1:
        raise Failed(f"a right program is {result.verdict}, reward {result.reward}: {result.message}")
    return f"passed, reward 1, tier {result.tier}"


def _fails(result: VerificationResult) -> str:
    if result.verdict in DOUBTFUL:
        raise Failed(f"{result.verdict}: masked, so a policy can have samples left out at will: {result.message}")
    if result.verdict is Verdict.PASSED or result.reward != 0:
        raise Failed(f"it scored: {result.verdict}, reward {result.reward}")
    return "reward 0"
