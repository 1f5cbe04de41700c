"""Programs that try to pass tests which run in another process, each with tests and an honest program that passes them.

What matters is not which verdict a cheat gets but that it is a failure of its own: never passed, never our fault.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

#: Wrong answers and errors: what nearly every cheat ends in.
FAILURES = frozenset({"assert_fail", "runtime_error"})
SQUARE = ("assert f(3) == 9", "assert f(4) == 16", "assert f(-2) == 4")
HONEST = "def f(n):\n    return n * n\n"
#: Kinds of tests: those of `tests.fidelity.styles`.
BOTH = ("asserts", "pytest_functions")


class Cheat(NamedTuple):
    """A program that cheats; `honest` is one that passes the same tests. `fields` are further ones of the sample."""

    name: str
    code: str
    tests: tuple[str, ...] = SQUARE
    honest: str = HONEST
    verdicts: frozenset[str] = FAILURES
    styles: tuple[str, ...] = BOTH
    fields: Mapping[str, Any] = MappingProxyType({})


def cheat(name: str, code: str, *, tests: Iterable[str] = SQUARE, honest: str = HONEST, or_: str = "",
          styles: tuple[str, ...] = BOTH, **fields: Any) -> Cheat:  # fmt: skip
    """Return a cheat; `or_` names verdicts that are right beside `FAILURES`."""
    return Cheat(
        name.replace(" ", "-").replace(",", ""), text(code), tuple(map(text, tests)), text(honest),
        FAILURES.union(or_.split()), styles, fields,
    )  # fmt: skip


def text(code: str) -> str:
    """Return a program without the indentation of the table that it stands in."""
    return textwrap.dedent(code).strip() + "\n"


def calls(name: str, body: str, **options: Any) -> Cheat:
    """Return a cheat whose function does something when it is called, and then gives a wrong answer."""
    return cheat(name, f"def f(n):\n{textwrap.indent(text(body), '    ')}    return 7\n", **options)
