"""The benchmarks' parts: workloads that are what they say, baselines that work, wrong labels that are refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from scalebox.bench import NAMES, asserts, baselines, http, measure, native, workloads
from scalebox.bench.native_programs import PROGRAMS
from scalebox.bench.workloads import Workload
from scalebox.cli.bench import bench
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.languages.toolchain import Missing, toolchain

CORE = min(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("name", "samples", "wrong"),
    [("stdin", 64, 16), ("calls", 64, 16), ("step", 256, 64), ("step-180ms", 256, 64), ("straggler", 64, 16)],
)
def test_workload_is_what_it_says(name: str, samples: int, wrong: int) -> None:
    workload = workloads.BATCHES[name]()
    assert workload.cases == 20 * samples
    assert len({sample["code"] for sample in workload.samples}) == samples
    assert sum(verdict != "passed" for verdict in workload.verdicts.values()) == wrong
    kinds = {"call" if "call" in sample["tests"][0] else "stdin" for sample in workload.samples}
    assert kinds == {"calls": {"call"}, "step": {"call", "stdin"}}.get(name, {"stdin"})


def test_every_benchmark_has_a_workload() -> None:
    others = {"latency", "cache", "codec", "protocol", "interactive", "http"}
    assert set(NAMES) == {*workloads.BATCHES, *asserts.BATCHES, *others, *PROGRAMS}


@pytest.mark.parametrize("name", ["stdin", "calls"])
def test_the_limit_runs_the_programs(name: str) -> None:
    samples = workloads.BATCHES[name]().samples[:4]
    limit = baselines.limit(samples, [CORE, CORE])
    assert limit.rate > 0
    assert 0 < limit.cpu_s < 1


def test_a_limit_that_does_not_do_the_work_is_refused() -> None:
    samples = [workloads.trivial(1) | {"code": "raise SystemExit(0)"}]
    with pytest.raises(baselines.LimitFailed, match="0 of 1"):
        baselines.limit(samples, [CORE])


def test_the_naive_way_runs_calls_and_stdin() -> None:
    assert baselines.naive_rate(workloads.calls().samples[:1], 2) > 0
    assert baselines.naive_rate(workloads.stdin().samples[:1], 2) > 0


def test_assertions_are_those_of_the_calls() -> None:
    batch = asserts.programs()
    assert len({sample["code"] for sample in batch.samples}) == len(batch.samples) == len(batch.scripts) == 64
    for sample, script in zip(batch.samples, batch.scripts, strict=True):
        assert sample["tests"][0]["assert"].count("assert ") == 20
        assert script["code"].endswith(sample["tests"][0]["assert"])
    assert baselines.limit(batch.scripts[:4], [CORE]).rate > 0


def test_a_data_set_that_is_not_here_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCALEBOX_TEST_DATA", raising=False)
    with pytest.raises(asserts.NoData, match="SCALEBOX_TEST_DATA"):
        asserts.humaneval()


_GRANDCHILDREN = """
import subprocess, sys
from scalebox.bench.usage import descendants_cpu_s
burn = "import time\\nwhile time.process_time() < 0.5: pass\\n"
child = f"import subprocess, sys\\nsubprocess.run([sys.executable, '-c', {burn!r}])\\nprint(flush=True)\\ninput()"
before = descendants_cpu_s()
with subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
    process.stdout.readline()  # the child has waited for its own
    print(before, descendants_cpu_s())
    process.communicate(b"\\n")
"""


def test_cpu_time_of_grandchildren_is_counted() -> None:
    # In a process of its own: descendants of this one come and go with other tests.
    done = subprocess.run([sys.executable, "-c", _GRANDCHILDREN], capture_output=True, text=True, check=True)
    before, after = map(float, done.stdout.split())
    assert before == 0
    assert after > 0.4


def test_wrong_labels_are_refused() -> None:
    workload = workloads.stdin()
    results = [
        VerificationResult(id=name, verdict=Verdict(verdict)) for name, verdict in workload.verdicts.items() if name
    ]
    measure._check(workload, results)
    results[3].verdict = Verdict.PASSED
    with pytest.raises(measure.WrongLabels, match="1 of 64 labels are wrong"):
        measure._check(workload, results)


def test_a_missing_result_is_refused() -> None:
    with pytest.raises(measure.WrongLabels, match="no result"):
        measure._check(workloads.stdin(), [])


def test_codec_prints_one_object() -> None:
    outcome = CliRunner().invoke(bench, ["codec", "--json", "--runs", "1"])
    assert outcome.exit_code == 0, outcome.output
    figures = json.loads(outcome.stdout)
    assert {
        "name",
        "tests_per_s",
        "limit_tests_per_s",
        "ratio_to_limit",
        "naive_tests_per_s",
        "workers",
        "runs",
    } <= set(figures)
    assert figures["tests_per_s"] > figures["naive_tests_per_s"]


def test_protocol_prints_one_object() -> None:
    outcome = CliRunner().invoke(bench, ["protocol", "--json", "--runs", "1"])
    assert outcome.exit_code == 0, outcome.output
    figures = json.loads(outcome.stdout)
    assert figures["call_us"] > 0
    assert figures["ratio_to_limit"] < 1


def test_codec_prints_a_table() -> None:
    outcome = CliRunner().invoke(bench, ["codec", "--runs", "1"])
    assert outcome.exit_code == 0
    assert "encode, ms" in outcome.stdout


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    outcome = CliRunner().invoke(bench, ["nothing"])
    assert outcome.exit_code == 2
    assert "'straggler'" in outcome.output


def test_every_step_is_reported() -> None:
    said: list[str] = []
    figures = measure.measure("latency", runs=1, settings=Settings(workers=1), step=said.append)
    assert len(said) == measure.steps("latency", 1)
    assert figures["p50_ms"] <= figures["p95_ms"]


def test_clients_of_a_server_are_measured_beside_an_embedded_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {
        name: Workload(workloads.BATCHES[name]().samples[:2], workloads.BATCHES[name]().verdicts)
        for name in ("stdin", "calls")
    }
    monkeypatch.setattr(workloads, "BATCHES", {name: lambda load=load: load for name, load in small.items()})
    monkeypatch.setattr(http, "ALONE", 20)
    monkeypatch.setattr(http, "TOGETHER", 200)
    said: list[str] = []
    figures = measure.measure("http", runs=1, settings=Settings(workers=1), step=said.append)
    assert len(said) == measure.steps("http", 1)
    assert figures["cases"] == 4 * small["stdin"].cases
    for ratio in ("ratio_to_embedded", "calls_ratio_to_embedded", "cpu_ratio_to_embedded"):
        assert figures[ratio] > 0
    assert (figures["run_code_p50_ms"] is None) == (figures["run_code_requests_per_s"] is None)
    used = [figures[f"run_code_{who}_cpu_ms"] for who in ("client", "server", "workers", "jails")]
    assert all(cost > 0 for cost in used)
    assert figures["run_code_bound_per_s"] == pytest.approx(1000 * len(os.sched_getaffinity(0)) / used[-1], rel=0.01)


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_compiled_workload_is_what_it_says(language: str) -> None:
    one, other = native.workload(language, 1), native.workload(language, 2)
    assert one.cases == (160 if language == "java" else 320)
    assert 4 * sum(verdict != "passed" for verdict in one.verdicts.values()) == len(one.samples)
    codes = {sample["code"] for sample in [*one.samples, *other.samples]}
    assert len(codes) == 2 * len(one.samples)  # a build that was kept would be no build


@pytest.mark.parametrize("language", PROGRAMS)
def test_compiled_programs_run_bare(language: str, tmp_path: Path) -> None:
    try:
        found = toolchain(language)
    except Missing as missing:
        pytest.skip(str(missing))
    sample = native.workload(language, 1).samples[1]
    bare = native.bare_run(found, [sample], [CORE], str(tmp_path))
    assert bare.rate > 0
    assert bare.cpu_s > 0


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_programs_run_bare_must_be_right(tmp_path: Path) -> None:
    tests = [{"stdin": "1 2\n", "stdout": "3\n"}, {"stdin": "2 2\n", "stdout": "4\n"}]
    code = '#include <cstdio>\nint main() { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); }\n'
    found = toolchain("cpp")
    assert native.bare_run(found, [{"code": code, "tests": tests}], [CORE], str(tmp_path)).rate > 0
    with pytest.raises(native.WrongOutputs):
        native.bare_run(found, [{"code": "int main() {}\n", "tests": tests}], [CORE], str(tmp_path))
