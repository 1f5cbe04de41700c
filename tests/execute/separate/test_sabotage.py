"""Sabotaged copies: they import as the original does, and do nothing of what it does."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.execute.separate.sabotage import KINDS, sabotage

SOURCE = b'''"""A module."""
from __future__ import annotations
import math
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

LIMIT = 10
TABLE = [n * n for n in range(LIMIT)]

def area(r):
    """The area."""
    global LIMIT
    return math.pi * r * r

WHOLE = area(1)
twice = lambda x: 2 * x

def count(n):
    def inner(x):
        return x
    for i in range(n):
        yield inner(i)

async def later():
    return 1

async def stream():
    yield 1

@dataclass
class Point:
    x: int = 0

class Pair(NamedTuple):
    a: int

class Stack:
    """Plain."""
    def __init__(self):
        self.items = []
    def push(self, item):
        self.items.append(item)
    @property
    def size(self):
        return len(self.items)

class Deep(Stack):
    def top(self):
        return self.items[-1]

class Rows(list):
    def first(self):
        return self[0]

for number in range(3):
    pass
if LIMIT:
    def chosen():
        return 1
'''


def run(source: bytes, kind: str) -> dict[str, Any]:
    code = sabotage(source, "solution.py", kind)
    assert code is not None
    module = ModuleType("sabotaged")
    sys.modules["sabotaged"] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 - source of this file
    finally:
        del sys.modules["sabotaged"]
    return vars(module)


def test_a_function_raises() -> None:
    module = run(SOURCE, "raise")
    for call in (lambda: module["area"](1), lambda: list(module["count"](3)), module["Stack"], module["Deep"]):
        with pytest.raises(RuntimeError, match="sabotaged"):
            call()
    with pytest.raises(RuntimeError, match="sabotaged"):
        asyncio.run(module["later"]())


def test_a_function_returns_none() -> None:
    module = run(SOURCE, "none")
    assert module["area"](1) is None
    assert list(module["count"](3)) == []
    stack = module["Stack"]()
    assert stack.push(1) is None
    assert stack.size is None
    assert not hasattr(stack, "items")
    assert module["Deep"]().top() is None
    assert asyncio.run(module["later"]()) is None
    with pytest.raises(StopAsyncIteration):
        asyncio.run(anext(module["stream"]()))


@pytest.mark.parametrize("kind", KINDS)
def test_what_needs_no_function_is_gone(kind: str) -> None:
    module = run(SOURCE, kind)
    for name in "LIMIT TABLE WHOLE twice Point Pair Rows dataclass math number sqrt NamedTuple".split():
        assert module[name] is None, name
    for name in "area count later stream Stack Deep chosen".split():
        assert callable(module[name]), name
    assert module["__doc__"] == "A module."


def test_a_lambda_inside_of_something_is_sabotaged_too() -> None:
    held = (
        b"class Box:\n    def get(self): return 1\nbox = Box()\nBox.get = lambda self: 2\ndef f(): return box.get()\n"
    )
    assert run(held, "none")["Box"]().get() is None
    with pytest.raises(AttributeError):
        run(held, "raise")["Box"]().get()


@pytest.mark.parametrize("source", [b"def f(:\n", b"\0", b"# coding: nothing\n", b"(" * 10_000])
def test_what_does_not_compile_has_no_copy(source: bytes) -> None:
    assert [sabotage(source, "solution.py", kind) for kind in KINDS] == [None, None]


def test_the_future_stays_in_front() -> None:
    assert run(b"'doc'\nfrom __future__ import annotations\ndef f(x: int): return x\n", "none")["f"](1) is None


@given(
    st.integers(),
    st.sampled_from(["return {0}", "yield {0}", "print({0})", "x = {0}\n    return [x]", "raise ValueError({0})"]),
)
def test_no_function_does_what_it_did(number: int, body: str) -> None:
    source = (f"def f():\n    {body.format(number)}\n").encode()
    assert list(run(source, "none")["f"]() or ()) == []
    with pytest.raises(RuntimeError, match="sabotaged"):
        list(run(source, "raise")["f"]())
