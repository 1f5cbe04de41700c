"""Canaries outside a jail: files, a process and listeners that no program under test may read, touch or reach."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scalebox.sandbox.linux import owner

#: Modification time of the canary files, in seconds since the epoch.
_LONG_AGO = 1_000_000_000.0
_FILES = {"secret": 0o644, "open/target": 0o666}
_VARIABLE = "SCALEBOX_PROBE_CANARY"


class Host:
    """What a jail must not reach. `canary` is a word that nothing which comes out of a jail may contain."""

    def __init__(self) -> None:
        self.canary = secrets.token_hex(16)
        self.folder = Path(tempfile.mkdtemp(prefix=owner.tagged("probe-")))
        self.folder.chmod(0o755)
        (self.folder / "open").mkdir()
        (self.folder / "open").chmod(0o777)
        self._reset_files()
        self.victim = self._new_victim()
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._abstract = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._abstract.bind(f"\0scalebox-probe-{self.canary[:8]}")
        for listener in (self._tcp, self._udp, self._abstract):
            listener.setblocking(False)

    def facts(self) -> dict[str, Any]:
        """Return what programs are told of the host, so that they need not guess."""
        return {
            "folder": str(self.folder),
            "victim": self.victim.pid,
            "trainer": os.getpid(),
            "home": os.path.expanduser("~"),
            "tcp": self._tcp.getsockname(),
            "udp": self._udp.getsockname(),
            "abstract": self._abstract.getsockname(),
            "variable": _VARIABLE,
            "name": socket.gethostname(),
        }

    @contextlib.contextmanager
    def canary_in_environment(self) -> Any:
        """Have the canary in this process's own environment for as long as the block lasts."""
        os.environ[_VARIABLE] = self.canary
        try:
            yield
        finally:
            del os.environ[_VARIABLE]

    def harm(self) -> list[str]:
        """Return what was done to the canaries since the last call, and put them right again."""
        harm = self._victim_harm()
        if harm:
            self._end_victim()
            self.victim = self._new_victim()
        harm += [*self._file_harm(), *self._calls()]
        self._reset_files()
        return harm

    def close(self) -> None:
        """Remove everything."""
        self._end_victim()
        for listener in (self._tcp, self._udp, self._abstract):
            listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _new_victim(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()", self.canary],
            stdin=subprocess.PIPE,
            env={"CANARY": self.canary},
        )

    def _end_victim(self) -> None:
        self.victim.kill()
        self.victim.communicate()

    def _reset_files(self) -> None:
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                continue
            path.unlink()
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path != self.folder / "open":
                path.rmdir()
        for name, mode in _FILES.items():
            path = self.folder / name
            path.write_text(self.canary)
            path.chmod(mode)
            os.utime(path, (_LONG_AGO, _LONG_AGO))

    def _file_harm(self) -> list[str]:
        names = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}
        odd = sorted(names ^ {"open", *_FILES})
        found = [f"files outside came or went: {odd}"] if odd else []
        for name, mode in _FILES.items():
            path = self.folder / name
            if name in odd:
                continue
            status = path.stat()
            if path.read_text(errors="replace") != self.canary:
                found.append(f"the file {name} outside was written to")
            if status.st_mode & 0o7777 != mode or status.st_mtime != _LONG_AGO or status.st_uid != os.geteuid():
                found.append(f"mode, times or owner of the file {name} outside were changed")
        return found

    def _victim_harm(self) -> list[str]:
        if self.victim.poll() is not None:
            return ["a process outside was killed"]
        fields = Path(f"/proc/{self.victim.pid}/stat").read_text().rpartition(")")[2].split()
        found = ["a process outside was stopped"] if fields[0] in ("T", "t") else []
        if os.getpriority(os.PRIO_PROCESS, self.victim.pid) != os.getpriority(os.PRIO_PROCESS, 0):
            found.append("the priority of a process outside was changed")
        return found

    def _calls(self) -> list[str]:
        found = []
        for name, listener in (("UDP", self._udp), ("an abstract UNIX socket", self._abstract)):
            with contextlib.suppress(BlockingIOError):
                listener.recv(100)
                found.append(f"a datagram came through over {name}")
        with contextlib.suppress(BlockingIOError):
            connection, _ = self._tcp.accept()
            connection.close()
            found.append("a TCP connection came through")
        return found


def descendants(root: int) -> list[int]:
    """Return the processes below `root` that are not zombies, as the kernel shows them to us."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] not in (b"Z", b"X"):
                    parents.setdefault(int(fields[1]), []).append(int(name))
    found, queue = [], [root]
    while queue:
        below = parents.get(queue.pop(), [])
        found += below
        queue += below
    return found


def wait_until(holds: Any, seconds: float = 10.0) -> bool:
    """Wait for a condition that the kernel brings about in its own time; return whether it came."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
