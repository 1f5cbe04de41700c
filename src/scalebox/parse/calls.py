"""Tests that call a function: the function's name, plain data in, plain data out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scalebox.core import values
from scalebox.core.errors import InputError
from scalebox.core.limits import Limits
from scalebox.core.literals import check_plain, parse_literal
from scalebox.core.sample import CallTest
from scalebox.parse.fields import callable_name, json_kind, text_of


def call_test(fields: Mapping[str, Any], field: str, common: dict[str, Any], _: Limits) -> CallTest:
    call = callable_name(text_of(fields, "call", f"{field}.call", "name the function to call"), f"{field}.call")
    arguments = _arguments(fields, field)
    expect = _either(fields, "expect", field, "the value that the call must return; null is one")[0]
    return CallTest(
        call=call,
        arguments=values.encode((arguments, _keywords(fields, field))),
        expect=values.encode(expect),
        expect_json="expect" in fields,
        **common,
    )


def check_portable(test: CallTest, language: str, field: str) -> None:
    """Refuse arguments that are Python's alone. Raises InputError."""
    arguments, keywords = values.decode(test.arguments, len(test.arguments) + 1, math.inf)
    if keywords:
        problem = f"functions in {language} have no arguments by name"
        raise InputError(problem, field=f"{field}.kwargs", mend="give all arguments in args")
    pending = [arguments]
    while pending:
        value = pending.pop()
        if isinstance(value, (complex, bytes, bytearray)):
            problem = f"{type(value).__name__} cannot be carried to {language}"
            raise InputError(problem, field=f"{field}.args_repr", mend="numbers, strings, lists, maps, sets or tuples")
        if isinstance(value, dict):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            pending += value


def _keywords(fields: Mapping[str, Any], field: str) -> dict[str, Any]:
    if "kwargs" not in fields:
        return {}
    keywords = fields["kwargs"]
    if not isinstance(keywords, Mapping) or not all(isinstance(key, str) for key in keywords):
        raise InputError(f"must be an object, not {json_kind(keywords)}", field=f"{field}.kwargs")
    return dict(_plain(dict(keywords), f"{field}.kwargs"))


def _arguments(fields: Mapping[str, Any], field: str) -> tuple[Any, ...]:
    arguments, path = _either(fields, "args", field, 'a call without arguments has "args": []')
    if not isinstance(arguments, (list, tuple)):
        problem = f"must be an array of arguments, not {json_kind(arguments)}"
        raise InputError(problem, field=path, mend="one argument x is [x]")
    return tuple(arguments)


def _either(fields: Mapping[str, Any], name: str, field: str, mend: str) -> tuple[Any, str]:
    """Return the plain value of `name` or of `name`_repr, of which one must be given, and its path."""
    as_text = f"{name}_repr"
    if name in fields and as_text in fields:
        raise InputError(f"{name} is given too", field=f"{field}.{as_text}", mend="give one of the two")
    if name in fields:
        path = f"{field}.{name}"
        return _plain(fields[name], path), path
    path = f"{field}.{as_text}"
    if as_text not in fields:
        raise InputError("missing", field=f"{field}.{name}", mend=mend)
    try:
        value = parse_literal(text_of(fields, as_text, path))
    except ValueError as error:
        mend = "a Python literal; set(), frozenset(...), inf and nan are understood too"
        raise InputError(str(error), field=path, mend=mend) from None
    return _plain(value, path), path


def _plain(value: Any, field: str) -> Any:
    try:
        check_plain(value)
    except ValueError as error:
        raise InputError(str(error), field=field, mend="plain data alone can be carried to the program") from None
    return value
