"""A compiler that stays in a jail of its own and builds one program after another: the side inside that jail.

It is a child of the compile process, which hands it requests on its standard input and reads the answers from its
standard output. A request is a length and the arguments, with NUL between them; an answer is an exit code, a length and
the compiler's words; numbers have four bytes, big-endian. The first answer says that it is there.

Nothing of a program stays: what is in the scratch folders is removed after each, and an answer that is not one of a
compiler that has done its work ends the compiler.

Sent into the jail and run there by its interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import os
import resource
import select
import shutil
import signal
import struct
import time
from typing import Any

from scalebox.execute import jailed_files

_LENGTH = struct.Struct(">I")
_ANSWER = struct.Struct(">II")
#: Milliseconds between looks at the CPU time of a request.
_LOOK_MS = 20


class _Gone(Exception):
    """The compiler has ended, or says what none says."""


class _Over(Exception):
    """A request has had its CPU time."""


def start(order: dict[str, Any]) -> dict[str, Any]:
    """Start the compiler; `order` is {"resident": its command, "env", "cpu_s": for the start}.

    Answers as a build: what was built takes requests. "missing" names a compiler that does not start.
    """
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))  # it is each request that is limited
    command, env = order["resident"], jailed_files.environment(order["env"])
    try:
        resident = Resident(command, env)
        resident.receive(order["cpu_s"])
    except OSError as error:
        return {"ok": False, "message": "", "missing": "%s: %s" % (command[0], os.strerror(error.errno or 0))}
    except (_Gone, _Over):
        return {"ok": False, "message": "the resident compiler did not start"}
    return {"ok": True, "code": resident}


class Resident:
    """The compiler's process and the pipes to it."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, requests, 0),
            (os.POSIX_SPAWN_DUP2, answers, 1),
            (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
        ]
        defaults = [signal.SIGPIPE, signal.SIGXFSZ]
        pid = os.posix_spawn(command[0], command, env, file_actions=actions, setsigdef=defaults)
        os.close(requests)
        os.close(answers)
        self._clock = (~pid << 3) | 2  # clock_getcpuclockid(3): the CPU time of all its threads

    def answer(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Build one program and hand out what came of it, as a build by commands does.

        `request` is {"files": name → bytes, "words": arguments, "keep": patterns, "most": bytes, "cpu_s"}; the first of
        `fds` is where to write what was made. "gone" and "over" say that the compiler is not to be asked again: it is
        of no use any more, or the CPU time was up.
        """
        jailed_files.write(request["files"], os.getcwd(), -1)
        words = "\0".join(request["words"]).encode("utf-8", "surrogateescape")
        try:
            _write(self._requests, _LENGTH.pack(len(words)) + words)
            status, log = self.receive(request["cpu_s"])
        except (_Gone, OSError):
            return {"ok": False, "gone": True}
        except _Over:
            return {"ok": False, "over": True}
        if status == 0:
            built = jailed_files.pack(request["keep"], request["most"], fds[0])
        else:
            os.close(fds[0])
            built = {"ok": False, "message": "", "log": jailed_files.words(log), "status": status}
        _empty_scratch()
        return built

    def receive(self, cpu_s: float) -> tuple[int, bytes]:
        """Return an exit code, 0 or 1, and the compiler's words. Raises _Gone, _Over."""
        until = time.clock_gettime(self._clock) + cpu_s
        status, size = _ANSWER.unpack(self._read(_ANSWER.size, until))
        # Any other code is that of a compiler in trouble, which may not be its program's fault.
        if status > 1 or size > jailed_files.MOST_LOG:
            raise _Gone
        return status, self._read(size, until)

    def _read(self, size: int, until: float) -> bytes:
        data = b""
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        while len(data) < size:
            if not poll.poll(_LOOK_MS):
                if time.clock_gettime(self._clock) > until:
                    raise _Over
                continue
            part = os.read(self._answers, size - len(data))
            if not part:
                raise _Gone
            data += part
        return data


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _empty_scratch() -> None:
    """Remove all that is in the scratch folders."""
    root = os.path.dirname(os.getcwd())
    for folder in os.listdir(root):
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)
