"""`scalebox problems`: load problems into a store, and look after it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click
import msgspec

from scalebox.cli.options import config_option, json_option
from scalebox.core.errors import InputError, SettingsError

if TYPE_CHECKING:
    from scalebox.problems import ProblemStore

_MOST_SHOWN = 100
_PAGE = 1000
_STORE = click.option("--store", "path", metavar="DB", help="The database, instead of the setting server_problems.")


@click.group()
def problems() -> None:
    """Load problems into a store, list them, delete them. Samples name them by problem_id."""


@problems.command(short_help="Load the problems of JSON Lines files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE.jsonl…")
@_STORE
@config_option
@json_option
def load(*, files: tuple[str, ...], path: str | None, config: str | None, as_json: bool) -> None:
    """Load problems from JSON Lines: all of a file, or none where one of its lines is unusable.

    One that differs from what is kept is a new version. Exit code: 2 if a file was unusable, else 0.
    """
    from scalebox.core.settings import load as load_settings
    from scalebox.problems.file import problem_lines

    settings = load_settings(config)
    store = _opened(path or settings.server_problems, make=True)
    number = new = unusable = 0
    for file in files:
        try:
            loaded = store.load(problem_lines(file, settings), author="scalebox problems load")
        except ExceptionGroup as errors:
            unusable += 1
            _complain(errors)
            continue
        number, new = number + loaded[0], new + loaded[1]
    store.close()
    facts = {"problems": number, "new_versions": new, "unusable_files": unusable}
    click.echo(json.dumps(facts) if as_json else f"{number} problems, {new} of them new or changed")
    raise SystemExit(2 if unusable else 0)


@problems.command(name="list", short_help="List the problems, their versions and numbers of tests.")
@_STORE
@config_option
@json_option
def list_(*, path: str | None, config: str | None, as_json: bool) -> None:
    """List the problems: id, version, how many tests, how many of them hidden. --json prints an object a line."""
    store = _opened(path or _set_store(config))
    after = ""
    while page := store.page(after, _PAGE):
        for one in page:
            created = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.created))
            text = f"{one.problem_id}@{one.version}  {one.tests} tests, {one.hidden} hidden  {one.language}  {created}"
            click.echo(json.dumps(msgspec.to_builtins(one)) if as_json else text)
        after = page[-1].problem_id
    store.close()


@problems.command()
@click.argument("problem_ids", nargs=-1, required=True, metavar="ID…")
@_STORE
@config_option
def delete(*, problem_ids: tuple[str, ...], path: str | None, config: str | None) -> None:
    """Delete problems with all their versions. Exit code: 1 if one is not there."""
    store = _opened(path or _set_store(config))
    missing = [problem_id for problem_id in problem_ids if not store.delete(problem_id)]
    store.close()
    for problem_id in missing:
        click.echo(f"{problem_id}: no such problem", err=True)
    raise SystemExit(1 if missing else 0)


def _complain(errors: ExceptionGroup[Exception]) -> None:
    for error in errors.exceptions[:_MOST_SHOWN]:
        if not isinstance(error, InputError):
            raise error
        click.echo(f"error: {error}", err=True)
    if len(errors.exceptions) > _MOST_SHOWN:
        click.echo(f"error: {len(errors.exceptions) - _MOST_SHOWN} more unusable lines are not shown", err=True)


def _opened(path: str, *, make: bool = False) -> ProblemStore:
    from scalebox.problems import ProblemStore

    if not path:
        raise SettingsError("server_problems: no database is set (name one with --store)")
    return ProblemStore(path, make=make)


def _set_store(config: str | None) -> str:
    from scalebox.core.settings import load as load_settings

    return load_settings(config).server_problems
