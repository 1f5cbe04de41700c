"""Suites as jest runs them, for JavaScript and TypeScript, by a runner of ours that is loaded before them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from scalebox.core.limits import Limits
from scalebox.core.sample import PytestTest, Sample
from scalebox.core.verdicts import Verdict
from scalebox.execute.label import label
from scalebox.execute.programs.assembled import Assembled, words
from scalebox.execute.programs.javascript import ALTERS
from scalebox.execute.reported import Labelled
from scalebox.languages.language import Language
from scalebox.sandbox.outcome import Outcome

_SUPPORT = Path(__file__).with_name("support")
_RUNNER = "scalebox_jest.js"
_TYPED = (".ts", ".tsx")


class _Report(msgspec.Struct):
    """What the runner tells: suite, full name, status and detail of each test, and what it cannot do.

    `word` is what the suite says where it asks for that; without it in its files, it was the solution that asked.
    """

    ended: list[tuple[str, str, str, str]]
    unsupported: str
    word: str


def assemble_suite(language: Language, sample: Sample, test: PytestTest, code: str) -> Assembled:
    """Return the program: the suite's files lie over those of the solution."""
    main = main_of(sample, language)
    files = {name: text.encode("utf-8", "replace") for name, text in {**sample.solution_files, **test.files}.items()}
    suites = list(dict.fromkeys(name.partition("::")[0] for name in test.required))
    runner = "\n".join((_SUPPORT / name).read_text("utf-8") for name in ("guard.js", "jest.js"))
    told = {"suites": suites, "holds": not any(ALTERS.search(text) for text in test.files.values())}
    beside = {_RUNNER: f"const SCALEBOX = {json.dumps(told)};\n{runner}".encode()}
    changes: dict[str, object] = {"source": main, "run": (*language.run[:-1], f"{{program}}/{_RUNNER}")}
    if language.keep:  # what is run is not what was written
        text = (_SUPPORT / "transpile.js").read_text("utf-8").replace("{", "{{").replace("}", "}}")
        error = rf"^{re.escape(main)}\((?P<line>\d+),\d+\): error TS\d+: (?P<message>.*)$"
        changes |= {"build": (("{node}", "-e", text, "{home}"),), "keep": ("**/*.js",), "error": error}
        beside |= {name: data for name, data in files.items() if not name.endswith((*_TYPED, ".js"))}
    return Assembled(
        text=code, language=msgspec.structs.replace(language, **changes), files=files, beside=beside,
        lines=code.count("\n") + 1, problem=f"{main} is a file of the tests" if main in test.files else "",
    )  # fmt: skip


def main_of(sample: Sample, language: Language) -> str:
    """Return the name of the file that the code is in."""
    return language.source if sample.main == "solution.py" else sample.main


def suite_cases(outcome: Outcome, token: bytes, limits: Limits, test: PytestTest) -> list[Labelled]:
    """Return a case for each required test: it has passed if it was told once, with the token, and as passed."""
    required = test.required
    verdict, detail = label(outcome, limits)
    told = _report(outcome.echo, token) if verdict is None else None
    if told is None:
        verdict = verdict or Verdict.RUNTIME_ERROR
        return [Labelled(name, verdict, detail or "the program ended before its tests did") for name in required]
    if told.unsupported and any(told.word in words(text) for text in test.files.values()):
        return [Labelled(name, Verdict.INTERNAL_ERROR, told.unsupported) for name in required]
    count = Counter(f"{suite}::{name}" for suite, name, _, _ in told.ended)
    found = {f"{suite}::{name}": (status, said) for suite, name, status, said in told.ended}
    return [_case(name, count[name], found) for name in required]


def _report(echo: bytes, token: bytes) -> _Report | None:
    if not echo.startswith(token):
        return None
    try:
        return msgspec.json.decode(echo[len(token) :], type=_Report)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _case(name: str, count: int, found: Mapping[str, tuple[str, str]]) -> Labelled:
    if count > 1:
        return Labelled(name, Verdict.RUNTIME_ERROR, f"there are {count} tests of this name")
    if not count:
        _, said = found.get(name.partition("::")[0] + "::", ("", ""))
        return Labelled(name, Verdict.RUNTIME_ERROR, said or "there is no test of this name")
    status, said = found[name]
    if status == "passed":
        return Labelled(name, Verdict.PASSED)
    return Labelled(name, Verdict.RUNTIME_ERROR if status == "error" else Verdict.ASSERT_FAIL, said or status)
