"""Samples in a plain Python, program and tests in one process: what a test author saw."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# What the tests leave to be run, as the engine runs it: test functions, classes of unittest, interactive sessions.
_REST = """
import inspect as _inspect, sys as _sys, unittest as _unittest
for _name, _value in list(globals().items()):
    if _name.startswith("test_") and _inspect.isfunction(_value) and not _inspect.signature(_value).parameters:
        _value()
_suite = _unittest.defaultTestLoader.loadTestsFromModule(_sys.modules["__main__"])
_result = _unittest.TextTestRunner(stream=open("/dev/null", "w")).run(_suite)
assert _result.wasSuccessful(), _result.failures + _result.errors
"""
_SESSION = """
import doctest as _doctest, sys as _sys
_test = _doctest.DocTestParser().get_doctest({!r}, globals(), "tests", None, 0)
_result = _doctest.DocTestRunner().run(_test)
assert _result.attempted and not _result.failed
"""


def passes(sample: dict[str, Any], seconds: float = 60) -> bool:
    """Return whether a raw sample's program passes all of its tests, each in an interpreter of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return all(_passes(sample, test, Path(folder), seconds) for test in sample["tests"])


def _passes(sample: dict[str, Any], test: dict[str, Any], folder: Path, seconds: float) -> bool:
    code: str = sample.get("prompt", "") + sample.get("code", sample.get("response", ""))
    if "files" in test:
        files = {**sample.get("solution_files", {}), sample.get("main", "solution.py"): code, **test["files"]}
        _write(files, folder)
        command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *test["required"]]
        done = _run(command, folder, seconds)
        return done is not None and f"{len(test['required'])} passed" in done
    _write({"program.py": _script(sample, code, test)}, folder)
    return _run(["program.py"], folder, seconds) is not None


def _script(sample: dict[str, Any], code: str, test: dict[str, Any]) -> str:
    if "suffix" in test or "prefix" in test:
        return "".join([test.get("prefix", ""), code, test.get("suffix", "")])
    source = test.get("assert", test.get("harness", ""))
    parts = [code, sample.get("setup", "")]
    if source.lstrip().startswith(">>>"):
        parts.append(_SESSION.format(source))
    else:
        parts += [source, f"check({sample['entry_point']})" if "entry_point" in sample else "", _REST]
    return "\n".join(parts)


def _write(files: dict[str, str], folder: Path) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _run(arguments: list[str], folder: Path, seconds: float) -> str | None:
    """Return what a command prints, or None if it fails or takes too long."""
    try:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None
