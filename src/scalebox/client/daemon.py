"""The daemon that all clients of one user on one node share: joined where it runs, started where it does not.

Its lock is handed from who starts it to the daemon itself, which holds it as long as it lives: whatever kills either of
them, nothing is left that would keep the next one from starting.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

import msgspec

from scalebox.client.address import Address
from scalebox.core.errors import InputError, ServerError
from scalebox.core.folders import make_own
from scalebox.core.settings import PREFIX, Settings
from scalebox.core.toml import as_toml

#: Seconds that a daemon may take to start, on a busy machine, and to end.
_START_S = 120.0
_ANSWER_S, _LOOK_S = 5.0, 0.05
_PROBE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_MOST_PATH = 107
_LOG_END = 2000

#: What settings of servers of the user's own are not for the daemon, whose log nobody turns over.
_NOT_SHARED = {"server_tokens": "", "server_journal": "", "server_socket": "", "server_log": "warning"}

#: Becomes the daemon, with init as its parent: who started it need not wait for its end.
_LAUNCHER = """
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
os.execv(sys.argv[1], sys.argv[1:])
"""


class Daemon:
    """The daemon of this node, user and version; `settings` are its own if it has to be started."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = _own_folder()
        self._stem = os.path.join(self._folder, f"scalebox-{version('scalebox')}")
        path = f"{self._stem}.sock"
        if len(os.fsencode(path)) > _MOST_PATH:
            raise InputError(
                f"{path} is too long for a socket", field="url", mend="set XDG_RUNTIME_DIR to a short path"
            )
        self.address = Address("http://localhost", path)

    async def ensure(self) -> None:
        """See to it that the daemon runs. Raises ServerError."""
        give_up_at = time.monotonic() + _START_S
        while not await asyncio.to_thread(self._answers):
            if await asyncio.to_thread(self._begin):
                continue
            if time.monotonic() > give_up_at:
                raise ServerError(f"the daemon neither answers nor ends (see {self._stem}.log)")
            await asyncio.sleep(_LOOK_S)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_ANSWER_S)
            try:
                probe.connect(self.address.socket)
                probe.sendall(_PROBE)
                return probe.recv(12) == b"HTTP/1.1 200"
            except OSError:
                return False

    def _begin(self) -> bool:
        """Start the daemon and wait until it answers; false where another does, or one has not ended yet."""
        lock = self._lock()
        if lock is None:
            return False
        try:
            if not self._answers():  # else another start was quicker
                self._launch(lock)
        finally:
            os.close(lock)
        self._await_answer()
        return True

    def _lock(self) -> int | None:
        """Return a descriptor that holds the lock, None where another holds it."""
        lock = os.open(f"{self._stem}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        return lock

    def _launch(self, lock: int) -> None:
        config = f"{self._stem}.toml"
        with open(config, "w", encoding="utf-8", opener=_private) as stream:
            stream.write(as_toml(msgspec.structs.replace(self._settings, **_NOT_SHARED)))
        command = [
            sys.executable, "-P", "-m", "scalebox.cli", "serve", "--config", config, "--socket", self.address.socket,
            "--idle-exit", f"{self._settings.daemon_idle_s:g}",
        ]  # fmt: skip
        environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        with open(f"{self._stem}.log", "wb", opener=_private) as log:
            subprocess.run(
                [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command],
                check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, pass_fds=(lock,),
            )  # fmt: skip

    def _await_answer(self) -> None:
        """Wait for the daemon that was just started; raises ServerError with its last words where it ended."""
        give_up_at = time.monotonic() + _START_S
        while not self._answers():
            lock = self._lock()
            if lock is not None:
                os.close(lock)
                raise ServerError(f"the daemon ended when it was started: {self._last_words()}")
            if time.monotonic() > give_up_at:
                raise ServerError(f"the daemon does not answer: {self._last_words()}")
            time.sleep(_LOOK_S)

    def _last_words(self) -> str:
        with open(f"{self._stem}.log", "rb") as log:
            text = log.read()[-_LOG_END:].decode(errors="replace").strip()
        return f"{text or 'it said nothing'} ({self._stem}.log)"


def _own_folder() -> str:
    """Return the folder of this user's sockets, in which nobody else can put one. Raises InputError."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    # With sudo it may be another user's, who could put a folder in the place of ours.
    if os.path.isabs(base) and os.path.isdir(base) and make_own(base):
        folder = os.path.join(base, "scalebox")
    else:
        folder = os.path.join(tempfile.gettempdir(), f"scalebox-{os.geteuid()}")
    if not make_own(folder):
        problem = f"{folder} is not this user's alone"
        raise InputError(problem, field="url", mend="remove it, or set XDG_RUNTIME_DIR to a folder of your own")
    return folder


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
