"""A jail with canaries around it, and the ways in which a promise is put to the test.

A program under probe says what became of each of its attempts: `attempt(name, act)` prints "done" or "refused" and why,
`reach(name, call, ...)` the same of a raw system call with senseless arguments, which is refused only if the
kernel does not even look at them. These programs are ours, so their word is taken; where a promise can be
judged by what happened outside, it is.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from scalebox.core.errors import SandboxError
from scalebox.core.limits import MIB, Limits
from scalebox.sandbox import confinement
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.linux import family
from scalebox.sandbox.linux.syscalls import ARCHITECTURES
from scalebox.sandbox.outcome import Cause, Outcome
from scalebox.sandbox.probes.host import Host, descendants

LIMITS = Limits(cpu_s=10.0, wall_s=60.0, memory_mb=256, disk_mb=20)
_END = "the end"

_PRELUDE = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
SCRATCH = [os.getcwd()]
if JAILED:
    SCRATCH = sorted({os.path.realpath(place) for place in (".", os.environ["TMPDIR"], HOST["shm"])})
def say(name, what):
    os.write(1, ("%s: %s\\n" % (name, what)).encode("utf-8", "backslashreplace"))
def attempt(name, act, *arguments):
    try:
        act(*arguments)
    except OSError as error:
        say(name, "refused: %s" % errno.errorcode.get(error.errno, error))
    except Exception as error:
        say(name, "refused: %r" % error)
    else:
        say(name, "done")
def call(name, *arguments):
    if name not in NR:
        raise OSError(errno.ENOSYS, "not on this architecture")
    made = [a if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments]
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(NR[name]), *made)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
def reach(name, *arguments):
    try:
        call(name, *arguments)
    except OSError as error:
        refused = error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS)
        say(name, "%s: %s" % ("refused" if refused else "done", errno.errorcode.get(error.errno)))
    else:
        say(name, "done")
def look(name, found):
    say(name, "done" if found else "nothing")
"""


class Broken(Exception):
    """The promise did not hold; the text says what happened."""


class Scene:
    """The jail under probe and the host around it."""

    def __init__(self, jail: Jail, host: Host) -> None:
        self.jail = jail
        self.host = host
        self._source = b""

    @property
    def namespaced(self) -> bool:
        return self.jail.moved

    @property
    def has_cgroup(self) -> bool:
        return self.jail.counts_memory

    def source(self, program: str, *, jailed: bool) -> str:
        """Return the program with what every program is told before it."""
        numbers = ARCHITECTURES[os.uname().machine].number_of
        shared = "/dev/shm" if self.namespaced else "."  # noqa: S108 - the jail's own
        facts = self.host.facts() | {"shm": shared, "shown": self.jail.config.readable, "zygote": self._zygote()}
        return f"JAILED = {jailed}\nHOST = {facts!r}\nNR = {numbers!r}\n{_PRELUDE}\n{program}\nsay({_END!r}, 'seen')\n"

    def run(self, program: str, *, limits: Limits = LIMITS, stdin: str = "", again: bool = False) -> Outcome:
        """Run a program in the jail as a sample of its own, or as one more case of the last sample with `again`.

        Raises Broken where it could not be built, or did harm outside.
        """
        if not (again and self.jail.opened):
            self.jail.close()
            self._source = self.source(program, jailed=True).encode()
            build = self.jail.open(self._source, limits, None)
            if not build.ok:
                raise SandboxError(f"a probe could not be built: {build.message}", step="probe")
        outcome = self.jail.run(stdin=stdin.encode(), output_bytes=int(limits.output_mb * MIB))
        harm = self.host.harm()
        if harm:
            raise Broken("; ".join(harm))
        if self.host.canary.encode() in outcome.stdout + outcome.stderr:
            raise Broken("a secret of the host came out")
        return outcome

    def outside(self, program: str, *, stdin: str = "", **how: Any) -> bytes:
        """Run a program without any jail, as the control of a probe, and return what it printed."""
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            [sys.executable, "-I", "-c", self.source(program, jailed=False)],
            input=stdin.encode(),
            capture_output=True,
            timeout=60,
            check=False,
            **how,
        )
        return done.stdout

    def _zygote(self) -> int:
        """Return the number of the zygote in the jail, between samples; the agent's where there is none."""
        for pid in () if self.jail.own_kernel else family.children(self.jail.agent_pid):
            with contextlib.suppress(OSError, LookupError):
                status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
                return int(status.partition("\nNSpid:")[2].splitlines()[0].split()[-1])
        return 1

    def survivors(self) -> list[int]:
        """Return what runs in the jail beside the agent, its zygote and the compile process."""
        if self.jail.own_kernel:  # whose processes are not to be seen
            return []
        agent = self.jail.agent_pid
        spare = 2 if self.jail.opened else 1
        return descendants(agent)[spare:] if agent else []


Check = Callable[[Scene], str]
Skip = Callable[[Scene], str]


def always(_: Scene) -> str:
    """Skip nowhere."""
    return ""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One promise. `check` returns what was seen, or raises Broken; `skip` why it is not promised here, or ""."""

    name: str
    promise: str
    check: Check
    skip: Skip = always


def needs_namespaces(reason: str) -> Skip:
    """Return a `skip` for what takes namespaces, or a kernel, of the jail's own."""
    return lambda scene: "" if scene.namespaced else f"the {scene.jail.tier.name} tier does not cover it: {reason}"


def needs_our_kernel(reason: str, also: Skip = always) -> Skip:
    """Return a `skip` for what is not promised, or cannot be seen from outside, on a kernel of the jail's own."""
    return lambda scene: f"on a kernel of its own, {reason}" if scene.jail.own_kernel else also(scene)


def needs_cgroup(scene: Scene) -> str:
    """Skip what only a cgroup can bound."""
    return "" if scene.has_cgroup else "no cgroup counts its processes apart: limits hold for each process alone"


def needs_children(scene: Scene) -> str:
    """Skip what takes a program that may start others."""
    bounded = scene.has_cgroup or confinement.counts_apart(scene.jail.facts)
    return "" if bounded else "no program may start others here: nothing could bound their number"


def told(output: bytes) -> dict[str, str]:
    """Return what a program said of its attempts; raises Broken unless it came to its end."""
    lines = (line.partition(": ") for line in output.decode("utf-8", "replace").splitlines())
    words = {name: word for name, _, word in lines}
    if words.pop(_END, "") != "seen":
        raise Broken(f"the program did not come to its end: {output[-200:]!r}")
    return words


def finished(outcome: Outcome) -> bool:
    """Say whether the program came to its end."""
    return f"{_END}: seen".encode() in outcome.stdout


def describe(outcome: Outcome) -> str:
    """Return how a run ended, in short."""
    how = f"signal {outcome.signal}" if outcome.signal is not None else f"exit code {outcome.exit_code}"
    return how if outcome.cause == "exited" else f"stopped: {outcome.cause}"


# -- ways to test --------------------------------------------------------------------------------------------------


def refused(program: str, *, limits: Limits = LIMITS, control: bool = True) -> Check:
    """Every attempt of the program must be refused. The control: outside, some are not, or do harm."""

    def check(scene: Scene) -> str:
        outcome = scene.run(program, limits=limits)
        words = told(outcome.stdout)
        possible = [name for name, word in words.items() if word.startswith("done")]
        if possible:
            raise Broken(f"possible: {', '.join(possible)}")
        seen = f"{len(words)} attempts refused"
        return f"{seen}; {_control(scene, program)}" if control else seen

    return check


def _control(scene: Scene, program: str) -> str:
    output = scene.outside(program)
    harm = scene.host.harm()
    done = [line for line in output.decode("utf-8", "replace").splitlines() if ": done" in line]
    if not (done or harm or scene.host.canary.encode() in output):
        return "the control is refused outside the jail, too"
    return f"outside the jail, {len(done)} of them succeed"


def stopped(
    program: str,
    causes: Sequence[Cause],
    *,
    limits: Limits,
    errors: Sequence[str] = (),
    within: str = "",
    enough: Limits | None = None,
) -> Check:
    """The program must be stopped for one of `causes`, or end by one of the exceptions `errors`.

    The control must come to its end: the program `within`, or the same one with the limits `enough`.
    """

    def check(scene: Scene) -> str:
        outcome = scene.run(program, limits=limits)
        by_itself = outcome.cause == "exited" and outcome.fault.builtin in errors
        if finished(outcome) or not (outcome.cause in causes or by_itself):
            raise Broken(f"the program was not stopped at its limit ({describe(outcome)}: {outcome.stderr[-200:]!r})")
        left = scene.survivors()
        if left:
            raise Broken(f"{len(left)} processes outlived it")
        control = scene.run(within or program, limits=enough or limits)
        if not finished(control):
            raise Broken(
                f"the control does not come to its end, either ({describe(control)}: {control.stderr[-200:]!r})"
            )
        why = outcome.fault.builtin if by_itself else outcome.cause
        return f"stopped ({why}) after {outcome.wall_s:.2f} s; the control comes to its end"

    return check


def forgotten(program: str, *, limits: Limits = LIMITS, control: bool = True) -> Check:
    """What the program leaves when its input is "leave" must not be there when it is "look".

    Neither in the next case of the sample nor in the next sample. The control: outside, it is.
    """

    def check(scene: Scene) -> str:
        left = told(scene.run(program, limits=limits, stdin="leave").stdout)
        kept = [name for name, word in left.items() if word.startswith("done")]
        for again, who in ((True, "the next case"), (False, "the next sample")):
            words = told(scene.run(program, limits=limits, stdin="look", again=again).stdout)
            found = [name for name, word in words.items() if word.startswith("done")]
            if found:
                raise Broken(f"{who} found: {', '.join(found)}")
        seen = f"{len(kept)} of {len(left)} things could be left, none was found"
        return f"{seen}; {_found_outside(scene, program)}" if control else seen

    return check


def _found_outside(scene: Scene, program: str) -> str:
    for errand in ("leave", "look", "tidy"):
        output = scene.outside(program, stdin=errand, cwd=scene.host.folder / "open")
        if errand == "look":
            found = output.count(b": done")
    scene.host.harm()
    return f"outside the jail, {found} of them are"
