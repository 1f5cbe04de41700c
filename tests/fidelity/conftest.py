"""One engine for each module of this suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from scalebox import ScaleBoxClient, Settings, VerificationResult

Verify = Callable[[Sequence[dict[str, Any]]], dict[str, VerificationResult]]


def _verifier(settings: Settings) -> Iterator[Verify]:
    with ScaleBoxClient(settings=settings) as client:

        def verify(samples: Sequence[dict[str, Any]]) -> dict[str, VerificationResult]:
            results = client.fetch(client.submit_batch(list(samples)))
            assert len(results) == len(samples)
            return {result.id: result for result in results}

        yield verify


@pytest.fixture(scope="module")
def verify() -> Iterator[Verify]:
    """Return what verifies samples as one batch: their results by id."""
    yield from _verifier(Settings())


@pytest.fixture(scope="module")
def verify_to_first_failure() -> Iterator[Verify]:
    """Return the same, ending each sample at its first failed case."""
    yield from _verifier(Settings(early_stop=True))
