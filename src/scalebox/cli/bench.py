"""`scalebox bench`: run a fixed workload and print what it came to."""

from __future__ import annotations

import json
from typing import Any

import click

from scalebox.bench import NAMES

_WORKLOADS = "\b\n" + "\n".join(f"{name:<11} {summary}" for name, summary in NAMES.items())


@click.command(help=f"Run a fixed workload; its labels are checked, and wrong ones are an error.\n\n{_WORKLOADS}")
@click.argument("name", type=click.Choice(list(NAMES)), metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--runs", type=click.IntRange(1, 1000), help="Runs to take medians over  [default: 5; step-180ms: 1]")
@click.option("--workers", type=int, help="Worker processes  [default: physical cores]")
@click.option("--tier", help="Isolation tier by name  [default: the strongest that works here]")
@click.option("--config", type=click.Path(dir_okay=False), help="Settings file.")
def bench(
    name: str, *, as_json: bool, runs: int | None, workers: int | None, tier: str | None, config: str | None
) -> None:
    """Run a fixed workload and print its figures."""
    from scalebox.core.settings import load

    settings = load(config, workers=workers, tier=tier)
    measured = _measure(name, runs or (1 if name == "step-180ms" else 5), settings)
    if as_json:
        click.echo(json.dumps(measured))
    else:
        _print_table(measured)


def _measure(name: str, runs: int, settings: Any) -> dict[str, Any]:
    """Run under a progress bar, which shows on a terminal alone."""
    from rich.console import Console
    from rich.progress import Progress

    from scalebox.bench.measure import measure, steps

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(name, total=steps(name, runs))
        return measure(
            name,
            runs=runs,
            settings=settings,
            step=lambda what: progress.update(task, advance=1, description=f"{name} · {what}"),
        )


def _print_table(measured: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"bench {measured['name']}: {NAMES[measured['name']]}", show_header=False)
    for key, value in measured.items():
        if key != "name" and value is not None:
            table.add_row(_label(key), f"{value:,}" if isinstance(value, (int, float)) else str(value))
    Console().print(table)


def _label(key: str) -> str:
    label = key.replace("_tests_per_s", " tests/s").replace("tests_per_s", "tests/s")
    return label.replace("_ms", ", ms").replace("_us", ", µs").replace("_", " ")
