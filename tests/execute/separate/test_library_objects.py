"""Objects of the library's classes that tests hand to the solution: it uses them as it would in one process."""

# ruff: noqa: S311 - nothing here is a secret

from __future__ import annotations

import argparse
import collections
import functools
import io
import logging
import operator
import queue
import random
import re
import sqlite3
import string
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from tests.execute.separate.pair import solution

from scalebox.execute.separate.remote import Solution

SOURCE = """
import argparse, collections, collections.abc, queue, random, re, sys
def run(text, x): return eval(text, {"x": x, **globals()})
def order(xs, key): return sorted(xs, key=key)
def call(f, *args): return f(*args)
def drain(q):
    found = []
    while not q.empty(): found.append(q.get())
    return found
def put(x, name, value): setattr(x, name, value)
def item(x, k, v): x[k] = v
class Folded(collections.abc.MutableMapping):
    def __init__(self, given): self.d = {k.lower(): v for k, v in given.items()}
    def __getitem__(self, k): return self.d[k.lower()]
    def __setitem__(self, k, v): self.d[k.lower()] = v
    def __delitem__(self, k): del self.d[k.lower()]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
class Odd(collections.abc.Set):
    def __init__(self, n): self.n = n
    def __contains__(self, x): return x % 2 == 1 and x < self.n
    def __iter__(self): return iter(range(1, self.n, 2))
    def __len__(self): return self.n // 2
class Yes(Folded):
    def __eq__(self, other): return True
def make(name, *args): return globals()[name](*args)
def made():
    q = queue.Queue(); q.put(1)
    return [re.compile("a"), argparse.Namespace(n=1), q, random.Random(1)]
class Queue: pass
Queue.__module__ = "queue"
Fake = type("dict", (), {"__module__": "builtins", "__eq__": lambda self, other: True})
"""


@pytest.fixture(scope="module")
def sol() -> Iterator[Solution]:
    with solution(SOURCE) as made:
        yield made


class Half(random.Random):
    def random(self) -> float:
        return 0.5


class Table(collections.UserDict[str, int]):
    def total(self) -> int:
        return sum(self.values())


class Digits(Sequence[int]):
    def __getitem__(self, at: Any) -> Any:
        return [7, 8, 9][at]

    def __len__(self) -> int:
        return 3


class Fixed(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        return {"a": 1}[key]

    def __iter__(self) -> Iterator[str]:
        return iter("a")

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("value", "text", "result"),
    [
        (random.Random(3), "x.randint(1, 6)", random.Random(3).randint(1, 6)),
        (random.Random(3), "isinstance(x, random.Random)", True),
        (Half(), "x.random()", 0.5),
        (Half(), "x.choice([4])", 4),
        (re.compile(r"\d"), "x.sub('-', 'a1')", "a-"),
        (re.compile(r"\d"), "isinstance(x, re.Pattern)", True),
        (re.match("(a)(b)", "ab"), "x.groups()", ("a", "b")),
        (re.match("(a)(b)", "ab"), "x[2]", "b"),
        (types.MappingProxyType({"a": 1}), "dict(x), x['a'], len(x)", ({"a": 1}, 1, 1)),
        (memoryview(b"ab"), "list(x)", [97, 98]),
        (collections.ChainMap({"a": 1}, {"b": 2}), "x['b']", 2),
        (collections.ChainMap({"a": 1}), "isinstance(x, collections.abc.Mapping)", True),
        (collections.UserList([2, 1]), "x.sort() or list(x)", [1, 2]),
        (Table(a=1), "x.update(b=2) or x.total()", 3),
        (string.Template("$a!"), "x.substitute(a=1)", "1!"),
        (Digits(), "x.index(8), x.count(9), list(reversed(x))", (1, 1, [9, 8, 7])),
        (Fixed(), "x.get('a'), x.get('b', 2), list(x.items()), 'a' in x.keys()", (1, 2, [("a", 1)], True)),
        (argparse.Namespace(n=1), "x.n", 1),
    ],
)
def test_what_they_show(sol: Solution, value: Any, text: str, result: Any) -> None:
    assert sol.get("run")(text, value) == result


def test_numpys_generators(sol: Solution) -> None:
    numpy = pytest.importorskip("numpy")
    found = sol.get("run")("x.normal(size=2)", numpy.random.default_rng(1))
    assert found.tolist() == numpy.random.default_rng(1).normal(size=2).tolist()
    assert sol.get("run")("x.rand(2)", numpy.random.RandomState(1)).shape == (2,)
    for function in (numpy.sqrt, numpy.mean, numpy.vectorize(lambda x: x)):
        assert sol.get("call")(function, 4.0) in (2.0, 4.0)


def test_what_they_do_is_done_here(sol: Solution) -> None:
    numbers, mine = random.Random(5), [1, 2, 3, 4]
    sol.get("run")("x[0].shuffle(x[1])", (numbers, mine))
    other = [1, 2, 3, 4]
    random.Random(5).shuffle(other)
    assert mine == other
    waiting: queue.Queue[int] = queue.Queue()
    waiting.put(1)
    assert sol.get("drain")(waiting) == [1]
    assert waiting.empty()
    event, lock = threading.Event(), threading.Lock()
    sol.get("run")("x.set()", event)
    assert event.is_set()
    sol.get("run")("x.acquire()", lock)
    assert lock.locked()
    names = argparse.Namespace()
    sol.get("put")(names, "n", 2)
    assert names.n == 2
    table = Table()
    sol.get("item")(table, "k", 1)
    assert table == {"k": 1}
    text, log = io.StringIO(), logging.getLogger("of a test")
    log.addHandler(logging.StreamHandler(text))
    sol.get("run")("x.error('%d times', 2)", log)
    assert text.getvalue() == "2 times\n"


def _descending(one: Any, other: Any) -> int:
    return int(other[0] - one[0])


@pytest.mark.parametrize(
    ("key", "result"),
    [
        (operator.itemgetter(1), [(2, 0), (0, 1)]),
        (operator.methodcaller("index", 0), [(0, 1), (2, 0)]),
        (functools.cmp_to_key(_descending), [(2, 0), (0, 1)]),
        (functools.lru_cache(max), [(0, 1), (2, 0)]),
        (functools.partial(max, 0), [(0, 1), (2, 0)]),
    ],
)
def test_callable_objects(sol: Solution, key: Callable[..., Any], result: Any) -> None:
    if isinstance(key, functools.partial):
        key = functools.partial(lambda low, pair: max(low, *pair), 0)
    assert sol.get("order")([(0, 1), (2, 0)], key) == result


def secret(x: int) -> int:
    return x


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (logging.getLogger("a"), "x.manager"),
        (logging.getLogger("a"), "x.root"),
        (logging.getLogger("a"), "x.handlers"),
        (string.Formatter(), "x.format('{0.__globals__}', x)"),
        (functools.lru_cache(secret), "x.__wrapped__"),
        (functools.partial(secret), "x.func"),
        (random.Random(), "x._randbelow"),
        (sqlite3.connect(":memory:"), "x.execute('select 1')"),
        (threading.Thread(), "x.start()"),
        (secret, "x.__globals__['Secret']"),
        (Half(), "x.__init__.__globals__['Secret']"),
    ],
)
def test_what_they_do_not_show(sol: Solution, value: Any, text: str) -> None:
    with pytest.raises((AttributeError, KeyError)):
        sol.get("run")(text, value)


@pytest.mark.parametrize("value", [random.Random(), queue.Queue(), logging.getLogger("a"), re.compile("a")])
def test_they_are_not_changed(sol: Solution, value: Any) -> None:
    for name in ("randint", "get", "info", "new"):
        with pytest.raises(AttributeError):
            sol.get("put")(value, name, 1)


def test_mappings_and_sets_of_the_solution_equal_what_they_give(sol: Solution) -> None:
    make = sol.get("make")
    table, odd = make("Folded", {"A": 1}), make("Odd", 4)
    assert table == {"a": 1}
    assert {"a": 1} == table  # noqa: SIM300 - this side first
    assert table != {"A": 1}
    assert table == make("Folded", {"a": 1})
    assert odd == {1, 3}
    assert odd != {1}
    assert odd <= {1, 2, 3}
    assert odd > {1}
    assert not odd < {1, 3}
    assert make("Yes", {}) != {"a": 1}
    assert make("Yes", {}) != {}


def test_objects_of_the_library_that_the_solution_gives_are_of_their_classes(sol: Solution) -> None:
    pattern, names, waiting, numbers = sol.get("made")()
    assert isinstance(pattern, re.Pattern)
    assert isinstance(names, argparse.Namespace)
    assert isinstance(waiting, queue.Queue)
    assert isinstance(numbers, random.Random)
    assert not isinstance(names, queue.Queue)
    fake = sol.get("make")("Fake")
    assert not isinstance(fake, dict)
    assert fake != {}
