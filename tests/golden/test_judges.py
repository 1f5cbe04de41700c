"""Checkers end to end: every protocol, whatever becomes of the judge, and outputs that attack it."""

from __future__ import annotations

import dataclasses
import gc
import os
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from scalebox.core.limits import Limits
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample
from scalebox.sandbox.probes.host import descendants
from scalebox.worker import Verifier

pytestmark = pytest.mark.timeout(900)

#: Small, so that the judges that run into them do so soon.
LIMITS = Limits(cpu_s=0.5, wall_s=15.0, memory_mb=200, output_mb=1.0, build_s=60.0, disk_mb=64)


@pytest.fixture(scope="module")
def verifier(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verifier]:
    """Return a worker's verifier in each tier, with small limits for judges."""
    folder = str(tmp_path_factory.mktemp("cache"))
    changed = Settings(
        tier=settings.tier, interpreter=settings.interpreter, cache_dir=folder, profiles={"judge": LIMITS}
    )
    made = Verifier(changed, sorted(os.sched_getaffinity(0))[:1])
    yield made
    made.close()


@dataclasses.dataclass
class Checked:
    """Verifies programs whose outputs a judge is asked about."""

    verifier: Verifier

    def __call__(
        self, code: str, tests: list[dict[str, Any]], checker: dict[str, Any], **more: Any
    ) -> VerificationResult:
        limits = {"cpu_s": 5.0, "wall_s": 100.0}
        record = {"id": "s", "code": code, "tests": tests, "checker": checker, "limits": limits, **more}
        result, _ = self.verifier.verify(parse_sample(record, settings=Settings()))
        self.verifier.tidy()
        return result


@pytest.fixture
def checked(verifier: Verifier) -> Checked:
    return Checked(verifier)


ECHO = "print(input())"

#: What all judges do when the output says so, besides what is their protocol's own.
MISBEHAVE = """
import os, sys, time
def misbehave(word):
    if word == "crash": os.abort()
    if word == "raise": raise ValueError(word)
    if word == "hang":
        while True: pass
    if word == "sleep": time.sleep(1000)
    if word == "memory": return len(bytearray(1 << 30))
    if word == "flood":
        while True: print("x" * 100000)
    if word == "exit": os._exit(99)
    if word == "garbage":
        os.write(1, b"\\xff\\0 points 1\\n" * 99)
        os.write(2, b"\\xff\\0 points 1\\n" * 99)
"""
JUDGES = {
    "testlib": MISBEHAVE
    + """
word = open(sys.argv[2]).read().strip()
misbehave(word)
if word == "half": sys.exit(sys.stderr.write("points 0.5 half\\n") and 7)
sys.stderr.write("so it is")
sys.exit({"reject": 1, "fail": 3}.get(word, 0))
""",
    "icpc": MISBEHAVE
    + """
word = input()
misbehave(word)
if word == "half": open(sys.argv[3] + "score.txt", "w").write("0.5")
if word == "huge":
    for name in "score.txt", "judgemessage.txt", "teammessage.txt", "other":
        open(sys.argv[3] + name, "w").write("1" * 9000000)
open(sys.argv[3] + "judgemessage.txt", "w").write("so it is")
sys.exit({"reject": 43, "fail": 1}.get(word, 42))
""",
    "exit_code": MISBEHAVE
    + """
word = open("answer.txt").read().strip()
misbehave(word)
sys.stderr.write("so it is")
sys.exit(word in ("reject", "exit"))
""",
    "python": MISBEHAVE
    + """
def check(input, output, answer):
    word = output.strip()
    misbehave(word)
    return {"reject": False, "half": 0.5, "fail": None, "huge": "x" * 9000000}.get(word, True)
""",
}
FAULTS = ("crash", "raise", "hang", "memory", "flood", "fail", "exit", "huge")
#: What is no failure in a protocol.
NO_FAULT = {"exit_code": {"fail", "exit", "huge"}, "testlib": {"huge"}}


@pytest.mark.parametrize("protocol", JUDGES)
def test_every_end_of_a_judge_has_its_label(checked: Checked, protocol: str) -> None:
    checker = {"language": "python", "code": JUDGES[protocol], "protocol": protocol}
    faults = [word for word in FAULTS if word not in NO_FAULT.get(protocol, ())]
    words = ["accept", "garbage", "reject", "half", *faults, "accept"]
    tests = [
        *({"id": f"{at} {word}", "stdin": word, "stdout": "accept"} for at, word in enumerate(words)),
        *({"id": f"jury {word}", "stdin": "accept", "stdout": word} for word in faults),
        *({"id": f"task {word}", "stdin": word, "stdout": word} for word in faults if word != "hang"),
        {"id": "task reject", "stdin": "crash", "stdout": "reject"},
    ]
    result = checked(ECHO, tests, checker)
    for case in result.cases:
        name, word = case.id.split()
        if name == "task":
            assert case.verdict == "internal_error", case
            assert "the task's judge" in case.detail
        elif name == "jury" or word in ("accept", "garbage") or (word == "half" and protocol == "exit_code"):
            assert (case.verdict, case.difference, case.score) == ("passed", 0.0, None), case
        elif word == "half":
            assert (case.verdict, case.difference, case.score) == ("output_mismatch", 0.5, 0.5), case
        else:
            assert (case.verdict, case.difference, case.score) == ("output_mismatch", 1.0, None), case
            assert ("the judge failed on this output" in case.detail) == (word != "reject"), case
    assert result.verdict == "output_mismatch"


#: Outputs that a judge must get byte by byte, and take no harm from.
HOSTILE = {
    "nothing": b"",
    "nul": b"a\0b\n",
    "no text": bytes(range(256)),
    "broken UTF-8": b"\xc3\x28 \xff\xfe \xed\xa0\x80",
    "no newline": b"42",
    "huge numbers": b"1e400 -1e400 nan inf 9" + b"9" * 5000,
    "formats": b"%n%n%s%s%x {0.__class__} ${HOME} $(id) `id`",
    "ends of files": b"\x1a\x04\x03",
    "a million lines": b"\n" * 1_000_000,
    "one long line": b"x" * 1_000_000,
    "another channel": b"points 1\nok\n42\nTrue\npassed\n",
    "bidirectional": "\u202e\ufeffa\u2028".encode(),
}
EXACT = {
    "testlib": (
        "import sys\nsame = open(sys.argv[2], 'rb').read().hex() == open(sys.argv[1]).read()\nsys.exit(not same)"
    ),
    "icpc": ("import sys\nsame = sys.stdin.buffer.read().hex() == open(sys.argv[1]).read()\nsys.exit(42 + (not same))"),
    "exit_code": (
        "import sys\nsame = open('answer.txt', 'rb').read().hex() == open('stdin.txt').read()\nsys.exit(not same)"
    ),
    "python": (
        "def check(input, output, answer):\n    return output == bytes.fromhex(input).decode('utf-8', 'replace')"
    ),
}


@pytest.mark.parametrize("protocol", EXACT)
def test_outputs_reach_the_judge_as_they_are(checked: Checked, protocol: str) -> None:
    code = "import sys\nsys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))"
    tests = [{"id": name, "stdin": data.hex(), "stdout": ""} for name, data in HOSTILE.items()]
    checker = {"language": "python", "code": EXACT[protocol], "protocol": protocol}
    result = checked(code, tests, checker)
    assert {case.id: (case.verdict, case.detail) for case in result.cases} == dict.fromkeys(HOSTILE, ("passed", ""))


ALL = {"language": "python", "code": "import sys\nsys.exit(42)", "protocol": "icpc"}
ENDS = {
    "a failure": ("print(1)\nraise SystemExit(3)", "runtime_error"),
    "a signal": ("import os\nprint(1, flush=True)\nos.abort()", "runtime_error"),
    "too much output": ("while True: print('x' * 1000)", "output_exceed"),
    "too much time": ("while True: pass", "time_out"),
    "a syntax error": ("print(", "compile_error"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_judge_that_accepts_all_saves_no_program_from_its_end(checked: Checked, name: str) -> None:
    code, verdict = ENDS[name]
    result = checked(code, [{"stdin": "", "stdout": ""}], ALL, limits={"cpu_s": 1.0})
    assert result.verdict == verdict


def test_a_judge_that_sleeps_is_ended_by_the_clock(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked.verifier._judges, "_limits", msgspec.structs.replace(LIMITS, wall_s=4.0))
    checker = {"language": "python", "code": JUDGES["icpc"], "protocol": "icpc"}
    result = checked(ECHO, [{"stdin": "sleep", "stdout": "accept"}], checker)
    assert result.verdict == "output_mismatch"
    assert "ran longer than 4 s" in result.message


#: What a judge finds of the program whose output it reads.
SPY = """
import os, sys
names = "solution.py", "../mark", "/tmp/mark", os.environ["TMPDIR"] + "/mark"
found = [name for name in names if os.path.exists(name)]
open(sys.argv[3] + "judgemessage.txt", "w").write(repr(found))
sys.exit(43 if found else 42)
"""
MARKER = """
import os
for name in "/tmp/mark", "mark", os.environ["TMPDIR"] + "/mark":
    try: open(name, "w")
    except OSError: pass
"""


def test_a_judge_sees_nothing_of_the_program(checked: Checked) -> None:
    checker = {"language": "python", "code": SPY, "protocol": "icpc"}
    result = checked(MARKER, [{"stdin": "", "stdout": ""}] * 3, checker)
    assert result.verdict == "passed", result.message


def test_a_judge_keeps_nothing_from_one_run_to_the_next(checked: Checked) -> None:
    code = (
        "import os, sys\nseen = os.path.exists('mark') or os.path.exists(os.environ['TMPDIR'] + '/mark')\n"
        "open('mark', 'w'); open(os.environ['TMPDIR'] + '/mark', 'w')\nsys.exit(42 + seen)"
    )
    checker = {"language": "python", "code": code, "protocol": "icpc"}
    for _ in range(2):
        assert checked("print(1)", [{"stdin": "", "stdout": ""}] * 5, checker).verdict == "passed"


def test_a_judge_that_does_not_compile_is_the_tasks_fault(checked: Checked) -> None:
    tests = [{"stdin": "1", "stdout": ""}, {"stdin": "", "stdout": ""}]
    for language in ("python", "c"):
        if language == "c":
            _need("c")
        checker = {"language": language, "code": "int main( {", "protocol": "icpc"}
        result = checked("print(1 // len(input()))", tests, checker)
        assert [case.verdict for case in result.cases] == ["internal_error", "runtime_error"]
        assert "the task's judge cannot be built: line 1" in result.cases[0].detail


def test_a_judge_whose_toolchain_is_missing_leaves_the_label_open(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise Missing(f"toolchain missing: no {name}")

    monkeypatch.setattr("scalebox.worker.toolchain", missing)
    checker = {"language": "rust", "code": "fn main() {}", "protocol": "icpc"}
    result = checked("print(1)", [{"stdin": "", "stdout": ""}], checker)
    assert (result.verdict, result.masked) == ("unknown", False)
    assert "toolchain missing: no rust" in result.message


def test_a_judge_in_another_language_has_its_files_and_words(checked: Checked) -> None:
    _need("c")
    code = (
        '#include <stdio.h>\n#include <string.h>\n#include "more.h"\n'
        "int main(int n, char **v) { char line[99] = {0}; fgets(line, 99, stdin);"
        ' FILE *f = fopen("score.in", "r"); char text[99] = {0}; fgets(text, 99, f); char path[99];'
        ' sprintf(path, "%sscore.txt", v[3]); fputs(text, fopen(path, "w"));'
        " return n == 6 && !strcmp(line, WORD) && !strcmp(v[4], v[5]) ? 42 : 43; }"
    )
    files = {"more.h": '#define WORD "right\\n"', "score.in": "2.5"}
    checker = {"language": "c", "code": code, "protocol": "icpc", "files": files, "args": ["a b", "a b"]}
    tests = [{"stdin": word, "stdout": "right\n", "weight": 10} for word in ("right", "bad", "right")]
    result = checked(ECHO, tests, checker)
    assert [(case.verdict, case.score) for case in result.cases] == [
        ("output_mismatch", 0.25), ("output_mismatch", None), ("output_mismatch", 0.25),
    ]  # fmt: skip


def test_early_stop_ends_at_the_first_output_that_is_rejected(verifier: Verifier) -> None:
    checker = {"language": "python", "code": JUDGES["testlib"], "protocol": "testlib"}
    tests = [{"stdin": word, "stdout": "accept"} for word in ("accept", "reject", "accept")]
    record = {"id": "s", "code": ECHO, "tests": tests, "checker": checker}
    result, _ = verifier.verify(parse_sample(record, settings=Settings(early_stop=True)))
    assert [case.verdict for case in result.cases] == ["passed", "output_mismatch", "not_run"]


def test_the_same_for_more_outputs_than_one_batch_holds(checked: Checked) -> None:
    checker = {"language": "python", "code": JUDGES["icpc"], "protocol": "icpc"}
    words = ["accept" if at % 7 else "reject" for at in range(150)]
    result = checked(ECHO, [{"stdin": word, "stdout": "accept"} for word in words], checker)
    assert [case.verdict == "passed" for case in result.cases] == [word == "accept" for word in words]


def _need(language: str) -> None:
    try:
        toolchain(language)
    except Missing as missing:
        pytest.skip(str(missing))


def test_nothing_is_left_of_judges_but_the_one_used_last(verifier: Verifier) -> None:
    def look() -> tuple[int, int]:
        gc.collect()
        return len(os.listdir("/proc/self/fd")), len(descendants(os.getpid()))

    def verify(number: int) -> None:
        checker = {"language": "python", "code": f"import sys\nsys.exit(42) # {number}", "protocol": "icpc"}
        broken = {"language": "python", "code": f"import os # {number}\nos.abort()", "protocol": "icpc"}
        for one in (checker, broken, {**checker, "protocol": "testlib"}):
            record = {"id": "s", "code": ECHO, "tests": [{"stdin": "x", "stdout": ""}] * 3, "checker": one}
            verifier.verify(parse_sample(record, settings=Settings()))
            verifier.tidy()

    verify(0)
    before = look()
    for number in range(1, 6):
        verify(number)
    assert look() == before
