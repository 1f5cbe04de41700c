"""Interactive problems: every verdict, by each of the ways to it, on either side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from scalebox.core.limits import Limits
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.settings import Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample
from scalebox.worker import Verifier

pytestmark = pytest.mark.timeout(900)

Verify = Callable[..., VerificationResult]

#: Thinks of the number in its input; ends as soon as it is told that, or after the seventh wrong guess.
ICPC = """
import sys
secret = int(open(sys.argv[1]).read())
def end(code, message):
    open(sys.argv[3] + '/judgemessage.txt', 'w').write(message)
    sys.exit(code)
for guesses in range(1, 8):
    line = sys.stdin.readline()
    if not line.strip().isdigit():
        end(43, 'no guess: %.20r' % line)
    guess = int(line)
    if guess == secret:
        print('correct', flush=True)
        if sys.stdin.read().strip():
            end(43, 'more after the answer')
        if open(sys.argv[2]).read() == 'scored':
            open(sys.argv[3] + '/score.txt', 'w').write('%.3f' % (1.5 - guesses / 2))
        end(42, '%d guesses' % guesses)
    print('higher' if secret > guess else 'lower', flush=True)
end(43, 'too many guesses')
"""
BISECT = """
low, high = 1, 100
while True:
    guess = (low + high) // 2
    print(guess, flush=True)
    said = input()
    if said == 'correct':
        break
    low, high = (guess + 1, high) if said == 'higher' else (low, guess - 1)
"""
ENDS_EARLY = "import sys\nn = input()\nsys.exit(%s)"


class Row(NamedTuple):
    """One sample and its verdict; `detail` is a part of the reason."""

    name: str
    code: str
    verdict: str
    detail: str = ""
    interactor: str = ICPC
    answer: str = ""
    limits: Mapping[str, Any] = MappingProxyType({})


HEARS = "import sys\nsys.stdin.read()\nsys.exit(43)"
SHORT: dict[str, Any] = {"wall_s": 3.0, "cpu_s": 1.0}
CLOSES_AND_SLEEPS = "import os, time\nos.close(1)\ntime.sleep(60)"
SAYS_MORE = "import time\nprint(1, flush=True)\ntime.sleep(.2)\nprint(2)"
SOLUTIONS = [
    Row("right", BISECT, "passed"),
    Row("says-more-once-accepted", SAYS_MORE, "passed", "", ENDS_EARLY % 42),
    Row("accepted-before-it-reads", "print(1, flush=True)", "passed", "", "print('x', flush=True)\n" + ENDS_EARLY % 42),
    Row("wrong", "for n in range(1, 9): print(n, flush=True); input()", "output_mismatch", "too many guesses"),
    Row("breaks-the-protocol", "print('I guess', flush=True); input()", "output_mismatch", "no guess: 'I guess"),
    Row("more-after-the-answer", BISECT + "print(7)", "output_mismatch", "more after the answer"),
    Row("ends-early", "print(49, flush=True)", "output_mismatch", "no guess: ''"),
    Row("says-nothing", "pass", "output_mismatch", "no guess: ''"),
    Row("loops-when-rejected", "print('x', flush=True)\nwhile True: pass", "output_mismatch", "no guess"),
    Row("writes-on-when-rejected", "while True: print('x', flush=True)", "output_mismatch", "no guess"),
    Row("crashes", "print(49, flush=True)\n1 / 0", "runtime_error", "ZeroDivisionError"),
    Row("crashes-at-once", "raise SystemExit(3)", "runtime_error", "exit code 3"),
    Row("killed", "import os\nprint(49, flush=True)\nos.kill(os.getpid(), 9)", "runtime_error", "SIGKILL"),
    Row("crashes-once-accepted", BISECT + "raise SystemExit(3)", "runtime_error", "exit code 3"),
    Row("crashes-on-a-rejection", "print('x', flush=True)\ninput()", "output_mismatch", "no guess"),
    Row("loops", "print(49, flush=True)\nwhile True: pass", "time_out", "CPU time", limits={"cpu_s": 0.5}),
    Row("loops-once-accepted", BISECT + "while True: pass", "time_out", "CPU time", limits={"cpu_s": 0.5}),
    Row("sleeps-once-accepted", BISECT + CLOSES_AND_SLEEPS, "time_out", "had accepted", limits=SHORT),
    Row("never-flushes", "import sys\nprint(49)\nsys.stdin.readline()", "time_out", "both wait", limits=SHORT),
    Row("waits-for-more", "input()", "time_out", "both wait", limits=SHORT),
    Row(
        "never-reads", "import time\nprint(49, flush=True)\ntime.sleep(60)", "time_out",
        "it has not read", limits=SHORT,
    ),
    Row("floods", "while True: print('x' * 999)", "output_exceed", "output limit", HEARS),
    Row("floods-stderr", "import sys\nwhile True: print('x' * 999, file=sys.stderr)", "output_exceed", "output limit"),
    Row("memory", "print(49, flush=True)\nx = b'x' * (900 << 20)", "memory_exceed"),
    Row("denied", "import socket\nsocket.socket()", "resource_denied", "socket"),
    Row("no-python", "print(", "compile_error"),
]  # fmt: skip

LOOPS = "while True: pass"
SLEEPS = "import time\ntime.sleep(60)"
ASKS = "print(1, flush=True)\ninput()"
BAD_SCORE = "import sys\nopen(sys.argv[3] + '/score.txt', 'w').write('x')\nsys.exit(42)"
LINK = "import os, sys\nos.symlink('/etc/passwd', sys.argv[3] + '/judgemessage.txt')\nsys.exit(43)"
INTERACTORS = [
    Row("crashes", ASKS, "internal_error", "exit code 1", "1 / 0"),
    Row("other-exit-code", ASKS, "internal_error", "exit code 0", "input()"),
    Row("killed", ASKS, "internal_error", "SIGSEGV", "import os\nos.kill(os.getpid(), 11)"),
    Row("crashes-when-told-all", "print(1)", "internal_error", "exit code 9", ENDS_EARLY % 9),
    Row("crashes-after-the-solution", "1 / 0", "runtime_error", "exit code 1", "import sys\nsys.stdin.read()\n1 / 0"),
    Row("loops", ASKS, "internal_error", "CPU time", LOOPS),
    Row("loops-when-told-all", "pass", "internal_error", "CPU time", LOOPS),
    Row("never-reads", ASKS, "internal_error", "has not read 2 bytes", SLEEPS, limits=SHORT),
    Row("floods", "while input(): pass", "internal_error", "output limit", "while True: print('x' * 999)"),
    Row(
        "floods-stderr", ASKS, "internal_error", "output limit",
        "import sys\nwhile True: print('x' * 999, file=sys.stderr)",
    ),
    Row("memory", ASKS, "internal_error", "memory", "x = b'x' * (900 << 20)"),
    Row("no-python", ASKS, "internal_error", "cannot be built", "print("),
    Row("score", BISECT, "passed", "1 guesses", ICPC, "scored"),
    Row("bad-score", "print(1)", "internal_error", "score", BAD_SCORE),
    Row("feedback-is-a-link", ASKS, "output_mismatch", "rejects", LINK),
]  # fmt: skip


@pytest.fixture(scope="module")
def verify(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verify]:
    """Return what verifies one program against an interactor, both in Python but where it is said otherwise."""
    judge = Limits(cpu_s=1.0, wall_s=60.0, memory_mb=300, output_mb=1.0)
    changed = Settings(
        tier=settings.tier, interpreter=settings.interpreter, profiles={"judge": judge}, transcript_limit=1000,
        cache_dir=str(tmp_path_factory.mktemp("cache")),
    )  # fmt: skip
    made = Verifier(changed, sorted(os.sched_getaffinity(0))[:1])

    def verify(code: str, interactor: dict[str, Any], *tests: dict[str, Any], **more: Any) -> VerificationResult:
        record = {
            "id": "s", "code": code, "interactor": {"language": "python", "protocol": "icpc", **interactor},
            "tests": tests or ({"stdin": "50", "stdout": ""},), **more,
        }  # fmt: skip
        record["limits"] = {"wall_s": 60.0, **more.get("limits", {})}
        result, _ = made.verify(parse_sample(record, settings=changed))
        made.tidy()
        if "too busy" in result.message:
            pytest.skip(result.message)
        return result

    yield verify
    made.close()


@pytest.mark.parametrize("row", [*SOLUTIONS, *INTERACTORS], ids=lambda row: row.name)
def test_the_verdict_and_its_reason(verify: Verify, row: Row) -> None:
    result = verify(row.code, {"code": row.interactor}, {"stdin": "50", "stdout": row.answer}, limits=row.limits)
    assert (result.verdict, result.cases[0].detail) == (row.verdict, result.cases[0].detail)
    assert row.detail in result.cases[0].detail


def the_case(result: VerificationResult) -> CaseResult:
    assert len(result.cases) == 1
    return result.cases[0]


def test_a_score_below_all_is_no_pass_and_is_carried(verify: Verify) -> None:
    tests = [{"stdin": number, "stdout": "scored"} for number in ("50", "25")]
    full, half = verify(BISECT, {"code": ICPC}, *tests).cases
    assert (full.verdict, full.score) == ("passed", 1.0)
    assert (half.verdict, half.score, half.difference) == ("output_mismatch", 0.5, 0.5)


def test_the_transcript_says_who_said_what(verify: Verify) -> None:
    case = the_case(verify(BISECT, {"code": ICPC}, {"stdin": "75", "stdout": ""}))
    assert case.transcript == "solution: 50\ninteractor: higher\nsolution: 75\ninteractor: correct"


def test_a_transcript_is_bounded_and_says_so(verify: Verify) -> None:
    case = the_case(verify("print('x' * 5000)", {"code": ENDS_EARLY % 43}))
    assert case.transcript == f"solution: {'x' * 1000}\n[cut: 4001 more bytes]"


def test_all_tests_are_run_whatever_becomes_of_the_one_before(verify: Verify) -> None:
    tests = [{"stdin": str(number), "stdout": ""} for number in (50, 1000, 75, 1000, 1)]
    result = verify(BISECT, {"code": ICPC}, *tests)
    assert [case.verdict for case in result.cases] == [
        "passed", "output_mismatch", "passed", "output_mismatch", "passed",
    ]  # fmt: skip


TESTLIB = """
import sys
def quit(code, message):
    sys.stderr.write(message)
    sys.exit(code)
secret, answer = (int(open(sys.argv[at]).read()) for at in (1, 3))
open(sys.argv[2], 'w').write('asked')
print('?', flush=True)
line = sys.stdin.readline()
if line.strip() == str(answer):
    quit(0, 'ok right')
if line.strip() == 'half':
    quit(7, 'points 0.5')
quit(1 if line.strip().isdigit() else 2 if line.strip() else 3, 'no: %r' % line)
"""


@pytest.mark.parametrize(
    ("says", "verdict", "score"),
    [
        ("7", "passed", None), ("8", "output_mismatch", None), ("x", "output_mismatch", None),
        ("half", "output_mismatch", 0.5), ("", "internal_error", None),
    ],
)  # fmt: skip
def test_testlib_s_exit_codes(verify: Verify, says: str, verdict: str, score: float | None) -> None:
    code = f"input()\nprint({says!r}, flush=True)"
    case = the_case(verify(code, {"code": TESTLIB, "protocol": "testlib"}, {"stdin": "50", "stdout": "7"}))
    assert (case.verdict, case.score) == (verdict, score)


@pytest.mark.parametrize(("says", "verdict"), [("57", "passed"), ("58", "output_mismatch")])
def test_judges_that_only_have_an_exit_code(verify: Verify, says: str, verdict: str) -> None:
    total = "int(open('stdin.txt').read()) + int(open('stdout.txt').read())"
    code = f"import sys\nsys.exit(int(input()) != {total})"
    interactor = {"code": code, "protocol": "exit_code"}
    assert verify(f"print({says})", interactor, {"stdin": "50", "stdout": "7"}).verdict == verdict


GUESS = {
    "bash": "low=1; high=100; while :; do g=$(((low + high) / 2)); echo $g; read s; case $s in correct) exit;;"
    " higher) low=$((g + 1));; *) high=$((g - 1));; esac; done",
    "c": """
#include <stdio.h>
int main(void) { char s[9]; int low = 1, high = 100;
 while (1) { int g = (low + high) / 2; printf("%d\\n", g); fflush(stdout);
 if (scanf("%8s", s) != 1) return 1; if (*s == 'c') return 0; if (*s == 'h') low = g + 1; else high = g - 1; } }
""",
    "java": """
import java.util.*;
public class Main { public static void main(String[] a) { Scanner in = new Scanner(System.in);
 int low = 1, high = 100;
 while (true) { int g = (low + high) / 2; System.out.println(g); String s = in.next();
 if (s.equals("correct")) return;
 if (s.equals("higher")) low = g + 1; else high = g - 1; } } }
""",
}
#: The same interactor, with the number 50, in a language that is built.
IN_C = """
#include <stdio.h>
int main(int n, char **v) { int secret, g, left = 9; fscanf(fopen(v[1], "r"), "%d", &secret);
 while (left-- && scanf("%d", &g) == 1) {
 puts(g == secret ? "correct" : g < secret ? "higher" : "lower"); fflush(stdout);
 if (g == secret) return 42; } return 43; }
"""


@pytest.mark.parametrize("language", GUESS)
@pytest.mark.parametrize("judge", ["python", "c"])
def test_both_may_be_in_any_language(verify: Verify, language: str, judge: str) -> None:
    for name in {language, judge} - {"python"}:
        try:
            toolchain(name)
        except Missing as missing:
            pytest.skip(f"{name}: {missing}")
    interactor = {"language": judge, "code": IN_C if judge == "c" else ICPC}
    limits = {"cpu_s": 10.0, "build_s": 60.0}
    tests = [{"stdin": number, "stdout": ""} for number in ("75", "13")]
    result = verify(GUESS[language], interactor, *tests, language=language, limits=limits)
    assert [case.verdict for case in result.cases] == ["passed", "passed"], result.message
    wrong = verify(GUESS[language], interactor, {"stdin": "1000", "stdout": ""}, language=language, limits=limits)
    assert (wrong.verdict, wrong.masked) == ("output_mismatch", False)
