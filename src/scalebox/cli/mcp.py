"""`scalebox mcp`: running and verifying programs as tools of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from importlib.util import find_spec
from typing import Any

import click
import msgspec

from scalebox.cli.options import engine_options, load_settings
from scalebox.core.errors import SettingsError
from scalebox.core.settings import Settings


@click.command()
@click.option(
    "--view",
    type=click.Choice(["policy", "trainer"]),
    default="policy",
    show_default=True,
    help="How much of a verification the caller sees.",
)
@click.option(
    "--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP at a loopback address, not standard streams."
)
@click.option("--url", metavar="URL", help="Use the server at URL instead of an engine of its own.")
@engine_options
def mcp(
    *,
    view: str,
    address: str | None,
    url: str | None,
    config: str | None,
    limits: tuple[str, ...],
    **overrides: Any,
) -> None:
    """Offer the tools run_code and verify by the Model Context Protocol, on standard input and output.

    An MCP host starts this command itself. It ends when its input does.
    """
    settings = load_settings(config, limits, **overrides)
    place = None if address is None else _loopback(address)
    if find_spec("mcp") is None:
        raise SettingsError("scalebox mcp needs more packages (pip install 'scalebox[mcp]')")
    asyncio.run(_serve(url, settings, view, place))


async def _serve(url: str | None, settings: Settings, view: Any, place: tuple[str, int] | None) -> None:
    from scalebox.client import AsyncScaleBoxClient
    from scalebox.mcp import server
    from scalebox.mcp.tools import TEXT_LIMIT, Tools

    # Longer texts would only be cut later.
    settings = msgspec.structs.replace(settings, text_limit=min(settings.text_limit, 4 * TEXT_LIMIT))
    async with AsyncScaleBoxClient(url, settings=settings) as client:
        built = server.build(Tools(client, settings, view))
        if place is None:
            await built.run_stdio_async()
        else:
            await _serve_http(built, *place)


async def _serve_http(built: Any, host: str, port: int) -> None:
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        problem = f"cannot listen at {host}:{port}: {error.strerror}"
        raise SettingsError(f"--http: {problem} (choose another port; 0 takes a free one)") from None
    with listener:
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        click.echo(f"serving at http://{shown}:{listener.getsockname()[1]}/mcp", err=True)
        # `host` has the SDK refuse requests that a web page sends under another name than this one.
        app = built.streamable_http_app(host=host)
        await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener])


def _loopback(address: str) -> tuple[str, int]:
    """Return host and port; refuses what others than this machine could reach, since there is no authentication."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    host = "127.0.0.1" if host == "localhost" else host
    try:
        number, loopback = int(port), ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise click.BadParameter(f"{address!r} is not HOST:PORT, such as 127.0.0.1:8000", param_hint="--http") from None
    if not loopback or not 0 <= number < 65536:
        problem = f"{address!r} is not on the loopback interface: nothing here asks who calls"
        raise click.BadParameter(f"{problem} (to serve others, use scalebox serve)", param_hint="--http")
    return host, number
