"""The zygote: the process that compile processes are copies of, confined once for all of them.

What does not depend on the sample is given up here: capabilities, new privileges, the file system outside of what may
be seen. It has no seccomp filter but one that allows all, for it must go on forking, and runs nothing of a sample;
like a compile process it is not dumpable, and the filters let no case signal it. What it makes are children of the
agent, not of itself (CLONE_PARENT), so that the agent reaps them, and all that they leave behind.

The zygote and its copies signal nobody when they end, and are waited for apart from all others (__WCLONE). A process
that loses its parent always becomes one of those others; so once the compile processes are reaped, that the agent has
no child of the common kind says that nothing of the sample is alive.
"""

from __future__ import annotations

import _socket
import array
import gc
import marshal
import os
import struct
from typing import Any, NoReturn

from scalebox.sandbox.agent import confine, program

_PID = struct.Struct("<I")
_READY = b"ready"
_LINE = 3  # the zygote's descriptor of its line to the agent
_ALL_FDS = 65536
_MESSAGE_BYTES = 4096
#: A seccomp filter that allows all. It tells what was in a jail from other processes, to those who end it.
_MARK = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF_0000)
_SPACE = _socket.CMSG_SPACE(4)


class Zygote:
    """The agent's handle on its zygote."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self._sock: _socket.socket | None = None
        self._due = 0

    def start(self) -> None:
        """Make the process and wait until it is confined. Raises OSError where that fails."""
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        if confine.clone() == 0:
            _become_zygote(theirs, self._world)
        theirs.close()
        answer = ours.recv(1000)
        if answer != _READY:
            raise OSError("the zygote did not start: " + answer.decode("utf-8", "replace"))
        self._sock, self._due = ours, 0

    @property
    def running(self) -> bool:
        return self._sock is not None

    def open(self, fd: int) -> None:
        """Have a compile process made that serves `fd`. Where the zygote is gone, nobody will answer there."""
        assert self._sock is not None
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [fd]))]
        try:
            self._sock.sendmsg([marshal.dumps(self._world.scratch.clean, 2)], rights)
            self._due += 1
        except OSError:
            self._due = -1

    def programs(self) -> list[int] | None:
        """Return the pids of the compile processes made since the last look, or None if the zygote is gone."""
        assert self._sock is not None
        due, self._due = self._due, 0
        try:
            answers = [self._sock.recv(_PID.size) for _ in range(due)]
        except OSError:  # it died before it had read all orders
            return None
        if due < 0 or not all(answers):
            return None
        return [_PID.unpack(answer)[0] for answer in answers]

    def forget(self) -> None:
        """Let go of a process that is dead."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None


class NoZygote:
    """The same where the kernel has no CLONE_PARENT: compile processes are copies of the agent, each confined anew."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self._made: list[int] = []
        self.running = True

    def start(self) -> None:
        """Do nothing: there is no process to make."""
        self._world.zygote = os.getpid()

    def open(self, fd: int) -> None:
        """Make a compile process that serves `fd`."""
        pid = confine.clone()
        if pid == 0:
            _become_confined_program(fd, self._world)
        self._made.append(pid)

    def programs(self) -> list[int]:
        """Return the pids of the compile processes made since the last look."""
        made, self._made = self._made, []
        return made

    def forget(self) -> None:
        """Do nothing: whoever kills all has reaped all."""


def _become_confined_program(fd: int, world: Any) -> NoReturn:
    try:
        os.dup2(fd, _LINE)
        os.closerange(_LINE + 1, _ALL_FDS)
        _confine(world)
    except BaseException:
        os._exit(72)
    _become_program(_LINE, world)


def _become_zygote(line: _socket.socket, world: Any) -> NoReturn:
    try:
        os.dup2(line.fileno(), _LINE)
        os.closerange(_LINE + 1, _ALL_FDS)
        world.zygote = os.getpid()
        line = _socket.socket(fileno=_LINE)
        try:
            _confine(world)
        except BaseException as error:
            line.sendall(repr(error).encode("utf-8", "backslashreplace")[:1000])
            raise
        gc.freeze()
        line.sendall(_READY)
        _serve(line, world)
    finally:
        os._exit(72)


def _confine(world: Any) -> None:
    """Give up for good what no process of any sample may have."""
    os.setpgid(0, 0)
    os.umask(0o022)
    confine.end_with_parent()
    confine.offer_for_want_of_memory()
    confine.set_no_new_privileges()
    for name, value in (("CORE", 0), ("NOFILE", 1024), ("MEMLOCK", 0)):
        confine.limit(name, value)
    if not world.own_kernel:  # that knows no other, having nothing that they would limit
        for name in ("MSGQUEUE", "NICE", "RTPRIO"):
            confine.limit(name, 0)
    if world.landlock:
        ruleset = confine.landlock_ruleset(world.landlock)
        confine.landlock_restrict(ruleset, world.landlock)
        os.close(ruleset)
    confine.drop_capabilities(confine.CHANGE_USER if world.user else 0)
    confine.Filter(_MARK).install()
    confine.set_dumpable(False)


def _serve(line: _socket.socket, world: Any) -> None:
    """Fork a compile process for every descriptor that comes, and answer with its pid, until the agent hangs up."""
    while True:
        data, ancillary, _, _ = line.recvmsg(_MESSAGE_BYTES, _SPACE)
        if not data:
            return
        (fd,) = array.array("i", ancillary[0][2])
        pid = confine.clone(confine.CLONE_PARENT)
        if pid == 0:
            line.close()
            world.scratch.clean = marshal.loads(data)  # noqa: S302 - written by the agent; fresh, perhaps
            _become_program(fd, world)
        os.close(fd)
        line.send(_PID.pack(pid))


def _become_program(fd: int, world: Any) -> NoReturn:
    status = 71
    try:
        program.run(_socket.socket(fileno=fd), world)
        status = 0
    except SystemExit:
        status = 0
    finally:
        os._exit(status)
