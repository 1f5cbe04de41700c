"""PID 1 of the jail: prepares a warm, lean process, has a compile process made per sample, and cleans up after it."""

from __future__ import annotations

import _socket
import array
import gc
import json
import marshal
import os
import signal
import struct
import sys
from typing import Any

from scalebox.core import values
from scalebox.sandbox.agent import case, confine, program, zygote

_WALL = 0x40000000  # wait for children of every kind
_REHEARSAL = b"def f(n):\n    return [n, str(n)]\nprint(f(int(input())))\n"


class World:
    """What every compile process inherits."""

    def __init__(self, config: dict[str, Any], builder: Any, scratch: confine.Scratch) -> None:
        self.builder = builder
        self.scratch = scratch
        self.landlock = config["landlock"]
        self.apart = confine.without_scratch(config["landlock_apart"], scratch.root)
        self.seccomp_number = config["seccomp_number"]
        self.notify_filters = {
            allowed: confine.Filter(code, places)
            for allowed, (code, places) in config["notify_filters"].items()
            if code
        }
        self.own_pids = config["kill_all"]
        self.own_kernel = config["own_kernel"]
        #: Whom cases run as, where that is another than the agent's user.
        self.user: int = config["user"]
        self.plain_filter = confine.Filter(config["plain_filter"])
        self.guards = {
            allowed: confine.Filter(code, places) for allowed, (code, places) in config["case_filters"].items()
        }
        self.zygote = 0
        self.path = list(sys.path)
        self.depth = 12


def main(config: dict[str, Any], builder: Any, preloaded: list[str]) -> None:
    control = _socket.socket(fileno=config["control_fd"])
    feed = _prepare_interpreter(config)
    scratch = confine.Scratch(config["scratch"])
    scratch.remember()
    world = World(config, builder, scratch)
    case.seed(0)
    _warm_up(config["warm_rounds"], builder, world, feed)
    os.close(feed)
    case.make_streams()  # what has been read from lets no program choose its encoding any more
    gc.collect()
    confine.trim_memory()
    gc.freeze()
    copies = zygote.NoZygote(world) if world.own_kernel else zygote.Zygote(world)
    copies.start()
    channel = program.Channel(control)
    channel.send(json.dumps({"preloaded": preloaded, "version": sys.version.split()[0]}).encode("ascii"))
    _serve(channel, copies, scratch, config["kill_all"])


def _prepare_interpreter(config: dict[str, Any]) -> int:
    """Make this process the one that all others are copies of; return the far end of its standard input."""
    # PID 1 without handlers is deaf to every signal from inside; CPython installs one for SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys._xoptions.clear()  # whose we are is for those outside
    confine.wake_with_parent()
    confine.set_subreaper()
    confine.set_dumpable(False)
    gc.disable()
    os.environ.clear()
    os.environ.update(config["env"])
    case.add_site_builtins()
    return _pipe_streams()


def _pipe_streams() -> int:
    """Put pipes on descriptors 0 to 2 and build the standard streams over them, once for all cases."""
    stdin, feed = os.pipe()
    _, output = os.pipe()
    os.dup2(stdin, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(stdin)
    os.close(output)
    case.make_streams()
    return feed


def _warm_up(rounds: int, builder: Any, world: World, feed: int) -> None:
    """Rehearse the hot paths until the specialising interpreter has written its caches, so that no child pays for it.

    `feed` is the other end of this process's standard input.
    """
    place = program.Place(world, os.open("/dev/null", os.O_WRONLY), supervised=False)
    script: dict[str, Any] = {"seed": 0, "files": {}, "processes": False}
    call = (0, "f", values.encode(((3,), {})))
    calls = {**script, "calls": [call, call], "value_bytes": 1024, "frame_fd": place.null}
    plan = {"seed": False, "collect": False}
    main = sys.modules["__main__"]
    for _ in range(rounds):
        built = builder.build(_REHEARSAL, "solution.py", True, ["f"])
        for order in (script, calls):
            os.write(feed, b"7\n")
            program.act(order, [place.null] * 3, built["code"], plan, place, True)
    sys.modules["__main__"] = main
    del sys.modules["solution"]
    _rehearse_serving(rounds, builder.build(b"x = 1", "solution.py", False, [])["code"], script, plan, place)
    os.closerange(case.REHEARSAL_FD, case.REHEARSAL_FD + 10)
    os.close(place.null)
    os.close(place.records)


def _rehearse_serving(rounds: int, code: Any, order: dict[str, Any], plan: dict[str, Any], place: Any) -> None:
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    body = marshal.dumps({"cases": [order, order]}, 2)
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [place.null] * 6))]
    for _ in range(rounds // 2):
        ours.sendmsg([struct.pack("<I", len(body)) + body], rights)
    ours.shutdown(_socket.SHUT_WR)
    program.serve(program.Channel(theirs), code, plan, place)
    ours.close()
    theirs.close()


def _serve(
    channel: program.Channel, copies: zygote.Zygote | zygote.NoZygote, scratch: confine.Scratch, kill_all: bool
) -> None:
    while True:
        order, fds = channel.receive()
        if order is None:  # the supervisor is gone, perhaps by SIGKILL in the middle of a case
            if not kill_all:  # else the kernel ends them with this process
                _kill_and_reap(kill_all)
            return
        if order["op"] == "open":
            copies.open(fds[0])
            os.close(fds[0])
        else:
            channel.send(json.dumps(_clean(copies, scratch, kill_all, order["scratch_bytes"])).encode("ascii"))


def _clean(
    copies: zygote.Zygote | zygote.NoZygote, scratch: confine.Scratch, kill_all: bool, scratch_bytes: int
) -> dict[str, Any]:
    """Kill and reap everything of the sample in the jail, renew the scratch space where it is not as it was."""
    programs = copies.programs()
    statuses, usage = _end(programs or [])
    orphans, alone = _reap_orphans()
    if not alone or programs is None:  # all must die then, the zygote with them
        copies.forget()
        more, used = _kill_and_reap(kill_all)
        orphans, usage = orphans + len(more), usage + used
    dirty = scratch.resize(scratch_bytes) or scratch.dirty()
    if dirty:
        scratch.renew()
    if not copies.running:
        copies.start()
    return {"dirty": dirty, "reaped": len(statuses) + orphans, "statuses": statuses[:8], "cpu_s": usage}


def _end(programs: list[int]) -> tuple[list[int], float]:
    """Kill and reap compile processes; return their wait statuses and the CPU seconds of them and theirs."""
    usage = 0.0
    statuses = []
    for pid in programs:
        os.kill(pid, signal.SIGKILL)
        _, status, used = os.wait4(pid, _WALL)
        usage += used.ru_utime + used.ru_stime
        statuses.append(status)
    return statuses, usage


def _reap_orphans() -> tuple[int, bool]:
    """Reap what compile processes left behind dead; return how many that were, and whether nothing is alive."""
    count = 0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return count, True
        if not pid:
            return count, False
        count += 1


def _kill_and_reap(kill_all: bool) -> tuple[list[int], float]:
    """Leave no process but this one; return the wait statuses and the CPU seconds of those there were."""
    usage = 0.0
    statuses: list[int] = []
    while True:
        _kill_everything(kill_all)
        try:
            _, status, used = os.wait4(-1, _WALL)
        except ChildProcessError:
            return statuses, usage
        usage += used.ru_utime + used.ru_stime
        statuses.append(status)


def _kill_everything(kill_all: bool) -> None:
    if kill_all:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return
    for pid in _descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue


def _descendants(root: int) -> set[int]:
    """Return the live descendants of `root`, stopped first so that none can fork away while they are counted."""
    known: set[int] = set()
    while True:
        parents: dict[int, list[int]] = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open("/proc/%s/stat" % name, "rb") as file:
                        fields = file.read().rpartition(b")")[2].split()
                except OSError:
                    continue
                if fields[0] != b"Z":
                    parents.setdefault(int(fields[1]), []).append(int(name))
        found, queue = set(), [root]
        while queue:
            for pid in parents.get(queue.pop(), ()):
                if pid not in found:
                    found.add(pid)
                    queue.append(pid)
        if found <= known:
            return found
        for pid in found - known:
            try:
                os.kill(pid, signal.SIGSTOP)
            except OSError:
                continue
        known |= found
