"""Checks that all parts of a record share: texts, identifiers, names of files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB, Limits

MAX_ID_CHARACTERS = 512

#: `two_sum`, `Solution.twoSum`, `Solution().twoSum`
_NAME = re.compile(r"[^\W\d]\w*(\(\))?(\.[^\W\d]\w*(\(\))?)*", re.ASCII)
SURROGATE = re.compile("[\ud800-\udfff]")
#: What other tools call our fields.
_HINTS = {
    "task_id": "id", "sample_id": "id", "completion": "response", "solution": "code", "test_cases": "tests",
    "input": "stdin", "output": "stdout", "fn_name": "call", "expected": "expect", "timeout": "limits",
    "asserts": "assert", "test_list": "tests", "stop_tokens": "stop", "stop_sequences": "stop", "stop_words": "stop",
    "test_ids": "required", "test_setup_code": "setup",
}  # fmt: skip


def check_names(given: Iterable[Any], known: tuple[str, ...], prefix: str) -> None:
    for name in given:
        if name not in known:
            raise InputError("no such field", field=f"{prefix}{shown(name)}", mend=_suggestion(name, known))


def _suggestion(name: Any, known: tuple[str, ...]) -> str:
    hint = _HINTS.get(str(name).lower())
    if hint == "limits" and hint not in known:
        return "limits are of the sample, beside its tests: limits.cpu_s, limits.wall_s"
    close = [hint] if hint in known else difflib.get_close_matches(str(name)[:64], known, n=1)
    return f"did you mean {close[0]}?" if close else "leave it out, or put it into meta"


def shown(name: Any) -> str:
    text = str(name)
    return text if len(text) <= 64 and text.isprintable() else ascii(text[:64])


def text_of(holder: Mapping[str, Any], name: str, field: str, mend: str = "") -> str:
    value = holder.get(name)
    if value is None:
        raise InputError("missing", field=field, mend=mend)
    if not isinstance(value, str):
        raise InputError(f"must be a string, not {json_kind(value)}", field=field, mend=mend)
    return value


def utf8(text: str, field: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError("holds a lone surrogate, which no file or pipe can carry", field=field) from None


def json_kind(value: Any) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        list: "an array",
        dict: "an object",
        str: "a string",
    }
    return names.get(type(value), type(value).__name__)


def identifier(holder: Mapping[str, Any], name: str, field: str, mend: str = "") -> str:
    value = holder.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        mend = f'write it as a string: "{value}"'
    text = text_of(holder, name, field, mend)
    utf8(text, field)
    if not text or len(text) > MAX_ID_CHARACTERS:
        raise InputError(f"must have 1 to {MAX_ID_CHARACTERS} characters", field=field, mend=mend)
    return text


def source_of(holder: Mapping[str, Any], name: str, field: str, mend: str = "") -> str:
    """Return a text that is not blank and that a file can hold."""
    text = text_of(holder, name, field, mend)
    utf8(text, field)
    if not text.strip():
        raise InputError("is empty", field=field, mend=mend)
    return text


def strings_of(value: Any, field: str, mend: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise InputError(f"must be an array, not {json_kind(value)}", field=field, mend=mend)
    for index, item in enumerate(value):
        if not isinstance(item, str):
            raise InputError(f"must be a string, not {json_kind(item)}", field=f"{field}[{index}]", mend=mend)
        utf8(item, f"{field}[{index}]")
    return tuple(value)


def callable_name(text: str, field: str) -> str:
    """Return the name of a function or of a method, such as `Solution().f`, if it is one."""
    if len(text) > MAX_ID_CHARACTERS or not _NAME.fullmatch(text) or text.endswith(")"):
        raise InputError(f"{shown(text)} names no function", field=field, mend="such as f or Solution.f")
    return text


def files_of(files: Any, field: str, limits: Limits) -> dict[str, str]:
    if not isinstance(files, Mapping):
        raise InputError(f"must be an object of name and text, not {json_kind(files)}", field=field)
    total = 0
    for name in files:
        path = f"{field}.{shown(name)}"
        check_file_name(name, path)
        total += len(utf8(text_of(files, name, path), path))
    for name in files:
        clash = next((up for up in _parents(name) if up in files), None)
        if clash is not None:
            raise InputError(f"{clash} is a file and a directory", field=f"{field}.{name}")
    if total > limits.disk_mb * MIB:
        problem = f"{total} bytes are more than the limit disk_mb, {limits.disk_mb} MiB"
        raise InputError(problem, field=field, mend="raise limits.disk_mb")
    return dict(files)


def _parents(name: str) -> Iterator[str]:
    """Yield the folders of a file, the outermost first."""
    at = name.find("/")
    while at >= 0:
        yield name[:at]
        at = name.find("/", at + 1)


def check_file_name(name: Any, field: str) -> None:
    if not isinstance(name, str):
        raise InputError("a file's name must be a string", field=field)
    parts = name.split("/")
    sound = all(part not in ("", ".", "..") and len(part.encode(errors="replace")) <= 255 for part in parts)
    if not sound or "\0" in name or SURROGATE.search(name) or len(name) > 1024:
        mend = "a path within the working directory, such as data/in.txt: not absolute, no . or .. in it"
        raise InputError("is no name for a file", field=field, mend=mend)
