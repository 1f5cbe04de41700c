"""When a jail has ended, in whatever way, nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

from scalebox.core.limits import Limits
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.linux import owner
from scalebox.sandbox.probes.host import descendants, wait_until
from scalebox.sandbox.probes.scene import Broken, Probe, Scene

_BUSY = """
import os, time
for n in range(50):
    with open(str(n), "w") as file:
        file.write("x")
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
print("left", flush=True)
time.sleep(600)
"""
_LIMITS = Limits(cpu_s=5.0, wall_s=1.0, processes=8)


def _what_is_there() -> dict[str, set[str]]:
    """Return what a jail of ours could leave, by kind."""
    mark = owner.tagged("")
    walk = os.walk("/sys/fs/cgroup")  # which bears with groups of others that go meanwhile
    groups = {f"{folder}/{name}" for folder, names, _ in walk for name in names if name.startswith(mark)}
    return {
        "processes": {str(pid) for pid in descendants(os.getpid())},
        "descriptors": set(os.listdir("/proc/self/fd")),
        "mounts": set(Path("/proc/self/mountinfo").read_text().splitlines()),
        "control groups": groups,
        "files": {str(path) for path in Path(tempfile.gettempdir()).glob(f"{mark}*")},
    }


def _check(end: Callable[[Jail], None]) -> Callable[[Scene], str]:
    def check(scene: Scene) -> str:
        before = _what_is_there()
        jail = Jail(scene.jail.tier, scene.jail.config)
        try:
            jail.open(_BUSY.encode(), _LIMITS, None)
            made = sum(len(now - before[kind]) for kind, now in _what_is_there().items())
            jail.run()
            jail.open(_BUSY.encode(), _LIMITS, None)
            end(jail)
        finally:
            jail.stop()
        wait_until(lambda: _what_is_there() == before)
        left = {kind: sorted(now - before[kind]) for kind, now in _what_is_there().items() if now - before[kind]}
        if left:
            raise Broken(f"left: {left}")
        return f"{made} things were there while it ran, none afterwards"

    return check


def _kill_agent(jail: Jail) -> None:
    os.kill(jail.agent_pid, signal.SIGKILL)


def _kill_all(jail: Jail) -> None:
    for pid in (*descendants(jail.agent_pid), jail.agent_pid):
        with contextlib.suppress(ProcessLookupError):  # gone with one before it
            os.kill(pid, signal.SIGKILL)


PROBES = (
    Probe(
        name="left_overs.stopped",
        promise="A jail that is stopped leaves no process, descriptor, mount, control group or file.",
        check=_check(lambda _: None),
    ),
    Probe(
        name="left_overs.agent_killed",
        promise="Nor does one whose agent was killed.",
        check=_check(_kill_agent),
    ),
    Probe(
        name="left_overs.all_killed",
        promise="Nor does one whose processes were all killed.",
        check=_check(_kill_all),
    ),
)
