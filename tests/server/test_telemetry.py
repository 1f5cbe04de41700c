"""Telemetry: what happened is counted once, whatever the order, and in bounded memory."""

from __future__ import annotations

import bisect
import math
import threading
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.feed import Clock, Feed

from scalebox.core import events
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.server.recent import RecentBatches
from scalebox.server.sketch import LEAST, MOST, Sketch
from scalebox.server.telemetry import MAX_RANGE_S, WINDOW_S, Telemetry
from scalebox.server.window import Facts, trajectory_steps

VALUES = st.lists(st.floats(LEAST, MOST), min_size=1, max_size=200)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def telemetry(clock: Clock) -> Telemetry:
    return Telemetry(Settings(), capacity=2, clock=clock)


@pytest.fixture
def feed(telemetry: Telemetry, clock: Clock) -> Feed:
    return Feed(telemetry, clock)


# --- distributions ----------------------------------------------------------------------------------


def sketch_of(values: list[float]) -> Sketch:
    sketch = Sketch()
    for value in values:
        sketch.add(value)
    return sketch


@given(VALUES, st.floats(0.01, 1))
def test_a_quantile_is_close_to_the_true_one(values: list[float], share: float) -> None:
    true = sorted(values)[max(1, math.ceil(share * len(values))) - 1]
    found = sketch_of(values).quantile(share)
    assert found == pytest.approx(true, rel=0.07)


@given(VALUES)
def test_a_histogram_holds_every_value_in_its_bucket(values: list[float]) -> None:
    histogram = sketch_of(values).histogram(join=1)
    assert sum(histogram.counts) == histogram.count == len(values)
    assert len(histogram.bounds) == len(histogram.counts) + 1
    assert histogram.counts[0]
    assert histogram.counts[-1]
    slack = [bound * (1 + 1e-5) for bound in histogram.bounds]  # bounds are rounded to six digits
    places = Counter(max(0, bisect.bisect_left(slack, value) - 1) for value in values)
    assert sum(abs(places[i] - count) for i, count in enumerate(histogram.counts)) <= 2 * sum(
        any(math.isclose(value, bound, rel_tol=2e-5) for bound in histogram.bounds) for value in values
    )


@given(VALUES, VALUES)
def test_sketches_add_up(one: list[float], other: list[float]) -> None:
    summed = sketch_of(one)
    summed.update(sketch_of(other))
    both = sketch_of([*one, *other])
    assert (summed.counts, summed.count) == (both.counts, both.count)
    assert summed.sum == pytest.approx(both.sum)


@given(VALUES)
def test_cumulative_counts_end_with_all(values: list[float]) -> None:
    steps = sketch_of(values).cumulative(5)
    assert [count for _, count in steps] == sorted(count for _, count in steps)
    assert steps[-1] == (MOST, len(values))
    assert [bound for bound, _ in steps][:5] == [1e-4, 0.000177828, 0.000316228, 0.000562341, 1e-3]


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, 1e-9, LEAST])
def test_what_is_tiny_or_no_time_at_all_counts_as_least(value: float) -> None:
    assert sketch_of([value]).counts == {0: 1}


def test_nothing_has_no_quantiles() -> None:
    histogram = Sketch().histogram()
    assert (histogram.p50, histogram.bounds, histogram.counts) == (None, [], [])


# --- counts -----------------------------------------------------------------------------------------


def test_a_batch_is_counted(feed: Feed, telemetry: Telemetry) -> None:
    feed.workers(2)
    batch_id = feed.batch(100, seconds=20)
    seen = telemetry.overview()
    assert (seen.counts.accepted, seen.counts.samples, seen.counts.batches_done) == (100, 100, 1)
    assert sum(seen.counts.verdicts.values()) == 100
    assert seen.counts.cases == 2000
    assert seen.waiting.count == seen.trajectories.count == 100
    assert seen.work.count == seen.cases.count / 20 == 100 - seen.counts.cached, "what was kept is not timed again"
    assert seen.counts.denied == seen.counts.risky == seen.counts.intercepted == seen.counts.verdicts["resource_denied"]
    assert 0 < seen.counts.reverified_samples == seen.counts.reverified_cases <= seen.counts.verdicts["time_out"]
    assert 0 < seen.counts.cached < 100
    (row,) = seen.batches
    assert (row.batch_id, row.state, row.samples, row.finished) == (batch_id, "DONE", 100, 100)
    assert row.verdicts == seen.counts.verdicts


def test_the_series_holds_all_that_happened(feed: Feed, telemetry: Telemetry) -> None:
    feed.batch(60, seconds=120)
    for range_s in (300, 900, 3600):
        series = telemetry.overview(range_s).series
        assert series.at == [series.at[0] + n * series.step_s for n in range(len(series.at))]
        assert series.at[-1] <= telemetry.now() < series.at[-1] + series.step_s
        assert sum(map(sum, series.verdicts.values())) == 60
        assert max(series.queue) == 60
        assert {len(each) for each in (series.rate, series.queue, series.busy, series.cached)} == {len(series.at)}
        assert len(series.at) <= 90


def test_what_is_old_leaves_the_stretch_but_not_the_totals(feed: Feed, telemetry: Telemetry, clock: Clock) -> None:
    feed.batch(10, seconds=1)
    clock.now += 400
    feed.batch(20, seconds=1)
    assert telemetry.overview(300).counts.samples == 20
    assert telemetry.overview(900).counts.samples == 30
    clock.now += 2 * MAX_RANGE_S
    assert telemetry.overview(MAX_RANGE_S).counts.samples == 0
    assert telemetry.totals()[0].samples == 30


def test_the_queue_is_what_has_no_result(feed: Feed, telemetry: Telemetry, clock: Clock) -> None:
    first, second = feed.accept(10), feed.accept(5)
    for index in range(4):
        feed.finish(first, index)
    assert (telemetry.overview().queue, telemetry.overview().open_batches) == (11, 2)
    feed.end(second, "FAILED")
    assert (telemetry.overview().queue, telemetry.overview().open_batches) == (6, 1)
    clock.now += 120
    assert telemetry.overview(60).series.queue == [6] * (60 // WINDOW_S), "it waits while nothing happens"
    assert telemetry.overview().counts.batches_failed == 1


def test_the_cache_keeps_no_worker_busy(feed: Feed, telemetry: Telemetry) -> None:
    batch_id = feed.accept(1)
    result = feed.result(batch_id, 0, Verdict.PASSED)
    result.cached = True
    telemetry(events.SampleFinished(feed.clock.now, batch_id, result, 0))
    seen = telemetry.overview()
    assert (seen.busy, seen.counts.cached, seen.counts.samples, seen.work.count) == (0.0, 1, 1, 0)


def test_workers_come_go_and_are_replaced(feed: Feed, telemetry: Telemetry) -> None:
    feed.workers(2)
    telemetry(events.WorkerLost(feed.clock.now, 0, 4000, "killed", None))
    assert [worker.worker for worker in telemetry.overview().workers] == [1]
    for number in (2, 3):  # the place of the lost one, and that of one that was recycled
        telemetry(events.WorkerStarted(feed.clock.now, number, 5000 + number, "namespace"))
    seen = telemetry.overview()
    assert [worker.worker for worker in seen.workers] == [2, 3]
    assert (seen.counts.worker_starts, seen.counts.worker_losses) == (4, 1)


@pytest.mark.parametrize(
    ("meta", "steps"),
    [({"trajectory": [{}, {}]}, 2), ({"trajectory": 17}, 17), ({"trajectory": True}, None), ({"trajectory": -1}, None),
     ({"trajectory": "long"}, None), ({}, None), (None, None), ([1], None)],
)  # fmt: skip
def test_trajectories_are_counted_where_meta_tells_of_them(meta: object, steps: int | None) -> None:
    assert trajectory_steps(meta) == steps


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["accept", "finish", "end", "fail", "start", "lose"]), st.integers(0, 3), st.floats(0, 40)
    ),
    max_size=30,
)


@settings(max_examples=50)
@given(STEPS)
def test_whatever_comes_is_counted_once(steps: list[tuple[str, int, float]]) -> None:
    clock = Clock()
    telemetry = Telemetry(Settings(), capacity=2, clock=clock)
    happened: Counter[str] = Counter()
    for what, number, seconds in steps:
        clock.now += seconds
        batch_id = f"b{number}"
        happened[what] += 1
        telemetry(
            {
                "accept": events.BatchAccepted(clock.now, batch_id, 2),
                "finish": events.SampleFinished(
                    clock.now, batch_id, VerificationResult(id="s", verdict=Verdict.PASSED), 0
                ),
                "end": events.BatchFinished(clock.now, batch_id, "DONE"),
                "fail": events.BatchFinished(clock.now, batch_id, "FAILED"),
                "start": events.WorkerStarted(clock.now, number, 1, "process"),
                "lose": events.WorkerLost(clock.now, number, 1, "killed", None),
            }[what]
        )
        assert telemetry.overview(300).queue >= 0
    window, queue, open_batches, workers = telemetry.totals()
    assert window.samples == window.verdicts["passed"] == happened["finish"]
    assert window.accepted == 2 * happened["accept"]
    assert (window.batches_done, window.batches_failed) == (happened["end"], happened["fail"])
    assert (window.worker_starts, window.worker_losses) == (happened["start"], happened["lose"])
    assert 0 <= queue <= window.accepted
    assert open_batches <= 4
    assert workers <= 2


def test_many_threads_may_tell_and_ask() -> None:
    telemetry = Telemetry(Settings(), capacity=2)
    result = VerificationResult(id="s", verdict=Verdict.PASSED)
    failures: list[BaseException] = []

    def tell(name: str) -> None:
        try:
            telemetry(events.BatchAccepted(0.0, name, 300))
            for index in range(300):
                telemetry(events.SampleFinished(0.0, name, result, index))
                if index % 50 == 0:
                    telemetry.overview(300)
            telemetry(events.BatchFinished(0.0, name, "DONE"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=tell, args=(f"b{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    window, queue, open_batches, _ = telemetry.totals()
    assert (window.samples, queue, open_batches) == (1200, 0, 0)


# --- batches of late --------------------------------------------------------------------------------


def test_a_batch_opens_to_its_samples_and_their_results(feed: Feed, telemetry: Telemetry) -> None:
    batch_id = feed.batch(30, seconds=3)
    everything = telemetry.batch(batch_id, limit=100)
    assert everything is not None
    assert [row.index for row in everything.rows] == list(range(30))
    page = telemetry.batch(batch_id, offset=10, limit=5)
    assert page is not None
    assert (page.matching, [row.index for row in page.rows]) == (30, [10, 11, 12, 13, 14])
    passed = telemetry.batch(batch_id, verdict="passed")
    assert passed is not None
    assert passed.matching == passed.batch.verdicts["passed"] == len(passed.rows) > 0
    row = everything.rows[3]
    result = telemetry.result(batch_id, 3)
    assert result is not None
    assert (result.id, result.verdict, len(result.cases)) == (row.id, row.verdict, row.cases)


def test_what_is_not_kept_is_none(feed: Feed, telemetry: Telemetry) -> None:
    batch_id = feed.batch(2, seconds=1)
    assert telemetry.batch("none") is None
    assert telemetry.result("none", 0) is None
    assert telemetry.result(batch_id, 2) is None


def test_the_newest_results_stay_within_the_bytes() -> None:
    recent = RecentBatches(40_000)
    result = VerificationResult(id="s", verdict=Verdict.PASSED, code="x" * 3000)
    for batch in range(5):
        recent.accept(f"b{batch}", 10, 0.0)
        for index in range(10):
            recent.add(f"b{batch}", index, Facts(result))
            assert recent.kept_bytes <= 40_000
    assert recent.result("b0", 9) is None
    assert recent.result("b4", 9) == result
    newest, *_, oldest = recent.rows(10)
    assert (newest.batch_id, newest.finished, newest.kept > 0) == ("b4", 10, True)
    assert (oldest.batch_id, oldest.finished, oldest.kept) == ("b0", 10, 0), "the counts of a batch outlive its results"


def test_a_result_beyond_all_bytes_is_counted_and_not_kept() -> None:
    recent = RecentBatches(2000)
    recent.accept("b", 1, 0.0)
    recent.add("b", 0, Facts(VerificationResult(id="s", verdict=Verdict.PASSED, code="x" * 5000)))
    assert (recent.kept_bytes, recent.rows(1)[0].finished, recent.result("b", 0)) == (0, 1, None)


def test_old_batches_make_room() -> None:
    recent = RecentBatches(1 << 20)
    result = VerificationResult(id="s", verdict=Verdict.PASSED)
    for batch in range(500):
        recent.accept(f"b{batch}", 1, float(batch))
        recent.add(f"b{batch}", 0, Facts(result))
    assert [row.batch_id for row in recent.rows(1000)] == [f"b{batch}" for batch in range(499, 299, -1)]
    assert recent.result("b0", 0) is None
    recent.add("b0", 0, Facts(result))
    assert recent.detail("b0", verdict="", offset=0, limit=1) is None


def test_an_overview_takes_no_more_as_time_goes_by(feed: Feed, telemetry: Telemetry, clock: Clock) -> None:
    for _ in range(3):
        feed.batch(5, seconds=1)
        clock.now += 100_000
    assert len(telemetry._windows) <= MAX_RANGE_S // WINDOW_S + 2
