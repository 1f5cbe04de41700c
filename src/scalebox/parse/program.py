"""What a sample says about its program: the prompt that it continues, its names, its further files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scalebox.core.errors import InputError
from scalebox.core.limits import Limits
from scalebox.core.sample import HarnessTest, Test
from scalebox.languages import registry
from scalebox.parse.fields import (
    callable_name,
    check_file_name,
    files_of,
    shown,
    source_of,
    strings_of,
    text_of,
    utf8,
)
from scalebox.parse.sources import calls_check

MAX_ENTRY_POINTS = 64
MAX_STOPS = 64

#: Kinds of tests whose programs may have further files.
_WITH_FILES = frozenset({"stdin", "assert", "harness", "program", "pytest"})


def prompt_fields(given: Mapping[str, Any], language: str = "python") -> dict[str, Any]:
    """Return `prompt` and `stop`, those that are given; the default of `stop` is for Python alone."""
    fields: dict[str, Any] = {}
    if "prompt" in given:
        fields["prompt"] = text_of(given, "prompt", "prompt", "the text of a program that the response continues")
        utf8(fields["prompt"], "prompt")
        if language != "python":
            fields["stop"] = ()
    if "stop" in given:
        if "prompt" not in given:
            mend = "give the prompt that the response continues, or leave stop out"
            raise InputError("without a prompt nothing is continued", field="stop", mend=mend)
        stops = strings_of(given["stop"], "stop", 'an array of texts, such as ["\\nclass ", "\\ndef "]; [] for none')
        if len(stops) > MAX_STOPS:
            raise InputError(f"has {len(stops)} texts", field="stop", mend=f"at most {MAX_STOPS}")
        for index, stop in enumerate(stops):
            if not stop:
                raise InputError("is empty", field=f"stop[{index}]", mend="leave it out")
        fields["stop"] = stops
    return fields


def entry_points(given: Mapping[str, Any], tests: Sequence[Test]) -> tuple[str, ...]:
    """Return the candidate names of what is tested; a harness that does not call `check` itself needs one."""
    value = given.get("entry_point")
    if value is None:
        needs = next(
            (i for i, test in enumerate(tests) if isinstance(test, HarnessTest) and not calls_check(test)), None
        )
        if needs is not None:
            problem = f"missing: the harness of tests[{needs}] does not call check by itself"
            raise InputError(problem, field="entry_point", mend="name the function that check is called with")
        return ()
    if isinstance(value, str):
        return (callable_name(value, "entry_point"),)
    names = strings_of(value, "entry_point", "a name, or an array of names of which the program defines one")
    if not 0 < len(names) <= MAX_ENTRY_POINTS:
        raise InputError(f"has {len(names)} names", field="entry_point", mend=f"1 to {MAX_ENTRY_POINTS}")
    return tuple(dict.fromkeys(callable_name(name, f"entry_point[{i}]") for i, name in enumerate(names)))


def setup_of(given: Mapping[str, Any], kind: str) -> str:
    """Return the source that runs before the tests, "" where there is none."""
    if "setup" not in given:
        return ""
    if kind not in ("assert", "harness"):
        mend = "put it into the test" if kind in ("program", "pytest") else "leave it out"
        raise InputError(f"{kind} tests have no set-up", field="setup", mend=mend)
    return source_of(given, "setup", "setup", "leave it out")


def solution_fields(given: Mapping[str, Any], kind: str, limits: Limits, language: str = "python") -> dict[str, Any]:
    """Return `solution_files` and `main`, those that are given."""
    fields: dict[str, Any] = {}
    for name in ("solution_files", "main"):
        if name in given and kind not in _WITH_FILES:
            problem = f"not supported by this version for {kind} tests"
            raise InputError(problem, field=name, mend="leave it out")
    if "solution_files" in given:
        fields["solution_files"] = files_of(given["solution_files"], "solution_files", limits)
    if "main" in given:
        fields["main"] = _module_file(language, text_of(given, "main", "main", "the name of the program's file"))
    main = fields.get("main", _own_file(language))
    if main in fields.get("solution_files", ()):
        mend = "leave one out, or give the program another name by main"
        raise InputError("is the program's own file, whose text is code", field=f"solution_files.{main}", mend=mend)
    return fields


def _own_file(name: str) -> str:
    """Return the name of the program's file, "" where that depends on its text."""
    language = registry.languages()[name]
    words = language.layout("") if language.layout else {}
    return "" if "source" in words else language.source


#: What the program's own file may end with, in languages whose suites import it by name.
_MAIN_ENDS = {"javascript": (".js", ".cjs"), "typescript": (".ts", ".tsx"), "typescript-transpile": (".ts", ".tsx")}


def _module_file(language: str, name: str) -> str:
    check_file_name(name, "main")
    ends = _MAIN_ENDS.get(language)
    if ends is not None:
        if not name.endswith(ends):
            raise InputError(f"{shown(name)} is no file of a module", field="main", mend=f"such as solution{ends[0]}")
        return name
    stem = name.removesuffix(".py")
    if stem == name or not all(part.isidentifier() for part in stem.split("/")):
        raise InputError(
            f"{shown(name)} is no file of a module", field="main", mend="such as solution.py or pkg/core.py"
        )
    return name
