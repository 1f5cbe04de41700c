"""What judge programs do in a jail of their own: the builder that such a jail's agent is given.

Each run has a working directory of its own, which is gone after it. What is wanted of the files there is read when
nothing of the run is alive any more, for no judge may start processes, and handed out as bytes.

Sent into the jail and run there by its interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import struct
import sys
from typing import Any

from scalebox.core import values
from scalebox.execute import jailed_build, source
from scalebox.sandbox.agent import case

_NAME = "judge.py"
_FOLDER = "run"
_ENTRY = struct.Struct("<II")
#: Bytes that are handed out of the files of one run.
_MOST_BYTES = 1 << 20

build = source.build


def build_tests(order: dict[str, Any]) -> dict[str, Any]:
    """Do what `order` says, as `jailed_build` does; where it has "collected", what is there are runs of a judge.

    Then the last of "fds" takes the files that runs leave; "beside" are the names of files that each run finds in its
    working directory, and "source", where it is there, is a program in Python, which is run instead of "argv".
    """
    if "collected" not in order:
        return jailed_build.build_tests(order)
    out, beside = order["fds"].pop(), order["beside"]
    text = order.get("source")
    built = {"ok": True} if text is None else source.build(text, _NAME, False, [])
    if not built["ok"]:
        return built
    placed = jailed_build.place(order)
    code: Any = placed["code"]
    folder = os.path.join(os.path.dirname(os.getcwd()), "program")
    runs = _Runs(out, {name: os.path.join(folder, name) for name in beside})
    made = Placed(runs, code.argv, code.env) if text is None else Script(runs, built["code"])
    return {**built, **placed, "code": made}


class _Runs:
    """The working directories of runs, one after another, and the file that takes what is wanted of them."""

    def __init__(self, out: int, links: dict[str, str]) -> None:
        self._out = out
        self._links = links
        self._folder = ""
        self._marks: list[int] = []

    def begin(self, order: dict[str, Any], place: Any) -> None:
        """Make the directory and what is in it, and go there."""
        self._folder = os.path.join(place.scratch.work, _FOLDER)
        os.mkdir(self._folder)
        os.chdir(self._folder)
        case.write_files(order["files"])
        order["files"] = {}
        for name in (*order["collect"], *self._links):
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        for name, target in self._links.items():
            if not os.path.lexists(name):
                os.symlink(target, name)
        self._marks = place.scratch.marks()

    def end(self, order: dict[str, Any], place: Any) -> None:
        """Hand out what is wanted, and leave the scratch space as it was, if nothing was changed outside of it."""
        os.chdir(place.scratch.work)
        body = values.encode(_collect(self._folder, order["collect"]))
        os.write(self._out, _ENTRY.pack(order["number"], len(body)) + body)
        if place.scratch.marks() == self._marks:
            try:
                shutil.rmtree(self._folder)
            except Exception:  # too deep, or closed to us: the agent has other means
                return
            free = place.scratch.usage()
            if free == place.scratch.clean[: len(free)]:
                place.scratch.remember()


def _collect(folder: str, names: list[str]) -> dict[str, tuple[bytes, bool]]:
    """Return the contents of these files below `folder`, and whether that is all; what is no file is not there."""
    found: dict[str, tuple[bytes, bool]] = {}
    left = _MOST_BYTES
    for name in names:
        data = _read(folder, name.split("/"), left + 1)
        if data is not None:
            found[name] = (data[:left], len(data) <= left)
            left -= min(left, len(data))
    return found


def _read(folder: str, parts: list[str], most: int) -> bytes | None:
    """Return what is in a regular file, following no link on the way; None where there is none."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for part in parts:
            above, fd = fd, -1
            try:
                fd = os.open(part, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
            finally:
                os.close(above)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        with open(fd, "rb", closefd=False) as file:
            return file.read(most)
    except OSError:
        return None
    finally:
        if fd >= 0:
            os.close(fd)


class Placed(jailed_build.Placed):
    """A judge that is a program of its own."""

    def __init__(self, runs: _Runs, argv: list[str], env: dict[str, str]) -> None:
        super().__init__(argv, env)
        self._runs = runs
        self._words = argv

    def prepare(self, order: dict[str, Any], place: Any) -> None:
        """Have all that the run needs, with its own words in the command."""
        self._runs.begin(order, place)
        self.argv = [*self._words, *order["argv"]]

    def tidy(self, order: dict[str, Any], place: Any) -> None:
        """Clear away what the run leaves."""
        self._runs.end(order, place)


class Script:
    """A judge in Python, which is run by this interpreter."""

    def __init__(self, runs: _Runs, code: Any) -> None:
        self._runs = runs
        self.code = code
        self.board: Any = None

    def prepare(self, order: dict[str, Any], place: Any) -> None:
        """Have all that the run needs."""
        self._runs.begin(order, place)
        self.board = place.board

    def tidy(self, order: dict[str, Any], place: Any) -> None:
        """Clear away what the run leaves."""
        self._runs.end(order, place)


def _run_script(code: Script, order: dict[str, Any], namespace: dict[str, Any]) -> int:
    """Be a program in Python that is started by a command; its pipes come one descriptor behind where they belong."""
    for number in range(3):
        os.dup2(number + 1, number)
    os.close(3)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # as in any interpreter
        signal.signal(number, signal.SIG_IGN)
    sys.argv = [_NAME, *order["argv"]]
    sys.path.insert(0, os.getcwd())
    return case.run_script(code.code, case.new_main("__main__"), True, code.board)


ROLES: dict[str, Any] = {**jailed_build.ROLES, "script": _run_script}
