"""A compile process that was taken over: whatever it says, writes and sends costs its sample alone, and passes nothing.

A stand-in plays it on the supervisor's own lines: arbitrary bytes as answers, records, frames and output, with
descriptors that nobody asked for. All that comes of it is an outcome, in bounded time and memory.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scalebox.core import values
from scalebox.core.limits import Limits
from scalebox.core.verdicts import Verdict
from scalebox.execute.builds import places_in
from scalebox.execute.label import label
from scalebox.execute.runs import value_of
from scalebox.sandbox.agent.program import RECORD
from scalebox.sandbox.answers import read_build
from scalebox.sandbox.batch import Batch, Case, blame_memory, read_records
from scalebox.sandbox.channel import Channel, HungUp
from scalebox.sandbox.compiled import Compiled
from scalebox.sandbox.outcome import Build, Outcome
from scalebox.sandbox.pace import Pace
from scalebox.sandbox.usage import Cases

_LIMITS = Limits(cpu_s=1.0, wall_s=5.0)
_UNTOLD = "what only the supervisor knows: 5f1c0e"
_CAUSES = {"exited", "cpu", "wall", "output", "memory", "lost"}
_law = settings(suppress_health_check=list(HealthCheck), max_examples=60)

_WORDS = st.sampled_from(["ok", "message", "line", "column", "stateless", "why", "denied", "statuses", "log", "status"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=5),
    max_leaves=12,
)
_BODIES = st.binary(max_size=60) | _JSON.map(lambda value: json.dumps(value).encode()) | st.sampled_from([b"E\0", b"E"])
#: Whole records with arbitrary fields, and notes that are encoded values or not.
_RECORDS = st.builds(
    lambda status, times, note: struct.pack("<HiIQQQ", len(note), status, *times) + note,
    st.integers(-(1 << 31), (1 << 31) - 1) | st.just(0),
    st.tuples(st.integers(0, (1 << 32) - 1), *[st.integers(0, (1 << 64) - 1)] * 3),
    st.binary(max_size=40) | _JSON.map(lambda value: values.encode([value] * 4)),
)
_FRAMES = st.builds(
    lambda index, status, body: struct.pack("<IIBff", 13 + len(body), index, status, 0.0, 0.0) + body,
    st.integers(0, 2),
    st.integers(0, 5),
    st.binary(max_size=40) | _JSON.map(values.encode),
)
_BYTES = st.binary(max_size=60)


class Said(NamedTuple):
    """What the stand-in does once it has its order."""

    records: bytes
    outputs: list[bytes]
    answer: bytes
    descriptors: int
    framed: bool


_SAID = st.builds(
    Said,
    st.lists(_RECORDS | _BYTES, max_size=3).map(b"".join),
    st.lists(st.lists(_FRAMES | _BYTES, max_size=3).map(b"".join), min_size=6, max_size=6),
    _BODIES,
    st.integers(0, 4),
    st.booleans(),
)


@pytest.fixture(scope="module")
def agent() -> Iterator[int]:
    """A process that stands for an agent without children."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


def _play(line: socket.socket, records: int, said: Said) -> None:
    """Take the order, and do what is to be done; the line is closed at the end."""
    with line:
        _, ancillary, _, _ = line.recvmsg(1 << 16, socket.CMSG_SPACE(32 * 4))
        ends = [fd for _, _, data in ancillary for fd in array.array("i", data[: len(data) // 4 * 4])]
        for fd, data in zip(ends[1:], said.outputs, strict=False):
            with contextlib.suppress(OSError):  # an end to read from
                os.write(fd, data)
        os.pwrite(records, said.records, 0)
        for fd in ends:
            os.close(fd)
        body = struct.pack("<I", len(said.answer)) + said.answer if said.framed else said.answer
        if body:
            spare = array.array("i", [records] * said.descriptors)
            line.sendmsg([body], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, spare)] if spare else [])


def _run(agent: int, cases: list[Case], said: Said) -> list[Outcome]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    program = Compiled(Channel(ours))
    actor = threading.Thread(target=_play, args=(theirs, program.records, said))
    actor.start()
    batch = Batch(cases, program=program, watch=None, limits=_LIMITS, pace=Pace(), meter=Cases(agent))
    try:
        cause = batch.run()
        actor.join()
        outcomes = batch.outcomes(cause, Outcome())
        blame_memory(outcomes, 1)
        return outcomes
    finally:
        actor.join()
        batch.close()
        program.close()


def _judge(outcome: Outcome) -> None:
    assert outcome.cause in _CAUSES
    verdict, why = label(outcome, _LIMITS)
    assert verdict is None or verdict in set(Verdict) - {Verdict.PASSED}
    assert isinstance(why, str)
    data, text = value_of(outcome, 0)
    assert isinstance(text, str)
    with contextlib.suppress(values.MalformedValue):
        assert data is None or values.decode(data, 10_000) != _UNTOLD


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@given(_SAID)
@_law
def test_calls_get_an_outcome_and_no_value_that_is_not_there(agent: int, said: Said) -> None:
    before = _descriptors()
    for outcome in _run(agent, [Case(calls=[(0, "f", b"")]), Case(calls=[(1, "f", b"")])], said):
        _judge(outcome)
    assert _descriptors() == before


@given(_SAID)
@_law
def test_programs_get_an_outcome_and_no_output_that_was_not_written(agent: int, said: Said) -> None:
    before = _descriptors()
    for outcome in _run(agent, [Case(stdin=b"3\n"), Case(stdin=b"4\n", token=b"token")], said):
        _judge(outcome)
        assert outcome.stdout == b"" or any(outcome.stdout in data for data in said.outputs)
    assert _descriptors() == before


@given(_BODIES)
@example(b"[" * 60_000)
@example(b'{"ok": true, "line": Infinity}')
@example(b'{"ok": true, "line": 1e999, "column": [1], "message": {"a": 1}}')
@example(b'{"ok": true, "line": ' + b"9" * 4000 + b"}")
@example(b'{"ok": true, "line": ' + b"9" * 5000 + b"}")
@example(b'{"ok": 1}')
def test_an_answer_is_a_build_or_nonsense(body: bytes) -> None:
    build = read_build(body)
    assert build.ok is (build.facts.get("ok") is True)
    assert not (build.ok and build.lost)
    assert len(build.message) <= 2000
    assert all(type(number) is int and 0 <= number <= 1 << 31 for number in (build.line, build.column))
    assert isinstance(build.facts, dict)


@given(st.lists(st.tuples(_BODIES, st.integers(0, 4)), min_size=1, max_size=3))
@_law
def test_a_build_is_awaited_for_its_time_and_descriptors_are_closed(messages: list[tuple[bytes, int]]) -> None:
    """The first descriptor is taken for the filter's; it is a file, which no question comes from."""
    before = _descriptors()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    compiled = Compiled(Channel(ours))
    with theirs:
        for body, descriptors in messages:
            spare: Any = array.array("i", [compiled.records] * descriptors)
            data = struct.pack("<I", len(body)) + body
            theirs.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, spare)] if descriptors else [])
    try:
        assert isinstance(read_build(compiled.await_answer(Limits(), 0.2, signal_others=True)), Build)
    except (HungUp, TimeoutError):
        pass
    finally:
        compiled.close()
    assert _descriptors() == before


@given(st.binary(max_size=80) | _JSON.map(values.encode), st.binary(max_size=40), st.booleans())
@example(values.encode({"main": 1 << 39}), b"", False)
@example(values.encode({"../main": 0}), b"", False)
@example(values.encode({"a": 1, "b/": 1}), b"xx", False)
def test_packed_files_lie_within_their_file_and_below_their_folder(index: bytes, rest: bytes, odd: bool) -> None:
    file = os.memfd_create("packed")
    try:
        os.write(file, struct.pack("<I", len(index) + odd) + index + rest)
        places = places_in(file)
        for name, (at, size) in (places or {}).items():
            assert 0 <= at <= at + size <= os.fstat(file).st_size
            assert not name.startswith("/")
            assert ".." not in name.split("/")
    finally:
        os.close(file)


@given(st.binary(max_size=200), st.integers(0, 3))
def test_records_are_bounded(data: bytes, most: int) -> None:
    file = os.memfd_create("records")
    try:
        os.write(file, data)
        records = read_records(file, most)
        assert len(records) <= most
        assert sum(len(note) for _, note in records) <= len(data)
    finally:
        os.close(file)


def test_a_file_of_records_that_pretends_to_be_huge_is_not_read_whole() -> None:
    file = os.memfd_create("records")
    try:
        os.ftruncate(file, 1 << 44)
        assert read_records(file, 4) == [], "a hole is the record of no case"
        os.pwrite(file, RECORD.pack(0, 0, 1, 1, 1, 1) * 5, 0)
        assert len(read_records(file, 4)) == 4
    finally:
        os.close(file)
