"""`scalebox run`: what is passed on, and the exit code, with a stub for a client."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Self

import pytest
from click.testing import Result

from scalebox.cli import run as run_module
from scalebox.core.limits import MIB
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import Sample, StdinTest
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict

Write = Callable[..., str]
Invoke = Callable[..., Result]


class _Stub:
    """A client whose one result is given beforehand."""

    result = VerificationResult(id="run", verdict=Verdict.PASSED)
    samples: Sequence[Sample] = ()
    settings = Settings()

    def __init__(self, *, settings: Settings) -> None:
        _Stub.settings = settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit_batch(self, samples: Sequence[Sample]) -> str:
        _Stub.samples = samples
        return "b"

    def fetch(self, batch_id: str) -> list[VerificationResult]:
        assert batch_id == "b"
        return [self.result]


@pytest.fixture
def ends_as(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say how the program will have ended."""

    def ends_as(verdict: str, *, message: str = "", **fields: Any) -> None:
        case = CaseResult(id="0", verdict=Verdict(verdict), cpu_s=0.01, wall_s=0.02, memory_bytes=9 * MIB, **fields)
        result = VerificationResult(
            id="run", verdict=Verdict(verdict), tier="namespace", cases=[case], message=message, denied=["ptrace"]
        )
        monkeypatch.setattr(_Stub, "result", result)

    monkeypatch.setattr(run_module, "ScaleBoxClient", _Stub)
    return ends_as


def test_output_is_passed_on(write: Write, invoke: Invoke, ends_as: Callable[..., None]) -> None:
    ends_as("output_mismatch", stdout="hello\n", stderr="hm", exit_code=0)
    result = invoke("run", write(b"print('hello')", "a.py"))
    assert result.exit_code == 0
    assert result.stdout == "hello\n"
    used = "10.0 ms CPU, 20.0 ms wall, 9.0 MiB, tier namespace, denied: ptrace"
    assert result.stderr == f"hm\nfinished: exit code 0, {used}\n"


@pytest.mark.parametrize(
    ("verdict", "fields", "code", "said"),
    [
        ("passed", {"exit_code": 0}, 0, "finished: exit code 0"),
        ("output_mismatch", {"exit_code": 0}, 0, "finished: exit code 0"),
        ("runtime_error", {"exit_code": 7}, 7, "runtime_error: exit code 7"),
        (
            "runtime_error",
            {"signal": 11, "message": "case 0: killed by SIGSEGV"},
            139,
            "runtime_error: killed by SIGSEGV,",
        ),
        ("runtime_error", {"signal": 11}, 139, "runtime_error: signal 11,"),
        ("time_out", {"signal": 9, "message": "case 0: too long"}, 124, "time_out: too long, 10.0 ms CPU"),
        ("memory_exceed", {"signal": 9}, 125, "memory_exceed: signal 9"),
        ("output_exceed", {"message": "case 0: too much"}, 125, "output_exceed: too much"),
        ("resource_denied", {"exit_code": 1}, 125, "resource_denied: exit code 1"),
        ("compile_error", {"message": "line 1: no"}, 125, "compile_error: line 1: no\n"),
        ("unknown", {"message": "a deadline"}, 3, "unknown: a deadline"),
        ("internal_error", {"message": "a loss"}, 3, "internal_error: a loss"),
    ],
)
def test_exit_codes(
    *,
    write: Write,
    invoke: Invoke,
    ends_as: Callable[..., None],
    verdict: str,
    fields: dict[str, Any],
    code: int,
    said: str,
) -> None:
    ends_as(verdict, **fields)
    result = invoke("run", write(b"pass", "a.py"))
    assert result.exit_code == code
    assert said in result.stderr


def test_program_and_input(write: Write, invoke: Invoke, ends_as: Callable[..., None]) -> None:
    ends_as("passed", exit_code=0)
    source, stdin = write(b"print(1)\n", "a.py"), write("é\n".encode(), "in.txt")
    invoke("run", source, "--stdin", stdin, "--cpu", "3", "--wall", "4", "--memory", "64", "--limit", "output_mb=2")
    (sample,) = _Stub.samples
    (test,) = sample.tests
    assert isinstance(test, StdinTest)
    assert (sample.code, test.stdin) == ("print(1)\n", "é\n")
    assert (sample.limits.cpu_s, sample.limits.wall_s, sample.limits.memory_mb) == (3.0, 4.0, 64)
    assert _Stub.settings.text_limit > 2 * MIB


def test_one_object_for_machines(write: Write, invoke: Invoke, ends_as: Callable[..., None]) -> None:
    ends_as("output_mismatch", exit_code=0, stdout="x")
    record = json.loads(invoke("run", write(b"print('x')", "a.py"), "--json").stdout)
    assert (record["verdict"], record["exit_code"], record["stdout"]) == ("passed", 0, "x")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["none.py"], "none.py: cannot be read: No such file or directory"),
        (["."], ".: cannot be read: Is a directory"),
        (["latin.py"], "latin.py: not UTF-8 at byte 1"),
        (["a.py", "--stdin", "none.txt"], "none.txt: cannot be read"),
        (["-", "--stdin", "-"], "cannot both be standard input"),
        (["a.py", "--cpu", "-1"], "--limit.cpu_s: -1.0 makes no sense"),
        (["a.py", "--tier", "strong"], "tier: there is no isolation tier 'strong' (one of auto, "),
        (["a.py", "--tier", "gvisor:fast"], "tier: there is no isolation tier 'gvisor:fast'"),
        (["a.py", "--stdin", "big", "--limit", "stdin_mb=0.00001"], "big: more than 10 bytes"),
    ],
)
def test_senseless_arguments(write: Write, invoke: Invoke, arguments: list[str], problem: str) -> None:
    for name, content in {"a.py": b"pass", "latin.py": b"\xe9", "big": b"x" * 100}.items():
        write(content, name)
    result = invoke("run", *arguments)
    assert result.exit_code == 2
    assert problem in result.stderr


@pytest.mark.parametrize(
    ("name", "options", "language"),
    [
        ("a.py", (), "python"),
        ("a.cpp", (), "cpp"),
        ("A.java", (), "java"),
        ("program", (), "python"),
        ("program", ("--language", "Rust"), "rust"),
        ("a.cpp", ("--language", "c++20"), "cpp20"),
    ],
)
def test_the_language_is_told_or_the_name_of_the_file_tells_it(
    *, write: Write, invoke: Invoke, ends_as: Callable[..., None], name: str, options: tuple[str, ...], language: str
) -> None:
    ends_as("passed", exit_code=0)
    assert invoke("run", write(b"x", name), *options).exit_code == 0
    assert [sample.language for sample in _Stub.samples] == [language]
