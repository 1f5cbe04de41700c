"""Alert rules: a pure function of what was seen and of which alerts were up, with hysteresis.

A rule compares the last minute with the quarter of an hour before it (`server_alert_window_s`,
`server_alert_baseline_s`). An alert is raised where its signal reaches the rule's threshold, and cleared where the
signal has fallen to `server_alert_clear` of it: one that hovers about the threshold does not flicker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from scalebox.core.settings import Settings
from scalebox.core.verdicts import DOUBTFUL, Verdict

Severity = Literal["warning", "critical"]

#: Rule → how bad it is.
RULES: dict[str, Severity] = {
    "verdict_surge": "warning",
    "tail_growth": "warning",
    "unknown_rise": "critical",
    "throughput_fall": "critical",
    "interception_fall": "critical",
    "quarantine": "critical",
}

#: Standard deviations of chance (of a Poisson count) that a fall of interceptions must be to say anything.
_SIGMAS = 3.7


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule sees of a stretch of time: `span_s` seconds long, `p99_s` None where nothing finished."""

    span_s: float
    samples: int = 0
    verdicts: dict[str, int] = {}
    p99_s: float | None = None
    intercepted: int = 0
    quarantined: int = 0

    def share(self, count: float) -> float:
        """Return `count` as a share of the samples."""
        return count / self.samples if self.samples else 0.0

    def rate(self) -> float:
        """Return samples per second."""
        return self.samples / self.span_s if self.span_s > 0 else 0.0


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What all rules see. `least_queue` is the fewest samples that waited or ran at any time of `recent`."""

    at: float
    recent: Stretch
    baseline: Stretch
    least_queue: int = 0


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """A rule's measure of one subject, such as a verdict: 1 is its threshold, whatever the rule.

    `known` is false where too little was seen to tell: an alert then stays as it is.
    """

    rule: str
    subject: str = ""
    level: float
    known: bool
    text: str


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """An alert that is up: since when (seconds since 1970), and what was last seen."""

    rule: str
    subject: str
    severity: Severity
    since: float
    level: float
    text: str


def evaluate(up: Iterable[Alert], reading: Reading, settings: Settings) -> tuple[Alert, ...]:
    """Return the alerts that are up after `reading`, given those that were up before it, in a fixed order."""
    before: Mapping[tuple[str, str], Alert] = {(alert.rule, alert.subject): alert for alert in up}
    idle = not reading.recent.samples and not reading.least_queue
    after = []
    for signal in signals(reading, settings):
        old = before.get((signal.rule, signal.subject))
        if signal.known:
            is_up = signal.level >= 1 or (old is not None and signal.level > settings.server_alert_clear)
            if is_up:
                after.append(_alert(signal, old.since if old else reading.at))
        elif old is not None and not idle:
            after.append(old)
    return tuple(after)


def signals(reading: Reading, settings: Settings) -> list[Signal]:
    """Return every rule's signals; the same rules and subjects every time."""
    return [
        *_verdict_surges(reading, settings),
        _tail_growth(reading, settings),
        _unknown_rise(reading, settings),
        _throughput_fall(reading, settings),
        _interception_fall(reading, settings),
        _quarantine(reading),
    ]


def _alert(signal: Signal, since: float) -> Alert:
    return Alert(
        rule=signal.rule,
        subject=signal.subject,
        severity=RULES[signal.rule],
        since=since,
        level=round(signal.level, 3),
        text=signal.text,
    )


def _verdict_surges(reading: Reading, settings: Settings) -> Iterable[Signal]:
    recent, baseline = reading.recent, reading.baseline
    known = min(recent.samples, baseline.samples) >= settings.server_alert_min_samples
    for verdict in Verdict:
        if verdict == Verdict.PASSED or verdict in DOUBTFUL:
            continue
        now, then = recent.share(recent.verdicts.get(verdict, 0)), baseline.share(baseline.verdicts.get(verdict, 0))
        yield Signal(
            rule="verdict_surge",
            subject=verdict.value,
            level=(now - then) / settings.server_alert_surge,
            known=known,
            text=f"{verdict.value} is {now:.0%} of samples, {then:.0%} before",
        )


def _tail_growth(reading: Reading, settings: Settings) -> Signal:
    now, then = reading.recent.p99_s or 0.0, reading.baseline.p99_s or 0.0
    enough = min(reading.recent.samples, reading.baseline.samples) >= settings.server_alert_min_samples
    growth = now / then if then > 0 else 0.0
    return Signal(
        rule="tail_growth",
        level=growth / settings.server_alert_tail,
        known=enough and then > 0,
        text=f"the slowest 1 % of samples take {now:.3g} s or more, {then:.3g} s before",
    )


def _unknown_rise(reading: Reading, settings: Settings) -> Signal:
    recent = reading.recent
    share = recent.share(sum(recent.verdicts.get(verdict, 0) for verdict in DOUBTFUL))
    return Signal(
        rule="unknown_rise",
        level=share / settings.server_alert_unknown,
        known=recent.samples >= settings.server_alert_min_samples,
        text=f"{share:.1%} of samples are unknown or internal_error: their rewards are masked",
    )


def _throughput_fall(reading: Reading, settings: Settings) -> Signal:
    """Fewer samples are no alarm where none waited: the trainer has asked for fewer."""
    now, then = reading.recent.rate(), reading.baseline.rate()
    fall = 1 - now / then if then > 0 else 0.0
    return Signal(
        rule="throughput_fall",
        level=(fall if reading.least_queue else 0.0) / settings.server_alert_throughput,
        known=reading.baseline.samples >= settings.server_alert_min_samples,
        text=f"{now:.3g} samples per second while others wait, {then:.3g} before",
    )


def _interception_fall(reading: Reading, settings: Settings) -> Signal:
    """The catch of attempts to cheat drops: they have stopped, or what catches them is broken."""
    recent, baseline = reading.recent, reading.baseline
    now, then = recent.share(recent.intercepted), baseline.share(baseline.intercepted)
    fall = settings.server_alert_interception
    return Signal(
        rule="interception_fall",
        level=(1 - now / then if then > 0 else 0.0) / fall,
        known=then * recent.samples >= (_SIGMAS / fall) ** 2,
        text=f"{now:.2%} of samples were denied something or look risky, {then:.2%} before",
    )


def _quarantine(reading: Reading) -> Signal:
    count = reading.recent.quarantined
    noun = "sample" if count == 1 else "samples"
    return Signal(
        rule="quarantine",
        level=float(count),
        known=True,
        text=f"{count} {noun} lost two workers and went into quarantine: somebody should look",
    )
