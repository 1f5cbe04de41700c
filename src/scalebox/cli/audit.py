"""`scalebox audit`: check an audit log, or search it."""

from __future__ import annotations

import json

import click

from scalebox.cli.options import config_option
from scalebox.core.errors import InputError, SettingsError


@click.command()
@click.argument("path", metavar="[FOLDER|FILE]", default="")
@click.option("--check", is_flag=True, help="Verify the numbers and the hashes of all records.")
@click.option("--noted", metavar="N:HASH", help="With --check: a record that must be there, as an earlier check told.")
@click.option("--event", metavar="NAME", help="Only records of this event.")
@click.option("--sample", "sample_id", metavar="ID", help="Only records of this sample.")
@config_option
@click.option("--json", "as_json", is_flag=True, help="With --check: print one JSON object.")
def audit(
    *,
    path: str,
    check: bool,
    noted: str | None,
    event: str | None,
    sample_id: str | None,
    config: str | None,
    as_json: bool,
) -> None:
    """Print the records of an audit log, by default the one that is set, or check that none is missing or changed.

    Exit code of --check: 1 if something is wrong with the log, 3 if it cannot be read, else 0.
    """
    if noted and not check:
        raise click.UsageError("--noted goes with --check: nothing else looks whether the record is there")
    path = path or _set_folder(config)
    if check:
        _check(path, noted, as_json=as_json)
        return
    from scalebox.sinks.audit_log import records

    try:
        for _, _, line in records(path):
            if _wanted(line, event, sample_id):
                click.echo(line, nl=False)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=path) from None


def _check(path: str, noted: str | None, *, as_json: bool) -> None:
    import msgspec

    from scalebox.sinks.audit_log import check

    found = check(path, noted=_noted(noted))
    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(found)))
    else:
        for fault in found.faults:
            click.echo(fault)
        state = "whole" if not found.faults else f"BROKEN: {len(found.faults)} faults"
        click.echo(f"{found.records} records, {state}; to be noted elsewhere: {found.last}:{found.digest}")
    raise SystemExit(1 if found.faults else 0)


def _noted(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    number, _, digest = text.partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise click.BadParameter(f"{text!r} is not N:HASH, as --check prints it", param_hint="--noted")
    return int(number), digest


def _wanted(line: bytes, event: str | None, sample_id: str | None) -> bool:
    if event is None and sample_id is None:
        return True
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(record, dict):
        return False
    about = (record.get("sample_id"), *record.get("ids", ()))
    return event in (None, record.get("event")) and (sample_id is None or sample_id in about)


def _set_folder(config: str | None) -> str:
    from scalebox.core.settings import load

    folder = load(config).audit_log
    if not folder:
        raise SettingsError("audit_log: no folder is set (name it as an argument)")
    return folder
