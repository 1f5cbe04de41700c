"""A suite, solutions of its problem, and how it is run against them in two processes."""

from __future__ import annotations

from typing import Any

from tests.execute.separate.apart import Run, run

RIGHT = "def f(x):\n    if x < 0:\n        raise ValueError('negative')\n    print('f', x)\n    return x + 1\n"
WRONG = "def f(x):\n    return x\n"
TEST = "from solution import f\n\ndef test_f():\n    assert f(1) == 2\n\ndef test_g():\n    assert f(2) == 3\n"
IDS = ["test_f.py::test_f", "test_f.py::test_g"]


def suite(
    solution: str,
    files: dict[str, str] | str,
    required: list[str],
    *,
    others: dict[str, str] | None = None,
    sabotage: str = "",
    **item: Any,
) -> Run:
    """Run a suite against a solution; `others` are files in the working directory that both sides share."""
    files = {"test_f.py": files} if isinstance(files, str) else files
    item = {"files": files, "required": required, "modules": ["solution"], **item}
    return run("suite", solution=solution, others=others or {}, sabotage=sabotage, item=item)
