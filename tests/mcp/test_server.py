"""The real command, spoken to by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mcp import Client, StdioServerParameters
from scalebox.cli.main import main

ADD = "a, b = map(int, input().split())\nprint(a + b)\n"


@asynccontextmanager
async def serving(*options: str) -> AsyncIterator[Client]:
    command = ["-m", "scalebox.cli", "mcp", "--workers", "1", *options]
    async with Client(StdioServerParameters(command=sys.executable, args=command)) as client:
        yield client


def talk(conversation: Callable[[Client], Awaitable[None]], *options: str) -> None:
    async def run() -> None:
        async with serving(*options) as client:
            await conversation(client)

    asyncio.run(run())


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    content = answer.structured_content
    assert isinstance(content, dict)
    return content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return "".join(getattr(part, "text", "") for part in answer.content)


def test_a_policy_runs_and_verifies() -> None:
    async def conversation(client: Client) -> None:
        offered = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(offered) == {"run_code", "verify"}
        assert all(tool.description for tool in offered.values())

        ran = await call(client, "run_code", program=ADD, stdin="40 2\n")
        assert (ran["verdict"], ran["exit_code"], ran["stdout"]) == ("passed", 0, "42\n")
        ran = await call(client, "run_code", program="while True: pass", limits={"cpu_s": 0.3, "memory_mb": 256})
        assert ran["verdict"] == "time_out"

        tests = [{"stdin": "1 2\n", "stdout": "3\n"}, {"stdin": "2 2\n", "stdout": "4\n", "hidden": True}]
        seen = await call(client, "verify", code=ADD, tests=tests)
        assert (seen["compile"], seen["verdict"], seen["pass_rate"]) == ("ok", "passed", 1.0)
        seen = await call(client, "verify", code=ADD.replace("+", "*"), tests=tests)
        assert (seen["verdict"], seen["pass_rate"]) == ("output_mismatch", 0.0)
        assert "wall_s" not in str(seen)

        assert "tests[0].stdou" in await refusal(client, "verify", code=ADD, tests=[{"stdin": "", "stdou": ""}])
        assert "no such language" in await refusal(client, "run_code", program=ADD, language="klingon")
        assert "program" in await refusal(client, "run_code")
        # Still there after all of it.
        assert (await call(client, "run_code", program=ADD, stdin="1 1\n"))["stdout"] == "2\n"

    talk(conversation)


@contextmanager
def started(*command: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-m", "scalebox.cli", *command], text=True, **options) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)


def test_a_trainer_over_http_on_a_server_that_others_share(tmp_path: Path) -> None:
    async def converse(url: str) -> None:
        async with Client(url) as client:
            tests = [{"call": "f", "args": [2], "expect": 3}]
            seen = await call(client, "verify", code="def f(x): return x", tests=tests, limits={"cpu_s": 2})
            assert seen["verdict"] == "assert_fail"
            assert "expected 3" in seen["cases"][0]["detail"]
            assert "tests[0].stdou" in await refusal(client, "verify", code=ADD, tests=[{"stdin": "", "stdou": ""}])

    journal = str(tmp_path / "journal.db")
    with started(
        "serve", "--port", "0", "--journal", journal, "--workers", "1", "--json", stdout=subprocess.PIPE
    ) as own:
        assert own.stdout is not None
        shared = json.loads(own.stdout.readline())["url"]
        options = ("--http", "127.0.0.1:0", "--url", shared, "--view", "trainer")
        with started("mcp", *options, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
            assert server.stderr is not None
            asyncio.run(converse(server.stderr.readline().split()[-1]))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--http", "0.0.0.0:8000"), "not on the loopback"),
        (("--http", "here"), "HOST:PORT"),
        (("--view", "operator"), "operator"),
        (("--tier", "none-such", "--limit", "cpu_s=x"), "cpu_s"),
    ],
)
def test_options_that_make_no_sense(arguments: tuple[str, ...], text: str) -> None:
    result = CliRunner().invoke(main, ["mcp", *arguments])
    assert result.exit_code == 2
    assert text in result.stderr
    assert "Traceback" not in result.stderr
