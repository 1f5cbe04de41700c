"""Python: what the interpreter that runs samples is, and what a jail loads beforehand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache

import msgspec

from scalebox.core.errors import SettingsError
from scalebox.languages.language import Language
from scalebox.languages.language import SelfTest as _SelfTest

SELF_TEST = "print(sum(map(int, input().split())))\n"
SELF_TEST_INPUT, SELF_TEST_OUTPUT = "20 22\n", "42\n"

#: Built and run by the jail's own agent, which is the interpreter: there is no command for it.
LANGUAGE = Language(
    name="python",
    title="Python",
    aliases=("py", "python3"),
    extensions=(".py",),
    source="solution.py",
    install="the interpreter that runs ScaleBox, or the setting `interpreter`",
    self_test=_SelfTest(SELF_TEST, SELF_TEST_INPUT, SELF_TEST_OUTPUT),
)

#: Loaded in every jail: cheap, and wanted by most programs. What else a program imports its compile process loads.
BARE = (
    "io", "math", "collections", "collections.abc", "itertools", "functools", "heapq", "bisect", "operator", "re",
    "string", "copy", "random", "typing", "threading", "atexit", "linecache", "traceback", "json",
)  # fmt: skip
#: Loaded in a jail of its own for programs that import any of them.
SCIENTIFIC = ("numpy", "numpy.random", "pandas", "scipy", "sklearn")
#: Loaded in a jail of its own for pytest suites: all that a run of pytest imports by itself.
PYTEST = (
    "pytest", "unittest", "_pytest._argcomplete", "_pytest.assertion.rewrite", "_pytest.helpconfig",
    "_pytest.monkeypatch", "_pytest.recwarn", "_pytest.skipping", "_pytest.tmpdir", "_pytest.unittest",
    "_pytest.warnings", "asyncio", "difflib", "encodings.unicode_escape", "pdb",
)  # fmt: skip

_SCIENTIFIC_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(?:numpy|pandas|scipy|sklearn)\b", re.MULTILINE)
_PROBE = """
import json, site, sys, sysconfig
print(json.dumps({"executable": getattr(sys, "_base_executable", None) or sys.executable, "prefix": sys.prefix,
 "base_prefix": sys.base_prefix, "version": sys.version.split()[0], "implementation": sys.implementation.name,
 "path": [p for p in sys.path if p], "site": site.getsitepackages()}))
"""


class Interpreter(msgspec.Struct, frozen=True):
    """The interpreter that runs samples. `path` is its module search path, `prefixes` the folders it needs to read."""

    executable: str
    version: str
    path: tuple[str, ...]
    prefixes: tuple[str, ...]


@cache
def interpreter(executable: str = "") -> Interpreter:
    """Ask an interpreter about itself ("" is the one running this). Raises SettingsError where it cannot serve."""
    command = executable or sys.executable
    try:
        answer = subprocess.run(
            [command, "-I", "-c", _PROBE], capture_output=True, timeout=60, check=True, stdin=subprocess.DEVNULL
        )
        facts = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SettingsError(
            f"interpreter: {command!r} does not run as a Python ({_why(error)}); give the path of one"
        ) from None
    version = tuple(int(part) for part in facts["version"].split(".")[:2])
    if facts["implementation"] != "cpython" or version < (3, 8):
        raise SettingsError(
            f"interpreter: {command!r} is {facts['implementation']} {facts['version']}; CPython 3.8+ is needed"
        )
    prefixes = {os.path.realpath(facts[key]) for key in ("prefix", "base_prefix")}
    there = [os.path.realpath(place) for place in (*facts["path"], *facts["site"]) if os.path.isdir(place)]
    path = list(dict.fromkeys(there))
    beneath = tuple(prefix.rstrip("/") + "/" for prefix in (*prefixes, facts["prefix"], facts["base_prefix"]))
    return Interpreter(
        executable=os.path.realpath(facts["executable"]),
        version=facts["version"],
        path=tuple(place for place in path if place.startswith(beneath)),
        prefixes=tuple(sorted(prefixes)),
    )


def _why(error: Exception) -> str:
    """Return what went wrong, without the text of the probe, which nobody who mistyped a path has written."""
    if isinstance(error, subprocess.CalledProcessError):
        said = error.stderr.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return f"exit code {error.returncode}{last and f': {last[:200]}'}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {error.timeout:g} s"
    return getattr(error, "strerror", None) or "its answer is none of a Python"


def has_pytest(interpreter: Interpreter) -> bool:
    """Return whether samples' interpreter has pytest: where it has none, no suite can be judged."""
    return any(os.path.isfile(os.path.join(place, "pytest", "__init__.py")) for place in interpreter.path)


def zygote_for(source: str, configured: str, *, pytest: bool = False) -> str:
    """Return which sets of preloaded modules suit a program: "bare" or "scientific", and pytest where it is asked for.

    `source` is the program's, with that of its tests.
    """
    name = configured
    if configured == "auto":
        name = "scientific" if _SCIENTIFIC_IMPORT.search(source) else "bare"
    return f"{name}-pytest" if pytest else name


def preload_of(zygote: str) -> tuple[str, ...]:
    """Return the modules that are loaded beforehand for what `zygote_for` returned."""
    name, _, pytest = zygote.partition("-")
    return (*BARE, *(SCIENTIFIC if name == "scientific" else ()), *(PYTEST if pytest else ()))
