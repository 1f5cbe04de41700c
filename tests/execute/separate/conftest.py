"""A solution with a bit of everything, in a process of its own."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Iterator
from typing import Any

import pytest
from tests.execute.separate.pair import solution

from scalebox.execute.separate.remote import install_modules

SOURCE = '''
import asyncio, collections, contextlib, enum, functools, json, math, random, sys, time
from collections import Counter, namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

LIMIT = 10
STATE = [1]

def same(x): return x
def kind(x): return type(x).__name__
def both(x, y): return x is y
def call(f, *args, **kwargs): return f(*args, **kwargs)
def each(f, xs): return [f(x) for x in xs]
def describe(a, /, b, *args, c=3, **kw) -> int:
    "Says what it does."
    return a
def sort(xs): xs.sort(); return xs
def fill(d): d["new"] = [len(d)]; d["list"].append(d); return None
def fail_after(xs): xs.append(1); raise ValueError("after", xs)
def state(): return STATE
def add_state(x): STATE.append(x)

class Animal:
    """An animal."""
    count = 0
    def __init__(self, name, legs=4):
        Animal.count += 1
        self.name = name
        self._legs = legs
        self.tags = {}
    def speak(self): return "..."
    def describe(self): return f"{self.name} says {self.speak()}"
    def me(self): return self
    @property
    def legs(self): return self._legs
    @legs.setter
    def legs(self, value):
        if value < 0: raise ValueError("negative legs")
        self._legs = value
    @classmethod
    def make(cls, name): return cls(name)
    @staticmethod
    def plus(a, b): return a + b

class Dog(Animal):
    def speak(self): return "wuff"
    def __str__(self): return "Dog " + self.name

class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, o): return (self.x, self.y) == ((o.x, o.y) if isinstance(o, Vector) else o)
    def __hash__(self): return hash((self.x, self.y))
    def __add__(self, o): return Vector(self.x + o.x, self.y + o.y)
    def __mul__(self, k): return Vector(self.x * k, self.y * k)
    __rmul__ = __mul__
    def __neg__(self): return Vector(-self.x, -self.y)
    def __lt__(self, o): return self.x < o.x
    def __len__(self): return 2
    def __bool__(self): return self.x != 0
    def __float__(self): return float(self.x)
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __iter__(self): return iter((self.x, self.y))
    def __contains__(self, v): return v in (self.x, self.y)
    def __call__(self, z=0): return self.x + z
    def __repr__(self): return f"Vector({self.x}, {self.y})"
    def __format__(self, spec): return f"<{self.x:{spec}}>"
    def get(self): return self

class Bag:
    def __init__(self): self.d = {}
    def __setitem__(self, k, v): self.d[k] = v
    def __getitem__(self, k): return self.d[k]
    def __delitem__(self, k): del self.d[k]
    def __iter__(self): return iter(list(self.d))
    def __enter__(self): self.d["in"] = True; return self
    def __exit__(self, *error): self.d["out"] = error[0]; return True

@dataclass(order=True)
class Point:
    x: int
    y: int = 0
    def dist(self): return abs(self.x) + abs(self.y)

class Pair(NamedTuple):
    left: int
    right: str = "r"
    def total(self): return self.left * 2
class Color(enum.Enum):
    RED = 1
    BLUE = 2
class Stack(list):
    def top(self): return self[-1]

class Oops(ValueError):
    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code
    @property
    def doubled(self): return self.code * 2
class Worse(Oops):
    def __str__(self): return "worse!"
def oops(kind="Oops"): raise {"Oops": Oops, "Worse": Worse}[kind]("bad", code=4)
def raises(name, *args): raise getattr(__import__("builtins"), name)(*args)
def file_missing(): open("/nowhere/at/all")
def no_json(): json.loads("{")

def count(n):
    for i in range(n): yield i
def endless():
    i = 0
    while True:
        yield i
        i += 1
def echo():
    got = None
    while True:
        try: got = yield got
        except KeyError as error: got = "caught " + str(error)
def pairs(): return zip([1, 2], "ab")
def keys(): return {1: 2}.keys()
def compose(f, g): return lambda x: f(g(x))
@functools.lru_cache(maxsize=None)
def cached(x): return [x]
def counted(x): counted.calls += 1; return x
counted.calls = 0
def guarded(f):
    try: return f()
    except ValueError as error: return "caught " + str(error)
def say(*what): print(*what); return len(what)
def ask(): return input("name? ")
def roll(): return random.random()
def nap(): time.sleep(3); return time.time()
@contextlib.contextmanager
def opened(): yield "inside"

async def later(x): await asyncio.sleep(0.01); return x + 1
async def fail_later(): raise Oops("late", 2)
async def through(f, x): return await f(x)
async def numbers(n):
    for i in range(n): await asyncio.sleep(0); yield i
async def forever(): await asyncio.sleep(1000)
class Session:
    async def __aenter__(self): return "open"
    async def __aexit__(self, *error): return True

class Node:
    def __init__(self, value, next=None): self.value, self.next = value, next
def chain(node):
    out = []
    while node: out.append(node.value); node = node.next
    return out
def link(node): node.next = Node(2); return node
def peek(x, name): return getattr(x, name)
def poke(x, name, value): setattr(x, name, value)
def take(it, n): return [next(it) for _ in range(n)]
def consume(it): return sum(it)
def read_all(f): return [line for line in f], f.tell()
def recurse(f, n): return n if n <= 0 else f(n - 1)
def ordered(xs): return sorted(xs)
def catches(f, kind):
    try: f()
    except kind as error: return type(error).__name__, error.args
'''


@pytest.fixture(scope="module")
def sol(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return a module with a bit of everything, as tests in the requesting module see it."""
    with solution(SOURCE, value_classes={"Vector"}, own_modules={request.module.__name__}) as made:
        module = install_modules(made, ["the_solution"])["the_solution"]
        yield module
        del sys.modules["the_solution"]


@pytest.fixture
def runners() -> Iterator[None]:
    """Put back what an item, which runs in the tests' own process here, has put in the place of runners of tests."""
    kept = unittest.main, unittest.TextTestRunner.run, sys.modules.get("doctest"), pytest.main
    yield
    unittest.main, unittest.TextTestRunner.run, _, pytest.main = kept  # type: ignore[method-assign]
    sys.modules.pop("doctest", None)
