"""The list of a sample's tests: of one kind, with ids of their own."""

from __future__ import annotations

import functools
import marshal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB, Limits
from scalebox.core.literals import is_json
from scalebox.core.sample import StdinTest, Test
from scalebox.parse.calls import call_test
from scalebox.parse.fields import check_names, files_of, identifier, json_kind, shown, text_of, utf8
from scalebox.parse.sources import assert_test, harness_test, program_test, pytest_test

MAX_WEIGHT = 1e9

#: How many lists of tests are remembered, and of how many bytes at most each.
_REMEMBERED, _MOST_BYTES = 1024, 32 * 1024

_COMMON_TEST_FIELDS = ("id", "hidden", "weight")
#: Which kind of test a field belongs to (`files` belongs to two and decides nothing).
_KIND_OF = {
    "stdin": "stdin", "stdout": "stdin",
    "call": "call", "args": "call", "args_repr": "call", "kwargs": "call", "expect": "call", "expect_repr": "call",
    "assert": "assert", "harness": "harness", "prefix": "program", "suffix": "program",
    "required": "pytest", "mutant_control": "pytest",
}  # fmt: skip
_WITH_FILES = frozenset({"stdin", "pytest"})
_TEST_FIELDS = (*_KIND_OF, "files", *_COMMON_TEST_FIELDS)
_NO_TESTS = "give the tests"
_NO_PROBLEMS = (
    "give the tests, or say where the problem is held: scalebox verify --problems, ScaleBoxClient(problems=…),"
    " server_problems"
)
_KINDS = "stdin and stdout; or call, args and expect; or assert; harness; prefix and suffix; files and required"


def parse_tests(given: Mapping[str, Any], limits: Limits) -> tuple[tuple[Test, ...], str]:
    items = given.get("tests")
    if items is None:
        raise InputError("missing", field="tests", mend=_NO_PROBLEMS if "problem_id" in given else _NO_TESTS)
    if not isinstance(items, (list, tuple)):
        mend = "a list of tests, even of one; text that holds JSON has to be decoded first"
        raise InputError(f"must be an array, not {json_kind(items)}", field="tests", mend=mend)
    if not items:
        raise InputError(
            "no tests: nothing could be judged, never passed", field="tests", mend="give at least one test"
        )
    # The answers to one problem come with the same tests again and again.
    data = marshal.dumps(items, 2) if is_json(items) else b""
    return _remembered(data, limits) if 0 < len(data) <= _MOST_BYTES else _parse(items, limits)


@functools.lru_cache(_REMEMBERED)
def _remembered(data: bytes, limits: Limits) -> tuple[tuple[Test, ...], str]:
    """Parse tests that are given as bytes, which tell lists from tuples, and 1 from 1.0 and true."""
    return _parse(marshal.loads(data), limits)  # noqa: S302 - written above


def _parse(items: Sequence[Any], limits: Limits) -> tuple[tuple[Test, ...], str]:
    kind = ""
    tests: list[Test] = []
    taken: dict[str, int] = {}
    for index, item in enumerate(items):
        field = f"tests[{index}]"
        fields = _test_fields(item, field)
        this_kind = _kind(fields, field)
        kind = kind or this_kind
        if this_kind != kind:
            problem = f"is {_a(this_kind)} test, tests[0] {_a(kind)} test: a sample may not mix kinds"
            raise InputError(problem, field=field, mend="make it a sample of its own")
        test = _BUILDERS[kind](fields, field, _common(fields, index, field), limits)
        if test.id in taken:
            problem = f"tests[{taken[test.id]}] has the id {shown(test.id)} too"
            raise InputError(problem, field=f"{field}.id", mend="give each its own")
        taken[test.id] = index
        tests.append(test)
    return tuple(tests), kind


def _test_fields(item: Any, field: str) -> dict[str, Any]:
    if type(item) is not dict and not isinstance(item, Mapping):
        mend = 'such as {"assert": "assert f(1) == 2"}' if isinstance(item, str) else ""
        raise InputError(f"must be an object, not {json_kind(item)}", field=field, mend=mend)
    fields = {key: value for key, value in item.items() if value is not None}
    # null is a value to expect, except in a record whose columns are filled up with nulls.
    if "expect" in item and "call" in fields and "expect_repr" not in fields:
        fields["expect"] = item["expect"]
    check_names(fields, _TEST_FIELDS, f"{field}.")
    return fields


def _kind(fields: Mapping[str, Any], field: str) -> str:
    kinds = {_KIND_OF[name]: name for name in fields if name in _KIND_OF}
    if len(kinds) > 1:
        problem = f"{' and '.join(kinds.values())} belong to different kinds of test"
        raise InputError(problem, field=field, mend="a test is of one kind")
    for kind in kinds:
        if kind not in _WITH_FILES and "files" in fields:
            raise InputError(f"{_a(kind)} test has no files", field=f"{field}.files", mend="leave it out")
        return kind
    raise InputError("says nothing to test", field=field, mend=_KINDS)


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "assert" else f"a {kind}"


def _common(fields: Mapping[str, Any], index: int, field: str) -> dict[str, Any]:
    hidden = fields.get("hidden", True)
    if not isinstance(hidden, bool):
        raise InputError(f"must be true or false, not {json_kind(hidden)}", field=f"{field}.hidden")
    weight = fields.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise InputError(f"must be a number, not {json_kind(weight)}", field=f"{field}.weight")
    if not 0 < weight <= MAX_WEIGHT:
        mend = f"more than 0, at most {MAX_WEIGHT:.0f}"
        raise InputError(f"{weight!r:.40} makes no sense", field=f"{field}.weight", mend=mend)
    case_id = identifier(fields, "id", f"{field}.id") if "id" in fields else str(index)
    return {"id": case_id, "hidden": hidden, "weight": float(weight)}


def _stdin_test(fields: Mapping[str, Any], field: str, common: dict[str, Any], limits: Limits) -> StdinTest:
    stdin = text_of(fields, "stdin", f"{field}.stdin", 'for a program that reads nothing: "stdin": ""')
    stdout = text_of(fields, "stdout", f"{field}.stdout", 'for a program that prints nothing: "stdout": ""')
    utf8(stdout, f"{field}.stdout")
    size = len(utf8(stdin, f"{field}.stdin"))
    if size > limits.stdin_mb * MIB:
        problem = f"{size} bytes are more than the limit stdin_mb, {limits.stdin_mb:g} MiB"
        raise InputError(problem, field=f"{field}.stdin", mend="raise limits.stdin_mb")
    files = files_of(fields.get("files", {}), f"{field}.files", limits)
    return StdinTest(stdin=stdin, stdout=stdout, files=files, **common)


_BUILDERS: Mapping[str, Callable[[Mapping[str, Any], str, dict[str, Any], Limits], Test]] = {
    "stdin": _stdin_test,
    "call": call_test,
    "assert": assert_test,
    "harness": harness_test,
    "program": program_test,
    "pytest": pytest_test,
}
