"""The alert rules: each is raised by what it is named for, by nothing else, and does not flicker."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.feed import USUAL, Clock, Feed

from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.server.alerts import RULES, Alert, Reading, Stretch, evaluate, signals
from scalebox.server.telemetry import Telemetry

SETTINGS = Settings()
CALM = Stretch(span_s=60, samples=1000, verdicts={"passed": 600, "output_mismatch": 400}, p99_s=1.0, intercepted=40)


def reading(at: float = 100.0, least_queue: int = 5, **recent: Any) -> Reading:
    """Return a reading like its baseline but for the fields given."""
    fields = {name: getattr(CALM, name) for name in CALM.__struct_fields__}
    return Reading(at=at, recent=Stretch(**{**fields, **recent}), baseline=CALM, least_queue=least_queue)


BAD: dict[str, dict[str, Any]] = {
    "verdict_surge": {"verdicts": {"passed": 300, "output_mismatch": 400, "compile_error": 300}},
    "tail_growth": {"p99_s": 4.0},
    "unknown_rise": {"verdicts": {"passed": 580, "output_mismatch": 390, "unknown": 20, "internal_error": 10}},
    "throughput_fall": {"samples": 300, "verdicts": {"passed": 180, "output_mismatch": 120}, "intercepted": 12},
    "interception_fall": {"intercepted": 4},
    "quarantine": {"quarantined": 1},
}


def test_every_rule_is_tried() -> None:
    assert set(BAD) == set(RULES) == {signal.rule for signal in signals(reading(), SETTINGS)}


def test_calm_raises_nothing() -> None:
    assert evaluate((), reading(), SETTINGS) == ()


@pytest.mark.parametrize("rule", sorted(BAD))
def test_each_rule_is_raised_alone_and_cleared(rule: str) -> None:
    up = evaluate((), reading(at=7.0, **BAD[rule]), SETTINGS)
    assert [alert.rule for alert in up] == [rule]
    assert up[0].since == 7.0
    assert up[0].severity == RULES[rule]
    assert up[0].level >= 1
    assert up[0].text
    later = evaluate(up, reading(at=9.0, **BAD[rule]), SETTINGS)
    assert [alert.since for alert in later] == [7.0], "it is the same alert"
    assert evaluate(later, reading(), SETTINGS) == ()


def test_a_surge_names_its_verdict() -> None:
    (alert,) = evaluate((), reading(**BAD["verdict_surge"]), SETTINGS)
    assert alert.subject == "compile_error"
    assert alert.text == "compile_error is 30% of samples, 0% before"


def test_a_trainer_who_asks_for_less_is_no_alarm() -> None:
    assert evaluate((), reading(least_queue=0, **BAD["throughput_fall"]), SETTINGS) == ()


def test_a_standstill_is_a_fall_of_throughput() -> None:
    still = reading(samples=0, verdicts={}, p99_s=None, intercepted=0)
    assert [alert.rule for alert in evaluate((), still, SETTINGS)] == ["throughput_fall"]


@pytest.mark.parametrize("rule", sorted(set(BAD) - {"quarantine"}))
def test_few_samples_raise_nothing(rule: str) -> None:
    few = Stretch(span_s=60, samples=20, verdicts={"passed": 20}, p99_s=1.0, intercepted=1)
    now = Stretch(span_s=60, samples=20, verdicts={"unknown": 10, "compile_error": 10}, p99_s=50.0)
    assert rule not in {a.rule for a in evaluate((), Reading(at=1, recent=now, baseline=few, least_queue=3), SETTINGS)}


def test_no_alert_outlives_an_idle_server() -> None:
    up = evaluate((), reading(**BAD["verdict_surge"]), SETTINGS)
    idle = reading(samples=0, verdicts={}, p99_s=None, intercepted=0, least_queue=0)
    assert evaluate(up, idle, SETTINGS) == ()


def test_what_cannot_be_told_leaves_an_alert_as_it_is() -> None:
    up = evaluate((), reading(**BAD["verdict_surge"]), SETTINGS)
    few = reading(samples=5, verdicts={"passed": 5}, intercepted=0, least_queue=0)
    assert [alert.rule for alert in evaluate(up, few, SETTINGS)] == ["verdict_surge"]


# --- properties -------------------------------------------------------------------------------------

COUNTS = st.dictionaries(st.sampled_from([v.value for v in Verdict]), st.integers(0, 500), max_size=5)


@st.composite
def stretches(draw: st.DrawFn) -> Stretch:
    verdicts = draw(COUNTS)
    samples = sum(verdicts.values())
    return Stretch(
        span_s=draw(st.floats(0, 1000)),
        samples=samples,
        verdicts=verdicts,
        p99_s=draw(st.floats(1e-4, 1e4)) if samples else None,
        intercepted=draw(st.integers(0, samples)),
        quarantined=draw(st.integers(0, 2)),
    )


READINGS = st.builds(
    Reading, at=st.floats(0, 1e9), recent=stretches(), baseline=stretches(), least_queue=st.integers(0, 3)
)
TUNED = st.builds(
    Settings,
    server_alert_min_samples=st.integers(1, 300),
    server_alert_surge=st.floats(0.01, 1),
    server_alert_tail=st.floats(1.01, 100),
    server_alert_unknown=st.floats(0.001, 1),
    server_alert_throughput=st.floats(0.01, 1),
    server_alert_interception=st.floats(0.01, 1),
    server_alert_clear=st.floats(0, 1),
)


def keys(alerts: tuple[Alert, ...]) -> list[tuple[str, str]]:
    return [(alert.rule, alert.subject) for alert in alerts]


@settings(max_examples=50)
@given(st.lists(READINGS, max_size=4), READINGS, TUNED)
def test_the_same_reading_again_changes_nothing(before: list[Reading], last: Reading, settings: Settings) -> None:
    up: tuple[Alert, ...] = ()
    for each in [*before, last]:
        up = evaluate(up, each, settings)
    assert evaluate(up, last, settings) == up
    assert len(set(keys(up))) == len(up)


@settings(max_examples=50)
@given(st.lists(READINGS, max_size=4), READINGS, TUNED)
def test_hysteresis(before: list[Reading], last: Reading, settings: Settings) -> None:
    """Raised at 1, cleared at the share of it that is set, as it was in between; unknown raises nothing."""
    up: tuple[Alert, ...] = ()
    for each in before:
        up = evaluate(up, each, settings)
    after = set(keys(evaluate(up, last, settings)))
    for signal in signals(last, settings):
        key = (signal.rule, signal.subject)
        if not signal.known:
            assert key not in after or key in keys(up)
        elif signal.level >= 1:
            assert key in after
        elif signal.level <= settings.server_alert_clear:
            assert key not in after
        else:
            assert (key in after) == (key in keys(up))


@given(READINGS, TUNED, st.integers(1, 400))
def test_more_unknowns_never_lower_the_signal(last: Reading, settings: Settings, more: int) -> None:
    def level(unknown: int) -> float:
        verdicts = {**last.recent.verdicts, "unknown": unknown}
        recent = Stretch(span_s=60, samples=1000, verdicts=verdicts)
        worse = Reading(at=0, recent=recent, baseline=last.baseline)
        return next(s.level for s in signals(worse, settings) if s.rule == "unknown_rise")

    assert level(more) >= level(more - 1)


# --- from telemetry ---------------------------------------------------------------------------------


def test_a_surge_in_telemetry_is_raised_and_goes() -> None:
    clock = Clock()
    telemetry = Telemetry(SETTINGS, capacity=2, clock=clock)
    feed = Feed(telemetry, clock)
    for _ in range(6):
        feed.batch(100, seconds=30)
        assert telemetry.alerts() == ()
    broken = {**USUAL, Verdict.COMPILE_ERROR: 200.0}
    raised = clock.now
    for _ in range(2):
        feed.batch(100, seconds=30, mixture=broken)
    (alert,) = telemetry.alerts()
    assert (alert.rule, alert.subject) == ("verdict_surge", "compile_error")
    assert telemetry.overview().alerts == [alert]
    assert alert.since > raised
    for _ in range(3):
        feed.batch(100, seconds=30)
    assert telemetry.alerts() == ()


def test_the_first_minutes_raise_nothing() -> None:
    clock = Clock()
    telemetry = Telemetry(SETTINGS, capacity=2, clock=clock)
    feed = Feed(telemetry, clock)
    for _ in range(10):
        feed.batch(40, seconds=8)
        assert telemetry.alerts() == ()
