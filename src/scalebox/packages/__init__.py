"""Problem packages of contest systems: read, and checked with the engine.

`load_package` reads a folder or a zip in the layout of Kattis and the ICPC, or of DMOJ; `Package.samples` makes of a
submission what an engine verifies; `checking` runs the package's own submissions.
"""

from __future__ import annotations

from scalebox.core.errors import InputError
from scalebox.packages.dmoj import MARKER as DMOJ_MARKER
from scalebox.packages.dmoj import read_dmoj
from scalebox.packages.expected import Expectation
from scalebox.packages.files import open_files
from scalebox.packages.kattis import MARKER as KATTIS_MARKER
from scalebox.packages.kattis import read_kattis
from scalebox.packages.model import Case, Package, Submission, TimeLimit

__all__ = ["Case", "Expectation", "Package", "Submission", "TimeLimit", "load_package"]


def load_package(path: str) -> Package:
    """Return the package in the folder or zip at `path`; a single folder around everything is passed through.

    Raises InputError for whatever is wrong with it, with the file and, where it can be told, the line.
    """
    files = open_files(path)
    for _ in range(2):
        if KATTIS_MARKER in files:
            return read_kattis(files)
        if DMOJ_MARKER in files:
            return read_dmoj(files)
        heads = {name.split("/")[0] for name in files.names()}
        if len(heads) != 1:
            break
        files.enter(heads.pop())
    mend = f"{KATTIS_MARKER} makes it one of Kattis or the ICPC, {DMOJ_MARKER} one of DMOJ"
    raise InputError("is no problem package that is known here", source=path, mend=mend)
