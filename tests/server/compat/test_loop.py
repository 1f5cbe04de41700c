"""What a large request costs takes nothing from others: it is worked on beside the server's event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import httpx
import pytest
from tests.server.conftest import Server

from scalebox.parse import parse_sample
from scalebox.server.aside import Aside, on_loop
from scalebox.server.compat import running
from scalebox.server.compat.around import fitted
from scalebox.server.compat.running import _STARTS_OTHERS, starts_others

PRINTS = "```python\nprint(input())\n```"


def cases(count: int, text: str = "1") -> list[dict[str, Any]]:
    return [{"input": {"stdin": text}, "output": {"stdout": text}} for _ in range(count)]


def large() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return a request of each interface whose body is large, by what is answered where all is well."""
    config: dict[str, Any] = {"language": "python", "dataset_type": "CommonOJDataset"}
    text = "#" + "x" * 100_000
    tests = {"type": "stdin_stdout", "input": ["1"] * 5000, "output": ["2"] * 5000}
    row = {"test": [*cases(1, "1" * 100_000), *cases(3)]}
    return {
        "Success": ("/run_code", {"language": "python", "code": text}),
        "extracted_code": ("/submit", {"completion": PRINTS, "config": {**config, "provided_data": row}}),
        "output_mismatch": (
            "/common_evaluate_batch", {"completion": "1", "config": {**config, "provided_data": {"test_cases": tests}}},
        ),
        "SIGKILL": (
            "/api/v2/execute",
            {"language": "python", "files": [{"content": f"while 1: pass\n{text}"}], "run_timeout": 50},
        ),
        "Accepted": ("/submissions?wait=true", {"language_id": 71, "source_code": text}),
        "cells": ("/run_jupyter", {"cells": ["1", text]}),
    }  # fmt: skip


@pytest.fixture
def parsed_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the threads on which samples are parsed from now on."""
    names: list[str] = []

    def noted(*given: Any, **more: Any) -> Any:
        names.append(threading.current_thread().name)
        return parse_sample(*given, **more)

    monkeypatch.setattr(running, "parse_sample", noted)
    return names


@pytest.mark.parametrize("word", large())
def test_a_large_request_is_worked_on_beside_the_loop(http: httpx.Client, parsed_on: list[str], word: str) -> None:
    path, body = large()[word]
    answer = http.post(path, json=body)
    assert answer.status_code in (200, 201), answer.text
    assert word in answer.text
    assert set(parsed_on) == {"scalebox-aside"}


def test_a_small_one_is_worked_on_where_it_came_in(http: httpx.Client, parsed_on: list[str]) -> None:
    assert http.post("/run_code", json={"language": "python", "code": "1"}).json()["status"] == "Success"
    assert parsed_on == ["server"]


def test_what_is_wrong_with_a_large_request_is_told_as_of_a_small_one(http: httpx.Client) -> None:
    config = {"language": "python", "dataset_type": "CommonOJDataset", "provided_data": {"test": ["x" * 100_000]}}
    answer = http.post("/submit", json={"completion": "1", "config": config})
    assert (answer.status_code, answer.json()["detail"][0]["msg"][:15]) == (422, "is no test case")


def test_a_client_that_goes_has_its_large_request_given_up(server: Server) -> None:
    body = {"language": "python", "code": "while 1: pass\n#" + "x" * 100_000, "run_timeout": 50}
    with pytest.raises(httpx.ReadTimeout):
        server.http.post("/run_code", json=body, timeout=1)
    until = time.monotonic() + 10
    while not server.context.feed.idle and time.monotonic() < until:
        time.sleep(0.05)
    assert server.context.feed.idle, "far sooner than its program would end"


def test_what_runs_aside_ends_with_it() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(threading.current_thread().name)

    async def use() -> str:
        aside = Aside()
        here = asyncio.get_running_loop()

        async def there() -> str:
            await on_loop(here, asyncio.sleep(0))
            return threading.current_thread().name

        name = await aside.run(there())
        given_up = asyncio.create_task(aside.run(wait()))
        still = asyncio.create_task(aside.run(wait()))
        await asyncio.sleep(0.1)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        await asyncio.to_thread(aside.close)
        await asyncio.gather(still, return_exceptions=True)
        return name

    assert asyncio.run(use()) == "scalebox-aside"
    assert ended == ["scalebox-aside"] * 2


@pytest.mark.parametrize(
    "tests",
    [
        '"' + '\\"' * 500_000,
        "'" + "\\'" * 500_000,
        ('"' + '\\"' * 50 + "'" + "\\'" * 50) * 5000,
        '"\\' * 300_000,
        "\\" * 500_000,
        '" ' + "'a" * 300_000,
    ],
)
def test_texts_without_end_take_no_time(tests: str) -> None:
    begun = time.process_time()
    fitted("f }", tests, "cpp")
    assert time.process_time() - begun < 5, "each quote was read to the end of the line: hours"


@pytest.mark.parametrize(
    ("tests", "left"),
    [
        (r'} int main() { puts("\"}"); }', "f \n"),
        (r"} int main() { putchar('\''); }", "f \n"),
        (r"} /\{/.test(x)", "f \n"),
    ],
)
def test_what_is_escaped_is_no_brace(tests: str, left: str) -> None:
    assert fitted("f }", tests, "cpp") == left.replace(" ", "", 1)


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess", "multiprocessing", "ProcessPoolExecutor()", "require('child_process')", "import pty",
        "fork()", "popen(1)", "os.system('ls')", "spawn", "spawnSync()", "execv", "execlp", "ProcessBuilder(",
        "getRuntime()", "Command::new", "new Process", "shell_exec", "proc_open", "print(1)", "",
        "empty, processed, forked, Commander",
    ],
)  # fmt: skip
def test_a_look_before_the_expression_changes_nothing(text: str) -> None:
    assert starts_others(text) is (_STARTS_OTHERS.search(text) is not None)


def test_a_slow_parse_holds_up_no_probe(server: Server, http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def slow(*given: Any, **more: Any) -> Any:
        begun.set()
        time.sleep(3)
        return parse_sample(*given, **more)

    monkeypatch.setattr(running, "parse_sample", slow)
    body = {"language": "python", "code": "#" + "x" * 100_000}
    thread = threading.Thread(target=lambda: httpx.post(f"{server.url}/run_code", json=body, timeout=60))
    thread.start()
    assert begun.wait(60)
    asked = time.monotonic()
    assert http.get("/healthz").status_code == 200
    assert time.monotonic() - asked < 2
    thread.join(60)
