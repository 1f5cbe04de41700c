"""SandboxFusion's `/run_code`: a program, its input and files in; how it ended, and what it printed, out."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from scalebox.core.errors import InputError
from scalebox.languages.language import Language
from scalebox.languages.python import has_pytest, interpreter
from scalebox.server.compat import in_python
from scalebox.server.compat.fusion import RunCodeRequest, RunCodeResponse, response_of
from scalebox.server.compat.languages import FUSION, compiled, known, ours
from scalebox.server.compat.running import Runner

#: A file of this mark is one that clients send for others to see.
_IGNORED = "IGNORE_THIS_FILE"
_GO_TEST = re.compile(r"^func\s+Test", re.MULTILINE)


async def run_code(runner: Runner, request: RunCodeRequest) -> RunCodeResponse:
    """Run a program. Raises InputError, QueueFull."""
    if not known(request.language):
        raise InputError(f"Input should be one of {', '.join(FUSION)}", field="language")
    language = ours(request.language)
    problem = _unsupported(runner, request, language)
    if language is None or problem:
        return RunCodeResponse(status="SandboxError", message=problem)
    if request.language == "go_test":
        return await _go_test(runner, request, language)
    code, files, wanted = request.code, files_of(request.files), fetch_files_of(request.fetch_files)
    if language.name == "php" and "<?" not in code:
        code = f"<?php {code}"
    if request.language == "pytest":
        code, files = in_python.pytest(code, request.args, files)
    marker = ""
    if wanted:
        code, files, marker = in_python.fetching(code, wanted, files)
    limits = runner.limits(request.run_timeout, request.compile_timeout, request.memory_limit_MB)
    result = await runner.run(language.name, code, request.stdin or "", limits, files)
    response = response_of(result, result.cases[0], compiled=compiled(language))
    if marker and response.run_result is not None and response.run_result.stdout is not None:
        response.run_result.stdout, response.files = in_python.fetched(response.run_result.stdout, marker, wanted)
    return response


async def _go_test(runner: Runner, request: RunCodeRequest, language: Language) -> RunCodeResponse:
    """Run the tests of a Go file: from the first of them on it is the tests, before that the program."""
    found = _GO_TEST.search(request.code)
    at = found.start() if found else len(request.code)
    record = {
        "id": "run", "language": language.name, "code": request.code[:at],
        "tests": [{"suffix": request.code[at:] or "\n"}],
        "limits": runner.limits(request.run_timeout, request.compile_timeout, request.memory_limit_MB),
    }  # fmt: skip
    result = await runner.verify(record)
    return response_of(result, result.cases[0], compiled=False)


def _unsupported(runner: Runner, request: RunCodeRequest, language: Language | None) -> str:
    """Return why a request cannot be served, "" where it can."""
    if language is None:
        return f"{request.language} is not supported by this server"
    if request.language == "pytest" and not has_pytest(interpreter(runner.settings.interpreter)):
        return "toolchain missing: no pytest where the samples' interpreter finds it"
    if request.fetch_files and language.name != "python":
        return f"fetch_files is not supported by this server for {request.language}"
    if request.language == "go_test" and (files_of(request.files) or request.stdin):
        return "files and stdin are not supported by this server for go_test"
    return ""


def files_of(given: Mapping[str, str | None]) -> dict[str, bytes]:
    """Return files that were sent as base64, by path below the working directory. Raises InputError."""
    files = {}
    for name, text in given.items():
        if text is None or _IGNORED in name:
            continue
        (path,) = paths_of([name], "files")
        try:
            # White space is no part of it: many tools write base64 in lines.
            files[path] = base64.b64decode("".join(text.split()), validate=True)
        except (binascii.Error, ValueError):
            raise InputError("is not base64", field=f"files.{name}", mend="encode the file's bytes") from None
    return files


def fetch_files_of(names: Sequence[str]) -> Sequence[str]:
    """Return the names of files to send back, under which they are asked for and answered. Raises InputError."""
    paths_of(names, "fetch_files")
    return names


def paths_of(names: Iterable[str], field: str) -> Sequence[str]:
    """Return paths below the working directory in their plain form. Raises InputError."""
    paths = [posixpath.normpath(name) for name in names]
    for name, path in zip(names, paths, strict=True):
        if posixpath.isabs(path) or path.split("/")[0] in ("..", ".") or "\0" in path:
            mend = "a path below the working directory, such as data/in.txt"
            raise InputError(f"{name!r} is no name for a file", field=field, mend=mend)
    return paths
