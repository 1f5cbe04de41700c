"""`scalebox token`: the bearer tokens of a server."""

from __future__ import annotations

import json
from typing import Any

import click
import msgspec

from scalebox.cli.options import config_option, json_option
from scalebox.core.errors import SettingsError

ROLES = ("policy", "trainer", "operator", "reader")

_FILE = click.option("--file", "path", metavar="FILE", help="The file of tokens, instead of the setting server_tokens.")


@click.group()
def token() -> None:
    """Make, list and revoke the bearer tokens of a server. Only hashes of them are kept."""


@token.command()
@click.option("--client", required=True, metavar="NAME", help="Who gets it; batches and quotas are the client's.")
@click.option("--role", required=True, type=click.Choice(ROLES), help="What the client may do with it.")
@click.option("--note", default="", metavar="TEXT", help="A remark, for the list.")
@_FILE
@config_option
def create(*, client: str, role: str, note: str, path: str | None, config: str | None) -> None:
    """Add a token and print it: once, and never again. A client may have several."""
    from scalebox.server.principal import Role
    from scalebox.server.tokens import create_token

    click.echo(create_token(_path(path, config), client, Role(role), note))


@token.command(name="list")
@_FILE
@config_option
@json_option
def list_(*, path: str | None, config: str | None, as_json: bool) -> None:
    """List the tokens by their ids."""
    from scalebox.server.tokens import read_tokens

    tokens = [_shown(token) for token in read_tokens(_path(path, config))]
    if as_json:
        click.echo(json.dumps({"tokens": tokens}))
        return
    for one in tokens:
        click.echo("  ".join([one["id"], f"{one['role']:<8}", one["created"], one["client"], one["note"]]).rstrip())


@token.command(short_help="Take a token out of the file.")
@click.argument("token_id", metavar="ID", default="")
@click.option(
    "--client", default="", metavar="NAME", help="Revoke all tokens of this client, instead of one by its ID."
)
@_FILE
@config_option
def revoke(*, token_id: str, client: str, path: str | None, config: str | None) -> None:
    """Take a token out of the file; a running server sees it at the next request.

    Exit code: 1 if there is no such token.
    """
    from scalebox.server.tokens import revoke_tokens

    if bool(token_id) == bool(client):
        raise click.UsageError("give the ID of a token (see scalebox token list), or --client")
    gone = revoke_tokens(_path(path, config), token_id=token_id, client=client)
    for one in gone:
        click.echo(f"revoked {one.id} of {one.client} ({one.role})")
    if not gone:
        click.echo("no such token", err=True)
        raise SystemExit(1)


def _shown(one: Any) -> dict[str, str]:
    return {"id": one.id, **{name: str(value) for name, value in msgspec.to_builtins(one).items() if name != "hash"}}


def _path(path: str | None, config: str | None) -> str:
    from scalebox.core.settings import load

    found = path or load(config).server_tokens
    if not found:
        raise SettingsError("server_tokens: no file of tokens is set (name one with --file)")
    return found
