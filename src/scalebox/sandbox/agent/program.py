"""The compile process: one per sample. Builds the program, then forks one case after another and reports each.

It never runs code of the sample itself. Messages from the supervisor are marshalled (they enter the jail);
what it answers is fixed-size numbers and JSON, which the supervisor decodes as data.
"""

from __future__ import annotations

import _socket
import array
import gc
import json
import marshal
import mmap
import os
import resource
import select
import signal
import struct
import sys
import time
from types import CodeType
from typing import Any, Iterable, NoReturn

from scalebox.sandbox.agent import case, confine

_HEAD = struct.Struct("<I")
# length of the note; wait status, peak KiB; user, system and wall time in microseconds
RECORD = struct.Struct("<HiIQQQ")
BOARD_BYTES = 4096
_MAX_FDS = 192

#: Pure standard-library modules that may be imported ahead of the cases: importing them changes nothing.
AHEAD = frozenset(
    "abc argparse array ast base64 binascii bisect calendar cmath cmd codecs collections colorsys contextlib copy csv "
    "ctypes dataclasses datetime decimal difflib enum errno fileinput fnmatch fractions functools glob gzip hashlib "
    "heapq hmac html inspect io ipaddress itertools json keyword linecache locale logging math mmap numbers operator "
    "optparse os pathlib pickle platform pprint queue random re reprlib resource sched secrets select selectors shlex "
    "shutil signal socket statistics string struct subprocess sys tempfile textwrap threading time timeit tokenize "
    "traceback types typing unicodedata unittest urllib uuid warnings weakref zlib zoneinfo asyncio concurrent "
    "multiprocessing".split()
)


class Channel:
    """Length-prefixed messages, with descriptors, over the socket that is this process's line to the supervisor."""

    def __init__(self, sock: _socket.socket) -> None:
        self._sock = sock
        self._space = _socket.CMSG_SPACE(_MAX_FDS * 4)

    def receive(self) -> tuple[dict[str, Any] | None, list[int]]:
        """Return (message, descriptors), or (None, []) when the supervisor hung up."""
        data, fds = self._first()
        if not data:
            return None, []
        while len(data) < 4:
            data += self._sock.recv(4 - len(data)) or _hang_up()
        (size,) = _HEAD.unpack_from(data)
        parts, got = [data[4:]], len(data) - 4
        while got < size:
            part = self._sock.recv(min(size - got, 1 << 20)) or _hang_up()
            parts.append(part)
            got += len(part)
        return marshal.loads(b"".join(parts)), fds  # noqa: S302 - written by the supervisor, entering the jail

    def _first(self) -> tuple[bytes, list[int]]:
        # At most one message is ever under way, so that whatever comes is the start of one.
        data, ancillary, _, _ = self._sock.recvmsg(4096, self._space, _socket.MSG_CMSG_CLOEXEC)
        fds = array.array("i")
        for level, kind, payload in ancillary:
            if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
                fds.frombytes(payload[: len(payload) - len(payload) % 4])
        return data, list(fds)

    def send(self, body: bytes, fd: int = -1) -> None:
        data = _HEAD.pack(len(body)) + body
        if fd >= 0:
            rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [fd]))]
            data = data[self._sock.sendmsg([data], rights) :]
        if data:
            self._sock.sendall(data)


def _hang_up() -> NoReturn:
    raise SystemExit(0)


def run(sock: _socket.socket, world: Any) -> None:
    """Serve one sample on `sock` until the supervisor hangs up. `world` is what init.py prepared."""
    channel = Channel(sock)
    order, records = channel.receive()
    if order is None:
        return
    listener = -1
    try:
        listener = _confine(order, world)
        if listener >= 0:  # from here on, some calls wait for the supervisor's answer
            channel.send(b"{}", listener)
            os.close(listener)
            if order["processes"]:
                os.kill(os.getpid(), 0)  # the first to ask is known as the one that all others come from
        if "tests" in order:
            order["tests"]["fds"] = records[1:]
        built = _build(order, world.builder)
    except MemoryError:
        built = {"ok": False, "message": "the compiler ran out of memory"}
    except RecursionError:
        built = {"ok": False, "message": "nested too deeply for the compiler"}
    code = built.pop("code", None)
    if code is not None:
        world.scratch.keep(built.pop("placed", []))
        plan = _plan(code, built)
        built["pid"] = os.getpid()
        _run_limits(order["limits"])
    channel.send(json.dumps(built).encode("ascii"))
    if code is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if isinstance(code, CodeType):
            case.show_source(order["source"])
            sys.path[:] = [world.scratch.work, *world.path]
        sys.argv = ["solution.py"]
        sys.setrecursionlimit(1000 + world.depth)
        place = Place(world, records[0], listener >= 0)
        gc.enable()  # not before: what a build leaves is no garbage, and looking for some touches pages
        gc.freeze()
        serve(channel, code, plan, place)


def _build(order: dict[str, Any], builder: Any) -> dict[str, Any]:
    """Build a program, whose code is a code object, or tests, whose code is whatever their builder makes."""
    if "tests" in order:
        return dict(builder.build_tests(order["tests"]))
    built = dict(builder.build(order["source"], "solution.py", order["need_state"], order["calls"]))
    if order["variant"] and built["ok"]:
        built["code"] = builder.vary(order["source"], "solution.py", order["variant"])
    return built


def _plan(code: Any, built: dict[str, Any]) -> dict[str, Any]:
    """Import ahead what cases will import; return what is to be done for each of them."""
    _import_ahead(built.get("imports", ()))
    if not isinstance(code, CodeType):
        return {"collect": False, "seed": True}
    return {
        "collect": _uses(code, _LATE) or _may_suspend(code) or not _KNOWN.issuperset(built["imports"]),
        "seed": not _NO_RANDOM.issuperset(built["imports"]) or _uses(code, _DYNAMIC),
    }


def _confine(order: dict[str, Any], world: Any) -> int:
    """Close what the zygote left open for good; return the supervisor's end of this process's filter, or -1."""
    limits = order["limits"]
    os.setpgid(0, 0)
    os.chdir(world.scratch.work)
    confine.set_subreaper()
    confine.end_with_parent()
    if limits["affinity"]:
        os.sched_setaffinity(0, limits["affinity"])
    if limits["tasks"]:
        confine.limit("NPROC", limits["tasks"])
    confine.limit("STACK", limits["stack_bytes"], resource.RLIM_INFINITY)
    confine.limit("FSIZE", limits["file_bytes"])
    confine.limit("CPU", limits["build_cpu_s"], limits["hard_cpu_s"])
    if limits["build_data_bytes"]:
        confine.limit("DATA", limits["build_data_bytes"], resource.RLIM_INFINITY)
    if order["apart"] and world.apart:  # tests have files where the program they test does not get
        ruleset = confine.landlock_ruleset(world.apart)
        confine.landlock_restrict(ruleset, world.apart)
        os.close(ruleset)
    listener = -1
    if world.notify_filters:
        asking = world.notify_filters[order["processes"]]
        # In a PID namespace of their own, what comes after this process comes from it, unless the numbers have begun
        # anew meanwhile, or there are tests beside the program.
        if world.own_pids and order["sole"] and os.getpid() > world.zygote:
            asking.patch({"younger": os.getpid() + 1})
        listener = asking.install_with_listener(world.seccomp_number)
    if listener < 0:
        world.plain_filter.install()
    return listener


def _run_limits(limits: dict[str, Any]) -> None:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
    if limits["data_bytes"]:
        confine.limit("DATA", limits["data_bytes"])


def _import_ahead(names: Iterable[str]) -> None:
    """Import what the program will import, once for all its cases, where that is known to have no effect."""
    for name in names:
        if name in AHEAD and name not in sys.modules:
            try:
                __import__(name)
            except Exception:  # noqa: S112 - the program will meet the same and say so
                continue


#: Names by which a program may import or run others unseen.
_DYNAMIC = frozenset(["__import__", "import_module", "exec", "eval", "modules"])
#: Names that hint at files or finalisers whose work is done when their objects die, or at what cannot be seen.
_LATE = _DYNAMIC.union(
    "open fdopen TextIOWrapper BufferedWriter FileIO __del__ finalize ctypes builtins __builtins__".split()
)
#: Modules that are not the program's own. (The interpreter knows their names from 3.10 on.)
_KNOWN = AHEAD.union(getattr(sys, "stdlib_module_names", ()), ["numpy", "pandas", "scipy", "sklearn"])
#: Modules that use no generator of random numbers.
_NO_RANDOM = frozenset(
    "abc array bisect cmath collections copy dataclasses datetime decimal enum fractions functools heapq io itertools "
    "json math operator os re string struct sys time typing".split()
)
_SUSPENDED = 0x20 | 0x80 | 0x200  # inspect.CO_GENERATOR, CO_COROUTINE and CO_ASYNC_GENERATOR


def _all_code(code: CodeType) -> list[CodeType]:
    """Return the code of a program and of all functions in it, however deeply they are nested."""
    found = [code]
    for one in found:  # which grows meanwhile
        found += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
    return found


def _uses(code: CodeType, names: frozenset[str]) -> bool:
    """Return whether the program, or a function in it, mentions, spells out or is called one of `names`."""
    return any(
        not names.isdisjoint(one.co_names) or one.co_name in names or not names.isdisjoint(one.co_consts)
        for one in _all_code(code)
    )


def _may_suspend(code: CodeType) -> bool:
    """Return whether a generator or coroutine of the program has handlers, which run when it dies half-way."""
    return any(
        one.co_flags & _SUSPENDED and one.co_name != "<genexpr>" and getattr(one, "co_exceptiontable", True)
        for one in _all_code(code)
    )


class Place:
    """What the cases of one compile process share.

    The board for notes, /dev/null, the fresh modules that the program runs in, the filters, the scratch space, and
    the file of records, which no case gets.
    """

    def __init__(self, world: Any, records: int, supervised: bool) -> None:
        self.records = records
        self.board = mmap.mmap(-1, BOARD_BYTES)
        self.null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        self.script = case.new_main("__main__")
        self.module = case.new_main("solution")
        # The supervisor decides which process may do what; where it cannot, every case has a filter of its own.
        self.guards: dict[bool, confine.Filter | None] = dict.fromkeys(world.guards)
        if not supervised:
            self.guards.update(world.guards)
            for guard in world.guards.values():
                guard.patch({"agent": os.getppid(), "zygote": world.zygote})
        self.user: int = world.user
        self.scratch: confine.Scratch = world.scratch
        self.builder: Any = world.builder
        self.recorded = 0

    def record(self, data: bytes) -> None:
        """Write the record of a case. Where is said: the supervisor's setting back may not be seen in a container."""
        self.recorded += os.pwrite(self.records, data, self.recorded)


def serve(channel: Channel, code: Any, plan: dict[str, Any], place: Place) -> None:
    """Run the cases of every order that comes, recording each, until the supervisor hangs up.

    Where what was built takes requests, it answers those instead.
    """
    while True:
        order, fds = channel.receive()
        if order is None:
            return
        if "request" in order:
            channel.send(json.dumps(code.answer(order["request"], fds)).encode("ascii"))
            continue
        channel.send(b"E" + bytes([_run_cases(order, fds, code, plan, place)]))


def _run_cases(order: dict[str, Any], fds: list[int], code: Any, plan: dict[str, Any], place: Place) -> int:
    """Run the cases of an order until one leaves something behind; return 1 then, else 0.

    With "copies" there is one case, to be run so many times, while somebody waits at the other end of the last
    descriptor of the next run. 2 is returned if some were not run because of what an earlier one had left.
    """
    copies = order.get("copies", 1)
    cases = order["cases"] * copies
    each = len(fds) // len(cases)
    dirty = broken = over = False
    place.recorded = 0
    for number, one in enumerate(cases):
        mine = fds[number * each : (number + 1) * each]
        over = over or (number > 0 and copies > 1 and _is_cut(mine[-1]))
        # Tests may have files where no program gets: they are no reason to stop before the end.
        broken = broken or (not over and number > 0 and (place.scratch.used() if copies > 1 else dirty))
        if over or broken:
            for fd in mine:
                os.close(fd)
        else:
            dirty = run_case(one, mine, code, plan, place)
    return 2 if broken and copies > 1 else int(dirty)


def _is_cut(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def run_case(order: dict[str, Any], fds: list[int], code: Any, plan: dict[str, Any], place: Place) -> bool:
    """Run one case in a process of its own and record it; return whether it left anything behind."""
    prepare = getattr(code, "prepare", None)
    if prepare is not None:
        prepare(order, place)
    begun = time.monotonic()
    gated = order.get("gated", False)
    if gated:  # the last descriptor leaves this process only when the case has come to its end
        held = fds.pop()
        gate, end = place.builder.open_gate()
        fds.append(end)
    pid = _start(order, fds, code, place)
    if pid == 0:
        _child(order, fds, code, plan, place)
    for fd in fds:
        os.close(fd)
    if gated:
        place.builder.keep_gate(gate, held)
        os.close(held)
    _, status, usage = os.wait4(pid, 0)
    wall = int((time.monotonic() - begun) * 1e6)
    note = _read_note(place.board)
    user, system = int(usage.ru_utime * 1e6), int(usage.ru_stime * 1e6)
    if prepare is not None:
        code.tidy(order, place)
    place.record(RECORD.pack(len(note), status, usage.ru_maxrss, user, system, wall) + note)
    return place.scratch.dirty()


def _start(order: dict[str, Any], fds: list[int], code: Any, place: Place) -> int:
    """Start a case: a copy of this process (0 is returned in that), or at once a program that is a file."""
    spawn = getattr(code, "spawn", None)
    if spawn is not None and not order["files"] and place.guards[order["processes"]] is None:
        try:
            return int(spawn(fds))
        except OSError:  # a copy will meet the same, and have it recorded
            pass
    return int(confine.fork())


def _read_note(board: mmap.mmap) -> bytes:
    (size,) = _HEAD.unpack_from(board)
    if not size:
        return b""
    size = min(size, BOARD_BYTES - 4)
    text = board[4 : 4 + size]
    board[:] = bytes(BOARD_BYTES)
    return text


def _child(order: dict[str, Any], fds: list[int], code: Any, plan: dict[str, Any], place: Place) -> NoReturn:
    status = 70
    try:
        status = act(order, fds, code, plan, place, False)
    except BaseException as error:
        # Before the program ran, the supervisor's self-test meets the same, and refuses such a jail. After it, there
        # was no memory left to end in order.
        case.note(place.board, error)
        os.write(2, ("the program could not be started or ended: %r" % error).encode())
    finally:
        os._exit(status)


def act(order: dict[str, Any], fds: list[int], code: Any, plan: dict[str, Any], place: Place, rehearsal: bool) -> int:
    """Run one case in this process; return its exit code."""
    calls, role = order.get("calls"), order.get("role")
    script = calls is None and role is None
    case.enter(fds if script else [place.null, *fds], place.guards[order["processes"]], rehearsal, place.user)
    if order.get("secret"):
        confine.set_dumpable(False)  # nobody may look into it
    if order["files"]:
        case.write_files(order["files"])
    if plan["seed"]:
        case.seed(order["seed"])
    if role is not None:
        return int(place.builder.ROLES[role](code, order, place.module))
    if calls is None:
        return case.run_script(code, place.script, plan["collect"], place.board)
    options = {"collect": plan["collect"], "value_bytes": order["value_bytes"], "frame_fd": order["frame_fd"]}
    return case.run_calls(code, place.module, calls, options, place.board)
