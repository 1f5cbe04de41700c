"""A pytest suite's files, in a folder that the solution can neither read nor write; and the names of its tests.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import os
import re
from typing import Any, Iterable, Mapping

_WORD = re.compile(r"\w+")


class SuiteError(Exception):
    """The task's files or ids cannot be used as they are."""


def normal(test_id: str) -> str:
    """Return a test's id as pytest writes it: `./a\\b/test_c.py::test_d[./x]` is `a/b/test_c.py::test_d[./x]`."""
    path, mark, rest = test_id.strip().partition("::")
    path = os.path.normpath(path.replace("\\", "/")).lstrip("/")
    return path + mark + rest


class Suite:
    """The author's files under `folder`/suite, read-only once written, and which tests of theirs have to pass.

    `names` maps the id of each required test, as pytest will write it, to the id as the author wrote it.
    """

    def __init__(self, folder: str, files: Mapping[str, str], required: Iterable[str]) -> None:
        self.root = os.path.join(os.path.realpath(folder), "suite")
        self.files = {_safe(name): text for name, text in files.items()}
        self.names: dict[str, str] = {}
        for test_id in required:
            self.names.setdefault(self._placed(normal(test_id)), test_id)
        #: The files that hold required tests, as paths from the root, in the author's order.
        self.modules = list(dict.fromkeys(name.partition("::")[0] for name in self.names))
        self._paths: list[str] = []
        self._marks: list[Any] = []

    def _placed(self, test_id: str) -> str:
        """Return the id with the path that its file has here: an id may name the folder above it, or leave one out."""
        path, mark, rest = test_id.partition("::")
        near = [name for name in self.files if (f"/{name}").endswith(f"/{path}") or f"/{path}".endswith(f"/{name}")]
        if path not in self.files and len(near) == 1:
            path = near[0]
        if path not in self.files or not rest:
            raise SuiteError(f"the required test {test_id!r} names no file of the suite")
        return path + mark + rest

    def write(self) -> None:
        """Write the files, then take the right to write from them and their folders."""
        os.makedirs(self.root)
        for name, text in self.files.items():
            path = os.path.join(self.root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "xb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))
            os.chmod(path, 0o444)
        folders = [folder for folder, _, _ in os.walk(self.root)]
        for folder in folders:
            os.chmod(folder, 0o555)  # noqa: S103 - in a place that the solution cannot reach
        self._paths = [*folders, *(os.path.join(self.root, name) for name in self.files)]
        self._marks = self._look()
        for name, text in self.files.items():
            with open(os.path.join(self.root, name), "rb") as file:
                if file.read() != text.encode("utf-8", "surrogatepass"):
                    raise SuiteError(f"{name} is not as it was written")

    def _look(self) -> list[Any]:
        """Return what changes whenever a file or folder of the suite is written, replaced, added or removed."""
        found = []
        for path in self._paths:
            entry = os.lstat(path)
            size = entry.st_mode, entry.st_nlink, entry.st_size
            found.append((entry.st_dev, entry.st_ino, *size, entry.st_mtime_ns, entry.st_ctime_ns))
        return found

    def intact(self) -> bool:
        """Return whether every file and folder is as `write` left it."""
        try:
            return self._look() == self._marks
        except OSError:
            return False

    def mentions(self, test_id: str) -> bool:
        """Return whether the test's function is named anywhere in the suite: else no run could ever find it."""
        name = test_id.partition("[")[0].rpartition("::")[2]
        return any(name in _WORD.findall(text) for text in self.files.values() if name in text)

    def line(self, path: str, number: int) -> str:
        """Return a line of the file at `path` from the root, stripped, or "" where there is none."""
        lines = self.files.get(path, "").splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _safe(name: str) -> str:
    """Return the file's path from the root; raise SuiteError for one that leads out of it."""
    path = os.path.normpath(name.replace("\\", "/"))
    if os.path.isabs(path) or path.split("/")[0] in ("..", ".", "") or "\0" in path:
        raise SuiteError(f"a suite cannot have a file named {name!r}")
    return path
