"""What compile processes and cases of compiled programs do in a jail: the builder that such a jail's agent is given.

A build and the runs of what it made are two samples to the jail: the first compiles and hands out files, as bytes; the
second puts files where programs can read and execute them and nobody can change them, and starts them.

Sent into the jail and run there by its interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import os
import resource
import signal
from typing import Any, NoReturn

from scalebox.execute import jailed_files, jailed_resident, source
from scalebox.sandbox.agent import confine

_LOG = "build.log"
#: Seconds from now to which the time of the last access is set: reading a file then leaves no trace on it.
_LATER_S = 1 << 30
#: Those that a program starts with as they are by default. Of one that is not named, the C library asks first, in the
#: child, how it is: a system call more for each.
_SIGNALS = sorted(set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP})

#: What the agent warms up with, and tests itself with, is a Python program in every jail.
build = source.build


def build_tests(order: dict[str, Any]) -> dict[str, Any]:
    """Do what `order` says.

    {"commands", …} is a build, {"resident", …} a compiler that stays for many, {"argv", …} a program that is there.
    """
    if "resident" in order:
        return jailed_resident.start(order)
    return _compile(order) if "commands" in order else place(order)


def _compile(order: dict[str, Any]) -> dict[str, Any]:
    """Run the commands over the files; hand out what they made.

    `order` is {"files": name → bytes, "commands", "keep": patterns, "env", "cpu_s", "most": bytes, "fds": [where to
    write what was made]}. Answers {"ok", "message", "log", "status"}; "missing" names a compiler that does not start.
    """
    jailed_files.write(order["files"], os.getcwd(), -1)
    env = jailed_files.environment(order["env"])
    resource.setrlimit(resource.RLIMIT_CPU, (order["cpu_s"], resource.getrlimit(resource.RLIMIT_CPU)[1]))
    log = os.path.join(os.environ["TMPDIR"], _LOG)
    for command in order["commands"]:
        try:
            status = _run(command, env, log)
        except OSError as error:
            return {"ok": False, "message": "", "missing": "%s: %s" % (command[0], os.strerror(error.errno or 0))}
        if status != 0:
            with open(log, "rb") as file:
                text = jailed_files.words(file.read(jailed_files.MOST_LOG))
            return {"ok": False, "message": "", "log": text, "status": status}
    return jailed_files.pack(order["keep"], order["most"], order["fds"][0])


def _run(command: list[str], env: dict[str, str], log: str) -> int:
    """Run a command, its words going to the file `log`; return its exit status, or minus the signal."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    defaults = [signal.SIGPIPE, signal.SIGXFSZ]
    pid = os.posix_spawn(command[0], command, env, file_actions=actions, setsigdef=defaults)
    status = os.waitpid(pid, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class Placed:
    """A program that is there to be run."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self.argv = argv
        self.env = env

    def spawn(self, fds: list[int]) -> int:
        """Start it on its pipes, without a copy of this process on the way; return its pid."""
        pipes = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(fds)]
        return os.posix_spawn(self.argv[0], self.argv, self.env, file_actions=pipes, setpgroup=0, setsigdef=_SIGNALS)


def place(order: dict[str, Any]) -> dict[str, Any]:
    """Put a program where its cases find it, and close the place to this process and all that it forks.

    `order` is {"files": name → bytes, or its place in the first of "fds", "argv", "env", "landlock": rules under which
    that is no place to write}. The answer's "placed" are the paths whose every change a case would leave to the next.
    """
    folder = os.path.join(os.path.dirname(os.getcwd()), "program")
    os.mkdir(folder, 0o755)
    placed = [folder, *jailed_files.write(order.pop("files"), folder, order["fds"][0] if order["fds"] else -1)]
    for fd in order["fds"]:
        os.close(fd)
    for path in placed:
        os.chmod(path, 0o555)  # noqa: S103 - to be run
        now = os.stat(path)
        os.utime(path, ns=(now.st_mtime_ns + _LATER_S * 10**9, now.st_mtime_ns))
    if order["landlock"] is not None:
        ruleset = confine.landlock_ruleset(order["landlock"])
        confine.landlock_restrict(ruleset, order["landlock"])
        os.close(ruleset)
    _keep_descriptors()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # exec would hand on that the interpreter ignores them
        signal.signal(number, signal.SIG_DFL)
    argv = [word.replace("{program}", folder) for word in order["argv"]]
    return {"ok": True, "code": Placed(argv, jailed_files.environment(order["env"])), "placed": placed}


def _keep_descriptors() -> None:
    """Have exec close what is open here but for the standard streams."""
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:  # no /proc in this jail, or none that may be read
        numbers = list(range(resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
    for number in numbers:
        try:
            os.set_inheritable(number, number < 3)
        except OSError:
            continue


def _start(code: Placed, order: dict[str, Any], namespace: dict[str, Any]) -> NoReturn:
    """Become the program; its pipes come one descriptor behind where they belong."""
    for number in range(order["lines"]):
        os.dup2(number + 1, number)
    os.close(order["lines"])
    os.execve(code.argv[0], code.argv, code.env)  # noqa: S606 - no shell is wanted


#: What a case does, by name: (what was placed, the order, the namespace of an unused module) to its exit status.
ROLES: dict[str, Any] = {"program": _start}
