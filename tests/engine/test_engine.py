"""The engine with real processes that follow a script."""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scalebox.core import events
from scalebox.core.codec import decode_result_line
from scalebox.core.errors import EngineClosed, InputError, QueueFull, SandboxError
from scalebox.core.limits import Limits
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.engine import _budget_s
from scalebox.parse import parse_sample

from .conftest import Gate, Harness, MakeEngine, sample


def gone(pid: int) -> bool:
    """Return whether a child process has ended and been reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def pids(harness: Harness) -> list[int]:
    return [event.pid for event in harness.events if isinstance(event, events.WorkerStarted)]


def test_results_come_in_the_order_of_submission(make_engine: MakeEngine) -> None:
    results = make_engine().verify(*(sample(f"fail {n}" if n % 3 else f"pass {n}", id=f"s{n}") for n in range(30)))
    assert [result.id for result in results] == [f"s{n}" for n in range(30)]
    assert [result.verdict == Verdict.PASSED for result in results] == [n % 3 == 0 for n in range(30)]


def test_a_result_is_filled_in(make_engine: MakeEngine) -> None:
    harness = make_engine()
    (result,) = harness.verify(sample("pass", problem_id="p", meta={"a": object}))
    assert (result.problem_id, result.meta, result.tier) == ("p", {"a": object}, "none")
    assert (result.pass_rate, result.reward, result.masked) == (1.0, 1.0, False)
    assert result.reward_parts == {"pass_rate": 1.0}
    assert result.summary.verdicts == {"passed": 2}
    assert result.summary.mean_wall_s == 0.5
    assert result.timings.queue_s > 0
    kinds = harness.kinds()
    assert [kind for kind in kinds if kind != "WorkerStarted"] == ["BatchAccepted", "SampleFinished", "BatchFinished"]


def test_duplicates_run_once_and_have_results_of_their_own(make_engine: MakeEngine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = f"note {log}\nfail"
    results = make_engine().verify(
        sample(code, id="a", meta=1),
        sample(code, id="b", meta=2, problem_id="p", reward="all_or_nothing"),
        sample(code, id="c", limits=Limits(cpu_s=3.0)),
    )
    assert len(log.read_text().splitlines()) == 2, "other limits are another program"
    assert [(result.id, result.problem_id, result.meta) for result in results] == [
        ("a", None, 1), ("b", "p", 2), ("c", None, None),
    ]  # fmt: skip
    assert list(results[0].reward_parts) != list(results[1].reward_parts)
    results[0].cases[0].stdout = "changed"
    assert results[1].cases[0].stdout == ""


def test_a_sample_that_loses_one_worker_is_tried_elsewhere(make_engine: MakeEngine, tmp_path: Path) -> None:
    harness = make_engine()
    (result,) = harness.verify(sample(f"die_once {tmp_path / 'mark'}", id="once"))
    assert result.verdict == Verdict.PASSED
    (lost,) = [event for event in harness.events if isinstance(event, events.WorkerLost)]
    assert (lost.sample_id, lost.reason) == ("once", "it was ended by SIGKILL")


@pytest.mark.parametrize("code", ["die", "raise", "rubbish\ndie"])
def test_a_sample_that_loses_two_workers_is_quarantined(make_engine: MakeEngine, code: str) -> None:
    harness = make_engine()
    others = [sample(f"pass {n}", id=f"s{n}") for n in range(20)]
    bad, *good = harness.verify(sample(code, id="bad"), *others)
    assert (bad.verdict, bad.reward, bad.masked) == (Verdict.INTERNAL_ERROR, None, True)
    assert [case.verdict for case in bad.cases] == [Verdict.INTERNAL_ERROR] * 2
    assert {result.verdict for result in good} == {Verdict.PASSED}
    assert "SampleQuarantined" in harness.kinds()
    started = harness.kinds().count("WorkerLost")
    (again,) = harness.verify(sample(code, id="again"))
    assert again.verdict == Verdict.INTERNAL_ERROR
    assert harness.kinds().count("WorkerLost") == started, "it is not run a third time"


def test_a_straggler_holds_nothing_back(make_engine: MakeEngine, gate: Gate) -> None:
    harness = make_engine()
    batch = harness.engine.submit([sample(f"await {gate.path}", id="slow"), *(sample(f"pass {n}") for n in range(40))])
    harness.wait(lambda: harness.engine.batches.progress(batch) == 40, batch)
    gate.open()
    assert len(harness.fetch(batch)) == 41


def test_a_deadline_makes_unknown_of_what_is_left(make_engine: MakeEngine, gate: Gate) -> None:
    harness = make_engine(workers=1)
    first, second = harness.verify(sample(f"await {gate.path}"), sample("pass", id="t"), deadline_s=0.5)
    assert (first.verdict, first.reward, first.masked) == (Verdict.UNKNOWN, None, True)
    assert "deadline" in first.message
    assert {first.id, second.id} == {"s", "t"}
    assert harness.verify(sample("pass"))[0].verdict == Verdict.PASSED, "the worker is free again"
    assert harness.kinds().count("WorkerStarted") == 1, "it let go of the sample by itself"


def test_a_cancelled_batch_is_done_and_unknown(make_engine: MakeEngine, gate: Gate) -> None:
    harness = make_engine(workers=1)
    batch = harness.engine.submit([sample(f"await {gate.path}"), sample("pass")])
    harness.engine.cancel(batch)
    assert {result.verdict for result in harness.fetch(batch)} == {Verdict.UNKNOWN}
    assert harness.engine.batches.state(batch) == "DONE"


def test_workers_are_recycled_and_nothing_is_lost(make_engine: MakeEngine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    gone_pids: list[int] = []
    harness = make_engine(recycle_after=5, on_gone=gone_pids.append)
    results = harness.verify(*(sample(f"note {log}", id=f"s{n}", limits=Limits(cpu_s=1.0 + n)) for n in range(31)))
    assert {result.verdict for result in results} == {Verdict.PASSED}
    runs = [line.split() for line in log.read_text().splitlines()]
    assert sorted(name for name, _ in runs) == sorted(f"s{n}" for n in range(31)), "each ran once"
    assert len({pid for _, pid in runs}) >= 6
    assert "WorkerLost" not in harness.kinds()
    assert gone_pids


def test_workers_that_cannot_start_end_in_errors_not_in_a_loop(make_engine: MakeEngine) -> None:
    harness = make_engine("crash")
    (result,) = harness.verify(sample("pass"))
    assert result.verdict == Verdict.INTERNAL_ERROR
    # One that takes its time to end, on a busy machine, is killed.
    assert re.search(r"no worker can be started: it (ended with exit status 1|was ended by SIGKILL)", result.message)


def test_a_response_that_no_worker_has_seen_has_no_reward(
    make_engine: MakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    harness = make_engine("crash")
    (result,) = harness.verify(msgspec.structs.replace(sample("pass"), code=None, response="```\npass\n```"))
    assert (result.verdict, result.reward, result.masked) == (Verdict.INTERNAL_ERROR, None, True)
    assert "cannot be computed" not in caplog.text


def test_a_missing_sandbox_is_reported_as_such(make_engine: MakeEngine) -> None:
    harness = make_engine("sandbox")
    batch = harness.engine.submit([sample("pass")])
    with pytest.raises(SandboxError, match=r"no namespaces here \(allow them\)") as caught:
        harness.fetch(batch)
    assert (caught.value.step, caught.value.errno) == ("unshare", 1)
    assert harness.engine.batches.state(batch) == "FAILED"


def test_a_full_queue_takes_nothing_of_a_batch(make_engine: MakeEngine, gate: Gate) -> None:
    harness = make_engine(workers=1, max_pending=3)
    batch = harness.engine.submit([sample(f"await {gate.path}"), sample("pass 1")])
    with pytest.raises(QueueFull, match="2 are pending, of at most 3"):
        harness.engine.submit([sample("pass 2"), sample("pass 3")])
    harness.engine.submit([sample("pass 4")])
    gate.open()
    harness.fetch(batch)
    assert harness.kinds().count("BatchAccepted") == 2


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (sample("pass", tests=()), "samples[0].tests"),
        (sample("pass", reward="no such reward"), "samples[0].reward"),
        (sample("\ud800"), "samples[0]"),
        (sample("pass", id="\ud800"), "samples[0]"),
    ],
)
def test_unusable_samples_are_refused(make_engine: MakeEngine, bad: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        make_engine().engine.submit([bad])
    assert caught.value.field == field
    assert caught.value.mend


def test_odd_results_arrive(make_engine: MakeEngine) -> None:
    huge, odd, loud = make_engine().verify(sample("huge"), sample("surrogate"), sample("shout"))
    assert len(huge.cases[1].stdout) == 20_000_000
    assert odd.cases[0].stdout == "a\ufffdb"
    assert loud.verdict == Verdict.PASSED


def test_large_samples_arrive(make_engine: MakeEngine) -> None:
    results = make_engine(prefetch=2).verify(*(sample(f"pass {n}\n{'#' * 3_000_000}") for n in range(8)))
    assert {result.verdict for result in results} == {Verdict.PASSED}


def test_closing_fails_what_is_open_and_leaves_no_process(make_engine: MakeEngine, gate: Gate) -> None:
    harness = make_engine()
    done = harness.engine.submit([sample("pass")])
    harness.fetch(done)
    batch = harness.engine.submit([sample(f"await {gate.path}"), sample("pass")])
    harness.engine.close()
    assert harness.engine.batches.state(batch) == "FAILED"
    with pytest.raises(EngineClosed):
        harness.fetch(batch)
    with pytest.raises(EngineClosed):
        harness.engine.submit([sample("pass")])
    assert len(harness.fetch(done)) == 1, "what was done can still be had"
    assert all(map(gone, pids(harness)))
    harness.engine.close()


def test_a_deaf_worker_is_killed_at_close(make_engine: MakeEngine, gate: Gate) -> None:
    harness = make_engine(workers=1)
    harness.engine.submit([sample(f"tell {gate.path}\ndeaf")])
    gate.await_news()
    started = time.monotonic()
    harness.engine.close()
    assert time.monotonic() - started < 12
    assert all(map(gone, pids(harness)))


def test_killed_workers_are_replaced(make_engine: MakeEngine, gate: Gate) -> None:
    harness = make_engine()
    batch = harness.engine.submit([sample(f"await {gate.path}"), *(sample(f"pass {n}") for n in range(5))])
    harness.wait(lambda: harness.engine.batches.progress(batch) == 5, batch)
    for pid in pids(harness):
        os.kill(pid, 9)
    gate.open(2)
    assert {result.verdict for result in harness.fetch(batch)} == {Verdict.PASSED}
    assert all(map(gone, pids(harness)[:2]))


def test_a_failing_sink_stops_nothing(make_engine: MakeEngine, caplog: pytest.LogCaptureFixture) -> None:
    harness = make_engine()

    def broken(_event: Any) -> None:
        raise ValueError("this sink is broken")

    harness.engine._sinks.insert(0, broken)
    assert len(harness.verify(*(sample(f"pass {n}") for n in range(5)))) == 5
    harness.engine.close()
    assert sum("this sink is broken" in record.exc_text for record in caplog.records if record.exc_text) == 1


def test_the_result_log(make_engine: MakeEngine, tmp_path: Path) -> None:
    log = tmp_path / "results.jsonl"
    log.write_text("")
    harness = make_engine(result_log=str(log))
    results = harness.verify(*(sample(f"pass {n}", id=f"s{n}") for n in range(5)))
    logged = [decode_result_line(line) for line in log.read_bytes().splitlines()]
    assert {result.id: result for result in logged} == {result.id: result for result in results}


def test_an_idle_engine_uses_no_time(make_engine: MakeEngine) -> None:
    others = set(threading.enumerate())
    harness = make_engine()
    harness.verify(*(sample(f"pass {n}") for n in range(10)))

    def switches(task: str) -> int:
        lines = Path(f"/proc/{task}/status").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)

    new = [thread for thread in threading.enumerate() if thread not in others]
    (engine,) = (thread.native_id for thread in new if thread.name == "scalebox-engine")
    watched = [f"self/task/{engine}", *map(str, pids(harness))]
    before = sum(map(switches, watched))
    time.sleep(1)
    assert sum(map(switches, watched)) - before <= 10, "nothing wakes up by the clock"


def test_batches_from_many_threads(make_engine: MakeEngine) -> None:
    harness = make_engine()
    results: dict[int, list[VerificationResult]] = {}

    def work(number: int) -> None:
        results[number] = harness.verify(*(sample(f"pass {number} {n}", id=f"{number}.{n}") for n in range(10)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(8):
        assert [result.id for result in results[number]] == [f"{number}.{n}" for n in range(10)]


def test_a_reward_that_cannot_be_computed_is_masked(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("scalebox.reward.reward_of", broken)
    (result,) = make_engine().verify(sample("pass"))
    assert (result.verdict, result.reward, result.masked) == (Verdict.PASSED, None, True)
    assert "cannot be computed" in caplog.text


def test_an_engine_that_is_lost_fails_its_batches_and_leaves_no_process(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    harness = make_engine()
    monkeypatch.setattr("scalebox.engine._summary", broken)
    batch = harness.engine.submit([sample("pass")])
    with pytest.raises(EngineClosed, match="the engine was lost: ZeroDivisionError"):
        harness.fetch(batch)
    harness.engine.close()
    assert all(map(gone, pids(harness)))
    assert "the engine is lost" in caplog.text


def test_workers_that_never_get_ready_are_killed_at_close(make_engine: MakeEngine) -> None:
    ended: list[int] = []
    harness = make_engine("mute", workers=1, on_gone=ended.append)
    batch = harness.engine.submit([sample("pass")])
    harness.engine.close()
    assert [gone(pid) for pid in ended] == [True]
    assert harness.engine.batches.state(batch) == "FAILED"


def test_a_worker_has_the_time_that_a_judge_may_take() -> None:
    tests, judge = [{"stdin": "", "stdout": ""}] * 3, Limits(wall_s=40.0, build_s=60.0)
    record = {"id": "s", "language": "python", "code": "", "tests": tests}
    without = _budget_s(parse_sample(record, settings=Settings()), judge)
    program = {"language": "python", "code": "x", "protocol": "exit_code"}
    for role in ("checker", "interactor"):
        within = _budget_s(parse_sample({**record, role: program}, settings=Settings()), judge)
        assert within - without >= 3 * 2 * judge.wall_s + judge.build_s


@pytest.mark.parametrize(("cache", "runs"), [("on", 1), ("off", 2)])
def test_equal_samples_of_two_batches_run_once_where_results_are_kept(
    make_engine: MakeEngine, gate: Gate, tmp_path: Path, cache: str, runs: int
) -> None:
    log = tmp_path / "log"
    harness = make_engine(cache=cache)
    code = f"note {log}\nawait {gate.path}\nfail"
    first = harness.engine.submit([sample(code, id="a", meta=1)])
    second = harness.engine.submit([sample(code, id="b", meta=2, reward="all_or_nothing"), sample(code, id="c")])
    gate.open(2)
    (one,), (two, three) = harness.fetch(first), harness.fetch(second)
    assert len(log.read_text().splitlines()) == runs
    assert [(result.id, result.meta) for result in (one, two, three)] == [("a", 1), ("b", 2), ("c", None)]
    assert {result.verdict for result in (one, two, three)} == {Verdict.OUTPUT_MISMATCH}
    assert list(one.reward_parts) != list(two.reward_parts)
    one.cases[0].stdout = "changed"
    assert two.cases[0].stdout == three.cases[0].stdout == ""


def test_a_sample_whose_twin_is_cancelled_is_verified_all_the_same(make_engine: MakeEngine, gate: Gate) -> None:
    harness = make_engine(cache="on")
    first = harness.engine.submit([sample(f"await {gate.path}", id="a")])
    second = harness.engine.submit([sample(f"await {gate.path}", id="b")], deadline_s=0)
    harness.engine.cancel(first)
    (one,) = harness.fetch(first)
    gate.open(2)  # the worker of the first may not have let go of it yet
    (two,) = harness.fetch(second)
    assert (one.verdict, two.verdict) == (Verdict.UNKNOWN, Verdict.PASSED)


def test_what_is_in_doubt_is_run_again_alone(make_engine: MakeEngine, tmp_path: Path) -> None:
    harness = make_engine()
    note = tmp_path / "runs"
    others = [sample(f"pass {n}", id=f"s{n}") for n in range(10)]
    doubtful, *_ = harness.verify(sample(f"note {note}\ndoubt", id="doubtful"), *others)
    assert doubtful.verdict == Verdict.PASSED
    assert len(note.read_text().splitlines()) == 2
    assert harness.kinds().count("SampleFinished") == 11


def test_what_cannot_be_run_again_in_time_is_unknown(make_engine: MakeEngine) -> None:
    harness = make_engine(reverify_wait_s=0.0)
    (result,) = harness.verify(sample("doubt", id="doubtful"))
    assert (result.verdict, result.masked) == (Verdict.UNKNOWN, True)
