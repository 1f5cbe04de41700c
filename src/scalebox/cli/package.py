"""`scalebox verify --package`: a problem package's submissions, and whether they come out as they should."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from scalebox.cli.main import EXIT_INTERRUPTED
from scalebox.cli.output import Output
from scalebox.cli.text import excerpt, printable
from scalebox.client import AsyncScaleBoxClient
from scalebox.core.codec import encode_result_line
from scalebox.core.errors import InputError
from scalebox.core.settings import Settings
from scalebox.packages import Package, Submission, load_package
from scalebox.packages.checking import Checking, Outcome
from scalebox.packages.given import given_submission

_MARKS = {True: ("yes", "green"), False: ("no", "red"), None: ("?", "yellow")}


#: Columns of a terminal from which on a submission has a line of its own; below, long names are broken at their folder.
_WIDE = 100
_BREAK = "\n"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What `--package` goes with on the command line."""

    time_limit_s: float | None = None
    python_factor: float = 1.0
    output: str | None = None
    as_json: bool = False


def verify_package(path: str, paths: Sequence[str], settings: Settings, options: Options) -> None:
    """Verify the package's own submissions, or the programs at `paths`; print what came out, and exit.

    Exit code: 0 if all came out as expected, else 1. Raises InputError where the package or a path is unusable.
    """
    package = load_package(path)
    submissions = [given_submission(package, given) for given in dict.fromkeys(paths)] or list(package.submissions)
    if not submissions:
        raise InputError("has no submissions", source=path, mend="name the files of some to verify")
    report = _Report(package, len(submissions), options)
    with Output(options.output, [path, *paths]) as sink, contextlib.suppress(KeyboardInterrupt):
        asyncio.run(report.run(submissions, settings, sink))
        report.complete = True
    report.print()
    sys.exit(EXIT_INTERRUPTED if not report.complete else report.exit_code())


class _Report:
    def __init__(self, package: Package, total: int, options: Options) -> None:
        self._package = package
        self._options = options
        self._console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("verifying"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=self._console, transient=True, disable=options.as_json or not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._progress.add_task("", total=total)
        self._outcomes: list[Outcome] = []
        self._limit_s: float | None = None
        self._seconds = 0.0
        self.complete = False

    async def run(self, submissions: Sequence[Submission], settings: Settings, sink: Output) -> None:
        def done(outcome: Outcome) -> None:
            self._outcomes.append(outcome)
            for result in outcome.results:
                sink.write(encode_result_line(result))
            self._progress.update(self._task, advance=1, description=printable(outcome.submission.name))

        options, begun = self._options, time.monotonic()
        checking = Checking(
            self._package, settings, time_limit_s=options.time_limit_s, python_factor=options.python_factor
        )
        try:
            with self._progress:
                async with AsyncScaleBoxClient(settings=settings) as client:
                    await checking.run(client, submissions, done)
        finally:
            self._seconds = time.monotonic() - begun
            self._limit_s = checking.limit_s
            order = {submission.name: at for at, submission in enumerate(submissions)}
            self._outcomes.sort(key=lambda outcome: order[outcome.submission.name])

    def exit_code(self) -> int:
        """Return 0 if every submission of which something is expected came out so, else 1."""
        return int(any(not outcome.met for outcome in self._outcomes if _counts(outcome)))

    def print(self) -> None:
        """Print the table, or the object for machines."""
        for note in self._package.notes:
            self._console.print(f"note: {printable(note)}", markup=False, highlight=False, soft_wrap=True)
        if self._options.as_json:
            click.echo(json.dumps(self._record()))
            return
        package, limit = self._package, "none" if self._limit_s is None else f"{self._limit_s:g} s"
        self._console.print(self._table())
        counted = [outcome for outcome in self._outcomes if _counts(outcome)]
        met = sum(outcome.met is True for outcome in counted)
        for line in (
            *(f"{outcome.submission.name}: {excerpt(outcome.message)}" for outcome in counted if not outcome.met),
            f"{package.name}: {len(package.cases)} cases, time limit {limit}",
            f"{met} of {len(counted)} as expected ({self._seconds:.1f} s){'' if self.complete else ', interrupted'}",
        ):
            self._console.print(printable(line), markup=False, highlight=False, soft_wrap=True)

    def _table(self) -> Table:
        points = self._package.scoring is not None
        columns = "submission", "language", "expected", Column("got", no_wrap=True), "met", "slowest case"
        table = Table(*columns, *["points"] * points, box=None, pad_edge=False)
        table.columns[0].overflow = table.columns[-1 - points].overflow = "fold"
        narrow = self._console.width < _WIDE
        for outcome in self._outcomes:
            mark, style = _MARKS[outcome.met] if _counts(outcome) else ("", "dim")
            slowest = outcome.slowest()
            cells = [
                _broken(outcome.submission.name) if narrow else outcome.submission.name,
                _language(outcome),
                str(outcome.submission.expected or ""),
                outcome.verdict.value if outcome.submission.source else "",
                mark,
                f"{slowest.cpu_s:.2f} s{_BREAK if narrow else ' '}{slowest.id}" if slowest else "",
            ]
            if points:
                cells.append("" if outcome.points is None else f"{outcome.points:g}")
            table.add_row(*(Text(printable(cell), style) for cell in cells))
        return table

    def _record(self) -> dict[str, Any]:
        counted = [outcome for outcome in self._outcomes if _counts(outcome)]
        return {
            "package": self._package.name,
            "layout": self._package.layout,
            "cases": len(self._package.cases),
            "time_limit_s": self._limit_s,
            "submissions": [_row(outcome) for outcome in self._outcomes],
            "expected": len(counted),
            "met": sum(outcome.met is True for outcome in counted),
            "seconds": round(self._seconds, 3),
            "notes": list(self._package.notes),
            "interrupted": not self.complete,
        }


def _broken(name: str) -> str:
    folder, slash, rest = name.rpartition("/")
    return f"{folder}{slash}{_BREAK}{rest}" if slash else name


def _counts(outcome: Outcome) -> bool:
    """Say whether something is expected of a submission, or is to be told of it: that it could not be run."""
    return outcome.submission.expected is not None or bool(outcome.submission.problem)


def _language(outcome: Outcome) -> str:
    return outcome.submission.source.language if outcome.submission.source else ""


def _row(outcome: Outcome) -> dict[str, Any]:
    slowest, expected = outcome.slowest(), outcome.submission.expected
    return {
        "name": outcome.submission.name,
        "language": _language(outcome),
        "expected": None if expected is None else str(expected),
        "verdict": outcome.verdict if outcome.submission.source else None,
        "as_expected": outcome.met,
        "slowest_case": slowest and slowest.id,
        "slowest_cpu_s": slowest and slowest.cpu_s,
        "points": outcome.points,
        "message": outcome.message,
    }
