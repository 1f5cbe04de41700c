"""The worker's message loop: takes samples from the engine's channel, and answers with results."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import traceback
from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import Protocol

import msgspec

from scalebox.core import wire
from scalebox.core.codec import decode_results, decode_sample, encode_results
from scalebox.core.errors import InputError, SandboxError, ScaleBoxError
from scalebox.core.result import VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.verdicts import Verdict

_CHUNK = 256 * 1024


class Watch:
    """What a verifier asks, while it works, whether the sample in hand is still wanted."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._frames = wire.from_engine()
        self._waiting: deque[wire.Run] = deque()
        self._current: int | None = None
        self._cancelled = False
        self._stopping = False

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when `cancelled` may have changed."""
        return self._channel.fileno()

    def cancelled(self) -> bool:
        """Read what the engine has sent, without blocking; true when the sample in hand is to be abandoned."""
        while self._receive(socket.MSG_DONTWAIT):
            pass
        return self._cancelled or self._stopping

    def take(self) -> wire.Run | None:
        """Return the next job and make it the one in hand; blocks; None when the worker is to stop."""
        self.cancelled()  # what was recalled meanwhile is not begun
        while not self._stopping and not self._waiting:
            self._receive(0)
        if self._stopping:
            return None
        run = self._waiting.popleft()
        self._current, self._cancelled = run.job, False
        return run

    def _receive(self, flags: int) -> bool:
        """Read once; false where nothing more is to be had now."""
        if self._stopping:
            return False
        try:
            data = self._channel.recv(_CHUNK, flags)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            data = b""
        if not data:
            self._stopping = True
            return False
        for message in self._frames.feed(data):
            self._handle(message)
        return True

    def _handle(self, message: wire.ToWorker) -> None:
        match message:
            case wire.Run():
                self._waiting.append(message)
            case wire.Stop():
                self._stopping = True
            case wire.Cancel(job) if job == self._current:
                self._cancelled = True
            case wire.Cancel(job) | wire.Recall(job):
                self._give_back(job)

    def _give_back(self, job: int) -> None:
        for run in self._waiting:
            if run.job == job:
                self._waiting.remove(run)
                send(self._channel, wire.Returned(job))
                return


class VerifierProtocol(Protocol):
    """What `serve` drives."""

    @property
    def tier(self) -> str:
        """The isolation tier that is in use."""

    def attempt(
        self, sample: Sample, watch: Watch, *, soft_s: float, again: wire.Again | None
    ) -> tuple[VerificationResult, str, list[int]]:
        """Return a sample's result, how its code was found in the response, and the places of tests in doubt."""

    def tidy(self) -> None:
        """Clear away what the last sample left; called once its result is on its way."""

    def close(self) -> None:
        """Leave no process, mount, cgroup or file."""


def serve(channel: socket.socket, verifier: VerifierProtocol) -> None:
    """Verify what comes on `channel` until the engine says stop, goes away, or SIGTERM comes.

    Always closes the verifier. An exception from it ends the worker: the engine retries the sample elsewhere.
    """
    channel.set_inheritable(False)
    channel.setblocking(True)
    try:
        with _stopped_by_sigterm(channel):
            send(channel, wire.Hello(os.getpid(), verifier.tier))
            _loop(channel, verifier)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the engine is gone
    except Exception as error:
        refuse(channel, error)
    finally:
        verifier.close()


def _loop(channel: socket.socket, verifier: VerifierProtocol) -> None:
    watch = Watch(channel)
    while (run := watch.take()) is not None:
        send(channel, wire.Started(run.job))
        try:
            sample = msgspec.structs.replace(decode_sample(run.sample), id=run.id, problem_id=run.problem_id)
        except InputError as error:
            channel.sendall(_frame_of(run.job, _internal(f"the sample cannot be read: {error}"), "", []))
            continue
        result, extracted, doubtful = verifier.attempt(sample, watch, soft_s=run.soft_s, again=run.again)
        channel.sendall(_frame_of(run.job, result, extracted, doubtful))
        verifier.tidy()


def send(channel: socket.socket, message: wire.ToEngine) -> None:
    """Send a message whole; raises OSError when the engine is gone."""
    channel.sendall(wire.pack(message))


def refuse(channel: socket.socket, error: BaseException) -> None:
    """Tell the engine why this worker cannot start or go on.

    The reason may end up in a result, so the text of an error that is not ours, with its paths, goes to stderr alone.
    """
    if isinstance(error, SandboxError):
        message = wire.Fatal(error.problem, sandbox=True, step=error.step, errno=error.errno, mend=error.mend)
    elif isinstance(error, ScaleBoxError):
        message = wire.Fatal(str(error).encode("utf-8", "replace").decode())
    else:
        message = wire.Fatal(f"it failed with {type(error).__name__}")
        traceback.print_exception(error, file=sys.stderr)
    with contextlib.suppress(OSError, wire.WireError):
        send(channel, message)


def _frame_of(job: int, result: VerificationResult, extracted: str, doubtful: list[int]) -> bytes:
    """Return the message that a job is finished; a result that cannot be sent is our failure, not the sample's."""
    try:
        return wire.pack(wire.Finished(job, result, extracted, doubtful))
    except wire.WireError:
        pass
    try:
        clean = decode_results(encode_results([result]))[0]
        return wire.pack(wire.Finished(job, clean, extracted, doubtful))
    except (InputError, wire.WireError) as error:
        return wire.pack(wire.Finished(job, _internal(f"the result {error}"), extracted))


def _internal(message: str) -> VerificationResult:
    return VerificationResult(id="", verdict=Verdict.INTERNAL_ERROR, message=message)


@contextlib.contextmanager
def _stopped_by_sigterm(channel: socket.socket) -> Iterator[None]:
    """Make SIGTERM look like the engine's end of the channel being closed: one way to stop, no exception anywhere."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only a process's main thread may handle signals
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(OSError):
            channel.shutdown(socket.SHUT_RD)

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
