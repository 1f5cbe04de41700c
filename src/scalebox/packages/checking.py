"""A package's submissions run on an engine, and what comes out beside what is expected."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from scalebox.client import AsyncScaleBoxClient
from scalebox.core.errors import InputError
from scalebox.core.limits import MIB
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict, worst
from scalebox.packages.model import Package, Submission

#: Seconds of CPU time that an accepted submission may take where the time limit follows from it.
MEASURING_S = 60.0
#: Samples under way at a time, and bytes of tests that they may carry.
_MOST_SAMPLES, _MOST_BYTES = 64, 256 * MIB


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a submission. `met` is None where it was not run, nobody can vouch for it, or nothing was expected.

    `results` are the engine's, one for each sample; `cases` are theirs in the package's order.
    """

    submission: Submission
    verdict: Verdict = Verdict.NOT_RUN
    met: bool | None = None
    message: str = ""
    points: float | None = None
    cases: tuple[CaseResult, ...] = ()
    results: tuple[VerificationResult, ...] = ()

    def slowest(self) -> CaseResult | None:
        """Return the case that took most CPU time."""
        return max(self.cases, key=lambda case: case.cpu_s, default=None)


class Checking:
    """One check of a package: accepted submissions first where the time limit follows from them, then the others.

    `time_limit_s` stands for the package's own; `python_factor` is how many times that a program in Python has. After a
    run, `limit_s` is the limit that held.
    """

    def __init__(
        self, package: Package, settings: Settings, *, time_limit_s: float | None = None, python_factor: float = 1.0
    ) -> None:
        self._package = package
        self._settings = settings
        self._python_factor = python_factor
        self.limit_s = time_limit_s or package.time.seconds

    async def run(
        self, client: AsyncScaleBoxClient, submissions: Sequence[Submission], done: Callable[[Outcome], None]
    ) -> None:
        """Verify the submissions, and call `done` for each. Raises InputError where a time limit is missing."""
        if self.limit_s is None and any(_needs_limit(submission) for submission in submissions):
            measured = [submission for submission in self._package.submissions if submission.timed]
            slowest_s = -1.0
            async for outcome in self._verify(client, measured, MEASURING_S):
                if outcome.verdict is Verdict.PASSED:
                    factor = self._factor(outcome.submission)
                    slowest_s = max(slowest_s, *(case.cpu_s / factor for case in outcome.cases))
                if outcome.submission in submissions:
                    done(outcome)
            if slowest_s < 0:
                problem = "no time limit is given, and no accepted submission passes from which it would follow"
                raise InputError(problem, source=self._package.name, mend="give --time-limit SECONDS")
            self.limit_s = self._package.time.derived(slowest_s)
            submissions = [submission for submission in submissions if submission not in measured]
        async for outcome in self._verify(client, submissions, self.limit_s or MEASURING_S):
            done(outcome)

    def _factor(self, submission: Submission) -> float:
        python = submission.source is not None and submission.source.language == "python"
        return self._python_factor if python else 1.0

    async def _verify(
        self, client: AsyncScaleBoxClient, submissions: Sequence[Submission], limit_s: float
    ) -> AsyncIterator[Outcome]:
        """Yield the outcome of each submission as it is there."""
        ready: dict[str, tuple[Submission, int]] = {}
        waiting: list[Sample] = []
        for submission in submissions:
            if submission.source is None:
                yield Outcome(submission=submission, message=submission.problem)
                continue
            samples = self._samples(submission, limit_s)
            ready[submission.name] = (submission, len(samples))
            waiting += samples
        room = max(1, min(_MOST_SAMPLES, _MOST_BYTES // max(1, self._package.size())))
        found: dict[str, list[VerificationResult]] = {}
        for start in range(0, len(waiting), room):
            batch_id = await client.submit_batch(waiting[start : start + room])
            async for result in client.stream(batch_id):
                name = result.id.rpartition("#")[0]
                submission, expected = ready[name]
                results = found.setdefault(name, [])
                results.append(result)
                if len(results) == expected:
                    yield self._outcome(submission, results)

    def _samples(self, submission: Submission, limit_s: float) -> list[Sample]:
        stops = submission.expected is not None and submission.expected.first_only and self._package.scoring is None
        return self._package.samples(
            submission, self._settings, time_limit_s=limit_s * self._factor(submission), early_stop=stops
        )

    def _outcome(self, submission: Submission, results: Sequence[VerificationResult]) -> Outcome:
        by_name = {case.id: case for result in results for case in result.cases}
        cases = tuple(by_name[case.name] for case in self._package.cases if case.name in by_name)
        verdicts = [case.verdict for case in cases]
        wanted, scoring = submission.expected, self._package.scoring
        points = None if scoring is None else scoring.points({case.id: case.verdict for case in cases})
        failed = next((case for case in cases if case.verdict not in (Verdict.PASSED, Verdict.NOT_RUN)), None)
        return Outcome(
            submission=submission,
            verdict=_verdict(submission, verdicts),
            met=None if wanted is None else wanted.met(verdicts),
            message="" if failed is None else f"case {failed.id}: {failed.detail}",
            points=points,
            cases=cases,
            results=tuple(results),
        )


def _needs_limit(submission: Submission) -> bool:
    return submission.source is not None and "cpu_s" not in submission.limits


def _verdict(submission: Submission, verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of the case that counts: the first that fails, or the worst."""
    if submission.expected is None or not submission.expected.first_only:
        return worst(verdicts)
    return next((verdict for verdict in verdicts if verdict not in (Verdict.PASSED, Verdict.NOT_RUN)), worst(verdicts))
