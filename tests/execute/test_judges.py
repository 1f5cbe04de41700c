"""Judge programs in their jails: what a run gets, what it leaves, and that no run knows of another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.stage import public_interpreter

from scalebox.core import values
from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.core.sample import JudgeProgram, Protocol
from scalebox.core.settings import Settings
from scalebox.execute.judges import Judge, Judges
from scalebox.sandbox import tiers
from scalebox.sandbox.supervision import Cancelled
from scalebox.worker import Verifier

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module", params=["namespace", "process"])
def judges(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judges]:
    """Return the judges of a worker in each tier."""
    tier = str(request.param)
    probe = tiers.find(tier).probe()
    if not probe.ok:
        pytest.skip(f"the {tier} tier does not work here: {probe.reason}")
    interpreter = public_interpreter() if tier == "process" else ""
    settings = Settings(tier=tier, interpreter=interpreter, cache_dir=str(tmp_path_factory.mktemp("cache")))
    verifier = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])
    yield verifier._judges
    verifier.close()


def program(
    code: str, language: str = "bash", protocol: Protocol = "icpc", files: dict[str, str] | None = None
) -> JudgeProgram:
    return JudgeProgram(language=language, code=code, protocol=protocol, files=files or {})


def ready(judges: Judges, judge: JudgeProgram) -> Judge:
    found, build = judges.get(judge, None)
    assert build.ok, build.message
    return found


def ends(judges: Judges, judge: JudgeProgram, *runs: JudgeRun) -> list[JudgeEnd]:
    return ready(judges, judge).run(runs)


SHOW = {
    "bash": 'read line; echo "$1 $2 $line $(<input) $(<more.txt)"; echo 0.5 > out/score; exit 42',
    "python": (
        "import sys, more\nline = input()\nprint(*sys.argv[1:], line, open('input').read(), more.TEXT)\n"
        "open('out/score', 'w').write('0.5\\n')\nsys.exit(42)"
    ),
    "c": (
        '#include <stdio.h>\n#include "more.h"\nint main(int n, char **v) { char l[99], i[99]; scanf("%s", l);'
        ' fgets(i, 99, fopen("input", "r")); printf("%s %s %s %s %s\\n", v[1], v[2], l, i, TEXT);'
        ' fputs("0.5\\n", fopen("out/score", "w")); return 42; }'
    ),
}
MORE = {"bash": {"more.txt": "more"}, "python": {"more.py": "TEXT = 'more'"}, "c": {"more.h": '#define TEXT "more"'}}


@pytest.mark.parametrize("language", SHOW)
def test_a_run_has_words_input_and_files_and_leaves_what_is_asked_for(judges: Judges, language: str) -> None:
    judge = program(SHOW[language], language, files=MORE[language])
    run = JudgeRun(argv=("a", "b c"), files={"input": b"file"}, stdin=b"line\n", collect=("out/score", "out/none"))
    for end in ends(judges, judge, run, run):
        assert (end.exit_code, end.fault, end.stdout.decode(), end.stderr) == (42, "", "a b c line file more\n", b"")
        assert end.files == {"out/score": b"0.5\n"}


MARKS = {
    "in the directory": "there('mark'); open('mark', 'w')",
    "in the folder for feedback": "there('out/mark'); open('out/mark', 'w')",
    "in the working space": "there('../mark'); open('../mark', 'w')",
    "among temporary files": "name = os.environ['TMPDIR'] + '/mark'; there(name); open(name, 'w')",
    "on the directory": "print(os.stat('.').st_mode); os.chmod('.', 0o700)",
    "in the directory's times": "print(os.stat('.').st_mtime < 9); os.utime('.', (5, 5))",
    "in the file of the run": "print(open('input').read()); open('input', 'w')",
    "in a directory closed to all": "there('d'); os.makedirs('d/e'); os.chmod('d', 0)",
    "in the program's folder": "there('more.txt/../x'); print(os.access('more.txt', os.W_OK))",
    "by many files": "there('f1'); [open('f%d' % number, 'w').close() for number in range(2000)]",
    "by a deep folder": "there('d')\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')",
}


@pytest.mark.parametrize("name", MARKS)
def test_no_run_finds_what_another_left(judges: Judges, name: str) -> None:
    run = JudgeRun(files={"input": b"first\n"}, collect=("out/x",))
    code = f"import os\ndef there(name):\n    print(os.path.exists(name))\n{MARKS[name]}"
    found = ends(judges, program(code, "python", files={"more.txt": "x"}), run, run, run)
    assert [(end.exit_code, end.fault) for end in found] == [(0, "")] * 3
    assert len({end.stdout for end in found}) == 1
    assert b"True" not in found[0].stdout


LEFT = {
    "a link": "os.symlink('/etc/passwd', 'out/x')",
    "a link above": "os.rmdir('out'); os.symlink('/etc', 'out')",
    "a pipe": "os.mkfifo('out/x')",
    "a folder": "os.mkdir('out/x')",
    "nothing": "",
    "no folder": "os.rmdir('out')",
    "a folder closed to all": "open('out/x', 'w'); os.chmod('out', 0)",
}


@pytest.mark.parametrize("name", LEFT)
def test_only_files_are_handed_out(judges: Judges, name: str) -> None:
    (end,) = ends(judges, program(f"import os\n{LEFT[name]}", "python"), JudgeRun(collect=("out/x", "out/passwd")))
    assert (end.exit_code, end.fault) == (0, "")
    assert end.files == {}


def test_files_are_cut_at_a_bound(judges: Judges) -> None:
    run = JudgeRun(collect=("out/small", "out/large", "out/after"))
    sizes = {"small": 2, "large": 3_000_000, "after": 2}
    code = f"for name, size in {sizes}.items(): open('out/' + name, 'w').write('x' * size)"
    (end,) = ends(judges, program(code, "python"), run)
    assert {name: len(data) for name, data in end.files.items()} == {
        "out/small": 2, "out/large": (1 << 20) - 2, "out/after": 0,
    }  # fmt: skip
    assert end.cut == {"out/large", "out/after"}


def test_a_judge_that_does_not_end_by_itself_is_at_fault(judges: Judges) -> None:
    found = {
        name: ends(judges, program(code, "python"), JudgeRun())[0]
        for name, code in {
            "signal": "import os\nos.abort()",
            "exception": "1 / 0",
            "output": "while True:\n    print('x' * 10**6)",
            "memory": "x = bytearray(3 << 30)",
        }.items()
    }
    assert found["signal"].fault == "killed by SIGABRT"
    assert found["exception"].fault == "exit code 1: ZeroDivisionError"
    assert "output limit" in found["output"].fault
    assert "memory" in found["memory"].fault.lower() or "MemoryError" in found["memory"].fault
    assert {end.doubt for end in found.values()} == {None}


def test_after_a_run_that_was_stopped_the_others_are_right(judges: Judges) -> None:
    judge = program('echo "$1" > out/x; test "$1" = 3 && while :; do echo xxxxxxxxxxxxxxxx; done; exit 42')
    runs = [JudgeRun(argv=(str(number),), collect=("out/x",)) for number in range(8)]
    for number, end in enumerate(ends(judges, judge, *runs)):
        if number != 3:
            assert (end.exit_code, end.files) == (42, {"out/x": f"{number}\n".encode()})
        else:
            assert end.fault
            assert end.files == {}


def test_a_function_of_a_judge_is_called_fresh_each_time(judges: Judges) -> None:
    judge = program(
        "seen = []\ndef check(*texts):\n    seen.append(1)\n    return [len(seen), *texts]", "python", "python"
    )
    run = JudgeRun(arguments=values.encode((("in", "out", "answer"), {})))
    for end in ends(judges, judge, run, run):
        assert end.value is not None
        assert values.decode(end.value, 100) == [1, "in", "out", "answer"]


class Cancelling:
    """An engine's line that calls off whatever runs."""

    def __init__(self) -> None:
        self._fd, self._other = os.pipe()
        os.write(self._other, b"x")

    def fileno(self) -> int:
        return self._fd

    def cancelled(self) -> bool:
        return True

    def close(self) -> None:
        os.close(self._fd)
        os.close(self._other)


def test_a_judge_that_is_called_off_serves_the_next_sample(judges: Judges) -> None:
    judge = program("import time, sys\ntime.sleep(len(sys.argv) > 1 and 600)\nsys.exit(42)", "python")
    ready(judges, judge)
    line = Cancelling()
    called_off, build = judges.get(judge, line)
    assert build.ok
    with pytest.raises(Cancelled):
        called_off.run([JudgeRun(argv=("x",))])
    line.close()
    assert [end.exit_code for end in ends(judges, judge, JudgeRun(), JudgeRun())] == [42, 42]


def test_the_judge_used_last_stays_ready(judges: Judges) -> None:
    first = ready(judges, program("exit 42"))
    assert ready(judges, program("exit 42")) is first
    assert ready(judges, program("exit 43")) is not first


def test_a_judge_that_does_not_compile_says_why(judges: Judges) -> None:
    for language, code in {"c": "int main( {", "python": "def"}.items():
        assert "line 1" in judges.get(program(code, language), None)[1].message


def test_the_host_sees_nothing_of_a_run(judges: Judges, tmp_path: Path) -> None:
    (end,) = ends(
        judges, program(f"import os, sys\nsys.exit(42 + (not os.path.exists({str(tmp_path)!r})))", "python"), JudgeRun()
    )
    assert end.exit_code == 43
