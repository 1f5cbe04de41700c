"""A verifier of calls for each language that has a driver."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.stage import public_interpreter

from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample
from scalebox.sandbox import tiers
from scalebox.worker import Verifier

Call = Callable[..., VerificationResult]
#: What has a driver of its own; C++20 and TypeScript without types differ in a flag.
LANGUAGES = ("cpp", "go", "java", "javascript", "rust", "typescript")


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    """Return a language whose toolchain is here; the others are skipped by name."""
    return needed(str(request.param))


def needed(language: str) -> str:
    try:
        toolchain(language)
    except Missing as missing:
        pytest.skip(f"{language}: {missing}")
    return language


def caller(tier: str, cache: Path) -> Iterator[Call]:
    """Yield what verifies a program by calls: (function, arguments, expected) as JSON, or whole records of tests."""
    probe = tiers.find(tier).probe()
    if not probe.ok:
        pytest.skip(f"the {tier} tier does not work here: {probe.reason}")
    settings = Settings(
        tier=tier, interpreter=public_interpreter() if tier == "process" else "", cache_dir=str(cache), workers=1
    )
    made = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])

    def call(
        language: str, code: str, *tests: tuple[str, list[Any], Any] | dict[str, Any], **more: Any
    ) -> VerificationResult:
        given = [
            dict(zip(("call", "args", "expect"), one, strict=True)) if isinstance(one, tuple) else one for one in tests
        ]
        limits = {"build_s": 60.0, "cpu_s": 5.0, "wall_s": 120.0, **more.pop("limits", {})}
        record = {"id": "s", "language": language, "code": code, "tests": given, "limits": limits, **more}
        result, _ = made.verify(parse_sample(record, settings=settings))
        made.tidy()
        if result.message.startswith("toolchain missing"):
            pytest.skip(f"{language} in the {tier} tier: {result.message}")
        return result

    yield call
    made.close()


@pytest.fixture(scope="module")
def call(cache: Path) -> Iterator[Call]:
    yield from caller("namespace", cache)
