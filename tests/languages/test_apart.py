"""Cases of a built program are strangers to each other, and have nothing but their pipes."""

from __future__ import annotations

import pytest
from tests.languages.conftest import Verify
from tests.languages.programs import ALL, c

pytestmark = pytest.mark.timeout(900)

_HEAD = "#include <sys/stat.h>\n#include <sys/file.h>\n#include <fcntl.h>\n#include <utime.h>\n#include <signal.h>\n"

#: Programs that print what they find and leave a mark for the next: every case must find the same.
MARKS = {
    "mode of the program": c(
        'struct stat s; stat("/proc/self/exe", &s); printf("%o\\n", s.st_mode); chmod("/proc/self/exe", 0700);', _HEAD
    ),
    "time of the program": c(
        'struct stat s; stat("/proc/self/exe", &s); printf("%d\\n", s.st_mtime > 100);'
        ' struct utimbuf t = {5, 5}; utime("/proc/self/exe", &t);',
        _HEAD,
    ),
    "access to the program": c(
        'struct stat s; stat("/proc/self/exe", &s); printf("%d\\n", s.st_atime > s.st_mtime + 1000000);'
        ' char b[9]; int f = open("/proc/self/exe", O_RDONLY); read(f, b, 9);',
        _HEAD,
    ),
    "text of the program": c(
        'int f = open("/proc/self/exe", O_WRONLY); puts(f < 0 ? "closed" : "open");'
        ' f = open("../program/mark", O_WRONLY | O_CREAT, 0600); puts(f < 0 ? "closed" : "open");'
        ' puts(unlink("../program/main") ? "kept" : "gone"); puts(rename("../program", "../x") ? "kept" : "gone");',
        _HEAD,
    ),
    "files": c(
        'int f = open("mark", O_RDONLY); puts(f < 0 ? "none" : "there"); f = open("mark", O_WRONLY | O_CREAT, 0600);',
        _HEAD,
    ),
    "temporary files": c(
        'char n[99]; snprintf(n, 99, "%s/mark", getenv("TMPDIR")); puts(access(n, F_OK) ? "none" : "there");'
        " open(n, O_WRONLY | O_CREAT, 0600);",
        _HEAD,
    ),
    "descriptors": c(
        "int n = 0; for (int f = 3; f < 1024; f++) if (fcntl(f, F_GETFD) >= 0) n++;"
        ' printf("%d\\n", n); open("/dev/null", O_RDONLY);',
        _HEAD,
    ),
    "signals": c(
        "struct sigaction a; int n = 0; sigset_t m; sigprocmask(SIG_SETMASK, 0, &m);"
        " for (int s = 1; s < 65; s++) { if (s / 2 != 16 && !sigaction(s, 0, &a) && a.sa_handler != SIG_DFL) n++;"
        ' if (sigismember(&m, s) == 1) n++; } printf("%d\\n", n);',
        _HEAD,
    ),
    "groups": c('printf("%d\\n", getpgrp() == getpid());'),
    "environment": c('extern char **environ; int n = 0; while (environ[n]) n++; printf("%d\\n", n);'),
}
FOUND = {
    "mode of the program": "100555", "time of the program": "1", "access to the program": "1",
    "text of the program": "closed closed kept kept", "files": "none", "temporary files": "none", "descriptors": "0",
    "signals": "0", "groups": "1",
}  # fmt: skip


@pytest.mark.parametrize("name", MARKS)
def test_every_case_finds_the_same(verify: Verify, name: str) -> None:
    result = verify("c", MARKS[name], *[("", "")] * 4)
    found = [case.stdout.split() for case in result.cases]
    assert found[1:] == found[:-1], result.message
    assert [case.exit_code for case in result.cases] == [0] * 4
    if name in FOUND:
        assert found[0] == FOUND[name].split()


@pytest.mark.parametrize("processes", [0, 2])
def test_a_child_that_stays_is_gone_before_the_next_case(verify: Verify, processes: int) -> None:
    code = c('if (fork() == 0) { setsid(); for (;;) pause(); } puts("done");')
    result = verify("c", code, ("", "done\n"), ("", "done\n"), processes=processes)
    assert result.verdict == "passed"
    assert bool(result.denied) == (processes == 0)


def test_each_case_reads_its_own_input(verify: Verify) -> None:
    tests = [(f"{number} {number}\n", f"{2 * number + 1}\n") for number in range(70)]  # more than one batch
    result = verify("c", ALL["c"].wrong, *tests)
    assert result.verdict == "passed", result.message


def test_a_large_input_and_output_pass(verify: Verify) -> None:
    code = c("int x; while ((x = getchar()) != EOF) putchar(x);")
    text = "".join(f"{number}\n" for number in range(300_000))
    assert verify("c", code, (text, text), output_mb=8.0).verdict == "passed"


def test_deep_recursion_has_room(verify: Verify) -> None:
    code = c(
        'printf("%d\\n", deep(1000000));',
        "int deep(int n) { volatile char x[64]; x[0] = n; return n ? deep(n - 1) + 1 : x[0]; }\n",
    )
    result = verify("c", code, ("", "1000000\n"))
    assert result.verdict == "passed", result.message
