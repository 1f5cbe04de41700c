"""Prometheus metrics: what telemetry has counted since the start, under the names of docs/reference/metrics.md."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from scalebox.core.verdicts import Verdict
from scalebox.server import alerts
from scalebox.server.sketch import Sketch
from scalebox.server.telemetry import Telemetry
from scalebox.server.window import Window

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Sketch's buckets in one of Prometheus's: four a decade.
_JOIN = 5

_COUNTERS = {
    "accepted": ("samples_accepted", "Samples taken in with batches."),
    "cached": ("cache_hits", "Samples whose result came from the cache."),
    "reverified_samples": ("samples_reverified", "Samples of which a case was run again to confirm its verdict."),
    "reverified_cases": ("cases_reverified", "Cases that were run again to confirm their verdict."),
    "denied": ("samples_denied", "Samples whose program was refused something forbidden."),
    "intercepted": ("samples_intercepted", "Samples that were denied something or whose risk is medium or high."),
    "masked": ("samples_masked", "Samples whose reward is masked."),
    "quarantined": ("samples_quarantined", "Samples that lost two workers."),
    "worker_starts": ("worker_starts", "Worker processes that came up, those after a recycling included."),
    "worker_losses": ("worker_losses", "Worker processes that ended without being told to."),
}
_SKETCHES = {
    "work": ("sample_seconds", "Seconds from a sample's start on a worker to its result."),
    "waiting": ("sample_queue_seconds", "Seconds that a sample waited for a worker."),
    "cases": ("case_seconds", "Wall time of a case, in seconds."),
    "trajectories": ("trajectory_steps", "Steps of a sample's trajectory, where it has one."),
}


class TelemetryCollector(Collector):
    """Reads telemetry when it is scraped: nothing is counted twice."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, those that are zero included."""
        window, queue, batches, workers = self._telemetry.totals()
        yield InfoMetricFamily("scalebox_build", "The running version.", {"version": version("scalebox")})
        yield _by_verdict("samples", "Samples with a result, by verdict.", window.verdicts)
        yield _by_verdict("cases", "Cases of samples with a result, by verdict.", window.case_verdicts)
        for field, (name, text) in _COUNTERS.items():
            yield CounterMetricFamily(f"scalebox_{name}", text, getattr(window, field))
        yield from _labelled(window)
        for field, (name, text) in _SKETCHES.items():
            yield _histogram(name, text, getattr(window, field))
        yield GaugeMetricFamily("scalebox_queue_samples", "Samples that wait or run.", queue)
        yield GaugeMetricFamily("scalebox_batches_open", "Batches that are not finished.", batches)
        yield GaugeMetricFamily("scalebox_workers", "Worker processes that are up.", workers)
        yield GaugeMetricFamily(
            "scalebox_workers_wanted", "Worker processes there should be.", self._telemetry.capacity
        )
        yield self._alerts()

    def _alerts(self) -> Metric:
        up = {alert.rule for alert in self._telemetry.alerts()}
        metric = GaugeMetricFamily("scalebox_alert", "1 while the server's own alert rule is up.", labels=["rule"])
        for rule in alerts.RULES:
            metric.add_metric([rule], float(rule in up))
        return metric


def registry_of(telemetry: Telemetry) -> CollectorRegistry:
    """Return a registry of telemetry and of this process (memory, CPU time, descriptors)."""
    registry = CollectorRegistry()
    registry.register(TelemetryCollector(telemetry))
    ProcessCollector(registry=registry)
    return registry


def exposition(registry: CollectorRegistry) -> bytes:
    """Return all metrics in Prometheus's text format."""
    return generate_latest(registry)


def _by_verdict(name: str, text: str, counts: dict[str, int]) -> Metric:
    metric = CounterMetricFamily(f"scalebox_{name}", text, labels=["verdict"])
    for verdict in Verdict:
        metric.add_metric([verdict.value], counts.get(verdict, 0))
    return metric


def _labelled(window: Window) -> Iterator[Metric]:
    busy = CounterMetricFamily("scalebox_worker_busy_seconds", "Seconds spent on samples, by stage.", labels=["stage"])
    for stage in ("build", "run", "judge"):
        busy.add_metric([stage], getattr(window, f"{stage}_s"))
    yield busy
    batches = CounterMetricFamily("scalebox_batches_finished", "Batches that ended, by state.", labels=["state"])
    batches.add_metric(["DONE"], window.batches_done)
    batches.add_metric(["FAILED"], window.batches_failed)
    yield batches
    risks = CounterMetricFamily("scalebox_samples_risk", "Samples with a result, by risk.", labels=["risk"])
    for risk in ("none", "low", "medium", "high"):
        risks.add_metric([risk], window.risks[risk])
    yield risks


def _histogram(name: str, text: str, sketch: Sketch) -> Metric:
    buckets = [(f"{bound:g}", float(count)) for bound, count in sketch.cumulative(_JOIN)]
    return HistogramMetricFamily(f"scalebox_{name}", text, [*buckets[:-1], ("+Inf", float(sketch.count))], sketch.sum)
