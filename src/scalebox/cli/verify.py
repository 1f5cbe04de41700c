"""`scalebox verify`: samples in, results out, a table at the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from scalebox.cli.explain import explain as explanation
from scalebox.cli.feed import Feed, Item
from scalebox.cli.lines import STANDARD, Lines
from scalebox.cli.main import EXIT_INTERRUPTED
from scalebox.cli.options import engine_options, load_settings
from scalebox.cli.output import Output
from scalebox.cli.tally import Tally
from scalebox.cli.text import printable
from scalebox.client import AsyncScaleBoxClient
from scalebox.core.codec import encode_result_line
from scalebox.core.errors import InputError, QueueFull
from scalebox.core.limits import MIB
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.problems import Problems, open_problems

#: Unusable lines that are reported one by one; the rest are only counted.
MAX_REPORTED = 100
#: What is kept of conversations where samples are to be explained.
TRANSCRIPT_BYTES = 8192


@click.command()
@click.argument("inputs", nargs=-1, metavar="IN.jsonl…")
@click.option(
    "--package", metavar="DIR|ZIP", help="Verify a problem package; IN are then submissions, by default its own."
)
@click.option(
    "--time-limit",
    "time_limit_s",
    type=click.FloatRange(0, 3600, min_open=True),
    metavar="SECONDS",
    help="Time limit of the package, instead of its own.",
)
@click.option(
    "--python-factor",
    type=click.FloatRange(0, 100, min_open=True),
    default=1.0,
    metavar="FACTOR",
    help="How many times the package's time limit a submission in Python has.",
)
@click.option(
    "--problems", "problems_path", metavar="FILE|DB", help="Where samples without tests have those of their problem_id."
)
@click.option("-o", "--output", metavar="OUT.jsonl", help="Where results go, as they finish; - is standard output.")
@click.option("--explain", multiple=True, metavar="ID", help="Say why this sample got its verdict; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the totals as one JSON object instead of a table.")
@click.option("--reward", metavar="NAME", help="Reward of samples that name none.")
@click.option("--extraction", metavar="WHICH", help="Code block of a response: auto, last, first or longest.")
@click.option("--cache/--no-cache", "cached", default=None, help="Use results that are kept, and keep new ones.")
@click.option("--rejudge", is_flag=True, help="Judge kept outputs anew; only programs without any are run.")
@click.option("--early-stop/--no-early-stop", default=None, help="End a sample at its first failed case.")
@click.option("--deadline", "batch_deadline_s", type=float, metavar="SECONDS", help="The setting batch_deadline_s.")
@engine_options
def verify(
    *,
    inputs: tuple[str, ...],
    package: str | None,
    time_limit_s: float | None,
    python_factor: float,
    problems_path: str | None,
    output: str | None,
    explain: tuple[str, ...],
    as_json: bool,
    cached: bool | None,
    rejudge: bool,
    config: str | None,
    limits: tuple[str, ...],
    **overrides: Any,
) -> None:
    """Verify the samples of JSON Lines files (- is standard input; .gz and .zst are read as they are).

    With --package, verify a problem package's own submissions, or those given, and say which do not
    come out as expected.

    Without -o, results are not written and the table alone is shown. With --explain, a file of
    results may be given too: they are explained without being verified again.

    Exit code: 2 if a line was unusable, else 1 if a sample is masked, else 0; 3 if the engine could
    not run. With --package: 0 if all came out as expected, else 1; 2 if the package is unusable.
    """
    if as_json and output == STANDARD:
        raise click.UsageError("--json and -o - both write to standard output: give -o a file")
    if package is None:
        _check_plain(inputs, {"--time-limit": time_limit_s is not None, "--python-factor": python_factor != 1.0})
    elif problems_path is not None:
        raise click.UsageError("--problems is for samples: a package has its own tests")
    if rejudge and cached is not None:
        raise click.UsageError("--rejudge has a use of the cache of its own: leave out --cache and --no-cache")
    cache = "rejudge" if rejudge else {None: None, True: "on", False: "off"}[cached]
    settings = load_settings(config, limits, cache=cache, **overrides)
    if package is not None:
        if explain:
            raise click.UsageError("--explain is for samples: write a package's results with -o, and explain those")
        from scalebox.cli.package import Options, verify_package

        options = Options(time_limit_s=time_limit_s, python_factor=python_factor, output=output, as_json=as_json)
        verify_package(package, inputs, settings, options)
    if explain and not settings.transcript_limit:
        settings = msgspec.structs.replace(settings, transcript_limit=TRANSCRIPT_BYTES)
    problems = open_problems(problems_path, settings) if problems_path else None
    lines = Lines(inputs, settings.max_line_mb * MIB)
    with Output(output, inputs) as sink, _Screen(as_json=as_json) as screen:
        run = _Run(sink, screen, frozenset(explain), problems)
        try:
            asyncio.run(run.all(lines, settings))
        except KeyboardInterrupt:
            run.tally.interrupted = True
    for text in run.explanations(explain):
        click.echo(text, nl=False, err=as_json or output == STANDARD)
    run.finish(as_json=as_json)
    sys.exit(EXIT_INTERRUPTED if run.tally.interrupted else run.tally.exit_code())


def _check_plain(inputs: tuple[str, ...], given: dict[str, bool]) -> None:
    """Refuse what makes no sense without --package."""
    for option, there in given.items():
        if there:
            raise click.UsageError(f"{option} is for --package: samples have limits of their own")
    if not inputs:
        raise click.UsageError("Missing argument 'IN.jsonl…'.")


class _Screen(contextlib.AbstractContextManager["_Screen"]):
    """Standard error: the progress bar, where that is a terminal, and messages that do not break it."""

    def __init__(self, *, as_json: bool) -> None:
        self.console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("verifying"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.fields[verdicts]}"), console=self.console, transient=True, auto_refresh=False,
            disable=as_json or not self.console.is_terminal,
        )  # fmt: skip
        self._task = self._progress.add_task("", total=None, verdicts="")
        self._next_refresh = 0.0

    def __enter__(self) -> _Screen:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, tally: Tally, expected: float | None) -> None:
        """Bring the bar up to date, ten times a second at most."""
        now = time.monotonic()
        if self._progress.disable or now < self._next_refresh:
            return
        self._next_refresh = now + 0.1
        verdicts = "  ".join(f"{verdict} {count}" for verdict, count in tally.verdicts.most_common(4))
        total = None if expected is None else max(round(expected), tally.samples)
        self._progress.update(self._task, completed=tally.samples, total=total, verdicts=verdicts, refresh=True)

    def complain(self, text: str) -> None:
        """Print one line of complaint above the bar."""
        self.console.print(f"error: {printable(text)}", markup=False, highlight=False, soft_wrap=True)


class _Run:
    """One run of the command: results are written, counted, and kept where they are to be explained."""

    def __init__(self, sink: Output, screen: _Screen, wanted: frozenset[str], problems: Problems | None) -> None:
        self.tally = Tally()
        self._problems = problems
        self._sink = sink
        self._screen = screen
        self._wanted = wanted
        self._samples: dict[str, Sample] = {}
        self._results: dict[str, VerificationResult] = {}
        self._running = 0
        self._freed = asyncio.Event()

    async def all(self, lines: Lines, settings: Settings) -> None:
        """Verify everything that the lines hold."""
        started = time.monotonic()
        feed = Feed(lines, settings, results_too=bool(self._wanted), problems=self._problems)
        try:
            await self._verify(feed, settings)
        except BaseExceptionGroup as failures:
            # One failure cancels the other batches: it is the one that matters.
            raise failures.exceptions[0] from None
        finally:
            feed.stop()
            self.tally.seconds = time.monotonic() - started

    async def _verify(self, feed: Feed, settings: Settings) -> None:
        async with contextlib.AsyncExitStack() as stack:
            client: AsyncScaleBoxClient | None = None
            group: asyncio.TaskGroup | None = None
            while items := await feed.batch():
                samples = self._sort_out(items)
                if not samples:
                    continue
                if client is None or group is None:
                    client = await stack.enter_async_context(AsyncScaleBoxClient(settings=settings))
                    group = await stack.enter_async_context(asyncio.TaskGroup())
                batch_id = await self._submit(client, samples)
                self._running += 1
                group.create_task(self._collect(client, batch_id, feed))

    async def _submit(self, client: AsyncScaleBoxClient, samples: list[Sample]) -> str:
        while True:
            self._freed.clear()
            try:
                return await client.submit_batch(samples)
            except QueueFull:
                if not self._running:
                    raise
                await self._freed.wait()

    async def _collect(self, client: AsyncScaleBoxClient, batch_id: str, feed: Feed) -> None:
        async for result in client.stream(batch_id):
            feed.release(result.id)
            self._sink.write(encode_result_line(result))
            self.tally.add(result)
            if result.id in self._wanted:
                self._results[result.id] = result
            self._screen.show(self.tally, feed.expected())
        self._running -= 1
        self._freed.set()

    def _sort_out(self, items: list[Item]) -> list[Sample]:
        """Return the samples; report errors, and keep results that are to be explained."""
        samples: list[Sample] = []
        for item in items:
            if isinstance(item, InputError):
                self.tally.unusable += 1
                if self.tally.unusable <= MAX_REPORTED:
                    self._screen.complain(str(item))
            elif isinstance(item, VerificationResult):
                self.tally.add(item, read=True)
                if item.id in self._wanted:
                    self._results[item.id] = item
            else:
                samples.append(item)
                if item.id in self._wanted:
                    self._samples[item.id] = item
        return samples

    def explanations(self, wanted: Sequence[str]) -> Iterator[str]:
        """Yield the explanations asked for."""
        for sample_id in wanted:
            if sample_id in self._results:
                yield explanation(self._results[sample_id], self._samples.get(sample_id))
            else:
                self._screen.complain(f"--explain {sample_id}: no result has this id")

    def finish(self, *, as_json: bool) -> None:
        """Print the closing table, or the object for machines."""
        if self.tally.unusable > MAX_REPORTED:
            self._screen.complain(f"{self.tally.unusable - MAX_REPORTED} more unusable lines are not shown")
        if as_json:
            click.echo(json.dumps(self.tally.summary()))
        else:
            self.tally.print(self._screen.console)
