"""What a run of `verify` came to: counts as they grow, a table for people, an object for machines."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from scalebox.cli.text import excerpt
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict


class Tally(msgspec.Struct):
    """Counts over results; `cases` counts those that ran, `internal_error` is the first message of one.

    `read` and `read_cases` are the part of `samples` and `cases` that came from a file of results: no rate is theirs.
    """

    verdicts: Counter[str] = msgspec.field(default_factory=Counter)
    tiers: Counter[str] = msgspec.field(default_factory=Counter)
    samples: int = 0
    cases: int = 0
    masked: int = 0
    cached: int = 0
    unusable: int = 0
    reward_sum: float = 0.0
    rewarded: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    internal_error: str = ""
    read: int = 0
    read_cases: int = 0

    def add(self, result: VerificationResult, *, read: bool = False) -> None:
        """Count one result; `read` says that it came from a file, and nothing was run for it."""
        self.samples += 1
        self.verdicts[result.verdict] += 1
        ran = sum(case.verdict is not Verdict.NOT_RUN for case in result.cases)
        self.cases += ran
        if read:
            self.read += 1
            self.read_cases += ran
        self.masked += result.masked
        self.cached += result.cached
        if result.verdict is Verdict.INTERNAL_ERROR and not self.internal_error:
            self.internal_error = result.message
        if result.tier:
            self.tiers[result.tier] += 1
        if result.reward is not None:
            self.reward_sum += result.reward
            self.rewarded += 1

    def exit_code(self) -> int:
        """Return 2 for an unusable line, else 1 for a masked sample, else 0."""
        if self.unusable:
            return 2
        return 1 if self.masked else 0

    def summary(self) -> dict[str, Any]:
        """Return the counts as one JSON object; rates are per second, None without a sample."""
        return {
            "samples": self.samples,
            "cases": self.cases,
            "verdicts": {verdict: self.verdicts[verdict] for verdict in Verdict if self.verdicts[verdict]},
            "mean_reward": self._mean_reward(),
            "masked": self.masked,
            "cached": self.cached,
            "unusable_lines": self.unusable,
            "seconds": round(self.seconds, 3),
            "samples_per_s": self._rate(self.samples - self.read),
            "tests_per_s": self._rate(self.cases - self.read_cases),
            "tiers": sorted(self.tiers),
            "interrupted": self.interrupted,
        }

    def _mean_reward(self) -> float | None:
        return self.reward_sum / self.rewarded if self.rewarded else None

    def _rate(self, count: int) -> float | None:
        return round(count / self.seconds, 1) if count and self.seconds else None

    def print(self, console: Console) -> None:
        """Print the closing table and the line of totals."""
        table = Table("verdict", "samples", "share", title="interrupted" if self.interrupted else None)
        table.columns[1].justify = table.columns[2].justify = "right"
        for verdict in Verdict:
            if count := self.verdicts[verdict]:
                style = "green" if verdict is Verdict.PASSED else None
                table.add_row(verdict, str(count), f"{count / self.samples:.1%}", style=style)
        table.add_section()
        table.add_row("all", str(self.samples), "")
        console.print(table)
        for label, value in self._totals():
            console.print(f"{label:<14} {value}", markup=False, highlight=False, soft_wrap=True)

    def _totals(self) -> list[tuple[str, str]]:
        mean = self._mean_reward()
        masked = f"{self.masked} (no reward: the engine cannot vouch for them)" if self.masked else "0"
        totals = [("mean reward", "none" if mean is None else f"{mean:.4f}"), ("masked", masked)]
        if self.internal_error:
            totals.append(("internal error", f"{excerpt(self.internal_error)} (the first; try scalebox doctor)"))
        if self.unusable:
            totals.append(("unusable lines", str(self.unusable)))
        if self.cached:
            totals.append(("cached", f"{self.cached} ({self.cached / self.samples:.1%} of the samples were not run)"))
        totals.append(("throughput", self._throughput()))
        totals.append(("tier", ", ".join(sorted(self.tiers)) or "none"))
        return totals

    def _throughput(self) -> str:
        if self.read and self.read == self.samples:
            return "none (results were read, nothing was run)"
        cases = self.cases - self.read_cases
        rates = f"{self._rate(self.samples - self.read) or 0:g} samples/s, {self._rate(cases) or 0:g} tests/s"
        return f"{rates} ({cases} tests in {self.seconds:.2f} s)"
