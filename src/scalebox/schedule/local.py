"""The pool of worker processes of one machine: carries out what the scheduler says, on one thread, by events alone."""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from scalebox.core import wire
from scalebox.schedule import events as ev
from scalebox.schedule.process import WorkerProcess
from scalebox.schedule.state import Machine

_log = logging.getLogger(__name__)


class Owner(Protocol):
    """Who has the jobs, and wants their results. Called on the pool's thread."""

    def frame_of(self, job: int, first: wire.Finished | None) -> bytes:
        """Return the message that hands the job to a worker; `first` is what a run gave that left doubts."""

    def carry_out(self, instruction: ev.Instruction) -> None:
        """Take what the scheduler says of jobs and batches."""

    def worker_started(self, worker: int, pid: int, tier: str) -> None:
        """Take note of a worker that is ready."""

    def worker_lost(self, worker: int, pid: int, reason: str, job: int | None) -> None:
        """Take note of a worker that ended without being told to."""


class Pool:
    """Runs workers until it is shut down. Only `post` is for other threads."""

    def __init__(
        self,
        policy: ev.Policy,
        owner: Owner,
        *,
        cores: Sequence[int],
        config: bytes,
        command: Sequence[str] = (),
        on_worker_gone: Callable[[int], None] | None = None,
    ) -> None:
        """`config` is handed to each worker; `command` stands for the real worker's; `cores` has one per slot."""
        self._machine = Machine(policy)
        self._owner = owner
        self._cores = cores
        self._config = config
        self._command = command
        self._on_worker_gone = on_worker_gone
        self._workers: dict[int, WorkerProcess] = {}
        self._failures: dict[int, ev.Failure] = {}
        self._buried: tuple[int, WorkerProcess] | None = None  # the last
        self._posted: deque[ev.Event] = deque()
        self._bell = _Bell()
        self._selector = selectors.DefaultSelector()
        _POOLS.add(self)

    def post(self, event: ev.Event) -> None:
        """Hand over an event, from any thread; a finalizer may call it too."""
        self._posted.append(event)
        self._bell.ring()

    def run(self) -> None:
        """Work until shut down and the last worker is gone; at the end, also by an exception, nothing is left."""
        try:
            self._selector.register(self._bell, selectors.EVENT_READ, self._bell.silence)
            self._tell(ev.Opened())
            while not self._machine.finished:
                self._turn()
        finally:
            for number in list(self._workers):
                self._bury(number)
            self._selector.close()
            self._bell.close()

    def forget(self) -> None:
        """Close the descriptors, in a forked child: workers must see when the process that owns them ends."""
        for process in self._workers.values():
            process.forget()
        self._bell.forget()
        self._selector.close()

    def _turn(self) -> None:
        """Wait until something happens, or a time is due, and deal with it."""
        wake_at = self._machine.wake_at()
        timeout = None if wake_at is None else max(0.0, wake_at - time.monotonic())
        for key, _ in self._selector.select(timeout):
            key.data()
        while self._posted:
            self._tell(self._posted.popleft())
        wake_at = self._machine.wake_at()
        if wake_at is not None and wake_at <= time.monotonic():
            self._tell(ev.Tick())

    def _tell(self, event: ev.Event) -> None:
        """Give the scheduler an event, and carry out what it says, with what that leads to."""
        events = deque([event])
        while events:
            for instruction in self._machine.handle(events.popleft(), time.monotonic()):
                events.extend(self._carry_out(instruction))

    def _carry_out(self, instruction: ev.Instruction) -> Iterable[ev.Event]:
        match instruction:
            case ev.StartWorker(worker, slot):
                return self._start(worker, slot)
            case ev.Send(worker, job, first):
                self._send(worker, self._owner.frame_of(job, first))
            case ev.Recall(worker, job):
                self._send(worker, wire.pack(wire.Recall(job)))
            case ev.Cancel(worker, job):
                self._send(worker, wire.pack(wire.Cancel(job)))
            case ev.StopWorker(worker):
                self._send(worker, wire.pack(wire.Stop()))
            case ev.KillWorker(worker, reason):
                _log.warning("worker %d is killed: %s", worker, reason)
                return [self._bury(worker)]
            case ev.Lost(worker, reason, job):
                self._report(worker, reason, job)
            case _:
                self._owner.carry_out(instruction)
        return ()

    def _report(self, number: int, reason: str, job: int | None) -> None:
        """Tell of a lost worker, with what it left on stderr. One that could not even be started has no process."""
        process = self._buried[1] if self._buried is not None and self._buried[0] == number else None
        if process is not None and process.tail:
            _log.info("worker %d (process %d) left on stderr:\n%s", number, process.pid, process.tail)
        self._owner.worker_lost(number, 0 if process is None else process.pid, reason, job)

    # --- processes -------------------------------------------------------------------------------

    def _start(self, number: int, slot: int) -> Iterable[ev.Event]:
        try:
            process = WorkerProcess(self._command, self._config, self._cores[slot])
        except OSError as error:
            return [ev.WorkerDown(number, ev.Failure(reason=f"its process cannot be started: {error}"))]
        self._workers[number] = process
        self._selector.register(process.channel, selectors.EVENT_READ, lambda: self._hear(number))
        self._selector.register(process.errors, selectors.EVENT_READ, lambda: self._hear_errors(number))
        return ()

    def _send(self, number: int, frame: bytes) -> None:
        process = self._workers.get(number)
        if process is not None:
            process.send(frame)
            self._watch(number, process)

    def _watch(self, number: int, process: WorkerProcess) -> None:
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if process.wants_to_send else 0)
        if self._selector.get_key(process.channel).events != wanted:
            self._selector.modify(process.channel, wanted, lambda: self._hear(number))

    def _hear(self, number: int) -> None:
        """Send what waits to be sent to a worker, and deal with what it says."""
        process = self._workers.get(number)
        if process is None:
            return  # gone since the selector saw it
        if process.wants_to_send:
            process.flush()
            self._watch(number, process)
        try:
            for message in process.receive():
                if not self._understand(number, process, message):
                    return
        except EOFError:
            self._tell(self._bury(number, ending=True))
        except wire.WireError as error:
            self._failures[number] = ev.Failure(reason=f"it sent rubbish: {error}")
            self._tell(self._bury(number))

    def _understand(self, number: int, process: WorkerProcess, message: wire.ToEngine) -> bool:
        """Deal with one message; false when the worker is gone after it."""
        match message:
            case wire.Hello(_, tier):
                self._owner.worker_started(number, process.pid, tier)
                self._tell(ev.WorkerUp(number))
            case wire.Started(job):
                self._tell(ev.SampleStarted(number, job))
            case wire.Finished(job):
                self._tell(ev.SampleDone(number, job, message, doubtful=bool(message.doubtful)))
            case wire.Returned(job):
                self._tell(ev.SampleReturned(number, job))
            case wire.Fatal(reason, sandbox, step, errno, mend):
                # It has its own cleaning up to do: the end of the channel says when it is gone.
                self._failures[number] = ev.Failure(reason=reason, sandbox=sandbox, step=step, errno=errno, mend=mend)
        return number in self._workers

    def _hear_errors(self, number: int) -> None:
        process = self._workers.get(number)
        if process is not None and not process.read_errors():
            self._selector.unregister(process.errors)

    def _bury(self, number: int, *, ending: bool = False) -> ev.WorkerDown:
        """See a worker's process off, and clean up behind it."""
        process = self._workers.pop(number)
        for source in (process.channel, process.errors):
            with contextlib.suppress(KeyError):
                self._selector.unregister(source)
        how = process.bury(ending=ending)
        self._buried = (number, process)
        if self._on_worker_gone is not None:
            try:
                self._on_worker_gone(process.pid)
            except Exception:
                _log.exception("cleaning up behind worker %d (process %d) failed", number, process.pid)
        return ev.WorkerDown(number, self._failures.pop(number, ev.Failure(reason=how)))


class _Bell:
    """Wakes a selector from any thread, until it is closed; then ringing does nothing."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        # Against a number that is another's by the time it is written to. Reentrant, for finalizers.
        self._lock = threading.RLock()

    def fileno(self) -> int:
        return self._fd

    def ring(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            if self._fd >= 0:
                os.eventfd_write(self._fd, 1)

    def silence(self) -> None:
        with contextlib.suppress(OSError):
            os.eventfd_read(self._fd)

    def close(self) -> None:
        with self._lock:
            self.forget()

    def forget(self) -> None:
        """Close it without the lock, which may be held for ever in a forked child."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.forget()


_POOLS: weakref.WeakSet[Pool] = weakref.WeakSet()


def _forget_in_child() -> None:
    for pool in list(_POOLS):
        with contextlib.suppress(Exception):
            pool.forget()


os.register_at_fork(after_in_child=_forget_in_child)
