"""The supervisor's handle on a jail: programs, limits, losses, and what is left of it."""

from __future__ import annotations

import os
import re
import signal
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from scalebox.core import values
from scalebox.core.errors import SandboxError
from scalebox.core.limits import Limits
from scalebox.sandbox import conformance, tiers
from scalebox.sandbox.batch import Case
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.linux import family
from scalebox.sandbox.outcome import Outcome
from scalebox.sandbox.probes.host import descendants
from scalebox.sandbox.supervision import Cancelled

SQUARE = b"n = int(input())\nprint(n * n)\n"
LIMITS = Limits(cpu_s=2.0, wall_s=20.0, memory_mb=100)

encode: Callable[[Any], bytes] = values.encode
decode: Callable[..., Any] = values.decode


def new_jail(**changes: Any) -> Jail:
    config = msgspec.structs.replace(conformance.config(""), **{"name": "test", **changes})
    return Jail(tiers.choose("namespace"), config)


@pytest.fixture(scope="module")
def kept() -> Iterator[Jail]:
    jail = new_jail()
    jail.start()
    yield jail
    jail.stop()


@pytest.fixture
def jail(kept: Jail) -> Iterator[Jail]:
    yield kept
    kept.close()
    kept.watch = None


def opened(jail: Jail, source: bytes, limits: Limits = LIMITS, calls: list[str] | None = None) -> Jail:
    build = jail.open(source, limits, calls)
    assert build.ok, build.message
    return jail


def script(jail: Jail, source: bytes, stdin: bytes = b"", limits: Limits = LIMITS) -> Outcome:
    return opened(jail, source, limits).run(stdin=stdin)


# -- programs ------------------------------------------------------------------------------------------------------


def test_a_program_runs_on_its_input(jail: Jail) -> None:
    outcome = script(jail, SQUARE, b"12\n")
    assert (outcome.cause, outcome.exit_code, outcome.signal, outcome.stdout) == ("exited", 0, None, b"144\n")
    assert outcome.clean
    assert 0 < outcome.cpu_s < 2
    assert outcome.memory_bytes > 1 << 20


def test_cases_of_a_batch_are_kept_apart_and_in_order(jail: Jail) -> None:
    opened(jail, SQUARE)
    outcomes = jail.run_batch([Case(stdin=b"%d" % number) for number in range(60)])
    assert [outcome.stdout for outcome in outcomes] == [b"%d\n" % number**2 for number in range(60)]
    assert jail.opened


def test_inputs_and_outputs_larger_than_pipes_go_through(jail: Jail) -> None:
    opened(jail, b"import sys\nsys.stdout.write(sys.stdin.read()[::-1])\n")
    texts = [os.urandom(500_000).hex().encode() for _ in range(3)]
    outcomes = jail.run_batch([Case(stdin=text, output_bytes=2 << 20) for text in texts])
    assert [outcome.stdout for outcome in outcomes] == [text[::-1] for text in texts]


def test_calls_are_answered_by_frames(jail: Jail) -> None:
    opened(jail, b"def f(a, b=1): return (a, [b])\n", calls=["f"])
    calls = [(7, "f", encode(((1,), {}))), (8, "f", encode((("x",), {"b": 2.5})))]
    outcome = jail.run(calls=calls)
    assert [(frame.index, frame.status, decode(frame.data)) for frame in outcome.frames] == [
        (7, 0, (1, [1])),
        (8, 0, ("x", [2.5])),
    ]
    assert not outcome.broken_frames


def test_an_exception_is_told_by_class_errno_and_file(jail: Jail) -> None:
    fault = script(jail, b"class Mine(FileNotFoundError): pass\nraise Mine(2, 'no', 'place')\n").fault
    assert (fault.kind, fault.builtin, fault.errno, fault.file) == ("Mine", "FileNotFoundError", 2, "place")


def test_what_does_not_compile_is_told_with_its_place(jail: Jail) -> None:
    build = jail.open(b"x = (\n", LIMITS, None)
    assert not build.ok
    assert not build.lost
    assert build.message


def test_files_are_there_before_the_program_and_gone_after_it(jail: Jail) -> None:
    opened(jail, b"import os\nprint(open('a/b').read(), sorted(os.listdir('.')))\n")
    first = jail.run(files={"a/b": b"text"})
    assert first.stdout == b"text ['a']\n"
    assert not jail.opened, "the file is to be cleared away"
    assert b"FileNotFoundError" in script(jail, b"open('a/b')\n").stderr


def test_denied_calls_are_told_of_the_case_that_made_them(jail: Jail) -> None:
    source = b"import ctypes\nif input() == '1': ctypes.CDLL(None).unshare(0x10000000)\n"
    opened(jail, source)
    outcomes = jail.run_batch([Case(stdin=b"%d" % (number == 2)) for number in range(5)])
    assert [bool(outcome.denied) for outcome in outcomes] == [False, False, True, False, False]
    assert outcomes[2].denied == ["namespaces: unshare"]


# -- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "limits", "cause"),
    [
        (b"if input() == '2':\n    while True: pass", Limits(cpu_s=0.3, wall_s=60), "cpu"),
        (b"import time\nif input() == '2': time.sleep(60)", Limits(cpu_s=5, wall_s=0.5), "wall"),
        (b"if input() == '2':\n    while True: print('x' * 1000)", LIMITS, "output"),
        (b"if input() == '2': kept = bytearray(1 << 30)\n", LIMITS, "memory"),
    ],
    ids=["cpu", "wall", "output", "memory"],
)
def test_one_case_over_its_limit_does_not_touch_those_before(
    jail: Jail, source: bytes, limits: Limits, cause: str
) -> None:
    opened(jail, source, limits)
    outcomes = jail.run_batch([Case(stdin=b"%d" % number) for number in range(5)])
    assert [outcome.cause for outcome in outcomes[:3]] == ["exited", "exited", cause]
    assert all(outcome.clean for outcome in outcomes if outcome.cause == "exited")


@pytest.mark.parametrize(
    "source",
    [
        b"import os\nfor _ in range(3): os.fork()\nwhile True: pass\n",
        b"import threading\ndef f():\n    while True: pass\nfor _ in range(8): threading.Thread(target=f).start()\n",
        b"import socket\nwhile True:\n    try: socket.socket()\n    except OSError: pass\n",
    ],
    ids=["children", "threads", "questions"],
)
def test_a_program_cannot_pretend_that_others_kept_it_from_running(jail: Jail, source: bytes) -> None:
    outcome = script(jail, source, limits=Limits(cpu_s=60, wall_s=1, processes=10))
    assert outcome.cause == "wall"
    assert outcome.waited_s + outcome.cpu_s <= outcome.wall_s + 0.05


def test_disk_limits_hold_from_the_first_case_of_a_sample(jail: Jail) -> None:
    fill = b"file = open('x', 'wb')\nfor _ in range(40): file.write(bytes(1 << 20))\nprint('all')\n"
    for disk_mb, fits in ((100, True), (20, False), (100, True), (10, False)):
        outcome = script(jail, fill, limits=msgspec.structs.replace(LIMITS, disk_mb=disk_mb, memory_mb=300))
        assert (outcome.stdout == b"all\n") == fits, disk_mb


def test_memory_of_a_killed_child_is_told(jail: Jail) -> None:
    source = b"import os\nif os.fork() == 0: kept = bytearray(1 << 30)\nos.wait()\n"
    assert script(jail, source, limits=msgspec.structs.replace(LIMITS, processes=2)).cause == "memory"


def test_memory_that_only_a_file_holds_is_told_and_given_back(jail: Jail) -> None:
    source = b"for n in range(500): open(str(n), 'wb').write(bytes(1 << 20))\n"
    agent = jail.agent_pid
    assert script(jail, source, limits=msgspec.structs.replace(LIMITS, disk_mb=1000)).cause == "memory"
    assert script(jail, SQUARE, b"3").stdout == b"9\n"
    assert jail.agent_pid == agent, "the agent was killed, too"


def test_a_build_that_takes_too_long_is_refused(jail: Jail) -> None:
    source = b"x = [" + b"lambda: (a, b)," * 300_000 + b"]\n"
    build = jail.open(source, msgspec.structs.replace(LIMITS, build_s=0.2), None)
    assert (build.ok, build.lost) == (False, False)
    # By the clock; or by CPU time, whole seconds of it, where others on the machine slow it down.
    assert build.starved or re.search(r"took more than (0\.2 s|1 s of CPU time)", build.message), build.message


def test_without_a_cgroup_memory_is_bounded_by_the_process(jail: Jail) -> None:
    del jail
    alone = new_jail(cgroup=False)
    try:
        outcome = script(alone, b"kept = bytearray(1 << 30)\n")
        assert outcome.fault.builtin == "MemoryError"
        assert script(alone, b"kept = bytearray(50 << 20)\nprint(1)\n").stdout == b"1\n"
    finally:
        alone.stop()


# -- losses --------------------------------------------------------------------------------------------------------


def test_a_zygote_that_was_killed_is_replaced(jail: Jail) -> None:
    agent = jail.agent_pid
    (zygote,) = family.children(agent)
    os.kill(zygote, signal.SIGKILL)
    build = jail.open(SQUARE, LIMITS, None)
    assert (build.ok, build.lost) == (False, True), "no fault of the source"
    assert script(jail, SQUARE, b"3").stdout == b"9\n"
    assert jail.agent_pid == agent
    assert zygote not in family.children(agent)


@pytest.mark.parametrize("processes", [0, 4])
def test_nothing_but_agent_and_zygote_is_left_of_a_sample(jail: Jail, processes: int) -> None:
    forks = b"import os, time\nfor _ in range(3):\n    if not os.fork():\n        os.setsid()\n        time.sleep(60)\n"
    limits = msgspec.structs.replace(LIMITS, processes=processes)
    script(jail, forks if processes else b"print(1)", limits=limits)
    jail.close()
    (zygote,) = family.children(jail.agent_pid)
    assert family.children(zygote) == []


def test_an_agent_killed_between_samples_is_replaced() -> None:
    jail = new_jail()
    try:
        assert script(jail, SQUARE, b"2").stdout == b"4\n"
        jail.close()
        os.kill(jail.agent_pid, signal.SIGKILL)
        build = jail.open(SQUARE, LIMITS, None)
        assert (build.ok, build.lost) == (False, True)
        assert script(jail, SQUARE, b"3").stdout == b"9\n"
    finally:
        jail.stop()


def test_an_agent_killed_while_a_program_runs_loses_that_run_alone() -> None:
    jail = new_jail()
    try:
        opened(jail, b"import time\nif input() == '1': time.sleep(60)\nprint(5)\n")
        killer = threading.Timer(0.3, os.kill, (jail.agent_pid, signal.SIGKILL))
        killer.start()
        outcomes = jail.run_batch([Case(stdin=b"0"), Case(stdin=b"1"), Case(stdin=b"0")])
        killer.join()
        assert [outcome.cause for outcome in outcomes] == ["exited", "lost"]
        assert outcomes[0].stdout == b"5\n"
        assert script(jail, SQUARE, b"3").stdout == b"9\n"
    finally:
        jail.stop()


class _Unwanted:
    """A watch that says so as soon as it is asked."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.write(writer, b"x")
        os.close(writer)

    def fileno(self) -> int:
        return self._reader

    def cancelled(self) -> bool:
        return True

    def close(self) -> None:
        os.close(self._reader)


def test_a_sample_that_nobody_wants_any_more_is_abandoned(jail: Jail) -> None:
    opened(jail, b"import time\ntime.sleep(60)\n")
    watch = _Unwanted()
    jail.watch = watch
    with pytest.raises(Cancelled):
        jail.run()
    watch.close()
    jail.watch = None
    assert script(jail, SQUARE, b"3").stdout == b"9\n"


def test_a_jail_in_which_nothing_runs_right_is_refused() -> None:
    before = set(os.listdir("/proc/self/fd"))
    jail = new_jail(self_test=("print(1)\n", "", "2\n"))
    with pytest.raises(SandboxError, match="cannot run programs") as caught:
        jail.start()
    assert caught.value.step == "self-test"
    assert not jail.running
    assert set(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("interpreter", ["/nowhere/python", "/bin/true"])
def test_an_interpreter_that_is_none_is_refused(interpreter: str) -> None:
    jail = new_jail(interpreter=interpreter)
    with pytest.raises(SandboxError):
        jail.start()
    assert not jail.running


def test_stopping_leaves_nothing_and_can_be_done_twice() -> None:
    before = set(os.listdir("/proc/self/fd")), set(descendants(os.getpid()))
    jail = new_jail()
    jail.stop()
    opened(jail, b"import os, time\nos.fork()\ntime.sleep(60)\n", msgspec.structs.replace(LIMITS, processes=3))
    agent = jail.agent_pid
    assert descendants(agent)
    jail.stop()
    jail.stop()
    assert not os.path.exists(f"/proc/{agent}")
    assert (set(os.listdir("/proc/self/fd")), set(descendants(os.getpid()))) == before


def test_two_jails_do_not_meet() -> None:
    first, second = new_jail(), new_jail(name="other")
    try:
        opened(first, b"open('mark', 'w').write('x')\nprint(1)\n")
        opened(second, b"import os\nprint(os.listdir('.'))\n")
        assert first.run().stdout == b"1\n"
        assert second.run().stdout == b"[]\n"
    finally:
        first.stop()
        second.stop()


def test_records_that_are_cut_or_forged_are_no_records(jail: Jail) -> None:
    """No case can reach the file of records; were it so, reading it would still be total."""
    opened(jail, SQUARE)
    assert jail.run(stdin=b"2").stdout == b"4\n"
    assert jail._program is not None
    os.ftruncate(jail._program.records, 0)
    os.pwrite(jail._program.records, struct.pack("<H", 0xFFFF) + b"\xff" * 40, 0)
    assert jail.run(stdin=b"3").stdout == b"9\n"
