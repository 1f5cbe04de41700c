"""One worker process, as the engine's thread holds it: started by exec, talked to without blocking."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from scalebox.core import wire
from scalebox.sandbox.linux import owner

_CHUNK = 256 * 1024
_TAIL_BYTES = 8192
_ENDING_S = 0.25
_REAP_S = 5.0

#: The worker's own program; `-P` keeps the working directory's files from passing for modules.
COMMAND = ("-P", "-m", "scalebox.worker")


class WorkerProcess:
    """A child process at the other end of a socket pair. Every method is for one thread alone."""

    def __init__(self, command: Sequence[str], config: bytes, core: int) -> None:
        """Start it; raises OSError."""
        self.frames = wire.from_worker()
        self._unsent = bytearray()
        self._tail = b""
        with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as theirs:
            self.channel, other = socket.socketpair()
            on_failure.callback(self.channel.close)
            theirs.enter_context(other)
            self.errors, errors = os.pipe()
            on_failure.callback(os.close, self.errors)
            theirs.callback(os.close, errors)
            config_fd = _file_of(config)
            theirs.callback(os.close, config_fd)
            self._process = subprocess.Popen(
                [
                    *(command or (_python(), "-X", owner.argument(), *COMMAND)),
                    *("--channel", str(other.fileno()), "--config-fd", str(config_fd), "--core", str(core)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=(other.fileno(), config_fd),
                env=_environment(),
                start_new_session=True,  # the terminal's Ctrl-C is for the engine's process alone
            )
            on_failure.pop_all()
        self.channel.setblocking(False)
        os.set_blocking(self.errors, False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def wants_to_send(self) -> bool:
        """True while a message is not out yet."""
        return bool(self._unsent)

    def send(self, frame: bytes) -> None:
        """Send a frame, or keep what does not fit until `flush`."""
        self._unsent += frame
        self.flush()

    def flush(self) -> None:
        """Send what fits now. A worker that is gone is found out by `receive`."""
        while self._unsent:
            try:
                sent = self.channel.send(memoryview(self._unsent)[:_CHUNK])
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self._unsent.clear()
                return
            del self._unsent[:sent]

    def receive(self) -> Iterator[wire.ToEngine]:
        """Yield the messages that have come; raises EOFError at the end of the channel, WireError for rubbish."""
        while True:
            try:
                data = self.channel.recv(_CHUNK)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:
                raise EOFError
            yield from self.frames.feed(data)
            if len(data) < _CHUNK:
                return

    def read_errors(self) -> bool:
        """Keep the end of what the worker wrote to stderr; false when it can write no more."""
        while True:
            try:
                data = os.read(self.errors, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._tail = (self._tail + data)[-_TAIL_BYTES:]

    @property
    def tail(self) -> str:
        """The last that the worker wrote to its stderr."""
        return self._tail.decode(errors="replace").strip()

    def bury(self, *, ending: bool) -> str:
        """Reap it, and close what belongs to it; returns how it ended.

        One that is `ending` by itself has a moment for it; else, and after that, it is killed.
        """
        if ending:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING_S)
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_REAP_S)
        self.read_errors()
        self.channel.close()
        os.close(self.errors)
        return _ending(self._process.returncode)

    def forget(self) -> None:
        """Close the descriptors, in a process that was forked from the one that holds the worker."""
        with contextlib.suppress(OSError):
            os.close(self.channel.detach())
        with contextlib.suppress(OSError):
            os.close(self.errors)


def _ending(code: int | None) -> str:
    if code is None:
        return "it cannot be killed"
    if code >= 0:
        return f"it ended with exit status {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"


def _file_of(data: bytes) -> int:
    """Return a descriptor from which `data` can be read."""
    fd = os.memfd_create("scalebox-config", os.MFD_CLOEXEC)
    with open(os.dup(fd), "wb") as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _python() -> str:
    if not sys.executable:
        raise OSError("this process knows no Python interpreter to start workers with (sys.executable is empty)")
    return sys.executable


def _environment() -> dict[str, str]:
    """Return the environment, such that a worker finds this very package also where only sys.path led here.

    A token of a client's is nothing that those who run samples should have.
    """
    environment = {name: value for name, value in os.environ.items() if name != "SCALEBOX_TOKEN"}
    root = str(Path(__file__).resolve().parents[2])
    if root not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        others = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{root}{os.pathsep}{others}" if others else root
    return environment
