"""The supervisor's handle on one jail: start it, build a program in it, run cases, clean up, end it.

Everything that the jail says is data. Time, memory and output are judged from outside: the supervisor's clock,
the kernel's accounting, and the supervisor's own ends of the pipes.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import math
import os
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scalebox.core.errors import SandboxError
from scalebox.core.limits import MIB, Limits
from scalebox.sandbox import confinement, usage
from scalebox.sandbox.answers import read_answer, read_build
from scalebox.sandbox.batch import MOST, Batch, Case, blame_machine, blame_memory
from scalebox.sandbox.channel import Channel, HungUp
from scalebox.sandbox.compiled import Compiled
from scalebox.sandbox.linux.cgroup import CaseCgroup
from scalebox.sandbox.outcome import Build, Cause, Outcome
from scalebox.sandbox.pace import STRETCH, Pace
from scalebox.sandbox.pair import Pair, PairOutcome
from scalebox.sandbox.supervision import Cancelled, Watch
from scalebox.sandbox.tiers import Launched, Tier

#: Seconds that the agent gets for what takes it milliseconds, on a machine however loaded.
_PATIENCE = 30.0
#: A build that others keep from the CPU has more time by the clock (STRETCH), and at least so many seconds more; it is
#: looked at as soon as it can have had its limit of CPU time, but not more often than this.
_LEAST_PATIENCE, _LOOK = 10.0, 0.05
#: Tells the control groups of this process's jails apart.
_NUMBERS = itertools.count()
#: More memory for an agent that has to clean up after a program that used all there was.
_ROOM_TO_CLEAN_MB = 64
#: What a kernel of its own may need for a sample, beyond what it has before.
_KERNEL_ROOM_MB = 48
#: A disk with less than this left is full.
_FULL_BYTES = 1 * MIB


class JailConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How to start a jail.

    `path` is the module search path of the sample's interpreter, `builder` the module of the build step,
    `self_test` a program, its input and its output. `more_cores` are for programs whose limits give them more CPUs.
    """

    interpreter: str
    path: list[str]
    readable: list[str]
    preload: list[str]
    builder: str
    self_test: tuple[str, str, str]
    env: dict[str, str]
    cores: list[int]
    more_cores: list[int] = []
    name: str
    cgroup: bool = True
    scratch_bytes: int = 100 * MIB


class Jail:
    """One jail of one worker. Not thread-safe: a worker is one thread."""

    def __init__(self, tier: Tier, config: JailConfig, watch: Watch | None = None) -> None:
        self.tier = tier
        self.config = config
        self.watch = watch
        #: How the next runs are to be timed.
        self.pace = Pace()
        self.facts: dict[str, Any] = {}
        self._launched: Launched | None = None
        self._meter = usage.Cases(0)
        self._control: Channel | None = None
        self._program: Compiled | None = None
        self._tests: Compiled | None = None
        self._cgroup: CaseCgroup | None = None
        self._base_bytes = 0
        self._ooms = 0
        #: Whether the kernel killed something of the last run though there was memory left under the jail's own limit.
        self.robbed = False
        self._limits = Limits()
        self._scratch_mb = 0

    # -- life of the jail -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Launch the agent, wait until it is warm, and see that it runs a program. Raises SandboxError."""
        try:
            self._start()
        except SandboxError:
            # Once more: an agent can be killed while it starts, and an engine without workers costs far more.
            self._start()

    def _start(self) -> None:
        config = self.config
        if config.cgroup:
            self._cgroup = CaseCgroup.create(f"{config.name}-{next(_NUMBERS)}")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        script, script_end = os.pipe2(os.O_CLOEXEC)
        groups = self._cgroup.procs_files if self._cgroup else []
        try:
            self._launched = self.tier.launch(confinement.launch_spec(config, theirs.fileno(), script, groups))
        except BaseException:
            ours.close()
            os.close(script_end)
            self.stop()
            raise
        finally:
            os.close(script)
            control_fd = theirs.fileno()
            theirs.close()
        self.facts = dict(self._launched.facts)
        self._meter = (usage.Whole if self.own_kernel else usage.Cases)(self.agent_pid)
        self._scratch_mb = config.scratch_bytes // MIB
        self._control = Channel(ours)
        try:
            with open(script_end, "wb") as file:
                file.write(confinement.agent_script(config, control_fd, self.facts))
            self.facts.update(read_answer(self._control.receive(_PATIENCE * self.tier.slowness)[0]))
            if "error" in self.facts:
                raise ValueError(self.facts["error"])  # noqa: TRY301 - told to the user like the others
        except (HungUp, TimeoutError, ValueError, BrokenPipeError) as error:
            self.stop()
            raise SandboxError(
                f"the agent did not start under {config.interpreter}: {error}", step="agent",
                mend="try `scalebox doctor`; the interpreter must be CPython 3.8 or later with ctypes",
            ) from None  # fmt: skip
        if self._cgroup is not None:
            self._base_bytes = self._cgroup.usage() + 8 * MIB
            self._ooms = self._cgroup.oom_kills()
        else:
            self._ooms = usage.machine_oom_kills()
        self._test_itself()

    def _test_itself(self) -> None:
        """A jail in which nothing can run must not label samples: refuse it."""
        source, stdin, stdout = (text.encode() for text in self.config.self_test)
        build = self.open(source, Limits(), None)
        outcome = self.run(stdin=stdin) if build.ok else Outcome(cause="lost", stderr=build.message.encode())
        self.close()
        if not (outcome.clean and outcome.stdout == stdout):
            self.stop()
            said = outcome.stderr.decode("utf-8", "replace")[:500]
            raise SandboxError(f"the {self.tier.name} sandbox cannot run programs here: {said}", step="self-test")

    @property
    def moved(self) -> bool:
        """Whether paths of the host may lie elsewhere in the jail (`tree.inside`). Starts it, if need be."""
        if not self.running:
            self.start()
        return bool(self.facts.get("moved"))

    @property
    def own_kernel(self) -> bool:
        """Whether a kernel of its own runs in it, so that its processes cannot be seen from outside."""
        return bool(self.facts.get("own_kernel"))

    @property
    def counts_memory(self) -> bool:
        """Whether a cgroup bounds the memory in use; else only a limit on mappings does."""
        return self._cgroup is not None

    @property
    def running(self) -> bool:
        return self._control is not None

    @property
    def agent_pid(self) -> int:
        return self._launched.pid if self._launched else 0

    def stop(self) -> None:
        """End the jail and all that is in it; safe to call at any time, any number of times."""
        self._close_program()
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._launched is not None:
            self.tier.cleanup(self._launched)
            self._launched = None
        if self._cgroup is not None:
            self._cgroup.remove()
            self._cgroup = None

    # -- one sample -------------------------------------------------------------------------------------------

    def open(
        self,
        source: bytes,
        limits: Limits,
        calls: list[str] | None,
        tests: Mapping[str, Any] | None = None,
        variant: str = "",
        *,
        spec: Mapping[str, Any] | None = None,
        tools: bool = False,
        fds: Sequence[int] = (),
    ) -> Build:
        """Build a program in a fresh compile process; `calls` names the functions whose state is to be analysed.

        `tests`, plain data for the builder, are built in a second one, and the program is kept from their files.
        `variant` names what the builder is to make of the program instead of what it is.
        `spec` is what the builder makes instead of a Python program, `fds` are descriptors for that, and `tools` says
        that it starts compilers, which are processes of their own.
        """
        begun = time.monotonic()
        self.close()
        if not self.running:
            self.start()
        if limits.processes and not tools and self._cgroup is None and not confinement.counts_apart(self.facts):
            # Nothing here could bound their number, and a bomb would be the machine's.
            limits = msgspec.structs.replace(limits, processes=0)
        if self._scratch_mb != limits.disk_mb:
            self._limits = limits
            self.clean()
            if not self.running:
                self.start()
        self._limits = limits
        self._bound_memory(max(limits.build_memory_mb, limits.memory_mb), limits)
        if self._control is None:  # lost again, as soon as it had started
            return Build(ok=False, message="the sandbox was lost", lost=True)
        ordered = time.monotonic()
        cores = confinement.cores_of(limits, self.config)
        order = {
            "source": source,
            "need_state": calls is not None,
            "calls": calls or [],
            "apart": tests is not None,
            "variant": variant,
            "processes": limits.processes > 0,
            "sole": tests is None,
            "limits": confinement.process_limits(limits, cores, self.facts, bounded=self.counts_memory),
        }
        if spec is not None:
            order["tests"] = {**spec, "landlock": confinement.program_rules(self.config, self.facts)}
        self._program = self._fork_compile_process(order, fds)
        if tests is not None:
            self._tests = self._fork_compile_process({**order, "source": b"", "tests": dict(tests), "apart": False})
        build = self._await_build(self._program, limits, ordered, patient=not tools)
        if build.ok and self._tests is not None:
            build.tests = self._await_build(self._tests, limits, ordered, patient=True)
        if tools and self._oom_kills() and not build.ok:  # a compiler of it was killed; no case must be blamed for that
            build.message = build.message or f"the build needed more than {limits.build_memory_mb} MiB"
        build.lost = build.lost or (tools and self.robbed and not build.ok)
        build.seconds = time.monotonic() - begun
        if build.ok and not self._bound_memory(limits.memory_mb, limits):
            self.clean()
            return Build(ok=False, message=f"the compiled program takes up more than {limits.memory_mb} MiB")
        return build

    def _fork_compile_process(self, order: dict[str, Any], fds: Sequence[int] = ()) -> Compiled:
        """Have the agent fork a process that builds what `order` says."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        compiled = Compiled(Channel(ours))
        with contextlib.suppress(HungUp), theirs:  # an agent that is gone gives no answer, either
            assert self._control is not None
            self._control.send({"op": "open"}, [theirs.fileno()])
            theirs.close()
            compiled.channel.send(order, [compiled.records, *fds])
        return compiled

    def _await_build(self, compiled: Compiled, limits: Limits, ordered: float, *, patient: bool) -> Build:
        """Return what became of a build; a `patient` one has longer by the clock where others keep it from the CPU."""
        signal_others = self.facts.get("signal_others", True)
        seconds = limits.build_s
        deadline = ordered + (max(STRETCH * seconds, seconds + _LEAST_PATIENCE) if patient else 0)
        while True:
            try:
                return read_build(compiled.await_answer(limits, seconds, signal_others=signal_others))
            except TimeoutError:
                had = usage.build_cpu_s(self.agent_pid, ordered)
                starved = not self.own_kernel and had < limits.build_s and usage.starves(self.agent_pid, ordered)
                seconds = min(deadline - time.monotonic(), max(_LOOK, limits.build_s - had))
                if starved and seconds > 0:
                    continue
                self.clean()
                if starved:
                    return Build(ok=False, message="the machine was too busy to build it in time", starved=True)
                return Build(ok=False, message=f"the build took more than {limits.build_s:g} s")
            except HungUp:
                return self._broken_off(limits)

    def _broken_off(self, limits: Limits) -> Build:
        """Return a build whose process is gone without an answer."""
        statuses = self.clean().get("statuses", [])
        known = [one for one in statuses if type(one) is int] if isinstance(statuses, list) else []
        signals = [os.WTERMSIG(one) for one in known if os.WIFSIGNALED(one)]
        if self._oom_kills():
            return Build(ok=False, message=f"the build needed more than {limits.build_memory_mb} MiB")
        if signal.SIGXCPU in signals:
            return Build(ok=False, message=f"the build took more than {math.ceil(limits.build_s)} s of CPU time")
        return Build(ok=False, message="the compiler crashed on this source", lost=not signals or self.robbed)

    def ask(self, request: dict[str, Any], fds: Sequence[int], seconds: float) -> dict[str, Any] | None:
        """Return what the open program, one that takes requests, answers to this; None where it did not in time.

        Then it is no longer open.
        """
        try:
            if self._program is not None:
                return read_answer(self._program.ask(request, fds, seconds))
        except (HungUp, TimeoutError, ValueError):
            self.clean()
        return None

    def close(self) -> None:
        """End the sample: kill what is left of it, renew the scratch space if need be."""
        if self._program is not None:
            self.clean()

    def clean(self) -> Mapping[str, Any]:
        """Have the agent kill and reap everything but itself and renew a dirty scratch space.

        An agent that cannot do it in time is replaced, jail and all.
        """
        self._close_program()
        if self._control is None:
            return {}
        try:
            self._control.send({"op": "clean", "scratch_bytes": self._limits.disk_mb * MIB})
            self._scratch_mb = self._limits.disk_mb
            return read_answer(self._control.receive(_PATIENCE * self.tier.slowness)[0])
        except (HungUp, TimeoutError, ValueError, OSError):
            self.stop()
            return {}

    def _close_program(self) -> None:
        for compiled in (self._program, self._tests):
            if compiled is not None:
                compiled.close()
        self._program = self._tests = None

    def _bound_memory(self, memory_mb: int, limits: Limits) -> bool:
        """Set the jail's limits; return False where more memory than that is in use."""
        if self._cgroup is not None:
            self._cgroup.set_pids(confinement.tasks(limits, self.facts))
            if self.own_kernel:  # which gives back late what samples had
                self._base_bytes = self._cgroup.usage() + _KERNEL_ROOM_MB * MIB
            try:
                self._cgroup.set_memory(self._base_bytes + memory_mb * MIB)
            except OSError as error:
                if error.errno not in (errno.EBUSY, errno.EINVAL):  # as one or the other limit refuses first
                    raise
                return False
        return True

    def _oom_kills(self) -> int:
        """Return how many processes the kernel has killed since the last look for going over the jail's own limit."""
        self.robbed = False
        if self._cgroup is None:
            return 0
        count = self._cgroup.oom_kills()
        grown, self._ooms = count - self._ooms, count
        self.robbed = grown > 0 and not self._cgroup.was_full()
        return 0 if self.robbed else grown

    def _is_robbed(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether what was killed of these may have been so for the memory of others."""
        if self._cgroup is None and any(outcome.signal == signal.SIGKILL for outcome in outcomes):
            before, self._ooms = self._ooms, usage.machine_oom_kills()
            return self._ooms > before
        return self.robbed

    def _disk_is_full(self) -> bool:
        """Return whether the disk that the scratch folder shares with others is full."""
        scratch = self.facts.get("scratch", {})
        if scratch.get("kind") != "dir":
            return False
        try:
            disk = os.statvfs(scratch["root"])
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < _FULL_BYTES or (disk.f_files > 0 and disk.f_favail == 0)

    # -- its cases --------------------------------------------------------------------------------------------

    def run(self, **case: Any) -> Outcome:
        """Run the open program once; the arguments are those of `Case`."""
        return self.run_batch([Case(**case)])[0]

    def run_batch(self, cases: Sequence[Case]) -> list[Outcome]:
        """Run the open program for some cases, one after another; return the outcomes, at least one.

        They are fewer than the cases where one left something behind or had to be stopped. Then, and always where
        programs may start others, the program is no longer open: `opened` tells.
        """
        assert self._program is not None
        # On a kernel of its own, a program may open the pipes anew that wait for the cases to come.
        alone = self._limits.processes > 0 or self.own_kernel
        batch = Batch(
            cases[: 1 if alone else MOST],
            program=self._program,
            watch=self.watch,
            limits=self._limits,
            pace=self.pace,
            meter=self._meter,
        )
        try:
            return self._finish(batch, batch.run())
        except Cancelled:
            self.clean()
            raise
        finally:
            batch.close()

    def _finish(self, batch: Batch, cause: Cause) -> list[Outcome]:
        stopped = Outcome()
        if cause != "exited":
            stopped.cpu_s, waited, stopped.wall_s = self._meter.seconds()
            stopped.waited_s = batch.clock.others(stopped.cpu_s, waited, stopped.wall_s, batch.supervision_s)
        no_disk = self._disk_is_full()  # before what the program wrote is removed
        kills = self.settle(dirty=cause != "exited" or batch.dirty)
        outcomes = batch.outcomes(cause, stopped)
        blame_memory(outcomes, kills)
        blame_machine(outcomes, no_memory=self._is_robbed(outcomes), no_disk=no_disk)
        return outcomes

    def settle(self, *, dirty: bool) -> int:
        """Clear up after a run, if need be; return how many processes the kernel has killed in it for want of memory.

        `dirty` says that something of it is left: then all of it is ended, and the program is no longer open.
        """
        # Before cleaning: an agent that was killed, too, takes the counter with it.
        kills = self._oom_kills()
        if kills:
            self._bound_memory(self._limits.memory_mb + _ROOM_TO_CLEAN_MB, self._limits)
        if dirty or self._limits.processes:
            self.clean()
        elif kills:
            self._bound_memory(self._limits.memory_mb, self._limits)
        return kills

    def run_pair(
        self, solution: dict[str, Any], tests: dict[str, Any], output_bytes: int, copies: int = 1
    ) -> PairOutcome:
        """Run the open tests against the open program, or so many copies of it, each as its order says."""
        assert self._program is not None
        assert self._tests is not None
        processes = self._limits.processes > 0
        pair = Pair(
            self._program, self._tests, watch=self.watch, limits=self._limits, pace=self.pace,
            output_bytes=output_bytes, agent_pid=self.agent_pid,
        )  # fmt: skip
        try:
            cause = pair.run({**solution, "processes": processes}, {**tests, "processes": processes}, copies)
            kills = self.settle(dirty=cause != "exited" or pair.dirty)
            return pair.outcome("lost" if self.robbed else cause, kills=kills)
        except Cancelled:
            self.clean()
            raise
        finally:
            pair.close()

    @property
    def opened(self) -> bool:
        return self._program is not None

    @property
    def program(self) -> Compiled:
        """The line to the open program."""
        assert self._program is not None
        return self._program

    @property
    def limits(self) -> Limits:
        """The limits under which the program was opened."""
        return self._limits
