"""`scalebox serve`: the engine behind HTTP."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from scalebox.cli.options import engine_options, load_settings
from scalebox.core.errors import SettingsError

if TYPE_CHECKING:
    from scalebox.server.context import Context


@click.command()
@click.option("--host", "server_host", metavar="ADDRESS", help="The setting server_host.")
@click.option("--port", "server_port", type=int, metavar="N", help="The setting server_port; 0 takes a free one.")
@click.option("--socket", "server_socket", metavar="PATH", help="Listen on a Unix socket instead of a port.")
@click.option("--tokens", "server_tokens", metavar="FILE", help="The setting server_tokens.")
@click.option("--journal", "server_journal", metavar="FILE", help="The setting server_journal.")
@click.option("--json", "as_json", is_flag=True, help="Say in one JSON object where it listens, once it does.")
@click.option(
    "--idle-exit", type=click.FloatRange(min=0, min_open=True), metavar="S", help="End after S seconds without a use."
)
@engine_options
def serve(
    *, as_json: bool, idle_exit: float | None, config: str | None, limits: tuple[str, ...], **overrides: Any
) -> None:
    """Serve batches of many clients over HTTP, until SIGTERM or SIGINT.

    It then takes no more, finishes what it has taken within server_drain_s seconds, and keeps the rest in its journal
    for the next start. A second signal ends it at once.

    Exit code: 0 after a signal, 2 if a setting or a place is unusable, 3 if the engine cannot run or was lost.
    """
    if find_spec("litestar") is None or find_spec("uvicorn") is None:
        raise SettingsError("scalebox serve needs more packages (pip install 'scalebox[server]')")
    from scalebox.server import listening, logs, serving

    if idle_exit is not None and math.isnan(idle_exit):  # which is in any range
        raise click.BadParameter("nan is no number of seconds", param_hint="--idle-exit")
    settings = load_settings(config, limits, **overrides)
    listener = listening.listen(settings)
    url = listening.place_of(listener)

    def started(context: Context) -> None:
        _say(context, url, as_json)

    log = logs.configure(settings.server_log)
    try:
        serving.run(settings, listener, started, idle_exit)
    finally:
        logs.remove(log)
        listening.close(listener, url)


def _say(context: Context, url: str, as_json: bool) -> None:
    workers, tokens = context.feed.workers, bool(context.settings.server_tokens)
    if as_json:
        said = {"url": url, "tier": context.feed.tier, "workers": workers, "tokens": tokens}
        click.echo(json.dumps(said))
        return
    asked = "tokens are asked for" if tokens else "no tokens are asked for"
    click.echo(f"{url} · tier {context.feed.tier} · {workers} workers · {asked} · API: /schema")
