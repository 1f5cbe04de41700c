"""Piston's and Judge0's calls."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest


def execute(http: httpx.Client, code: str, **more: Any) -> dict[str, Any]:
    body = {"language": "py", "version": "3.x", "files": [{"name": "main.py", "content": code}], **more}
    answer = http.post("/api/v2/execute", json=body)
    assert answer.status_code == 200, answer.text
    run: dict[str, Any] = answer.json()["run"]
    return run


def test_piston_runs(http: httpx.Client) -> None:
    code = "import other, sys; print(other.x, input()); print('e', file=sys.stderr)"
    files = [
        {"content": base64.b64encode(code.encode()).decode(), "encoding": "base64"},
        {"name": "other.py", "content": "x = 5"},
    ]  # fmt: skip
    run = execute(http, "", files=files, stdin="in")
    assert (run["stdout"], run["stderr"], run["output"]) == ("5 in\n", "e\n", "5 in\ne\n")
    assert (run["code"], run["signal"], run["status"]) == (0, None, None)
    assert run["memory"] > 0


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("raise SystemExit(3)", (3, None, "RE")),
        ("import os; os.kill(os.getpid(), 11)", (None, "SIGSEGV", "SG")),
        ("while True: pass", (None, "SIGKILL", "TO")),
        ("while True: print('x' * 10_000)", (None, "SIGKILL", "OL")),
        ("def f(:", (1, None, None)),
    ],
)
def test_how_programs_end_in_piston(http: httpx.Client, code: str, ended: tuple[Any, ...]) -> None:
    run = execute(http, code, run_timeout=300 if code.startswith("while True: pass") else 10_000)
    assert (run["code"], run["signal"], run["status"]) == ended


def test_piston_says_what_is_wrong(http: httpx.Client) -> None:
    for body in (
        {"language": "cobol", "files": [{"content": ""}]},
        {"language": "py", "files": []},
        {"language": "py"},
    ):
        answer = http.post("/api/v2/execute", json=body)
        assert answer.status_code == 400, answer.text
        assert set(answer.json()) == {"message"}


def test_pistons_runtimes(http: httpx.Client) -> None:
    found = http.get("/api/v2/runtimes", timeout=300).json()
    (python,) = [one for one in found if one["language"] == "python"]
    assert "py" in python["aliases"]


def submission(http: httpx.Client, encoded: bool = False, **fields: Any) -> dict[str, Any]:
    place = f"/submissions?wait=true&base64_encoded={str(encoded).lower()}"
    answer = http.post(place, json={"language_id": 71, "cpu_time_limit": 0.5, **fields})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    ("code", "expected", "status"),
    [
        ("print(input())", "hello\n", 3),
        ("print(input())", None, 3),
        ("print(input())", "other", 4),
        ("while True: pass", "hello", 5),
        ("def f(:", "hello", 6),
        ("import os; os.kill(os.getpid(), 11)", "hello", 7),
        ("raise ValueError", "hello", 11),
        ("raise ValueError", "", 11),
    ],
)
def test_judge0_judges(http: httpx.Client, code: str, expected: str | None, status: int) -> None:
    answer = submission(http, source_code=code, stdin="hello", expected_output=expected)
    assert answer["status"]["id"] == status, answer
    assert (answer["compile_output"] is not None) == (status == 6)


def test_judge0_in_base64(http: httpx.Client) -> None:
    code = base64.b64encode(b"print('hi')").decode()
    answer = submission(http, encoded=True, source_code=code)
    assert base64.b64decode(answer["stdout"]) == b"hi\n"


@pytest.mark.parametrize(("query", "language"), [("wait=true", 9999), ("wait=false", 71)])
def test_what_judge0_is_refused(http: httpx.Client, query: str, language: int) -> None:
    answer = http.post(f"/submissions?{query}", json={"source_code": "", "language_id": language})
    assert answer.status_code == 422
