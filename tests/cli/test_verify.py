"""`scalebox verify`, with a stub for a client: what is read, written, counted and said."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from click.testing import Result
from tests.cli.conftest import lines, sample
from tests.cli.stub import StubClient

from scalebox.cli import feed as feed_module
from scalebox.core.limits import MIB

Write = Callable[..., str]
Invoke = Callable[..., Result]

STUBBED = str(Path(__file__).with_name("stub.py"))
ROOT = str(Path(__file__).parents[2])


def _results(text: str | bytes) -> dict[str, str]:
    return {result["id"]: result["verdict"] for result in map(json.loads, text.splitlines())}


def _start(*arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start the stubbed command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, STUBBED, *arguments],
        env=os.environ | {"PYTHONPATH": ROOT},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_results_are_written_and_counted(write: Write, invoke: Invoke, stub: list[StubClient], tmp_path: Path) -> None:
    path = write([sample("a"), sample("b", "time_out"), sample("c")])
    result = invoke("verify", path, "-o", "out.jsonl")
    assert result.exit_code == 0
    assert _results((tmp_path / "out.jsonl").read_text()) == {"a": "passed", "b": "time_out", "c": "passed"}
    assert result.stdout == ""
    assert re.search(r"passed\W+2\W+66.7%", result.stderr)
    assert "mean reward    0.6667" in result.stderr
    assert [client.closed for client in stub] == [True]


def test_results_on_standard_output_are_nothing_but_results(
    write: Write, invoke: Invoke, stub: list[StubClient]
) -> None:
    result = invoke("verify", write([sample("a")]), "-o", "-")
    assert _results(result.stdout) == {"a": "passed"}
    assert len(stub) == 1


def test_several_files_compressed_or_not_and_standard_input(
    write: Write, invoke: Invoke, stub: list[StubClient]
) -> None:
    first = write(gzip.compress(lines([sample("a")])), "a.jsonl.gz")
    second = write(zstandard.compress(lines([sample("b")])), "b.jsonl.zst")
    result = invoke("verify", first, second, "-o", "-")
    assert _results(result.stdout) == {"a": "passed", "b": "passed"}
    with _start("verify", "-", first, "-o", "-", stdin=subprocess.PIPE) as process:
        out, _ = process.communicate(lines([sample("c")]))
    assert _results(out) == {"a": "passed", "c": "passed"}
    assert process.returncode == 0
    assert len(stub) == 1


def test_unusable_lines_are_told_and_the_others_verified(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    path = write(
        lines([sample("a"), sample("b", tests=[])])
        + b'{"id": "c", \n'
        + b"\xff\n"
        + lines([sample("a"), sample("d", "unknown"), sample("e", limits={"cpu": 1})])
    )
    result = invoke("verify", path, "-o", "-")
    assert result.exit_code == 2
    assert _results(result.stdout) == {"a": "passed", "d": "unknown"}
    errors = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert errors == [
        f"error: {path}:2: tests: no tests: nothing could be judged, never passed (give at least one test)",
        f"error: {path}:3: broken JSON at column 13: Expecting property name enclosed in double quotes "
        "(one whole JSON object on each line)",
        f"error: {path}:4: not UTF-8 at byte 1 (write the file as UTF-8)",
        f"error: {path}:5: id: line 1 has this id too (give each sample its own)",
        next(error for error in errors if f"{path}:7: limits.cpu: no such limit (one of cpu_s, " in error),
    ]
    assert "unusable lines 5" in result.stderr
    assert len(stub) == 1


def test_an_id_must_be_unique_over_all_files(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    first, second = write([sample("x"), sample("a")], "1.jsonl"), write([sample("a")], "2.jsonl")
    result = invoke("verify", first, second)
    assert result.exit_code == 2
    assert f"{second}:1: id: {first}:2 has this id too" in result.stderr
    assert len(stub) == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"", "holds no samples"), (b"\n", "holds no samples"), (b"\0\1", "is binary"), (None, "Is a directory")],
)
def test_files_without_samples(
    *, write: Write, invoke: Invoke, stub: list[StubClient], tmp_path: Path, content: bytes | None, problem: str
) -> None:
    bad = str(tmp_path) if content is None else write(content, "bad")
    result = invoke("verify", bad, write([sample("a")]), "-o", "-")
    assert result.exit_code == 2
    assert problem in result.stderr
    assert _results(result.stdout) == {"a": "passed"}
    assert len(stub) == 1


def test_without_a_usable_line_no_engine_is_started(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    assert invoke("verify", write(b"{}\n"), "/nowhere.jsonl").exit_code == 2
    assert stub == []


def test_a_line_of_200_mb(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    long = b'{"id": "a", "code": "' + b"x" * (200 * MIB) + b'"}\n'
    result = invoke("verify", write(long + lines([sample("b")])), "-o", "-")
    assert result.exit_code == 2
    assert "in.jsonl:1: longer than the 128 MiB of a line (raise the setting max_line_mb)" in result.stderr
    assert _results(result.stdout) == {"b": "passed"}
    assert len(stub) == 1


def test_many_unusable_lines_are_cut_short(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    result = invoke("verify", write(b"{\n" * 150))
    assert result.stderr.count("broken JSON") == 100
    assert "error: 50 more unusable lines are not shown" in result.stderr
    assert "unusable lines 150" in result.stderr
    assert stub == []


@pytest.mark.parametrize(
    ("codes", "exit_code"),
    [(["passed"], 0), (["time_out"], 0), (["passed", "unknown"], 1), (["internal_error"], 1)],
)
def test_exit_code(write: Write, invoke: Invoke, stub: list[StubClient], codes: list[str], exit_code: int) -> None:
    path = write([sample(str(number), code) for number, code in enumerate(codes)])
    assert invoke("verify", path).exit_code == exit_code
    assert len(stub) == 1


def test_totals_for_machines(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    result = invoke("verify", write([sample("a"), sample("b", "unknown"), {}]), "--json")
    totals = json.loads(result.stdout)
    assert (totals["samples"], totals["masked"], totals["unusable_lines"]) == (2, 1, 1)
    assert totals["verdicts"] == {"passed": 1, "unknown": 1}
    assert "verdict" not in result.stderr
    assert len(stub) == 1
    assert "both write to standard output" in invoke("verify", "x", "--json", "-o", "-").stderr


def test_explanations(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    path = write([sample("a"), sample("b", "output_mismatch")])
    result = invoke("verify", path, "--explain", "b", "--explain", "zz", "-o", "results.jsonl")
    assert result.stdout.startswith("b: output_mismatch, pass rate 0")
    assert "    line 1, token 1: expected '3', got '4'\n    stdin: 1 2\n    expected: 3\n" in result.stdout
    assert "--explain zz: no result has this id" in result.stderr
    again = invoke("verify", "results.jsonl", "--explain", "b")
    assert "throughput     none (results were read, nothing was run)" in again.stderr
    assert again.exit_code == 0
    assert "line 1, token 1: expected '3', got '4'" in again.stdout
    assert len(stub) == 1, "results are explained without an engine"


def test_a_file_of_results_is_no_input_otherwise(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    invoke("verify", write([sample("a")]), "-o", "results.jsonl")
    result = invoke("verify", "results.jsonl")
    assert result.exit_code == 2
    assert "results.jsonl:1: is a result, no sample (results can only be explained: --explain ID)" in result.stderr
    broken = write(b'{"id": "a", "verdict": "wonderful"}\n')
    assert "is no result" in invoke("verify", broken, "--explain", "a").stderr
    assert len(stub) == 1


def test_options_become_settings(write: Write, invoke: Invoke, stub: list[StubClient], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("prefetch = 3\nworkers = 9\n")
    invoke(
        "verify", write([sample("a"), sample("b", profile="rlvr"), sample("c", limits={"memory_mb": 9})]),
        "--config", "s.toml", "--workers", "2", "--tier", "process", "--limit", "cpu_s=7", "--limit", "timeout_sec=8",
        "--early-stop", "--extraction", "last", "--deadline", "60", "--reward", "all_or_nothing",
    )  # fmt: skip
    (client,) = stub
    settings = client.settings
    assert settings is not None
    assert (settings.prefetch, settings.workers, settings.tier) == (3, 2, "process")
    first, second, third = client.batches["b0"]
    assert (first.limits.cpu_s, first.limits.wall_s, first.reward) == (7.0, 8.0, "all_or_nothing")
    assert (first.early_stop, first.extract, settings.batch_deadline_s) == (True, "last", 60.0)
    assert second.limits.wall_s == 30.0, "a profile that the sample names wins"
    assert (third.limits.cpu_s, third.limits.memory_mb) == (7.0, 9)


def test_a_progress_bar_on_a_terminal_alone(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    path = write([sample("a"), sample("b", "time_out")])
    terminal = {"FORCE_COLOR": "1", "COLUMNS": "120", "TERM": "xterm"}
    assert "verifying" in invoke("verify", path, env=terminal).stderr
    assert "verifying" not in invoke("verify", path).stderr
    assert "verifying" not in invoke("verify", path, "--json", env=terminal).stderr
    assert len(stub) == 3


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--limit", "cpu_s"], "is not NAME=VALUE"),
        (["--limit", "cpu=3"], "--limit.cpu: no such limit"),
        (["--limit", "cpu_s=fast"], "--limit.cpu_s: must be a number"),
        (["--profile", "huge"], "no profile is called 'huge'"),
        (["--workers", "-1"], "workers: -1 makes no sense (a whole number, 0 or more)"),
        (["--deadline", "-1"], "batch_deadline_s: -1.0 makes no sense (a number, 0 or more)"),
        (["--workers", "many"], "not a valid integer"),
        (["--extraction", "best"], "'best' is none of auto, last, first, longest"),
        (["--interpreter", "/nowhere/python"], "interpreter: '/nowhere/python' does not run as a Python"),
        (["--config", "none.toml"], "none.toml: no such file"),
        (["-o", "/nowhere/out"], "/nowhere/out: cannot be written: No such file or directory"),
        (["-o", "in.jsonl"], "is an input too and would be overwritten"),
    ],
)
def test_senseless_options(write: Write, invoke: Invoke, options: list[str], problem: str) -> None:
    result = invoke("verify", write([sample("a")]), *options)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert "Traceback" not in result.stderr


def test_a_senseless_reward(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    result = invoke("verify", write([sample("a")]), "--reward", "most")
    assert result.exit_code == 2
    assert "Error: reward:" in result.stderr
    assert stub == []


def test_memory_is_bounded_by_the_budget(
    write: Write, invoke: Invoke, stub: list[StubClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "MAX_SAMPLES", 20)
    monkeypatch.setattr(feed_module, "BATCH", 8)
    result = invoke("verify", write([sample(str(number)) for number in range(200)]), "-o", "-")
    assert len(_results(result.stdout)) == 200
    assert stub[0].most_waiting <= 20


def test_a_sample_larger_than_the_budget_goes_alone(
    write: Write, invoke: Invoke, stub: list[StubClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "MAX_BYTES", 10)
    result = invoke("verify", write([sample(str(number)) for number in range(20)]), "-o", "-")
    assert len(_results(result.stdout)) == 20
    assert stub[0].most_waiting == 1


def test_a_full_queue_is_waited_for(
    write: Write, invoke: Invoke, stub: list[StubClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StubClient, "room", 10)
    monkeypatch.setattr(feed_module, "BATCH", 8)
    result = invoke("verify", write([sample(str(number)) for number in range(100)]), "-o", "-")
    assert len(_results(result.stdout)) == 100
    assert stub[0].refused > 0


def test_a_queue_that_never_has_room_is_an_error(
    write: Write, invoke: Invoke, stub: list[StubClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StubClient, "room", 0)
    result = invoke("verify", write([sample("a")]))
    assert result.exit_code == 3
    assert "Error: no room" in result.stderr
    assert len(stub) == 1


def test_a_lost_engine_is_an_error_and_keeps_results(write: Write, invoke: Invoke, stub: list[StubClient]) -> None:
    result = invoke("verify", write([sample("a"), sample("b", "die")]), "-o", "-")
    assert result.exit_code == 3
    assert "Error: the engine was lost" in result.stderr
    assert _results(result.stdout) == {"a": "passed"}
    assert stub[0].closed


def test_control_c_keeps_results_and_exits_130(write: Write, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with _start("verify", write([sample("a"), sample("b", "hold")]), "-o", str(out)) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said == b"holding\n"
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate()
    assert process.returncode == 130
    assert _results(out.read_text()) == {"a": "passed"}
    assert b"interrupted" in rest
    assert b"Traceback" not in rest


def test_control_c_while_standard_input_is_open(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with _start("verify", "-", "-o", str(out), stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(lines([sample("a"), sample("b", "hold")]))
        process.stdin.flush()
        assert process.stderr.readline() == b"holding\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert b"Traceback" not in process.stderr.read()
    assert _results(out.read_text()) == {"a": "passed"}


def test_a_reader_that_leaves_ends_it_quietly(write: Write) -> None:
    path = write([sample("x" * 100 + str(number)) for number in range(3000)])
    with _start("verify", path, "-o", "-") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 141
    assert b"Traceback" not in said
    assert b"Exception" not in said


def test_results_come_while_the_input_is_still_open() -> None:
    with _start("verify", "-", "-o", "-", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(lines([sample(str(number))]))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == str(number)
        process.stdin.close()
        assert process.wait(60) == 0
