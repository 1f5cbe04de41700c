"""`scalebox sweep`: what engines that are gone have left on this machine, and its removal."""

from __future__ import annotations

import json
import sys

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scalebox.cli.text import printable
from scalebox.core.settings import load
from scalebox.sandbox.leftovers import LeftOver
from scalebox.sandbox.leftovers import sweep as sweep_left_overs

EXIT_LEFT = 1


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--config", metavar="FILE", help="Settings file (TOML) instead of scalebox.toml.")
def sweep(*, dry_run: bool, as_json: bool, config: str | None) -> None:
    """Remove what engines that are gone have left: processes, mounts, control groups, files.

    Engines do the same at their start. Exit code: 1 if something cannot be removed, else 0.
    """
    found = sweep_left_overs(load(config).scratch_dir, dry_run=dry_run)
    if as_json:
        click.echo(json.dumps({"dry_run": dry_run, "left_overs": msgspec.to_builtins(found)}))
    elif found:
        Console().print(_table(found, dry_run=dry_run))
    else:
        click.echo("nothing is left over")
    sys.exit(EXIT_LEFT if any(one.why for one in found) else 0)


def _table(found: list[LeftOver], *, dry_run: bool) -> Table:
    table = Table("what", "name", "of process", "now", box=None, pad_edge=False)
    for one in found:
        now = "there" if dry_run else "removed" if one.removed else f"there: {one.why}"
        table.add_row(one.kind, Text(printable(one.name)), str(one.owner), Text(printable(now)))
    return table
