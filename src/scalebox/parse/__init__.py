"""Raw records to samples: everything about a sample is checked here, before any of it is queued.

Every refusal is an InputError with the path of the field, the problem and, where there is one, the mend.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from scalebox.core.errors import InputError, SettingsError
from scalebox.core.jsonl import decode_object
from scalebox.core.limits import Limits, parse_limits
from scalebox.core.sample import CallTest, Match, PytestTest, Sample, StdinTest, Test
from scalebox.core.settings import Settings
from scalebox.execute import drivers
from scalebox.judge import check_expected, check_match
from scalebox.languages import registry
from scalebox.parse.calls import check_portable
from scalebox.parse.fields import SURROGATE, check_names, identifier, shown, text_of
from scalebox.parse.judges import checker, interactor
from scalebox.parse.program import entry_points, prompt_fields, setup_of, solution_fields
from scalebox.parse.tests import parse_tests
from scalebox.reward import check_reward

#: Fields that this version cannot act on, and that would change the label if they were passed over.
_LATER_FIELDS = ("patch", "repo")
#: Fields that are accepted and not read: they change no label.
_UNREAD_FIELDS = ("trajectory", "reference", "tests_written")
_FIELDS = (
    "id", "problem_id", "language", "response", "code", "tests", "match", "limits", "profile", "reward", "meta",
    "prompt", "stop", "setup", "entry_point", "solution_files", "main",
    "checker", "interactor", *_UNREAD_FIELDS, *_LATER_FIELDS,
)  # fmt: skip

_PROGRAM = "response is the text of a model's raw answer, code is source as it is"

#: What only samples in Python may have.
_PYTHON_FIELDS = ("prompt", "stop", "setup", "entry_point", "main")


#: Which of them samples in other languages may have too, by the kind of their tests.
_ALSO_OF = {"program": ("prompt", "stop"), "pytest": ("solution_files", "main")}


def parse_line(line: bytes, *, settings: Settings, source: str = "", number: int = 0) -> Sample:
    """Return the sample on one line of JSON Lines; InputError carries `source` and the line `number`."""
    try:
        return parse_sample(decode_object(line), settings=settings)
    except InputError as error:
        raise error.at(source, number) from None


def parse_sample(raw: Mapping[str, Any], *, settings: Settings) -> Sample:
    """Return the checked sample of a raw record; a null field counts as left out.

    A lone surrogate in `response` or `code`, which no source file can hold, becomes U+FFFD. Raises InputError.
    """
    if not isinstance(raw, Mapping):
        raise InputError(f"a sample must be an object, not {type(raw).__name__}")
    given = {key: value for key, value in raw.items() if value is not None}
    check_names(given, _FIELDS, "")
    for name in _LATER_FIELDS:
        if name in given:
            raise InputError("not supported by this version", field=name, mend="leave it out")
    sample_id = identifier(given, "id", "id", 'give each sample its own, such as "s-1"')
    language = _language(given)
    response, code = _program(given)
    _check_reference(given)
    limits = _limits(given, settings)
    tests, kind = parse_tests(given, limits)
    _check_language(given, language, tests, kind)
    return Sample(
        id=sample_id,
        problem_id=identifier(given, "problem_id", "problem_id") if "problem_id" in given else None,
        language=language,
        response=response,
        code=code,
        **prompt_fields(given, language),
        entry_points=entry_points(given, tests),
        setup=setup_of(given, kind),
        **solution_fields(given, kind, limits, language),
        tests=tests,
        match=_match(given, tests, kind),
        checker=checker(given, kind, limits),
        interactor=interactor(given, kind, limits),
        limits=limits,
        reward=_reward(given, settings),
        extract=settings.extraction,
        early_stop=settings.early_stop,
        steps=_steps(given),
        meta=given.get("meta"),
    )


def _language(given: Mapping[str, Any]) -> str:
    name = text_of(given, "language", "language") if "language" in given else "python"
    language = registry.find(name)
    if language is None:
        mend = f"one of {', '.join(registry.languages())}"
        raise InputError(f"no such language: {shown(name)}", field="language", mend=mend)
    return language.name


def _check_language(given: Mapping[str, Any], language: str, tests: tuple[Test, ...], kind: str) -> None:
    """Refuse what is for Python alone. Raises InputError."""
    if language == "python":
        return
    declared = registry.languages()[language]
    has = {
        "stdin": True, "call": language in drivers.languages(), "program": bool(declared.programs),
        "pytest": declared.suites,
    }  # fmt: skip
    if not has.get(kind, False):
        problem = f"{kind} tests are not supported by this version for {language}"
        raise InputError(problem, field="tests", mend="test by stdin and stdout")
    for index, test in enumerate(tests):
        if isinstance(test, CallTest):
            check_portable(test, language, f"tests[{index}]")
        if isinstance(test, PytestTest) and test.mutant_control:
            field = f"tests[{index}].mutant_control"
            raise InputError(f"not supported by this version for {language}", field=field, mend="leave it out")
    for name in _PYTHON_FIELDS:
        if name in given and name not in _ALSO_OF.get(kind, ()):
            raise InputError(f"not supported by this version for {language}", field=name, mend="leave it out")


def _program(given: Mapping[str, Any]) -> tuple[str | None, str | None]:
    if ("response" in given) == ("code" in given):
        problem = "both response and code are given" if "response" in given else "neither response nor code is given"
        raise InputError(problem, field="response", mend=f"{_PROGRAM}: give one of them")
    name = "response" if "response" in given else "code"
    text = text_of(given, name, name, _PROGRAM)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = SURROGATE.sub("\ufffd", text)
    return (text, None) if name == "response" else (None, text)


def _steps(given: Mapping[str, Any]) -> int | None:
    """Return the length of the trajectory: all of it that counts in this version."""
    if "trajectory" not in given:
        return None
    steps = given["trajectory"]
    if not isinstance(steps, (list, tuple)) or not all(isinstance(step, Mapping) for step in steps):
        raise InputError("must be an array of objects", field="trajectory", mend='such as [{"kind": "message", …}]')
    return len(steps)


def _check_reference(given: Mapping[str, Any]) -> None:
    if "reference" in given:
        text_of(given, "reference", "reference", "source of a solution known to be right")


def _limits(given: Mapping[str, Any], settings: Settings) -> Limits:
    profile = text_of(given, "profile", "profile") if "profile" in given else settings.profile
    if profile not in settings.profile_names():
        known = ", ".join(settings.profile_names())
        raise InputError(f"no such profile: {shown(profile)}", field="profile", mend=f"one of {known}")
    return parse_limits(given.get("limits", {}), settings.limits_of(profile))


def _reward(given: Mapping[str, Any], settings: Settings) -> str:
    if "reward" in given:
        return check_reward(text_of(given, "reward", "reward"), "reward")
    return _default_reward(settings.reward)


@functools.cache
def _default_reward(name: str) -> str:
    try:
        return check_reward(name, "reward")
    except InputError as error:
        raise SettingsError(str(error)) from None


def _match(given: Mapping[str, Any], tests: tuple[Test, ...], kind: str) -> Match:
    if "match" not in given:
        return Match()
    if kind not in ("stdin", "call"):
        problem = f"{kind} tests compare by themselves"
        raise InputError(problem, field="match", mend="leave it out: a match is for outputs and returned values")
    match = check_match(given["match"], "stdin" if kind == "stdin" else "call", "match")
    for index, test in enumerate(tests):
        if isinstance(test, StdinTest):
            check_expected(test.stdout, match, f"tests[{index}].stdout")
    return match
