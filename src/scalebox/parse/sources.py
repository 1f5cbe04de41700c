"""Tests that are source of their own: assertions, harnesses, whole programs, pytest modules.

The source is the task author's, but it is not parsed here: that costs memory and time without bound, and is done
in the jail. What is said about it here is what its text shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scalebox.core.errors import InputError
from scalebox.core.limits import Limits
from scalebox.core.sample import AssertTest, HarnessTest, ProgramTest, PytestTest
from scalebox.parse.fields import files_of, json_kind, shown, source_of, text_of, utf8

_CALLS_CHECK = re.compile(r"^check[ \t]*\(", re.MULTILINE)
_CHECK = re.compile(r"^(?:(?:if|for|with|try)\b.*\n[ \t]+|(?:if|for|with)\b.*:[ \t]*)?check[ \t]*\(", re.MULTILINE)
_CHECK = re.compile(r"\bcheck\b")
MAX_REQUIRED = 100_000


def assert_test(fields: Mapping[str, Any], field: str, common: dict[str, Any], _: Limits) -> AssertTest:
    """Return a test of assertions."""
    mend = 'Python statements, such as "assert f(1) == 2"'
    return AssertTest(source=source_of(fields, "assert", f"{field}.assert", mend), **common)


def harness_test(fields: Mapping[str, Any], field: str, common: dict[str, Any], _: Limits) -> HarnessTest:
    """Return a test by `check(candidate)`."""
    path, mend = f"{field}.harness", "source that defines check(candidate)"
    source = source_of(fields, "harness", path, mend)
    if not _CHECK.search(source):
        raise InputError("does not define check", field=path, mend=mend)
    return HarnessTest(source=source, **common)


def calls_check(test: HarnessTest) -> bool:
    """Return whether a line of the harness calls `check` at the margin, as its text shows."""
    return _CALLS_CHECK.search(test.source) is not None


def program_test(fields: Mapping[str, Any], field: str, common: dict[str, Any], _: Limits) -> ProgramTest:
    """Return a test by what surrounds the code; one half may be left out."""
    prefix, suffix = (_half(fields, name, f"{field}.{name}") for name in ("prefix", "suffix"))
    if not prefix.strip() and not suffix.strip():
        mend = "source after the code that fails, by an assertion or an exit code, where the code is wrong"
        raise InputError("prefix and suffix are empty: nothing to test", field=f"{field}.suffix", mend=mend)
    return ProgramTest(prefix=prefix, suffix=suffix, **common)


def _half(fields: Mapping[str, Any], name: str, field: str) -> str:
    text = text_of(fields, name, field) if name in fields else ""
    utf8(text, field)
    return text


def pytest_test(fields: Mapping[str, Any], field: str, common: dict[str, Any], limits: Limits) -> PytestTest:
    """Return a test by pytest; every required id is of one of its files."""
    files = fields.get("files")
    if files is None:
        raise InputError("missing", field=f"{field}.files", mend="test modules, by name: text")
    files = files_of(files, f"{field}.files", limits)
    mutant_control = fields.get("mutant_control", False)
    if not isinstance(mutant_control, bool):
        problem = f"must be true or false, not {json_kind(mutant_control)}"
        raise InputError(problem, field=f"{field}.mutant_control")
    required = _required(fields, files, f"{field}.required")
    return PytestTest(files=files, required=required, mutant_control=mutant_control, **common)


def _required(fields: Mapping[str, Any], files: Mapping[str, str], field: str) -> tuple[str, ...]:
    given = fields.get("required")
    mend = 'ids of tests, such as ["test_x.py::test_a[1]", "tests/test_x.py::TestC::test_b"]'
    if given is None:
        raise InputError("missing", field=field, mend=mend)
    if not isinstance(given, (list, tuple)):
        raise InputError(f"must be an array, not {json_kind(given)}", field=field, mend=mend)
    if not given or len(given) > MAX_REQUIRED:
        problem = f"has {len(given)} ids" if given else "no test is required: nothing could be judged, never passed"
        raise InputError(problem, field=field, mend=f"1 to {MAX_REQUIRED} {mend}")
    seen: dict[str, int] = {}
    for index, name in enumerate(given):
        path = f"{field}[{index}]"
        if not isinstance(name, str):
            raise InputError(f"must be a string, not {json_kind(name)}", field=path, mend=mend)
        _check_test_id(name, files, path, mend)
        if name in seen:
            raise InputError(f"required[{seen[name]}] is {shown(name)} too", field=path, mend="name each test once")
        seen[name] = index
    return tuple(given)


def _check_test_id(name: str, files: Mapping[str, str], field: str, mend: str) -> None:
    utf8(name, field)
    file, colons, rest = name.partition("::")
    if not colons or not rest or len(name) > 4096:
        raise InputError(f"{shown(name)} is no id of a test", field=field, mend=mend)
    if file not in files:
        raise InputError(f"{shown(file)} is none of the files", field=field, mend="give the test module among files")
