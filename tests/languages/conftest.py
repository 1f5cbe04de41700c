"""A verifier for each tier and language, which takes samples in the input format."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.languages.programs import ALL
from tests.sandbox.stage import public_interpreter

from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample
from scalebox.sandbox import tiers
from scalebox.worker import Verifier

Verify = Callable[..., VerificationResult]

#: Languages whose tests fail, and are not skipped, for want of a toolchain if SCALEBOX_TEST_TOOLCHAINS is "required".
FIRST = frozenset(["c", "cpp", "cpp20", "java", "rust", "go", "javascript", "typescript", "typescript-transpile"])

#: Modules whose programs are in C where a test is for no other language.
IN_C = frozenset(["test_apart.py", "test_builds.py"])


def lacking(language: str, why: str) -> NoReturn:
    """Skip a test by the name of the language that cannot be had, or fail it where it must be there."""
    if language in FIRST and os.environ.get("SCALEBOX_TEST_TOOLCHAINS") == "required":
        pytest.fail(f"{language}: {why}")
    pytest.skip(f"{language}: {why}")


def _for_everybody(folder: str) -> bool:
    """Return whether every user may enter a folder."""
    try:
        return all(os.stat(path).st_mode & stat.S_IXOTH for path in (Path(folder), *Path(folder).parents))
    except OSError:
        return False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes minutes together: languages beyond the first, and in the `process` tier all but C."""
    for item in items:
        if Path(__file__).parent in item.path.parents and _is_slow(item):
            item.add_marker("languages")


def _is_slow(item: pytest.Item) -> bool:
    params: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    language = params.get("language", "c" if item.path.name in IN_C else None)
    if isinstance(language, str) and language not in FIRST:
        return True
    return params.get("tier") == "process" and language != "c"


@pytest.fixture(scope="module", params=["namespace", "process"])
def tier(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    probe = tiers.find(name).probe()
    if not probe.ok:
        pytest.skip(f"the {name} tier does not work here: {probe.reason}")
    return name


@pytest.fixture(scope="module", params=list(ALL))
def language(request: pytest.FixtureRequest) -> str:
    """Return a language whose toolchain is here; the others are skipped by name."""
    name = str(request.param)
    try:
        toolchain(name)
    except Missing as missing:
        lacking(name, str(missing))
    return name


def result_of(made: Verifier, settings: Settings, record: dict[str, Any]) -> VerificationResult:
    """Return the result of a record; where its toolchain cannot be reached in the tier, it is lacking.

    A test of what becomes of a build is skipped where the machine had no CPU for it, twice.
    """
    result, _ = made.verify(parse_sample(record, settings=settings))
    made.tidy()
    if result.message.startswith("toolchain missing"):
        lacking(record["language"], f"in the {settings.tier} tier: {result.message}")
    if result.verdict == "unknown" and result.stage == "build":  # as it should be, but not what is asked here
        pytest.skip(f"{record['language']}: {result.message}")
    return result


def verifier_of(tier: str, cache: Path, **more: Any) -> Iterator[Verify]:
    interpreter = public_interpreter() if tier == "process" else ""
    settings = Settings(tier=tier, interpreter=interpreter, cache_dir=str(cache), workers=1, **more)
    made = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])

    def verify(
        language: str, code: str, *tests: tuple[str, str], solution_files: dict[str, str] | None = None, **limits: Any
    ) -> VerificationResult:
        record = {
            "id": "s", "language": language, "code": code, "solution_files": solution_files or {},
            "tests": [{"stdin": stdin, "stdout": stdout} for stdin, stdout in tests or (("20 22\n", "42\n"),)],
            "limits": {"build_s": 60.0, "cpu_s": 5.0, "wall_s": 120.0, **limits},
        }  # fmt: skip
        return result_of(made, settings, record)

    yield verify
    made.close()


@pytest.fixture(scope="module")
def reachable(tier: str) -> Iterator[None]:
    """Have toolchains be those that programs can reach: in the process tier these run as users of their own."""
    with pytest.MonkeyPatch.context() as patch:
        if tier == "process":
            folders = os.environ["PATH"].split(os.pathsep)
            patch.setenv("PATH", os.pathsep.join(filter(_for_everybody, folders)))
            toolchain.cache_clear()
        yield
    toolchain.cache_clear()


@pytest.fixture(scope="module")
def verify(tier: str, cache: Path, reachable: None) -> Iterator[Verify]:  # noqa: ARG001 - it changes what is found
    """Return what verifies one program and returns its result."""
    yield from verifier_of(tier, cache)
