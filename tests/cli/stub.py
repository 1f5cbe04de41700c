"""A client that verifies nothing: a sample's code names the verdict that it gets.

Run as a script, it is the `scalebox` command with this client in place of the real one.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from unittest import mock

import click

from scalebox.cli.main import main
from scalebox.core.errors import EngineClosed, QueueFull
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.core.verdicts import DOUBTFUL, Verdict


def result_of(sample: Sample) -> VerificationResult:
    """Return the result that the sample's code asks for."""
    verdict = Verdict(sample.code or "compile_error")
    passed = verdict is Verdict.PASSED
    detail = "" if passed else "line 1, token 1: expected '3', got '4'"
    cases = [CaseResult(id=test.id, verdict=verdict, exit_code=0, detail=detail) for test in sample.tests]
    return VerificationResult(
        id=sample.id,
        verdict=verdict,
        pass_rate=float(passed),
        reward=None if verdict in DOUBTFUL else float(passed),
        masked=verdict in DOUBTFUL,
        tier="namespace",
        cases=cases,
    )


class StubClient:
    """The part of AsyncScaleBoxClient that `verify` uses.

    Code "hold" never finishes, "die" loses the engine; a queue of `room` samples refuses more.
    """

    room = 10_000
    clients: list[StubClient] = []  # noqa: RUF012 (the tests look at who was made)

    def __init__(self, url: str | None = None, *, settings: Settings | None = None) -> None:
        self.url, self.settings = url, settings
        self.batches: dict[str, Sequence[Sample]] = {}
        self.waiting = 0
        self.most_waiting = 0
        self.refused = 0
        self.closed = False
        self.clients.append(self)

    async def __aenter__(self) -> StubClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed = True

    async def submit_batch(self, samples: Sequence[Sample]) -> str:
        if self.waiting + len(samples) > self.room:
            self.refused += 1
            raise QueueFull("no room")
        self.waiting += len(samples)
        self.most_waiting = max(self.most_waiting, self.waiting)
        batch_id = f"b{len(self.batches)}"
        self.batches[batch_id] = samples
        return batch_id

    async def stream(self, batch_id: str) -> AsyncIterator[VerificationResult]:
        for sample in self.batches[batch_id]:
            await asyncio.sleep(0)
            if sample.code == "hold":
                click.echo("holding", err=True)
                await asyncio.Event().wait()
            if sample.code == "die":
                raise EngineClosed("the engine was lost")
            self.waiting -= 1
            yield result_of(sample)


if __name__ == "__main__":
    with mock.patch("scalebox.cli.verify.AsyncScaleBoxClient", StubClient):
        main(sys.argv[1:], prog_name="scalebox")
