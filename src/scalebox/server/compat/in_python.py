"""Programs of ours around what a request sends, where what it asks for is more than to run a program.

They run in the jail with it, so what they say is no more to be trusted than what it prints: it goes to who sent it, and
decides nothing.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Mapping, Sequence
from importlib.resources import files as resources

import msgspec

_PROGRAM = "main.py"
_SUITE = "test_main.py"


class _Notebook(msgspec.Struct):
    cells: list[dict[str, object]]
    files: dict[str, str]


@functools.cache
def _text(name: str) -> str:
    return resources("scalebox.server.compat.jailed").joinpath(f"{name}.py").read_text("utf-8")


def pytest(code: str, words: Sequence[str], files: Mapping[str, bytes]) -> tuple[str, dict[str, bytes]]:
    """Return the program that runs `code` as a module of pytest, and the files for it."""
    command = ["-p", "no:cacheprovider", _SUITE, *words]
    program = f"import sys\nimport pytest\nsys.path.insert(0, '.')\nsys.exit(pytest.main({command!r}))\n"
    return program, {**files, _SUITE: code.encode("utf-8", "replace")}


def fetching(code: str, wanted: Sequence[str], files: Mapping[str, bytes]) -> tuple[str, dict[str, bytes], str]:
    """Return the program that runs `code` and prints the files `wanted`, the files for it, and what it prints first."""
    marker = _marker()
    order = msgspec.json.encode({"program": _PROGRAM, "wanted": wanted, "marker": marker})
    return _text("fetch"), {**files, _PROGRAM: code.encode("utf-8", "replace"), "order.json": order}, marker


def fetched(stdout: str, marker: str, wanted: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return what the program itself printed, and the files behind that."""
    printed, found, told = stdout.rpartition(marker)
    if not found:
        return stdout, {}
    try:
        files = msgspec.json.decode(told, type=dict[str, str])
    except (msgspec.DecodeError, RecursionError):
        return printed, {}
    return printed, {name: data for name, data in files.items() if name in wanted}


def notebook(cells: Sequence[str], wanted: Sequence[str], **timeouts: float) -> tuple[str, str, str]:
    """Return the program that runs cells, its input, and what it prints before its answer."""
    marker = _marker()
    order = {"cells": cells, "wanted": wanted, "marker": marker, **timeouts}
    return _text("notebook"), msgspec.json.encode(order).decode(), marker


def of_notebook(stdout: str, marker: str) -> tuple[list[dict[str, object]], dict[str, str]] | None:
    """Return the cells and the files of the answer, None where there is none."""
    _, found, told = stdout.rpartition(marker)
    try:
        answer = msgspec.json.decode(told, type=_Notebook) if found else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return None if answer is None else (answer.cells, answer.files)


def _marker() -> str:
    return f"\n{secrets.token_hex(16)}\n"
