"""The tools, told to the SDK of the protocol. Imported only where a server is wanted: the SDK is an extra."""

from __future__ import annotations

from collections.abc import Awaitable
from importlib.metadata import version
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from scalebox.core.errors import ScaleBoxError
from scalebox.mcp.tools import Tools

_INSTRUCTIONS = (
    "Programs run in a sandbox without network, files or other processes, under limits of CPU time, memory and output."
    " `run_code` runs one on a text of input; `verify` runs one against tests and says what it scored."
)
#: Nothing outside of the sandbox changes, whatever the program does, and it reaches nothing.
_HINTS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Limits = Annotated[
    dict[str, float] | None,
    Field(description='Limits to change, such as {"cpu_s": 5, "wall_s": 20, "memory_mb": 1024}.'),
]
Language = Annotated[str, Field(description='The programming language, such as "python", "cpp" or "rust".')]
Tests = Annotated[
    list[dict[str, Any]],
    Field(
        min_length=1,
        description=(
            'Tests, all of one kind: {"stdin": "1 2\\n", "stdout": "3\\n"}, or'
            ' {"call": "add", "args": [1, 2], "expect": 3}, or {"assert": "assert add(1, 2) == 3"},'
            ' or {"harness": "def check(candidate): ..."} with the option entry_point. "hidden": true'
            " keeps a test out of the rate and the messages that a policy sees."
        ),
    ),
]
Options = Annotated[
    dict[str, Any] | None,
    Field(description='More fields of a sample, such as "entry_point", "setup", "prompt", "match" or "checker".'),
]


def build(tools: Tools) -> MCPServer[Any]:
    """Return a server that offers the tools."""
    server: MCPServer[Any] = MCPServer(
        "scalebox", instructions=_INSTRUCTIONS, version=version("scalebox"), log_level="WARNING"
    )

    @server.tool(title="Run a program", annotations=_HINTS)
    async def run_code(
        program: Annotated[str, Field(description="The whole source of the program.")],
        stdin: Annotated[str, Field(description="What it reads on standard input.")] = "",
        language: Language = "python",
        limits: Limits = None,
    ) -> dict[str, Any]:
        """Run one program in a sandbox, and return its exit code, signal, output, time (seconds) and memory (bytes).

        The verdict is `passed` where it ended in good order, whatever it printed.
        """
        return await _told(tools.run_code(program, stdin, language, _whole(limits)))

    @server.tool(title="Verify a program", annotations=_HINTS)
    async def verify(
        code: Annotated[str, Field(description="The whole source of the program.")],
        tests: Tests,
        language: Language = "python",
        limits: Limits = None,
        options: Options = None,
    ) -> dict[str, Any]:
        """Run one program against tests in a sandbox, and return the verdict and the share of tests that it passed."""
        return await _told(tools.verify(code, tests, language, _whole(limits), options))

    return server


async def _told(answer: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer; an error that ScaleBox raised on purpose becomes the tool's, for the caller to read."""
    try:
        return await answer
    except ScaleBoxError as error:
        raise ToolError(str(error)) from None


def _whole(limits: dict[str, float] | None) -> dict[str, float] | None:
    """Return the limits with 512.0 as 512: the protocol's numbers tell no integer from a float."""
    if limits is None:
        return None
    return {name: int(value) if value.is_integer() else value for name, value in limits.items()}
