"""Compilers that stay make what their commands make, keep nothing of a program, and are replaced when harmed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.languages.conftest import Verify, verifier_of
from tests.languages.programs import ALL, java

from scalebox.core.errors import SandboxError
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.execute.resident import Resident
from scalebox.languages.registry import languages
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample
from scalebox.worker import Verifier

pytestmark = pytest.mark.timeout(900)

RESIDENTS = [name for name, language in languages().items() if language.resident]


class Both(NamedTuple):
    """The same language built by a compiler that stays, and by its commands."""

    language: str
    resident: Verify
    cold: Verify
    builds: Path
    cold_builds: Path


def _here(name: str) -> None:
    try:
        toolchain(name)
    except Missing as missing:
        pytest.skip(f"{name}: {missing}")


@pytest.fixture(scope="module", params=RESIDENTS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tier: str) -> Iterator[Both]:
    name = str(request.param)
    _here(name)
    folder = tmp_path_factory.mktemp("resident")
    folder.chmod(0o755)
    caches = folder / "one", folder / "other"
    resident, cold = verifier_of(tier, caches[0]), verifier_of(tier, caches[1], resident_compilers=False)
    made = Both(name, next(resident), next(cold), caches[0] / "builds", caches[1] / "builds")
    made.resident(name, languages()[name].self_test.program)  # the first program is left to the commands
    yield made
    for verify in (resident, cold):
        next(verify, None)


_TS_HEAD = 'import * as fs from "fs";\n'
SOURCES = {
    "java": {
        "lambdas and streams": java(
            "Scanner s = new Scanner(System.in); System.out.println(java.util.stream.IntStream.of(s.nextInt(),"
            " s.nextInt()).mapToObj(x -> Integer.valueOf(x)).mapToInt(Integer::intValue).sum());"
        ),
        "records and switches": (
            "import java.util.*;\nsealed interface S permits A, B {}\nrecord A(int x) implements S {}\n"
            "record B(int y) implements S {}\nenum E { ONE, TWO { int f() { return 2; } }; int f() { return 1; } }\n"
            "public class Main { static int v(E e) { return switch (e) { case ONE -> e.f(); case TWO -> e.f(); }; }\n"
            "  public static void main(String[] a) { Scanner s = new Scanner(System.in); int x = 0;\n"
            "    for (S t : List.of(new A(s.nextInt()), new B(s.nextInt())))\n"
            "      if (t instanceof A q) x += q.x(); else if (t instanceof B q) x += q.y();\n"
            '    String text = """\n      %d\n""".strip(); System.out.printf(text + "%n", x + v(E.ONE) - 1); } }\n'
        ),
        "inner and anonymous": java(
            "class L { int n; L(int n) { this.n = n; } } Comparator<L> c = new Comparator<>() {"
            " public int compare(L p, L q) { return p.n - q.n; } }; Scanner s = new Scanner(System.in);"
            " L[] v = { new L(s.nextInt()), new L(s.nextInt()) }; Arrays.sort(v, c);"
            " System.out.println(v[0].n + v[1].n);"
        ),
        "a package": "package p.q;\n" + java('System.out.println("42");'),
        "many errors": java("int x = y; String s = 1; foo(); bar(); int x = 2;"),
        "a warning": java("List l = new ArrayList(); l.add(1); System.out.println(42);"),
        "text that is no program": "\u00e4\U0001f600 }{ class\n",
    },
    "typescript": {
        "generics": _TS_HEAD
        + "function sum<T extends number>(v: T[]): number { return v.reduce((a, b) => a + b, 0); }\n"
        'console.log(sum(fs.readFileSync(0, "utf8").split(" ").map(Number)));\n',
        "classes and enums": "enum E { A = 40, B }\nabstract class P { abstract f(): number }\n"
        "class Q extends P { constructor(private n: number) { super(); } f(): number { return this.n + E.A; } }\n"
        "console.log(new Q(2).f());\n",
        "no modules": "let x: number = 42;\nconsole.log(x);\n",
        "errors of types": "const x: string = 1;\nconst y: number = x;\nfunction f(a: number) {}\nf('x', 1);\n",
        "errors of syntax": "let = = 1;\nfunction {\n",
        "a name that is not there": "console.log(nothing);\nimport q from 'nothing';\n",
        "a reference to a file": '/// <reference path="/etc/hostname" />\nconsole.log(42);\n',
        "iterators and await": "async function* g() { yield 40; yield 2; }\n"
        "(async () => { let s = 0; for await (const x of g()) s += x; console.log(s); })();\n",
        "text that is no program": "\u00e4\U0001f600 }{ class\n",
        "a program of the library's names": "interface Array<T> { mine(): T; }\nconsole.log([42].length + 41);\n",
    },
}
SOURCES["typescript-transpile"] = SOURCES["typescript"]


def _told(result: VerificationResult) -> tuple[str, str, str]:
    return result.verdict.value, result.stage, result.message


def test_what_it_makes_and_says_is_what_the_commands_make_and_say(both: Both) -> None:
    for code in [*SOURCES[both.language].values(), *ALL[both.language]._replace(hoards="", loops="", floods="")]:
        if code:
            assert _told(both.resident(both.language, code)) == _told(both.cold(both.language, code)), code
    made, cold = (
        {path.name: path.read_bytes() for path in place.iterdir()} for place in (both.builds, both.cold_builds)
    )
    assert len(cold) > 5
    assert {name: made.get(name) == data for name, data in cold.items()} == dict.fromkeys(cold, True)


class Stage:
    """A verifier whose builds are not kept, and its compiler that stays."""

    def __init__(self, verifier: Verifier, language: str, settings: Settings) -> None:
        self.verifier = verifier
        self.language = language
        self.settings = settings

    @property
    def resident(self) -> Resident:
        return self.verifier._residents[self.language]

    def verify(self, code: str, **limits: float) -> VerificationResult:
        record = {
            "id": "s", "language": self.language, "code": code, "tests": [{"stdin": "20 22\n", "stdout": "42\n"}],
            "limits": {"build_s": 60.0, "cpu_s": 5.0, "wall_s": 120.0, **limits},
        }  # fmt: skip
        result, _ = self.verifier.verify(parse_sample(record, settings=self.settings))
        self.verifier.tidy()
        return result

    def passes(self) -> bool:
        """Whether the compiler that stays builds a right program, started again if need be."""
        result = self.verify(languages()[self.language].self_test.program)
        return result.verdict == "passed" and self.resident._jail.opened and self.resident._builds > 0


def _stage(language: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    _here(language)
    settings = Settings(build_cache_mb=0, cache_dir=str(tmp_path_factory.mktemp("stage")), workers=1)
    verifier = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])
    stage = Stage(verifier, language, settings)
    assert stage.verify(languages()[language].self_test.program).verdict == "passed"
    assert stage.passes()
    yield stage
    verifier.close()


@pytest.fixture(scope="module")
def javac(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from _stage("java", tmp_path_factory)


@pytest.fixture(scope="module")
def tsc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from _stage("typescript", tmp_path_factory)


def test_classes_of_one_program_are_not_there_for_the_next(javac: Stage) -> None:
    defines = java("System.out.println(Kept.N);") + "class Kept { static final int N = 42; }\n"
    assert javac.verify(defines).verdict == "passed"
    for code in (
        java("System.out.println(Kept.N);"),
        java("System.out.println(42);") + "class X extends Kept {}\n",
        java("System.out.println(42);") + "class X extends Resident {}\n",  # nor is the compiler's own class
    ):
        result = javac.verify(code)
        assert (result.verdict, "cannot find symbol" in result.message) == ("compile_error", True)
    assert javac.resident._builds > 2


def test_types_of_one_program_are_not_there_for_the_next(tsc: Stage) -> None:
    lasting = (
        "interface String { kept: number }\ninterface Array<T> { kept(): T }\n"
        "declare var kept: number;\nvar mine = 1;\n",
        "declare global { interface Math { kept: number } var everywhere: number }\nexport {};\n",
        "declare module 'fs' { export const kept: number; }\nexport {};\n",
    )
    for code in lasting:
        assert tsc.verify(code + "console.log(42);\n").verdict == "passed"
    uses = ('"".kept', "[1].kept()", "kept", "mine", "Math.kept", "everywhere", "fs.kept")
    for use in uses:
        result = tsc.verify(f'import * as fs from "fs";\nconsole.log({use});\n')
        assert result.verdict == "compile_error", use
        assert "does not exist" in result.message or "find name" in result.message


def test_files_of_one_program_are_not_there_for_the_next(tsc: Stage) -> None:
    assert tsc.verify("export const x = 42; console.log(x);\n").verdict == "passed"
    result = tsc.verify('import { x } from "./solution.js"; console.log(x);\n')
    assert result.verdict == "compile_error"


#: Sources that overflow a stack, exhaust memory or a table, or merely are long, and what may become of them.
JAVA_HOSTILE = {
    "parentheses": (java("int x = " + "(" * 20_000 + "1" + ")" * 20_000 + ";"), {"compile_error"}),
    "a sum without end": (java("int x = " + "1 + " * 50_000 + "1;"), {"compile_error"}),
    "constants that double": (
        "public class Main {\n static final String s0 = \"xxxxxxxxxxxxxxxx\";\n"
        + "".join(f" static final String s{n} = s{n - 1} + s{n - 1};\n" for n in range(1, 40))
        + " public static void main(String[] a) { System.out.println(s39.length()); } }\n",
        {"compile_error"},
    ),
    "a table that is full": (
        "public class Main {\n" + "".join(f' String f{n} = "text {n}";\n' for n in range(40_000)) + "}\n",
        {"compile_error"},
    ),
    "a hundred thousand lines": (
        java("System.out.println(42);") + "".join(f"// line {n}\n" for n in range(100_000)),
        {"passed"},
    ),
    "classes in classes": ("class A { " * 3_000 + "}" * 3_000, {"compile_error"}),
}  # fmt: skip


@pytest.mark.parametrize("name", JAVA_HOSTILE)
def test_a_source_that_harms_the_compiler_costs_its_own_sample(javac: Stage, name: str) -> None:
    code, right = JAVA_HOSTILE[name]
    result = javac.verify(code)
    assert result.verdict in right, result.message
    assert javac.passes()


def test_a_build_is_stopped_at_its_cpu_time(javac: Stage) -> None:
    classes = "".join(f"class C{n} {{ int f(int x) {{ return {n} + x * (x - {n}); }} }}\n" for n in range(20_000))
    result = javac.verify(java("System.out.println(42);") + classes, build_s=0.5)
    # Of CPU time; on a machine with much else to do, by the clock.
    assert (result.verdict, result.message[:25]) == ("compile_error", "the build took more than ")
    assert javac.passes()


def test_a_type_without_end_is_told_by_the_compiler_or_stopped(tsc: Stage) -> None:
    code = (
        "type Twice<T extends unknown[]> = [...T, ...T];\ntype N<D extends number, T extends unknown[] = [0]> ="
        " T['length'] extends D ? T : N<D, Twice<T>>;\nlet x: N<7>; let y: number = x;\nconsole.log(y);\n"
    )
    assert tsc.verify(code, build_s=5.0).verdict == "compile_error"
    assert tsc.passes()


def test_nesting_that_overflows_the_compiler_costs_its_own_sample(tsc: Stage) -> None:
    assert tsc.verify("let x = " + "[" * 30_000 + "]" * 30_000 + ";\n").verdict == "compile_error"
    assert tsc.passes()


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        try:
            text = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace") if name.isdigit() else ""
        except OSError:
            continue
        if text:
            children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(name))
    found, queue = [], [root]
    while queue:
        more = children.get(queue.pop(), [])
        found += more
        queue += more
    return found


def _compiler_of(stage: Stage) -> int:
    return next(
        pid for pid in _descendants(stage.resident._jail.agent_pid)
        if os.readlink(f"/proc/{pid}/exe").rpartition("/")[2] in {"java", "node"}
    )  # fmt: skip


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.3])
def test_one_that_is_killed_is_replaced_and_its_program_built_by_the_commands(javac: Stage, delay: float) -> None:
    pid = _compiler_of(javac)
    lines = "".join(f" static int f{n}(int x) {{ return x + {n}; }}\n" for n in range(5_000))
    code = f"public class Main {{\n{lines} public static void main(String[] a) {{ System.out.println(f42(0)); }} }}\n"
    killer = threading.Timer(delay, os.kill, (pid, signal.SIGKILL))
    killer.start()
    result = javac.verify(code)
    killer.join()
    assert (result.verdict, result.message) == ("passed", "")
    assert javac.passes()
    assert _compiler_of(javac) != pid


def test_it_ends_with_its_worker(tmp_path_factory: pytest.TempPathFactory) -> None:
    stages = _stage("java", tmp_path_factory)
    pid = _compiler_of(next(stages))
    next(stages, None)
    deadline = time.monotonic() + 30
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{pid}")


def test_it_is_started_anew_after_many_builds(javac: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalebox.execute.resident._MOST_BUILDS", 2)
    pids = set()
    for _ in range(5):
        assert javac.passes()
        pids.add(_compiler_of(javac))
    assert len(pids) >= 2


def test_other_limits_of_a_build_start_it_anew(javac: Stage) -> None:
    pid = _compiler_of(javac)
    assert javac.verify(languages()["java"].self_test.program, disk_mb=50).verdict == "passed"
    assert _compiler_of(javac) != pid


def test_one_that_does_not_start_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _here("java")
    monkeypatch.setattr("scalebox.execute.resident._START_CPU_S", 0)
    settings = Settings(build_cache_mb=0, cache_dir=str(tmp_path), workers=1)
    verifier = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])
    stage = Stage(verifier, "java", settings)
    try:
        for _ in range(5):
            assert stage.verify(languages()["java"].self_test.program).verdict == "passed"
        assert stage.resident._failures == 3
    finally:
        verifier.close()


def test_a_jail_that_cannot_be_had_for_it_leaves_builds_to_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _here("java")
    settings = Settings(build_cache_mb=0, cache_dir=str(tmp_path), workers=1)
    verifier = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])
    stage = Stage(verifier, "java", settings)
    try:
        assert stage.verify(languages()["java"].self_test.program).verdict == "passed"

        def refuse() -> None:
            raise SandboxError("no more jails", step="test")

        monkeypatch.setattr(stage.resident._jail, "start", refuse)
        assert stage.verify(languages()["java"].self_test.program).verdict == "passed"
        assert stage.resident._failures == 1
    finally:
        verifier.close()


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    _here("java")
    settings = Settings(build_cache_mb=0, cache_dir=str(tmp_path), workers=1, resident_compilers=False)
    verifier = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])
    try:
        assert Stage(verifier, "java", settings).verify(languages()["java"].self_test.program).verdict == "passed"
        assert not verifier._residents
    finally:
        verifier.close()
