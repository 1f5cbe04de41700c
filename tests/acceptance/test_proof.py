"""What the proof makes of sound and of broken deployments."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.stub import Deployment, Sample, Spoil, name_of, paths_of, says

from scalebox.acceptance import forgeries, logs
from scalebox.acceptance.isolation import Target
from scalebox.acceptance.load import Load, lengths, step_of
from scalebox.acceptance.model import Finding
from scalebox.acceptance.proof import Plan, Report, prove
from scalebox.core.errors import InputError, ScaleBoxError
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict

TARGETS = (Target("the database", "127.0.0.1", 5432),)
LOAD = Load(trajectories=3, longest=5)


def proof(deployment: Deployment, **plan: Any) -> Report:
    client: Any = deployment
    usual: dict[str, Any] = {"targets": TARGETS, "load": LOAD, "logs": (str(deployment.log),)}
    return asyncio.run(prove(client, Plan(**usual | plan)))


def failures(report: Report) -> dict[str, Finding]:
    assert report.passed is not any(finding.state == "failed" for finding in report.checks)
    return {finding.name: finding for finding in report.checks if finding.state == "failed"}


def on(name: str, change: Callable[[Sample, VerificationResult], None]) -> Spoil:
    """Return what changes the result of one check alone."""

    def spoil(sample: Sample, result: VerificationResult) -> None:
        if name_of(sample) == name:
            change(sample, result)

    return spoil


def scores(_: Sample, result: VerificationResult) -> None:
    result.verdict, result.reward = Verdict.PASSED, 1.0


def is_masked(_: Sample, result: VerificationResult) -> None:
    result.verdict, result.reward, result.masked = Verdict.INTERNAL_ERROR, None, True


def scores_a_little(_: Sample, result: VerificationResult) -> None:
    result.reward = 0.2


def is_wrong(_: Sample, result: VerificationResult) -> None:
    result.verdict, result.reward = Verdict.COMPILE_ERROR, 0.0


def shares_a_process(_: Sample, result: VerificationResult) -> None:
    result.integrity = "shared"


def is_harmless(_: Sample, result: VerificationResult) -> None:
    result.risk = "none"


def gets_through(_: Sample, result: VerificationResult) -> None:
    result.cases = [says({"loopback": "dropped: EACCES", "the database": "reached: ECONNREFUSED"})]


def says_nothing(_: Sample, result: VerificationResult) -> None:
    result.cases = []


def calls_home(sample: Sample, _: VerificationResult) -> None:
    (port,) = [port for name, _, port in json.loads(sample["tests"][0]["stdin"]) if name == "loopback"]
    with socket.socket(type=socket.SOCK_DGRAM) as sender:
        sender.sendto(b"got out", ("127.0.0.1", port))


def tells_the_secret(sample: Sample, result: VerificationResult) -> None:
    result.cases[0].stderr = Path(paths_of(sample)[0]).read_text(encoding="utf-8")


def reads_a_file(sample: Sample, result: VerificationResult) -> None:
    result.cases = [says(dict.fromkeys(paths_of(sample), "read: 40 bytes"))]


def test_a_sound_deployment(tmp_path: Path) -> None:
    report = proof(Deployment(tmp_path / "log"))
    assert failures(report) == {}
    assert all(finding.state == "passed" for finding in report.checks)
    assert all(finding.why and finding.mend and finding.detail for finding in report.checks)
    assert len({finding.name for finding in report.checks}) == len(report.checks)
    assert report.load.steps == sum(lengths(LOAD))
    hostile = {finding.name for finding in report.checks if finding.name.startswith(("forged.", "isolation."))}
    assert {one.check for one in report.blocked} == hostile - {"isolation.control"}
    assert all(one.logged and not one.amiss and one.verdict in one.documented for one in report.blocked)


@pytest.mark.parametrize(
    ("name", "change", "evidence"),
    [
        ("forged.early-exit.call", scores, "it scored"),
        ("forged.early-exit.call", scores_a_little, "it scored"),
        ("forged.forged-frames.call", is_masked, "masked"),
        ("forged.early-exit.call", is_wrong, "it is compile_error, documented is runtime_error"),
        ("forged.flood.stdin", shares_a_process, "shared a process"),
        ("forged.fetched-answers.stdin", is_harmless, "its risk is none"),
        ("isolation.network", is_wrong, "documented is output_mismatch or resource_denied"),
        ("honest.stdin", is_wrong, "a right program is compile_error"),
        ("isolation.network", gets_through, "the database (reached: ECONNREFUSED)"),
        ("isolation.network", says_nothing, "did not run to its end"),
        ("isolation.network", calls_home, "called this machine's loopback interface by UDP"),
        ("isolation.files", tells_the_secret, "secret"),
        ("isolation.files", reads_a_file, "/etc/shadow (read: 40 bytes)"),
    ],
)
def test_a_broken_one(
    tmp_path: Path, name: str, change: Callable[[Sample, VerificationResult], None], evidence: str
) -> None:
    report = proof(Deployment(tmp_path / "log", on(name, change)))
    found = failures(report)
    assert list(found) == [name]
    assert evidence in found[name].detail
    assert [one.check for one in report.blocked if one.amiss] == ([] if name.startswith("honest.") else [name])


@pytest.mark.parametrize("change", [scores, is_masked, is_wrong])
def test_one_wrong_label_under_load(tmp_path: Path, change: Callable[[Sample, VerificationResult], None]) -> None:
    found = failures(proof(Deployment(tmp_path / "log", on("load.1.0", change))))
    assert list(found) == ["load.labels"]
    assert "1 of" in found["load.labels"].detail


def test_steps_that_are_lost(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path / "log")
    fetch = deployment.fetch

    async def lose(batch: str, timeout: float | None = None) -> list[VerificationResult]:
        if deployment.batches[batch][0]["id"].endswith(".load.0.1"):
            raise TimeoutError("too slow")
        return await fetch(batch, timeout)

    deployment.fetch = lose  # type: ignore[method-assign]
    assert "too slow" in failures(proof(deployment))["load.labels"].detail


def test_bounds_on_tail_and_rate(tmp_path: Path) -> None:
    strict = Load(trajectories=1, longest=3, most_p99_s=1e-9, least_steps_per_s=1e9)
    assert set(failures(proof(Deployment(tmp_path / "log"), load=strict))) == {"load.tail", "load.throughput"}
    easy = Load(trajectories=1, longest=3, most_p99_s=1e9, least_steps_per_s=1e-9)
    assert failures(proof(Deployment(tmp_path / "log2"), load=easy)) == {}


def test_an_execution_that_is_not_in_the_log(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path / "log")
    deployment.logged = lambda sample: name_of(sample) not in ("load.0.1", "isolation.network")
    found = failures(proof(deployment))
    assert set(found) == {"log.executions", "log.denials", "log.blocked"}
    assert "2 of" in found["log.executions"].detail


def events_of(result: VerificationResult, batch: str, **wrong: Any) -> list[dict[str, Any]]:
    """Return what an audit log says of a sample."""
    said: dict[str, Any] = {
        "verdict": result.verdict,
        "reward": result.reward,
        "masked": result.masked,
        "denied": result.denied,
    }
    said |= {"integrity": result.integrity, "risk": result.risk}
    submitted = {"event": "batch_submitted", "batch_id": batch, "ids": [result.id]}
    return [submitted, {"event": "execution", "batch_id": batch, "sample_id": result.id} | said | wrong]


def with_events(tmp_path: Path, name: str = "", **wrong: Any) -> Report:
    """Return the report on a sound deployment whose audit log has something wrong of one sample."""
    deployment = Deployment(tmp_path / "log")
    folder = tmp_path / "audit"
    folder.mkdir()
    proof(deployment)  # for the prefix of its ids to be of another run

    def spoil(sample: Sample, result: VerificationResult) -> None:
        batch = "b-0" if name_of(sample).partition(".")[0] in ("forged", "isolation", "honest") else "b-n"
        events = events_of(result, batch, **(wrong if name_of(sample) == name else {}))
        with (folder / "audit-1.jsonl").open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in events)

    deployment.spoil = spoil
    deployment.batches.clear()
    return proof(deployment, logs=(str(folder),))


def test_a_log_of_events_in_a_folder(tmp_path: Path) -> None:
    report = with_events(tmp_path)
    assert failures(report) == {}
    assert {one.batch_id for one in report.blocked} == {"b-0"}
    assert "each in its batch" in next(f.detail for f in report.checks if f.name == "log.blocked")


def test_denials_of_their_own_count_for_their_sample() -> None:
    found: dict[str, logs.Record] = {}
    for record in (
        {"event": "execution", "sample_id": "a.1", "verdict": "resource_denied"},
        {"event": "access_denied", "sample_id": "a.1", "what": ["network"]},
    ):
        logs.note(found, record, "a")
    assert (found["a.1"].verdict, found["a.1"].denied) == ("resource_denied", ("network",))


@pytest.mark.parametrize(
    ("wrong", "evidence"),
    [
        ({"batch_id": "b-9"}, "executed in the batch b-9, not b-0"),
        ({"batch_id": ""}, "executed in the batch (none)"),
        ({"reward": 1.0}, "reward is 1.0 in the log, not 0.0"),
        ({"masked": True}, "masked is True"),
        ({"integrity": "shared"}, "integrity is shared"),
        ({"risk": "none"}, "risk is none in the log, not high"),
        ({"denied": []}, "no denial of network: socket(AF_INET)"),
        ({"verdict": "runtime_error"}, "verdict is runtime_error"),
        ({"sample_id": "another"}, "not in the log"),
        ({"event": "batch_submitted"}, "verdict is not there in the log"),
    ],
)
def test_a_hostile_sample_that_the_log_does_not_tell_as_it_was(
    tmp_path: Path, wrong: dict[str, Any], evidence: str
) -> None:
    report = with_events(tmp_path, "forged.fetched-answers.stdin", **wrong)
    found = failures(report)
    assert evidence in found.pop("log.blocked").detail
    assert set(found) <= {"log.executions", "log.denials"}
    assert [one.check for one in report.blocked if not one.logged] == ["forged.fetched-answers.stdin"]


def test_no_log_is_said_and_not_passed(tmp_path: Path) -> None:
    report = proof(Deployment(tmp_path / "log"), logs=())
    states = {finding.name: finding.state for finding in report.checks}
    assert {states[f"log.{name}"] for name in ("executions", "denials", "blocked")} == {"skipped"}
    assert {one.logged for one in report.blocked} == {None}


def test_logs_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        proof(Deployment(tmp_path / "log"), logs=(str(tmp_path / "none"),))
    deployment = Deployment(tmp_path / "log")

    def scribble(sample: Sample, _: VerificationResult) -> None:
        (tmp_path / "bad").write_text(sample["id"], encoding="utf-8")

    deployment.spoil = scribble
    with pytest.raises(InputError, match="not JSON Lines"):
        proof(deployment, logs=(str(tmp_path / "bad"),))


def test_a_deployment_that_does_not_answer(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path / "log")

    async def never(batch: str, timeout: float | None = None) -> list[VerificationResult]:
        raise TimeoutError(f"batch {batch} was not done within {timeout} s")

    deployment.fetch = never  # type: ignore[method-assign]
    with pytest.raises(ScaleBoxError, match="does not answer"):
        proof(deployment)


def test_lengths_are_uneven_and_reproducible() -> None:
    drawn = lengths(Load(trajectories=64))
    assert drawn == lengths(Load(trajectories=64))
    assert drawn != lengths(Load(trajectories=64, seed=1))
    assert (min(drawn), max(drawn), len(drawn)) == (3, 200, 64)
    assert sorted(drawn)[32] < 60
    assert lengths(Load(trajectories=1, longest=2)) == [2]
    assert lengths(Load(trajectories=2, longest=2)) == [2, 2]


def test_no_two_steps_are_the_same_program() -> None:
    codes = [step_of("run", trajectory, step, 9)[0]["code"] for trajectory in range(9) for step in range(9)]
    assert len(set(codes)) == len(codes)


def test_every_style_has_an_honest_program_beside_its_forgeries() -> None:
    assert {forgery.style for forgery in forgeries.FORGED.values()} == set(forgeries.HONEST)


@pytest.mark.parametrize("text", ["", "host", "host:", ":80", "host:http", "x=host:0", "host:70000"])
def test_targets_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="no target"):
        Target.parse(text)


def test_targets() -> None:
    assert Target.parse("the database=10.0.0.7:5432") == Target("the database", "10.0.0.7", 5432)
    assert Target.parse("[::1]:80") == Target("[::1]:80", "::1", 80)
