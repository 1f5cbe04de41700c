"""A self-check of the sandbox: every promise is put to the test with hostile programs in a real jail.

What is judged is seen from outside of the jail wherever it can be, and each probe has a control which shows that it
can fail. What a tier does not promise is skipped, with the reason, and is never reported as held.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec

from scalebox.core.errors import SandboxError
from scalebox.sandbox import tiers
from scalebox.sandbox.channel import HungUp
from scalebox.sandbox.jail import Jail, JailConfig
from scalebox.sandbox.probes.host import Host
from scalebox.sandbox.probes.scene import Broken, Probe, Scene

Progress = Callable[[str], None]

#: Named, not imported: source that is sent into the jail, as for a sample.
_BUILD_STEP = "scalebox.sandbox.probes.build"
_PRELOAD = ["io", "math", "collections", "random", "threading", "atexit", "traceback", "json"]
_ASK = """
import json, sys
print(json.dumps([getattr(sys, "_base_executable", "") or sys.executable, [sys.prefix, sys.base_prefix],
                  [place for place in sys.path if place]]))
"""
_SELF_TEST = ("print(input()[::-1])\n", "probe\n", "eborp\n")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one promise. `skipped` says why this tier does not make it; then `ok` says nothing."""

    name: str
    promise: str
    ok: bool
    detail: str
    skipped: str = ""


@cache
def probes() -> tuple[Probe, ...]:
    """Return all probes, by name."""
    folder = Path(__file__).parent / "probes"
    modules = [
        importlib.import_module(f"scalebox.sandbox.probes.{path.stem}") for path in sorted(folder.glob("[a-z]*.py"))
    ]
    found = [probe for module in modules for probe in getattr(module, "PROBES", ())]
    return tuple(sorted(found, key=lambda probe: probe.name))


def run(
    tier_name: str = "auto", interpreter: str = "", progress: Progress | None = None, names: str = ""
) -> list[Finding]:
    """Probe every promise (or those whose name begins with `names`) in a jail of a tier, and return what was found.

    `interpreter` is the path of the Python that runs samples ("" is this one); `progress` is called with
    each probe's name before it runs. Takes about a minute. Raises SandboxError where no jail can be had at all.
    """
    jail = Jail(tiers.choose(tier_name), config(interpreter))
    host = Host()
    try:
        with host.canary_in_environment():
            jail.start()
        scene = Scene(jail, host)
        chosen = [probe for probe in probes() if probe.name.startswith(names)]
        return [_find(probe, scene, progress) for probe in chosen]
    finally:
        jail.stop()
        host.close()


def _find(probe: Probe, scene: Scene, progress: Progress | None) -> Finding:
    if progress is not None:
        progress(probe.name)
    if not scene.jail.running:
        scene.jail.start()
    reason = probe.skip(scene)
    if reason:
        return Finding(name=probe.name, promise=probe.promise, ok=False, detail="", skipped=reason)
    try:
        ok, detail = True, probe.check(scene)
    except Broken as broken:
        ok, detail = False, str(broken)
    except (SandboxError, HungUp, TimeoutError, OSError, subprocess.SubprocessError) as error:
        ok, detail = False, f"the probe itself failed: {error!r}"
    finally:
        scene.jail.close()
        scene.host.harm()
    return Finding(name=probe.name, promise=probe.promise, ok=ok, detail=detail)


def config(interpreter: str) -> JailConfig:
    """Return what a jail for probes is started with ("" is this Python). Raises SandboxError."""
    try:
        answer = subprocess.run(
            [interpreter or sys.executable, "-I", "-c", _ASK], capture_output=True, timeout=60, check=True
        )
        executable, prefixes, path = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxError(f"{interpreter!r} does not run as a Python: {error}", step="interpreter") from None
    prefixes = sorted({os.path.realpath(prefix) for prefix in prefixes})
    return JailConfig(
        interpreter=os.path.realpath(executable),
        path=[place for place in path if any(place.startswith(prefix + "/") for prefix in prefixes)],
        readable=prefixes,
        preload=_PRELOAD,
        builder=_BUILD_STEP,
        self_test=_SELF_TEST,
        env={},
        cores=[min(os.sched_getaffinity(0))],
        name="conformance",
    )
