"""`scalebox acceptance`: prove a deployment before training on it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Column, Table
from rich.text import Text

from scalebox.cli.options import engine_options, load_settings
from scalebox.cli.text import excerpt, printable
from scalebox.core.errors import AuthenticationError, InputError
from scalebox.core.settings import Settings

if TYPE_CHECKING:
    from scalebox.acceptance.blocked import Blocked
    from scalebox.acceptance.isolation import Target
    from scalebox.acceptance.model import Finding
    from scalebox.acceptance.proof import Plan, Report

EXIT_FAILED = 1
_EMBEDDED = "embedded"
_MOST_TOKEN = 4096
_TOKENS = "give a trainer's token with --token-file, an operator's with --operator-token-file"
#: The mark of whether something is in the log, None where there is none.
_LOGGED = {True: "passed", False: "failed", None: "skipped"}
_MARKS = {"passed": ("yes", "green"), "failed": ("NO", "bold red"), "skipped": ("not tried", "yellow")}


@click.command()
@click.argument("url", metavar="URL")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
@click.option("--token-file", metavar="FILE", help="File with a trainer's token.")
@click.option(
    "--operator-token-file", metavar="FILE", help="File with an operator's token: reads the server's audit log."
)
@click.option(
    "--target", "targets", multiple=True, metavar="[NAME=]HOST:PORT",
    help="A place that programs under test must not reach; repeatable. In place of a public name, the metadata"
    " address and the host.",
)  # fmt: skip
@click.option("--canary", default="", metavar="PATH", help="A file on the workers' machine that must not be read.")
@click.option(
    "--log", "logs", multiple=True, metavar="PATH", help="A result log or audit log to look into; repeatable."
)
@click.option(
    "--trajectories", type=click.IntRange(1, 4096), default=16, show_default=True, help="Trajectories at a time."
)
@click.option("--steps", type=click.IntRange(1, 200), default=200, show_default=True, help="Steps of the longest one.")
@click.option("--max-p99", "most_p99_s", type=float, metavar="SECONDS", help="Fail where a step's p99 is over it.")
@click.option("--min-rate", "least_steps_per_s", type=float, metavar="N", help="Fail under so many steps a second.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the lengths of the trajectories.")
@engine_options
def acceptance(
    *,
    url: str,
    as_json: bool,
    token_file: str | None,
    operator_token_file: str | None,
    targets: tuple[str, ...],
    canary: str,
    logs: tuple[str, ...],
    trajectories: int,
    steps: int,
    most_p99_s: float | None,
    least_steps_per_s: float | None,
    seed: int,
    config: str | None,
    limits: tuple[str, ...],
    **overrides: Any,
) -> None:
    """Prove the deployment at URL ("embedded": an engine in this process) before training on it.

    Tries, as a trainer would: whether programs under test reach the network or read files, whether forged
    results score, how a load of uneven trajectories goes, and whether the log has all of it.

    Exit code: 0 if every check held or could not be tried here; 1 if one failed; 2 if an option,
    a token or a log is unusable; 3 if the deployment cannot be used.
    """
    from scalebox.acceptance.isolation import Target
    from scalebox.acceptance.load import Load
    from scalebox.acceptance.proof import Plan

    settings = load_settings(config, limits, **overrides)
    plan = Plan(
        targets=tuple(map(Target.parse, targets)) or _usual_targets(url),
        canary=canary,
        logs=logs,
        load=Load(
            trajectories=trajectories, longest=steps, seed=seed, most_p99_s=most_p99_s,
            least_steps_per_s=least_steps_per_s,
        ),
    )  # fmt: skip
    tokens = _read_token(token_file, "--token-file"), _read_token(operator_token_file, "--operator-token-file")
    with _logging(url, settings, plan) as (settings, plan):
        try:
            report = asyncio.run(_prove(url, tokens, settings, plan, show=not as_json))
        except AuthenticationError as error:
            raise AuthenticationError(f"{error} ({_TOKENS})") from None
    if as_json:
        click.echo(json.dumps({"url": url, **msgspec.to_builtins(report)}))
    else:
        _print(report)
    sys.exit(0 if report.passed else EXIT_FAILED)


def _usual_targets(url: str) -> tuple[Target, ...]:
    """Return what must be out of reach of any deployment: the public, the cloud's own address, and the host."""
    from scalebox.acceptance.isolation import PUBLIC, Target

    parts = urlsplit(url)
    if parts.hostname:
        host = Target("the service itself", parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
    else:
        own = "127.0.1.1"
        with contextlib.suppress(OSError):
            own = socket.gethostbyname(socket.gethostname())
        host = Target("this machine", own, 22)
    return (*map(Target.parse, PUBLIC), host)


def _read_token(path: str | None, option: str) -> str:
    if path is None:
        return ""
    try:
        with open(path, encoding="ascii") as file:
            return file.read(_MOST_TOKEN).strip()
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or 'not ASCII'}"
        raise InputError(problem, source=path, field=option) from None


@contextlib.contextmanager
def _logging(url: str, settings: Settings, plan: Plan) -> Iterator[tuple[Settings, Plan]]:
    """Have an embedded engine keep a log for as long as the block lasts, where none is named."""
    if url != _EMBEDDED or plan.logs:
        yield settings, plan
    elif settings.result_log:
        yield settings, msgspec.structs.replace(plan, logs=(settings.result_log,))
    else:
        with tempfile.TemporaryDirectory(prefix="scalebox-acceptance-") as folder:
            log = os.path.join(folder, "results.jsonl")
            settings = msgspec.structs.replace(settings, result_log=log)
            yield settings, msgspec.structs.replace(plan, logs=(log,))


async def _prove(url: str, tokens: tuple[str, str], settings: Settings, plan: Plan, *, show: bool) -> Report:
    from scalebox.acceptance.audit import Auditor
    from scalebox.acceptance.load import lengths
    from scalebox.acceptance.proof import prove
    from scalebox.client import AsyncScaleBoxClient

    token, operator = tokens
    more: dict[str, Any] = {"token": token} if token else {}
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not (show and console.is_terminal)) as bar:
        task = bar.add_task("", total=sum(lengths(plan.load)))
        async with contextlib.AsyncExitStack() as stack:
            auditor = (
                await stack.enter_async_context(Auditor(url, operator, token or settings.token)) if operator else None
            )
            client = await stack.enter_async_context(AsyncScaleBoxClient(url, settings=settings, **more))

            def show_on(what: str, steps: int) -> None:
                bar.update(task, description=what, advance=steps)

            return await prove(client, plan, show_on, auditor)


def _print(report: Report) -> None:
    console = Console()
    table = Table("what", "held", "seen", box=None, pad_edge=False)
    for finding in report.checks:
        mark, style = _MARKS[finding.state]
        table.add_row(finding.name, Text(mark, style=style), Text(excerpt(finding.detail)))
    console.print(table)
    _print_blocked(console, report.blocked)
    failed = [finding for finding in report.checks if finding.state == "failed"]
    for finding in failed:
        _explain(console, finding)
    skipped = sum(finding.state == "skipped" for finding in report.checks)
    held = len(report.checks) - len(failed) - skipped
    console.print(f"\n{held} held, {len(failed)} failed, {skipped} not tried, in {report.seconds:.1f} s")


def _print_blocked(console: Console, blocked: Sequence[Blocked]) -> None:
    """Show the hostile samples, each with how it was refused and whether the log says so."""
    table = Table(Column("hostile", no_wrap=True), "refused", "verdict", "in the log", box=None, pad_edge=False)
    for one in blocked:
        refused, logged = _MARKS["failed" if one.amiss else "passed"], _MARKS[_LOGGED[one.logged]]
        table.add_row(
            one.check, Text(refused[0], style=refused[1]), Text(_verdict(one)), Text(logged[0], style=logged[1])
        )
    console.print()
    console.print(table)
    for batch_id, sample_id in {(one.batch_id, one.sample_id.partition(".")[0]) for one in blocked}:
        console.print(printable(f"Their ids begin with {sample_id}. and their batch is {batch_id}."))


def _verdict(one: Blocked) -> str:
    """Return the verdict with what makes it remarkable: one column, for four are too wide for 80 characters."""
    risk = "" if one.risk == "none" else f", risk {one.risk}"
    denied = f", denied: {excerpt(', '.join(one.denied))}" if one.denied else ""
    return f"{one.verdict}{risk}{denied}"


def _explain(console: Console, finding: Finding) -> None:
    console.print(Text(f"\n{finding.name} failed: {excerpt(finding.detail)}", style="bold red"))
    console.print(Text(f"  why it matters: {finding.why}\n  mend: {printable(finding.mend)}"))
