"""The `scalebox` command: a list of subcommands, each imported when it is called."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from scalebox.core.errors import InputError, ScaleBoxError, SettingsError

EXIT_UNUSABLE = 2
EXIT_ENGINE = 3
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

#: Command → what it does. Each is the function of that name in `scalebox.cli.<command>`.
COMMANDS = {
    "verify": "Verify samples from JSON Lines and write their results.",
    "run": "Run one program under limits.",
    "serve": "Serve batches of many clients over HTTP.",
    "doctor": "Say what this machine gives, and what is broken.",
    "acceptance": "Prove a deployment before training: isolation, forgeries, load, logs.",
    "mcp": "Offer run and verify as tools of the Model Context Protocol.",
    "cache": "Show, empty or audit the cache of results.",
    "token": "Make, list and revoke the tokens of a server.",
    "audit": "Check or search the audit log.",
    "problems": "Load problems into a store, and look after it.",
    "sweep": "Remove what engines that are gone have left on this machine.",
    "bench": "Measure fixed workloads beside the machine's own limit.",
}


class _Unusable(click.ClickException):
    exit_code = EXIT_UNUSABLE


class _EngineFailure(click.ClickException):
    exit_code = EXIT_ENGINE


class _Commands(click.Group):
    """A group that imports a command at its use and turns ScaleBox's errors into a line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (click's)
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"scalebox.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's)
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (InputError, SettingsError) as error:
            raise _Unusable(str(error)) from None
        except ScaleBoxError as error:
            raise _EngineFailure(str(error)) from None
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(EXIT_INTERRUPTED)
        except BrokenPipeError:
            _exit_after_broken_pipe()


def _exit_after_broken_pipe() -> NoReturn:
    # The interpreter flushes stdout at exit and would complain about the pipe once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(EXIT_BROKEN_PIPE)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        version = import_module("importlib.metadata").version("scalebox")
        click.echo(f"scalebox {version}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def main() -> None:
    """Verify model-written code against tests, in isolation, and turn the verdicts into rewards."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding must not turn what a program printed into a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
