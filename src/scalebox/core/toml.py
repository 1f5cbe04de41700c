"""Settings as a file, for an engine in another process."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from scalebox.core.settings import Settings


def as_toml(settings: Settings) -> str:
    """Return the settings that are not the default, as a settings file."""
    defaults = Settings()
    lines, tables = [], []
    for name in settings.__struct_fields__:
        value = msgspec.to_builtins(getattr(settings, name))
        if name == "profiles":
            for profile, limits in value.items():
                tables += [f"[profiles.{_toml(profile)}]", *(f"{key} = {_toml(item)}" for key, item in limits.items())]
        elif value != msgspec.to_builtins(getattr(defaults, name)):
            lines.append(f"{name} = {_toml(value)}")
    return "\n".join([*lines, *tables, ""])


def _toml(value: Any) -> str:
    """Return a text, number, switch or list as TOML, which writes them as JSON does but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
