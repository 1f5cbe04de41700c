"""`scalebox cache`: what the result cache holds, whether it can be trusted, and how to empty it."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import click

from scalebox.cli.options import config_option, json_option


@click.group()
def cache() -> None:
    """Show, empty or audit the cache of results (the setting cache)."""


@cache.command()
@config_option
@json_option
def stats(*, config: str | None, as_json: bool) -> None:
    """Show what is kept, and how often it was found."""
    store, settings = _opened(config)
    facts = store.facts()
    counts = facts.get("counts", {})
    used = counts.pop("bytes", 0)
    hits = counts.get("hits", 0) + counts.get("hits_other_text", 0)
    looked_up = hits + counts.get("misses", 0)
    shown = {
        "folder": _folder(settings), "works": store.works, "bytes": used, "most_bytes": settings.cache_mb << 20,
        "hit_rate": round(hits / looked_up, 4) if looked_up else None, **counts, "classes": facts.get("classes", {}),
        "off": facts.get("off", []),
    }  # fmt: skip
    _show(shown, as_json=as_json)


@cache.command()
@config_option
@json_option
def clear(*, config: str | None, as_json: bool) -> None:
    """Forget all that is kept. Classes that are switched off stay so: see audit --reset."""
    store, settings = _opened(config)
    entries = sum(one["entries"] for one in store.facts().get("classes", {}).values())
    store.clear()
    _show({"folder": _folder(settings), "forgotten": entries}, as_json=as_json)


@cache.command(short_help="Show what came of kept results that were run again.")
@click.option("--reset", is_flag=True, help="Use the classes that are switched off again, without their entries.")
@config_option
@json_option
def audit(*, reset: bool, config: str | None, as_json: bool) -> None:
    """Show what came of kept results that were run again (the setting cache_audit).

    Exit code: 1 if a class is switched off, because a kept result was not what a run gave; else 0.
    """
    store, settings = _opened(config)
    if reset:
        store.trust()
    facts = store.facts()
    counts = facts.get("counts", {})
    off = facts.get("off", [])
    shown = {
        "folder": _folder(settings), "audited": counts.get("audited", 0), "off": off,
        "disagreements": facts.get("disagreements", []),
    }  # fmt: skip
    _show(shown, as_json=as_json)
    raise SystemExit(1 if off else 0)


def _folder(settings: Any) -> str:
    return os.path.join(settings.cache_folder(), "results")


def _opened(config: str | None) -> tuple[Any, Any]:
    from scalebox.cache import Store
    from scalebox.core.settings import load

    settings = load(config)
    return Store(_folder(settings), settings.cache_mb << 20), settings


def _show(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            for key, one in value.items():
                click.echo(f"  {key:<26} {one['entries']:>8} entries, {one['bytes']:>12,} bytes")
        elif isinstance(value, list):
            click.echo(f"{name:<28} {len(value) or 'none'}")
            for one in value:
                at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["at"]))
                rest = ", ".join(str(one[key]) for key in one if key != "at")
                click.echo(f"  {at}  {rest}")
        else:
            click.echo(f"{name.replace('_', ' '):<28} {'none' if value is None else value}")
