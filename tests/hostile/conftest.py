"""Verifiers under attack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from tests.sandbox.stage import public_interpreter

from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.parse import parse_sample
from scalebox.worker import Verifier


class Target:
    """One worker's verifier, and what it says of records in the input format.

    A worker has one verifier, so of several targets only the one last used has jails.
    """

    _in_use: ClassVar[Target | None] = None

    def __init__(self, **settings: Any) -> None:
        self.settings = Settings(**settings)
        self.verifier = Verifier(self.settings, [0])

    def take_over(self) -> None:
        """End the jails of the target that was last used, if it is another."""
        if Target._in_use is not None and Target._in_use is not self:
            Target._in_use.verifier.close()
        if Target._in_use is not self:
            self.verifier.warm()
        Target._in_use = self

    def verify(self, record: dict[str, Any]) -> VerificationResult:
        """Return the result of a record once its sample is cleared away."""
        self.take_over()
        result, _ = self.verifier.verify(parse_sample(record, settings=self.settings))
        self.verifier.tidy()
        return result

    def agents(self) -> set[int]:
        """Return the agents of the jails that programs run in."""
        return {jail.agent_pid for jail in self.verifier._jails.values() if jail.running}


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    made = Target()
    yield made
    made.verifier.close()


@pytest.fixture(scope="session")
def process_target() -> Iterator[Target]:
    made = Target(tier="process", interpreter=public_interpreter())
    yield made
    made.verifier.close()
