"""Runs cells one after another in one namespace, as a notebook does, and prints what became of each as JSON.

Standard input has the order: the cells, the seconds that each and all may take, and the files that are wanted.
"""

from __future__ import annotations

import ast
import base64
import builtins
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from typing import Any

_IMAGES = {"image/png": "_repr_png_", "image/jpeg": "_repr_jpeg_"}
_TEXTS = {
    "text/html": "_repr_html_", "text/markdown": "_repr_markdown_", "text/latex": "_repr_latex_",
    "image/svg+xml": "_repr_svg_",
}  # fmt: skip


class CellTimeout(BaseException):
    """A cell has taken longer than it may."""


def bundle(value: object) -> dict[str, Any]:
    """Return what a notebook would show of a value, by media type."""
    shown: dict[str, Any] = {"text/plain": repr(value)}
    if isinstance(value, type):
        return shown
    for kinds, is_image in ((_TEXTS, False), (_IMAGES, True)):
        for kind, method in kinds.items():
            try:
                data = getattr(value, method)() if hasattr(value, method) else None
            except Exception:  # noqa: S112 - what cannot be shown in this way is shown in others
                continue
            if data is not None:
                shown[kind] = base64.b64encode(data).decode("ascii") if is_image else str(data)
    return shown


class Notebook:
    """The namespace of all cells, and what the one that runs has shown."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
        self.shown: list[dict[str, Any]] = []
        builtins.display = self.display  # type: ignore[attr-defined]

    def display(self, *values: object) -> None:
        """Show values: `display` of a notebook."""
        self.shown += [bundle(value) for value in values]

    def run(self, text: str, number: int) -> None:
        """Run a cell, and show the value of the expression that it ends with."""
        name = "<cell %d>" % number
        tree = ast.parse(text, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), self.names)  # noqa: S102 - as above - what it is for, in a jail
        if isinstance(last, ast.Expr) and not text.rstrip().endswith(";"):
            value = eval(compile(ast.Expression(last.value), name, "eval"), self.names)  # noqa: S307 - a cell, in its jail
            if value is not None:
                self.names["_"] = value
                self.display(value)
        elif isinstance(last, ast.Expr):
            exec(compile(ast.Module([last], []), name, "exec"), self.names)  # noqa: S102 - as above


def error_of(error: BaseException) -> dict[str, Any]:
    """Return an exception as a kernel tells it, without our own frames."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace)
    try:
        value = str(error)
    except Exception:
        value = "<exception str() failed>"
    return {"ename": type(error).__name__, "evalue": value, "traceback": [line.rstrip("\n") for line in lines]}


class Captured:
    """Standard output and error of a cell, those of processes that it starts too."""

    def __init__(self) -> None:
        self._files = [tempfile.TemporaryFile() for _ in (1, 2)]

    def begin(self) -> None:
        """Have what is printed go to the files."""
        for fd, file in zip((1, 2), self._files):
            file.seek(0)
            file.truncate()
            os.dup2(file.fileno(), fd)

    def take(self) -> list[str]:
        """Return what was printed."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # noqa: S110 - the cell may have closed it
                pass
        found = []
        for file in self._files:
            file.seek(0)
            found.append(file.read().decode("utf-8", "replace"))
        return found


def run_cells(order: dict[str, Any]) -> list[dict[str, Any]]:
    """Run all cells; one that takes too long is the last."""
    notebook, captured, done = Notebook(), Captured(), []

    def stop(_number: int, _frame: object) -> None:
        raise CellTimeout("the cells took too long")

    signal.signal(signal.SIGALRM, stop)
    until = time.monotonic() + order["total_timeout"]
    for number, text in enumerate(order["cells"]):
        notebook.shown, error = [], []
        captured.begin()
        left = max(until - time.monotonic(), 0.001)
        signal.setitimer(signal.ITIMER_REAL, min(order["cell_timeout"] or left, left))
        try:
            notebook.run(text, number)
        except BaseException as raised:
            error = [error_of(raised)]
        signal.setitimer(signal.ITIMER_REAL, 0)
        out, err = captured.take()
        done.append({"stdout": out, "stderr": err, "display": notebook.shown, "error": error})
        if error and error[0]["ename"] == CellTimeout.__name__:
            break
    return done


def contents(names: list[str]) -> dict[str, str]:
    """Return the regular files of these names as base64."""
    found = {}
    for name in names:
        if os.path.isfile(name):
            with open(name, "rb") as file:
                found[name] = base64.b64encode(file.read()).decode("ascii")
    return found


def main() -> None:
    """Run the order, print the answer, and end at once: threads of cells are of no more use."""
    order = json.load(sys.stdin)
    out = os.dup(1)
    cells = run_cells(order)
    answer = order["marker"] + json.dumps({"cells": cells, "files": contents(order["wanted"])})
    data = answer.encode("utf-8", "replace")
    while data:
        data = data[os.write(out, data) :]
    os._exit(0)


main()
