"""Piston's and Judge0's calls."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from scalebox import QueueFull
from scalebox.server.compat.running import Runner


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
        ("import os; os.kill(os.getpid(), 40)", (None, "SIG40", "SG")),
        ("while True: pass", (None, "SIGKILL", "TO")),
        ("while True: print('x' * 10_000)", (None, "SIGKILL", "OL")),
        ("def f(:", (1, None, None)),
    ],
)
def test_how_programs_end_in_piston(http: httpx.Client, code: str, ended: tuple[Any, ...]) -> None:
    run = execute(http, code, run_timeout=300 if code.startswith("while True: pass") else 10_000)
    assert (run["code"], run["signal"], run["status"]) == ended


def test_piston_takes_null_and_nothing_for_its_defaults(http: httpx.Client) -> None:
    nothing: dict[str, Any] = {"stdin": None, "args": None, "compile_timeout": None, "run_memory_limit": None}
    files = [{"content": "print(open('file1.code').read())"}, {"content": "second"}]
    assert execute(http, "", files=files, run_timeout=0, **nothing)["stdout"] == "second\n"


def test_piston_stops_at_the_cpu_time_of_the_request(http: httpx.Client) -> None:
    run = execute(http, "while True: pass", run_timeout=10_000, run_cpu_time=300)
    assert (run["status"], run["cpu_time"] < 5_000) == ("TO", True)


def test_a_full_server_says_so_in_pistons_words(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: Any, **__: Any) -> Any:
        raise QueueFull("the queue is full")

    monkeypatch.setattr(Runner, "verify", full)
    answer = http.post("/api/v2/execute", json={"language": "py", "files": [{"content": ""}]})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert answer.json() == {"message": "the queue is full"}


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


def submission(http: httpx.Client, *, encoded: bool = False, **fields: Any) -> dict[str, Any]:
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


@pytest.mark.parametrize("expected", ["b\n", None])
def test_judge0_lets_programs_start_others(http: httpx.Client, expected: str | None) -> None:
    answer = submission(http, source_code="echo b | sort", language_id=46, expected_output=expected)
    assert (answer["status"]["id"], answer["stdout"]) == (3, "b\n"), answer


def test_judge0_takes_null_for_its_defaults(http: httpx.Client) -> None:
    names = ("cpu_time_limit", "wall_time_limit", "memory_limit", "stdin", "compiler_options", "number_of_runs")
    nothing: dict[str, Any] = dict.fromkeys(names)
    answer = submission(http, source_code="print(1)", **nothing)
    assert answer["status"]["id"] == 3, answer


@pytest.mark.parametrize(
    "field",
    [
        {"command_line_arguments": "a b"},
        {"compiler_options": "-O2"},
        {"additional_files": "UEsFBg=="},
        {"redirect_stderr_to_stdout": True},
        {"enable_network": True},
        {"memory_limit": 0},
        {"memory_limit": -1},
    ],
)
def test_what_would_judge_another_program_is_refused(http: httpx.Client, field: dict[str, Any]) -> None:
    answer = http.post("/submissions?wait=true", json={"source_code": "print(1)", "language_id": 71, **field})
    assert answer.status_code == 422
    assert set(answer.json()) == set(field)


def test_judge0_in_base64(http: httpx.Client) -> None:
    code = base64.b64encode(b"print('hi')").decode()
    answer = submission(http, encoded=True, source_code=code)
    assert base64.b64decode(answer["stdout"]) == b"hi\n"


@pytest.mark.parametrize(("query", "language"), [("wait=true", 9999), ("wait=false", 71)])
def test_what_judge0_is_refused(http: httpx.Client, query: str, language: int) -> None:
    answer = http.post(f"/submissions?{query}", json={"source_code": "", "language_id": language})
    assert answer.status_code == 422
