"""`scalebox run`: one program under limits, its output passed on."""

from __future__ import annotations

import json
import sys
from typing import Any, BinaryIO

import click
import msgspec

from scalebox.cli.lines import STANDARD
from scalebox.cli.options import engine_options, load_settings
from scalebox.cli.text import duration, printable, size
from scalebox.client import ScaleBoxClient
from scalebox.client.program import case_of, finished, message_of, outcome, to_run
from scalebox.core.errors import InputError
from scalebox.core.limits import MIB, Limits
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.languages import registry
from scalebox.parse import parse_sample

EXIT_TIME_OUT = 124
EXIT_STOPPED = 125
#: Longest program, in bytes.
MAX_SOURCE = 4 * MIB


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--stdin", "stdin_path", metavar="FILE", help="What the program reads; - is standard input.")
@click.option(
    "--language", metavar="NAME", help="The program's language  [default: by the end of its name, else python]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the program's output.")
@click.option("--cpu", "cpu_s", type=float, metavar="SECONDS", help="The limit cpu_s.")
@click.option("--wall", "wall_s", type=float, metavar="SECONDS", help="The limit wall_s.")
@click.option("--memory", "memory_mb", type=int, metavar="MIB", help="The limit memory_mb.")
@engine_options
def run(
    *,
    file: str,
    stdin_path: str | None,
    language: str | None,
    as_json: bool,
    config: str | None,
    limits: tuple[str, ...],
    cpu_s: float | None,
    wall_s: float | None,
    memory_mb: int | None,
    **overrides: Any,
) -> None:
    """Run one program in the sandbox (- reads it from standard input) and pass on what it prints.

    Bytes that are no UTF-8 are replaced. What became of it is said on standard error.

    Exit code: the program's own; 128 plus the signal that ended it; 124 if it was out of time; 125 if
    it was stopped for another reason or could not be built; 2 if an option is unusable; 3 if the
    engine could not run it.
    """
    named = {"cpu_s": cpu_s, "wall_s": wall_s, "memory_mb": memory_mb}
    changes = [f"{name}={value}" for name, value in named.items() if value is not None]
    settings = load_settings(config, [*limits, *changes], **overrides)
    allowed = settings.limits_of(settings.profile)
    settings = msgspec.structs.replace(settings, text_limit=round(allowed.output_mb * MIB) + 1)
    found = registry.by_extension(file)
    raw = _read(file, stdin_path, allowed) | {"language": language or (found.name if found else "python")}
    result = _run(raw, settings)
    case = case_of(result)
    if as_json:
        click.echo(json.dumps(outcome(result)))
    else:
        _pass_on(result, case)
    sys.exit(_exit_code(result, case))


def _read(file: str, stdin_path: str | None, limits: Limits) -> dict[str, Any]:
    if file == STANDARD and stdin_path == STANDARD:
        raise click.UsageError("the program and its input cannot both be standard input")
    stdin = "" if stdin_path is None else _read_text(stdin_path, round(limits.stdin_mb * MIB))
    return to_run(_read_text(file, MAX_SOURCE), stdin)


def _read_text(path: str, limit: int) -> str:
    try:
        with _open(path) as stream:
            data = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError(problem, source=path) from None
    if len(data) > limit:
        raise InputError(f"more than {limit} bytes", source=path, mend="raise the limit stdin_mb, if it is the input")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start + 1}", source=path) from None


def _open(path: str) -> BinaryIO:
    return open(0, "rb", closefd=False) if path == STANDARD else open(path, "rb")


def _run(raw: dict[str, Any], settings: Settings) -> VerificationResult:
    with ScaleBoxClient(settings=settings) as client:
        return client.fetch(client.submit_batch([parse_sample(raw, settings=settings)]))[0]


def _pass_on(result: VerificationResult, case: CaseResult) -> None:
    click.echo(case.stdout, nl=False)
    click.echo(case.stderr, nl=False, err=True)
    if case.stderr and not case.stderr.endswith("\n"):
        click.echo(err=True)
    verdict = "finished" if finished(result.verdict) else result.verdict
    ended = printable(message_of(result)) or (f"signal {case.signal}" if case.signal else f"exit code {case.exit_code}")
    if result.verdict is Verdict.COMPILE_ERROR:
        click.echo(f"{verdict}: {ended}", err=True)
        return
    used = f"{duration(case.cpu_s)} CPU, {duration(case.wall_s)} wall, {size(case.memory_bytes)}"
    denied = f", denied: {printable(', '.join(result.denied))}" if result.denied else ""
    click.echo(f"{verdict}: {ended}, {used}, tier {result.tier or 'none'}{denied}", err=True)


def _exit_code(result: VerificationResult, case: CaseResult) -> int:
    if result.verdict in (Verdict.UNKNOWN, Verdict.INTERNAL_ERROR):
        return 3
    if finished(result.verdict):
        return 0
    if result.verdict is Verdict.TIME_OUT:
        return EXIT_TIME_OUT
    if result.verdict is Verdict.RUNTIME_ERROR and case.signal:
        return 128 + case.signal
    if result.verdict is Verdict.RUNTIME_ERROR and case.exit_code:
        return case.exit_code
    return EXIT_STOPPED
