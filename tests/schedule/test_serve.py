"""The worker's message loop, at the other end of a real channel."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator

import msgspec
import pytest

from scalebox.core import wire
from scalebox.core.errors import SandboxError, SettingsError
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample, StdinTest
from scalebox.core.verdicts import Verdict
from scalebox.schedule.serve import Watch, refuse, serve

Verify = Callable[[Sample, Watch], VerificationResult]
PAYLOAD = msgspec.msgpack.encode(Sample(id="", tests=(StdinTest(id="0", stdin="", stdout=""),), code="x"))


def passed(sample: Sample, _watch: Watch) -> VerificationResult:
    return VerificationResult(id=sample.id, verdict=Verdict.PASSED)


def until_cancelled(sample: Sample, watch: Watch) -> VerificationResult:
    while not watch.cancelled():
        assert select.select([watch.fileno()], [], [], 60)[0]
    return VerificationResult(id=sample.id, verdict=Verdict.UNKNOWN)


class Stub:
    """A verifier made of a function."""

    tier = "stub"

    def __init__(self, verify: Verify) -> None:
        self._verify = verify
        self.closed = False

    def attempt(
        self, sample: Sample, watch: Watch, *, soft_s: float, again: wire.Again | None
    ) -> tuple[VerificationResult, str, list[int]]:
        self.asked = soft_s, again
        return self._verify(sample, watch), "fenced", []

    def tidy(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


class Served:
    """A worker in a thread, and the engine's end of its channel."""

    def __init__(self, verify: Verify) -> None:
        self.channel, other = socket.socketpair()
        self.channel.settimeout(60)
        self.verifier = Stub(verify)
        self.thread = threading.Thread(target=self._run, args=(other,))
        self.thread.start()
        self._frames = wire.from_worker()
        self._messages: list[wire.ToEngine] = []
        assert isinstance(self.next(), wire.Hello)

    def _run(self, channel: socket.socket) -> None:
        with channel:
            serve(channel, self.verifier)

    def tell(self, *messages: wire.ToWorker) -> None:
        self.channel.sendall(b"".join(map(wire.pack, messages)))

    def run(self, *jobs: int) -> None:
        self.tell(*(wire.Run(job, f"s{job}", "p", PAYLOAD) for job in jobs))

    def next(self) -> wire.ToEngine | None:
        """Return the next message; None at the end."""
        while not self._messages:
            data = self.channel.recv(65536)
            if not data:
                return None
            self._messages += self._frames.feed(data)
        return self._messages.pop(0)

    def ended(self) -> bool:
        self.thread.join(60)
        return not self.thread.is_alive() and self.verifier.closed


Start = Callable[[Verify], Served]


@pytest.fixture
def start() -> Iterator[Start]:
    served: list[Served] = []

    def make(verify: Verify) -> Served:
        served.append(Served(verify))
        return served[-1]

    yield make
    for one in served:
        one.channel.close()
        assert one.ended()


def test_jobs_are_done_in_order(start: Start) -> None:
    served = start(passed)
    served.run(1, 2)
    for job in (1, 2):
        assert served.next() == wire.Started(job)
        finished = served.next()
        assert isinstance(finished, wire.Finished)
        assert (finished.job, finished.result.id, finished.extracted) == (job, f"s{job}", "fenced")


def test_what_waits_is_given_back_and_what_runs_is_not(start: Start) -> None:
    served = start(until_cancelled)
    served.run(1, 2, 3)
    assert served.next() == wire.Started(1)
    served.tell(wire.Recall(3), wire.Cancel(2), wire.Recall(1), wire.Recall(99))
    assert [served.next(), served.next()] == [wire.Returned(3), wire.Returned(2)]
    served.tell(wire.Cancel(1))
    finished = served.next()
    assert isinstance(finished, wire.Finished)
    assert finished.result.verdict == Verdict.UNKNOWN
    served.run(4)
    assert served.next() == wire.Started(4), "the next is not cancelled with it"


def test_what_is_recalled_before_its_turn_does_not_begin(start: Start) -> None:
    turn = threading.Event()

    def verify(sample: Sample, _watch: Watch) -> VerificationResult:
        assert turn.wait(60)
        return passed(sample, _watch)

    served = start(verify)
    served.run(1, 2)
    assert served.next() == wire.Started(1)
    served.tell(wire.Recall(2))
    turn.set()
    assert isinstance(served.next(), wire.Finished)
    assert served.next() == wire.Returned(2)


def test_stop_abandons_what_runs(start: Start) -> None:
    served = start(until_cancelled)
    served.run(1, 2)
    assert served.next() == wire.Started(1)
    served.tell(wire.Stop())
    assert served.ended()


def test_the_end_of_the_channel_is_a_stop(start: Start) -> None:
    served = start(until_cancelled)
    served.run(1)
    assert served.next() == wire.Started(1)
    served.channel.shutdown(socket.SHUT_WR)
    assert served.ended()


def test_a_sample_that_cannot_be_read_is_our_fault(start: Start) -> None:
    served = start(passed)
    served.tell(wire.Run(1, "s", None, b"\xc1"))
    assert served.next() == wire.Started(1)
    finished = served.next()
    assert isinstance(finished, wire.Finished)
    assert finished.result.verdict == Verdict.INTERNAL_ERROR


def test_a_result_too_long_to_be_sent_is_our_fault(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def verify(sample: Sample, _watch: Watch) -> VerificationResult:
        return VerificationResult(id=sample.id, verdict=Verdict.PASSED, code="x" * 10_000)

    served = start(verify)
    monkeypatch.setattr(wire, "MAX_FRAME", 1000)
    served.run(1)
    assert served.next() == wire.Started(1)
    finished = served.next()
    assert isinstance(finished, wire.Finished)
    assert finished.result.verdict == Verdict.INTERNAL_ERROR


@pytest.mark.parametrize("rubbish", [b"\xff\xff\xff\xff", b"\x01\x00\x00\x00\xc1"])
def test_rubbish_ends_the_worker_with_a_reason(start: Start, rubbish: bytes) -> None:
    served = start(passed)
    served.channel.sendall(rubbish)
    fatal = served.next()
    assert isinstance(fatal, wire.Fatal)
    assert fatal.reason == "it failed with WireError"
    assert served.ended()


def test_a_broken_verifier_ends_the_worker_with_a_reason(start: Start) -> None:
    def verify(_sample: Sample, _watch: Watch) -> VerificationResult:
        raise KeyError("odd")

    served = start(verify)
    served.run(1)
    assert served.next() == wire.Started(1)
    assert served.next() == wire.Fatal("it failed with KeyError")
    assert served.ended()


def test_refusals_carry_what_is_wrong_with_the_sandbox() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        refuse(theirs, SandboxError("none here", step="mount", errno=13, mend="allow it"))
        (fatal,) = wire.from_worker().feed(ours.recv(65536))
        assert fatal == wire.Fatal("none here", sandbox=True, step="mount", errno=13, mend="allow it")
        refuse(theirs, SettingsError("interpreter: no such \ud800"))
        assert list(wire.from_worker().feed(ours.recv(65536))) == [wire.Fatal("interpreter: no such ?")]
        ours.close()
        refuse(theirs, ValueError("nobody is there to read it"))
