"""verl's own client of SandboxFusion, out of its released package, scores against this server."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import logging
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.server.conftest import Server

PINNED = Path(__file__).parents[3] / "requirements" / "peers.txt"
INSIDE = "verl/utils/reward_score/sandbox_fusion/"

Score = Callable[..., tuple[float, list[dict[str, Any]]]]


def released(folder: Path) -> Path:
    """Return the folder with the client's modules, as the release has them; the release is fetched once."""
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("verl-*.whl")):
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
            done = subprocess.run(
                [*command, "--require-hashes", "-r", str(PINNED), "-d", str(folder)],
                capture_output=True, text=True, timeout=240, check=False,
            )  # fmt: skip
            if done.returncode and not os.environ.get("CI"):
                pytest.skip(f"verl's release cannot be fetched: {done.stderr[-500:]}")
            assert done.returncode == 0, done.stderr
            (wheel,) = folder.glob("verl-*.whl")
            with zipfile.ZipFile(wheel) as release:
                release.extractall(folder, [name for name in release.namelist() if name.startswith(INSIDE)])
    return folder / INSIDE


@pytest.fixture(scope="module")
def client(cache: Path) -> ModuleType:
    """Return verl's module, which needs nothing of the rest of verl but that it lies in its package."""
    place = released(cache / "peers") / "__init__.py"
    spec = importlib.util.spec_from_file_location("released_sandbox_fusion", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    logging.getLogger("released_sandbox_fusion.utils").setLevel(logging.CRITICAL)
    return module


@pytest.fixture
def score(client: ModuleType, server: Server, monkeypatch: pytest.MonkeyPatch) -> Score:
    """Return verl's `compute_score` against the server: the score, and what became of each test."""
    monkeypatch.setenv("NO_PROXY", "*")
    at_once = threading.Semaphore(8)

    def score(completion: str, tests: Any, **more: Any) -> tuple[float, list[dict[str, Any]]]:
        found: tuple[float, list[dict[str, Any]]] = client.compute_score(
            f"{server.url}/run_code", at_once, 1024, completion, tests, **{"timeout": 10, **more}
        )
        return found

    return score


def block(code: str) -> str:
    return f"Here it is.\n```python\n{code}\n```\n"


TESTS = {"inputs": ["1 2\n", "3 4\n", "5 6\n", "7 8\n"], "outputs": ["3\n", "7\n", "11", "15"]}


@pytest.mark.parametrize(
    ("code", "expected", "status"),
    [
        ("print(sum(map(int, input().split())))", 1.0, "success"),
        ("import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))\nexit(0)", 1.0, "success"),
        ("a, b = map(int, input().split())\nprint(a + b if a < 4 else 0)", 0.5, "success"),
        ("print(0)", 0.0, "wrong_answer"),
        ("raise ValueError", 0.0, "runtime_error"),
        ("import os; os._exit(0)", 0.0, "wrong_answer"),
        ("def f(:", 0.0, "runtime_error"),
        ("x = bytearray(3 << 30)\nprint(sum(map(int, input().split())))", 0.0, "runtime_error"),
    ],
)
@pytest.mark.parametrize("continuous", [True, False])
def test_scores(score: Score, code: str, expected: float, status: str, continuous: bool) -> None:
    found, told = score(block(code), json.dumps(TESTS), continuous=continuous)
    assert (found, told[0]["status"], len(told)) == (expected, status, 4), told


def test_a_time_out_is_one(score: Score) -> None:
    found, told = score(block("while True: pass"), {"inputs": [""], "outputs": [""]}, timeout=1)
    if told[0]["status"] in ("api_error", "sandbox_error"):  # it waits 12 s
        pytest.skip("the machine is too busy for one second of CPU time")
    assert (found, told[0]["status"], told[0]["run_status"]) == (0.0, "timeout", "TimeLimitExceeded"), told


@pytest.mark.parametrize(("outputs", "expected"), [(["3", "[1, 2]"], 1.0), (["4", "[1, 2]"], 0.5), (["4", "3"], 0.0)])
@pytest.mark.parametrize(
    "code", ["def add(a, b):\n    return a + b", "class Solution:\n    def add(self, a, b):\n        return a + b"]
)
def test_calls(score: Score, code: str, outputs: list[str], expected: float) -> None:
    tests = {"fn_name": "add", "inputs": ["1\n2", "[1]\n[2]"], "outputs": outputs}
    assert score(block(code), tests)[0] == expected


def test_assertions(score: Score) -> None:
    tests = {"assert_case": ["assert f(1) == 2", "assert f(2) == 5", "assert f(0) == 0"]}
    found, told = score(block("def f(x):\n    return 2 * x"), tests)
    assert found == pytest.approx(2 / 3)
    assert [one["status"] for one in told] == ["success", "runtime_error", "success"]


@pytest.mark.parametrize(("language", "code"), [("cpp", "int main() { return none; }"), ("cpp", "int main() {}")])
def test_compiled_languages(
    client: ModuleType, server: Server, needs: Callable[[str], None], language: str, code: str
) -> None:
    needs(language)
    found, told = client.check_correctness(
        f"{server.url}/run_code", {"inputs": [""], "outputs": [""]}, code, timeout=30, language=language
    )
    wrong = "none" in code
    assert found == [-4 if wrong else True]
    assert told[0]["status"] == ("compile_error" if wrong else "success")


def test_a_language_that_is_not_here_is_nobodys_fault(client: ModuleType, server: Server) -> None:
    found, told = client.check_correctness(
        f"{server.url}/run_code", {"inputs": [""], "outputs": [""]}, "x", timeout=1, language="cuda"
    )
    assert (found, told[0]["status"]) == ([-1], "sandbox_error")
