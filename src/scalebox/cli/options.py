"""Options that several commands share, and the settings they make."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
import msgspec

from scalebox.core import settings as settings_module
from scalebox.core.errors import SandboxError, SettingsError
from scalebox.core.limits import parse_limits
from scalebox.core.settings import Settings
from scalebox.languages import python

#: The profile that `--limit` makes.
COMMAND_LINE = "command line"

_Function = TypeVar("_Function", bound=Callable[..., Any])

config_option = click.option("--config", metavar="FILE", help="Settings file (TOML) instead of scalebox.toml.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

_ENGINE_OPTIONS = (
    config_option,
    click.option("--workers", type=int, metavar="N", help="Worker processes; 0 is one per physical core."),
    click.option("--tier", metavar="NAME", help="Isolation tier: auto, namespace, process, container or gvisor."),
    click.option("--interpreter", metavar="PATH", help="The Python that runs samples."),
    click.option("--profile", metavar="NAME", help="Limits profile of samples that name none."),
    click.option(
        "--limit", "limits", multiple=True, metavar="NAME=VALUE", help="Change one limit of that profile; repeatable."
    ),
)


def engine_options(function: _Function) -> _Function:
    """Add the options that choose an engine's settings; `load_settings` takes them."""
    for option in reversed(_ENGINE_OPTIONS):
        function = option(function)
    return function


def load_settings(config: str | None, limits: Iterable[str], **overrides: Any) -> Settings:
    """Return the settings of the command line over those of environment and file.

    `limits` are NAME=VALUE changes to the default profile. Raises SettingsError, or InputError for a limit.
    """
    settings = settings_module.load(config, **overrides)
    if settings.interpreter:
        python.interpreter(settings.interpreter)  # said here, before any worker fails to start
    given = dict(_split_limit(text) for text in limits)
    if given:
        changed = parse_limits(given, settings.limits_of(settings.profile), field="--limit")
        profiles = {**settings.profiles, COMMAND_LINE: changed}
        settings = msgspec.structs.replace(settings, profiles=profiles, profile=COMMAND_LINE)
    _check_tier(settings.tier)
    return settings


def _check_tier(name: str) -> None:
    """Raise SettingsError for a tier that there is on no machine, before any worker fails to start."""
    if name == "auto":
        return
    from scalebox.sandbox import tiers

    try:
        tiers.find(name)
    except SandboxError as error:
        raise SettingsError(f"tier: {error}") from None


def _split_limit(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE, such as cpu_s=5", param_hint="--limit")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value.strip()
