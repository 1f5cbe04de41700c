"""What the tools do, without any protocol: plain arguments in, a bounded plain object out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from scalebox.client import AsyncScaleBoxClient
from scalebox.client.program import outcome, to_run
from scalebox.core.errors import InputError
from scalebox.core.result import VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.views import policy_view
from scalebox.parse import parse_sample

View = Literal["policy", "trainer"]

#: Longest text and longest list of an answer: a model reads it, and a hostile program writes it.
TEXT_LIMIT = 4000
ITEMS_LIMIT = 20
#: Longest program, and longest input of one, in characters.
SOURCE_LIMIT = 1_000_000
STDIN_LIMIT = 4_000_000
#: Most tests of one call.
TESTS_LIMIT = 1000


class Tools:
    """The tools, on a client with these settings. `view` says how much of a verification the caller may see."""

    def __init__(self, client: AsyncScaleBoxClient, settings: Settings, view: View = "policy") -> None:
        self._client = client
        self._settings = settings
        self._view = view

    async def run_code(
        self, program: str, stdin: str = "", language: str = "python", limits: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Run a program once and return what became of it. Raises InputError, and the client's errors."""
        _check_length(program, SOURCE_LIMIT, "program")
        _check_length(stdin, STDIN_LIMIT, "stdin")
        result = await self._verify(to_run(program, stdin) | {"language": language, "limits": limits})
        return bounded(outcome(result))

    async def verify(
        self,
        code: str,
        tests: Sequence[Mapping[str, Any]],
        language: str = "python",
        limits: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Verify a program and return this server's view of the result. Raises InputError, and the client's errors.

        A test that does not say whether it is `hidden` is not: who calls wrote it. `options` are more of a sample's
        fields.
        """
        _check_length(code, SOURCE_LIMIT, "code")
        if len(tests) > TESTS_LIMIT:
            raise InputError(f"{len(tests)} tests are too many", field="tests", mend=f"at most {TESTS_LIMIT}")
        given = dict(options or {})
        twice = sorted(given.keys() & {"id", "code", "response", "tests", "language", "limits"})
        if twice:
            raise InputError(
                "is no option", field=f"options.{twice[0]}", mend="give it as an argument, or leave it out"
            )
        shown = [{"hidden": False, **test} for test in tests]
        sample = {"id": "verify", "code": code, "tests": shown, "language": language, "limits": limits}
        result = await self._verify(sample | given)
        if self._view == "trainer":
            return trainer_view(result)
        return dict(msgspec.to_builtins(policy_view(result, parse_sample(sample | given, settings=self._settings))))

    async def _verify(self, sample: Mapping[str, Any]) -> VerificationResult:
        try:
            batch = await self._client.submit_batch([sample])
        except InputError as error:
            field = error.field.removeprefix("samples[0]").removeprefix(".")
            raise InputError(error.problem, field=field, mend=error.mend) from None
        try:
            return (await self._client.fetch(batch))[0]
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.ensure_future(self._client.cancel(batch)))
            raise


def trainer_view(result: VerificationResult) -> dict[str, Any]:
    """Return the whole record but the code, which the caller has."""
    record = msgspec.to_builtins(result)
    del record["code"], record["meta"]
    return bounded(record | {"cases_total": len(result.cases)})


def bounded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain object with long texts cut, and marked so, and long lists cut."""
    return {key: _cut(value) for key, value in record.items()}


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > TEXT_LIMIT:
        return f"{value[:TEXT_LIMIT]}… ({len(value) - TEXT_LIMIT} more characters)"
    if isinstance(value, list):
        return [_cut(item) for item in value[:ITEMS_LIMIT]]
    return bounded(value) if isinstance(value, dict) else value


def _check_length(text: str, limit: int, field: str) -> None:
    if len(text) > limit:
        raise InputError(f"{len(text)} characters are too many", field=field, mend=f"at most {limit}")
