"""What the server answers. A module here has `handlers(context)`, which returns its Litestar handlers."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from scalebox.server.context import Context


def all_handlers(context: Context) -> list[Any]:
    """Return the handlers of every module of this folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [handler for name in names for handler in import_module(f"{__name__}.{name}").handlers(context)]
