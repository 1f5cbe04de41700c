"""Bytes from a solution that speaks the protocol as it likes."""

from __future__ import annotations

import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.execute.separate.pair import solution

from scalebox.execute.separate import peer
from scalebox.execute.separate.names import CALLBACKS
from scalebox.execute.separate.remote import Solution, SolutionEnded, SolutionFailed


def message(kind: int, number: int, flags: int, body: bytes) -> bytes:
    return peer.HEAD.pack(len(body) + 6, kind, number, flags) + body


def hello() -> bytes:
    return message(peer.HELLO, 0, 0, b"t\1\0\0\0s\1\0\0\0f")


@contextmanager
def forged(*answers: Any) -> Iterator[Solution]:
    """A solution that answers call after call with given bytes; a callable makes them from the call's number."""
    ours, theirs = socket.socketpair()

    def run() -> None:
        with theirs:
            theirs.sendall(hello())
            for answer in answers:
                data = theirs.recv(1 << 16)
                if not data:
                    return
                number = struct.unpack_from("<I", data, 5)[0]
                theirs.sendall(answer(number) if callable(answer) else answer)
            theirs.settimeout(5)
            theirs.recv(1 << 16)

    thread = threading.Thread(target=run)
    thread.start()
    made = Solution(ours.detach())
    made.start()
    try:
        yield made
    finally:
        made.close()
        thread.join()


def answered(body: bytes, kind: int = peer.RETURN, flags: int = 0) -> Callable[[int], bytes]:
    return lambda number: message(kind, number, flags, body)


def value_of(body: bytes) -> bytes:
    """The answer to `get_name` that gives a value."""
    return b"t\2\0\0\0s\5\0\0\0value" + body


FUNCTION = value_of(b"m" + struct.pack("<QB", 1, 0) + b"\1\0\0\0f")
DESCRIPTION = b"t\6\0\0\0s\1\0\0\0fs\1\0\0\0fs\1\0\0\0mNNN"
BROKEN = {
    "garbage": b"\xde\xad\xbe\xef" * 20,
    "nothing but a head": answered(b""),
    "a huge length": struct.pack("<IBIB", 0xFFFFFFFF, 2, 1, 0),
    "a short length": struct.pack("<IBIB", 3, 2, 1, 0),
    "another number": lambda number: message(peer.RETURN, number + 1, 0, b"N"),
    "twice": lambda number: 2 * message(peer.RETURN, number, 0, b"N"),
    "an unknown kind": lambda number: message(77, number, 0, b"N"),
    "a greeting": hello(),
    "bytes after the value": answered(b"NN"),
    "a value cut short": answered(b"i\0"),
    "an unknown tag": answered(b"?"),
    "a reference to nothing": answered(b"r\5\0\0\0"),
    "a change of nothing": answered(b"\1\0\0\0\7\0\0\0l\0\0\0\0N", flags=peer.CHANGES),
    "extras that are none": answered(b"\1\0\0\0NN", flags=peer.EXTRAS),
    "extras without an end": answered(b"\xff\0\0\0NN", flags=peer.EXTRAS),
    "an object never handed over": answered(value_of(b"o" + struct.pack("<Q", 99))),
    "a class by a forbidden name": answered(value_of(b"g\2\0\0\0os\6\0\0\0system")),
    "a class of a forbidden module": answered(value_of(b"g\x0a\0\0\0subprocess\5\0\0\0Popen")),
    "an exception that is none": answered(b"i" + bytes(8), kind=peer.RAISE),
    "an exception of no exception class": answered(
        b"e" + bytes(16) + b"g\x08\0\0\0builtins\3\0\0\0int" + b"l\0\0\0\0ND\0\0\0\0N", kind=peer.RAISE
    ),
    "a named tuple of an int": answered(value_of(b"ng\x08\0\0\0builtins\3\0\0\0intt\0\0\0\0")),
    "a call of nothing": message(peer.CALL, 1, 0, b"x"),
    "a call of an unknown verb": message(peer.CALL, 1, 0, b"v\xff\0\0\0\0"),
    "a call of what was not handed over": message(peer.CALL, 1, 0, b"o" + struct.pack("<Q", 1) + bytes(4)),
    "no answer of a wanted shape": answered(b"i" + bytes(8)),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_broken_messages_end_it_for_good(broken: Any) -> None:
    with forged(broken) as made:
        for _ in range(2):
            with pytest.raises(SolutionEnded):
                made.get("f")


@pytest.mark.parametrize(
    "greeting",
    [
        b"",
        b"\0" * 40,
        message(peer.HELLO, 0, 0, b"N"),
        message(9, 0, 0, b"t\0\0\0\0"),
        message(peer.FAILED, 0, 0, b"t\0\0\0\0"),
        message(peer.CALL, 0, 0, b"v\0\0\0\0\0"),
    ],
)
def test_greetings_that_are_none(greeting: bytes) -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(greeting)
    theirs.close()
    made = Solution(ours.detach())
    with pytest.raises((SolutionEnded, SolutionFailed)):
        made.start()
    made.close()


def test_only_callables_are_called_and_only_by_their_handle() -> None:
    """An exported object has a class that the solution is told a number of, and that number calls nothing."""

    class Thing:
        pass

    calls = [bytes([tag]) + struct.pack("<Q", handle) + bytes(4) for tag in b"ov" for handle in range(6)]
    for call in calls:
        with forged(answered(FUNCTION), answered(DESCRIPTION), message(peer.CALL, 1, 0, call)) as made:
            function = made.get("f")
            with pytest.raises(SolutionEnded):
                function(Thing(), iter([1]), sys)


def test_requests_about_things_that_are_not_to_be_touched() -> None:
    """Every verb, on an opaque object, plain data, and an iterator."""
    targets = {
        "opaque": b"o" + struct.pack("<Q", 1),
        "iterator": b"o" + struct.pack("<Q", 2),
        "data": b"l\1\0\0\0N",
        "name": b"s\4\0\0\0path",
    }
    done = message(peer.RETURN, 3, 0, b"N")
    for verb in ("getattr", "setattr", "delattr", "operate", "start_task"):
        for target in targets.values():
            for more in (
                b"s\4\0\0\0path",
                b"s\x09\0\0\0__class__",
                b"i" + struct.pack("<q", 0),
                b"i" + struct.pack("<q", 27),
            ):
                args = [target, more] if verb != "operate" else [more, target]
                args += [b"N"] if verb == "setattr" else []
                args = args[:1] if verb == "start_task" else args
                body = b"v" + bytes([CALLBACKS[verb]]) + struct.pack("<I", len(args)) + b"".join(args)
                with forged(answered(FUNCTION), answered(DESCRIPTION), message(peer.CALL, 1, 0, body), done) as made:
                    function = made.get("f")
                    before = list(sys.path)
                    assert function(sys, iter([1])) is None
                    assert sys.path == before


@given(st.binary(max_size=60), st.sampled_from([peer.RETURN, peer.RAISE, peer.CALL, peer.HELLO]), st.integers(0, 7))
@settings(max_examples=60)
def test_whatever_is_answered_the_tests_go_on_or_it_is_ended(body: bytes, kind: int, flags: int) -> None:
    with forged(answered(FUNCTION), answered(DESCRIPTION), lambda number: message(kind, number, flags, body)) as made:
        function = made.get("f")
        try:
            function([1, {2: 3}])
        except SolutionEnded:
            with pytest.raises(SolutionEnded):
                function()
        except Exception as error:
            assert error.scalebox_remote  # type: ignore[attr-defined]  # noqa: PT017


def test_an_answer_that_never_comes_is_nobodys_to_wait_for_once_interrupted() -> None:
    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop

    with solution("import time\ndef f(): time.sleep(60)\ndef g(): return 1") as made:
        function = made.get("f")
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            with pytest.raises(Stop):
                function()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        with pytest.raises(SolutionEnded):
            function()


def test_large_values_pass_and_too_large_ones_are_an_exception() -> None:
    with solution("def f(x): return len(x)\ndef g(x): return x") as made:
        assert made.get("g")(b"x" * (5 << 20)) == b"x" * (5 << 20)
        with pytest.raises(ValueError, match="more data"):
            made.get("f")(b"x" * (peer.MAX_MESSAGE + 1))
        assert made.get("f")("abc") == 3
