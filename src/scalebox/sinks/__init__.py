"""Listeners to what the engine says happened. One file each, named like the setting that turns it on.

A module here has `open_sink(settings)`, which is called where the setting is not empty. A sink is called
with every event on the engine's thread, so it has to be quick; it may have a `close`.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from scalebox.core.events import Sink
from scalebox.core.settings import Settings


def open_sinks(settings: Settings) -> list[Sink]:
    """Return the sinks that the settings turn on; raises SettingsError where one cannot be opened."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if getattr(settings, module.name)]
    return [import_module(f"{__name__}.{name}").open_sink(settings) for name in names]
