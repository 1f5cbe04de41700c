"""ScaleBox: verification and rewards for reinforcement learning of code models.

from scalebox import ScaleBoxClient

with ScaleBoxClient() as client:
    batch_id = client.submit("s-1", code, tests)
    results = client.fetch(batch_id)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalebox.client import AsyncScaleBoxClient, ScaleBoxClient
    from scalebox.core.errors import (
        AuthenticationError,
        BatchNotFound,
        EngineClosed,
        InputError,
        QueueFull,
        SandboxError,
        ScaleBoxError,
        ServerError,
        SettingsError,
    )
    from scalebox.core.limits import Limits
    from scalebox.core.result import CaseResult, VerificationResult
    from scalebox.core.sample import CallTest, Match, Sample, StdinTest
    from scalebox.core.settings import Settings
    from scalebox.core.verdicts import Verdict

__all__ = [
    "AsyncScaleBoxClient",
    "AuthenticationError",
    "BatchNotFound",
    "CallTest",
    "CaseResult",
    "EngineClosed",
    "InputError",
    "Limits",
    "Match",
    "QueueFull",
    "Sample",
    "SandboxError",
    "ScaleBoxClient",
    "ScaleBoxError",
    "ServerError",
    "Settings",
    "SettingsError",
    "StdinTest",
    "Verdict",
    "VerificationResult",
]

_HOMES = {
    "scalebox.client": ("AsyncScaleBoxClient", "ScaleBoxClient"),
    "scalebox.core.errors": (
        "AuthenticationError", "BatchNotFound", "EngineClosed", "InputError", "QueueFull", "SandboxError",
        "ScaleBoxError", "ServerError", "SettingsError",
    ),
    "scalebox.core.limits": ("Limits",),
    "scalebox.core.result": ("CaseResult", "VerificationResult"),
    "scalebox.core.sample": ("CallTest", "Match", "Sample", "StdinTest"),
    "scalebox.core.settings": ("Settings",),
    "scalebox.core.verdicts": ("Verdict",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that `import scalebox` costs next to nothing."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
