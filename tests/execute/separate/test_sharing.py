"""Containers that one side keeps of what the other gave it: the same on both sides from then on, as in one process."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.execute.separate.pair import solution

from scalebox.execute.separate.remote import Solution, SolutionEnded
from scalebox.execute.separate.retained import MAX_ITEMS

SOURCE = """
import contextlib, functools, itertools
class Box:
    def __init__(self, kept): self.kept = kept
    def get(self): return self.kept
    def copy(self): return self.kept[:]
    def items(self): return [each for each in self.kept]
    def put(self, x): self.kept.append(x)
    def set(self, k, v): self.kept[k] = v
    def same(self, other): return self.kept is other.kept
    def holds(self, x): return self.kept is x
    def is_in(self, x): return any(each is x for each in self.kept)
    def update(self, **more): self.kept.update(more)
    def add(self, x): self.kept.add(x)
    def show(self): return repr(self.kept)
    def fail(self): self.kept.append("failed"); raise ValueError("after")
def keep_inner(pair): return Box(pair[0])
def make(kept):
    def add(x): kept.append(x); return len(kept)
    return add
def worker(log):
    try:
        while True: log.append((yield))
    finally: log.append("closed")
@contextlib.contextmanager
def tagged(log):
    log.append("in")
    try: yield log
    finally: log.append("out")
@functools.lru_cache(None)
def table(n): return [[0] * n for _ in range(n)]
def paths(copy):
    path = []
    for x in (1, 2):
        path.append(x)
        yield path[:] if copy else path
def emit(to, copy):
    path = []
    for x in (1, 2):
        path.append(x)
        to(path[:] if copy else path)
def run(q, f):
    while q: f(q.pop(0))
def loop(state, f, n):
    for _ in range(n): state = f(state)
    return state
def both(a, b, f):
    a.append("before"); f(b); a.append("after"); return a, b
def order(xs, key): xs.sort(key=key)
KEPT = []
def keep(x): KEPT.append(x)
def change(at): KEPT[at].append("changed")
def kept(): return len(KEPT)
def nothing(x): return None
def echo(x): return x
def fresh(x): return [x, [x]]
def let_go(): KEPT.clear()
def break_off(how):
    import sys
    peer = next(o for o in __import__("gc").get_objects() if type(o).__name__ == "SolutionPeer")
    if how == "opened": peer._opened.append(10 ** 6); return 1
    if how == "place": peer.shared[id(KEPT)] = (10 ** 6, 3); return KEPT
    if how == "number": return peer.links.places.update({id(KEPT): (next(iter(peer.links._links)), 10 ** 6)}) or KEPT
"""


@pytest.fixture(scope="module")
def sol() -> Iterator[Solution]:
    with solution(SOURCE) as made:
        yield made


def test_what_an_object_was_made_with_is_what_the_tests_have(sol: Solution) -> None:
    mine = [1]
    box = sol.get("Box")(mine)
    mine.append(2)
    assert box.show() == "[1, 2]"
    box.put(3)
    assert mine == [1, 2, 3]
    assert box.get() is mine
    assert box.kept is mine
    assert box.holds(mine)
    assert box.copy() is not mine


@pytest.mark.parametrize(
    ("kept", "change", "expected"),
    [
        ({}, lambda box: box.set("a", 1), {"a": 1}),
        (set(), lambda box: box.add(1), {1}),
        (deque([0]), lambda box: box.put(1), deque([0, 1])),
        (bytearray(b"ab"), lambda box: box.set(0, 120), bytearray(b"xb")),
        (OrderedDict(a=1), lambda box: box.update(b=2), OrderedDict(a=1, b=2)),
        (Counter("a"), lambda box: box.update(a=2), Counter("aaa")),
        (defaultdict(list), lambda box: box.set(1, []), defaultdict(list, {1: []})),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_container(sol: Solution, kept: Any, change: Callable[[Any], Any], expected: Any) -> None:
    change(sol.get("Box")(kept))
    assert kept == expected
    assert type(kept) is type(expected)


def test_arrays(sol: Solution) -> None:
    numpy = pytest.importorskip("numpy")
    mine = numpy.zeros(3)
    box = sol.get("Box")(mine)
    for number in range(5):
        box.set(0, number)
        assert mine.tolist() == [number, 0, 0]
        mine[1] = number
        assert box.get()[1] == number
        mine[1] = 0
    assert box.get() is mine


def test_what_is_inside_of_something_kept(sol: Solution) -> None:
    rows = [[1], [2]]
    box = sol.get("Box")(rows)
    rows[0].append(3)
    assert box.show() == "[[1, 3], [2]]"
    box.get()[1].append(4)
    assert rows == [[1, 3], [2, 4]]
    assert box.is_in(rows[1])
    copied = box.copy()
    assert copied is not rows
    assert copied[0] is rows[0]
    rows.append(new := [5])
    assert box.is_in(new)
    new.append(6)
    assert box.show() == "[[1, 3], [2, 4], [5, 6]]"


def test_a_part_of_an_argument_is_kept(sol: Solution) -> None:
    pair = ([1], [2])
    box = sol.get("keep_inner")(pair)
    box.put(9)
    assert pair == ([1, 9], [2])


def test_two_objects_have_one_container(sol: Solution) -> None:
    mine: list[int] = []
    one, other = sol.get("Box")(mine), sol.get("Box")(mine)
    one.put(1)
    other.put(2)
    assert mine == [1, 2]
    assert one.same(other)
    assert not one.same(sol.get("Box")([1, 2]))


def test_closures_generators_and_managers_keep_too(sol: Solution) -> None:
    log: list[Any] = []
    add = sol.get("make")(log)
    assert add(1) == 1
    log.append(2)
    assert add(3) == 3
    assert log == [1, 2, 3]
    log = []
    work = sol.get("worker")(log)
    next(work)
    work.send("a")
    assert log == ["a"]
    work.close()
    assert log == ["a", "closed"]
    log = []
    with sol.get("tagged")(log) as given:
        assert given is log
        log.append("mine")
    assert log == ["in", "mine", "out"]


def test_a_result_that_is_a_part_of_the_state(sol: Solution) -> None:
    found = sol.get("table")(2)
    found[0][1] = 7
    assert sol.get("table")(2) == [[0, 7], [0, 0]]
    assert sol.get("table")(2) is found
    assert sol.get("fresh")(1) is not sol.get("fresh")(1)


def test_a_list_given_again_and_again_is_one_list(sol: Solution) -> None:
    assert [path for path in sol.get("paths")(True)] == [[1], [1, 2]]  # noqa: C416 - a loop
    assert [path for path in sol.get("paths")(False)] == [[1, 2], [1, 2]]  # noqa: C416 - a loop
    found: list[Any] = []
    sol.get("emit")(found.append, True)
    assert found == [[1], [1, 2]]
    found.clear()
    sol.get("emit")(found.append, False)
    assert found == [[1, 2], [1, 2]]
    assert found[0] is found[1]


def test_arguments_of_a_call_under_way_are_shared_with_its_call_backs(sol: Solution) -> None:
    waiting, seen = [1], []

    def visit(x: int) -> None:
        seen.append((x, list(waiting)))
        if x < 3:
            waiting.append(x + 1)

    sol.get("run")(waiting, visit)
    assert seen == [(1, []), (2, []), (3, [])]
    state = {"n": 0}

    def step(given: Any) -> Any:
        assert given is state
        given["n"] += 1
        return given

    assert sol.get("loop")(state, step, 3) is state
    assert state == {"n": 3}
    one: list[Any] = []
    other: list[Any] = []

    def look(given: Any) -> None:
        assert given is other
        assert one == ["before"]
        one.append("in")
        sol.get("nothing")([one, other])
        given.append(one)

    found = sol.get("both")(one, other, look)
    assert found[0] is one
    assert found[1] is other
    assert one == ["before", "in", "after"]
    assert other[0] is one
    numbers = [3, 1, 2]
    sol.get("order")(numbers, lambda x: (x, len(numbers)))
    assert numbers == [1, 2, 3]
    large = [[3], *[[number] for number in range(300)]]
    sol.get("order")(large, lambda x: x[0])
    assert large[0] == [0]


def test_changes_that_came_before_an_exception(sol: Solution) -> None:
    mine: list[Any] = []
    box = sol.get("Box")(mine)
    with pytest.raises(ValueError, match="after"):
        box.fail()
    assert mine == ["failed"]


def test_what_is_set_and_put_is_kept(sol: Solution) -> None:
    box = sol.get("Box")([])
    children: list[Any] = []
    box.kept = children
    children.append(1)
    assert box.show() == "[1]"
    box.put(2)
    assert children == [1, 2]


def test_only_what_is_kept_is_linked(sol: Solution) -> None:
    peer = sol._peer
    before = len(peer.links._links)
    mine = [[1], [2]]
    for name in ("nothing", "echo", "fresh"):
        assert sol.get(name)(mine) is not None or name == "nothing"
    assert len(peer.links._links) <= before
    for number in range(200):
        sol.get("keep")([number])
    sol.get("nothing")(1)
    assert len(peer.links._links) <= before + 1
    sol.get("let_go")()


def test_large_ones_are_copies(sol: Solution) -> None:
    large, small = list(range(MAX_ITEMS)), [1]
    box = sol.get("Box")(large)
    box.put(0)
    assert len(large) == MAX_ITEMS
    sol.get("Box")([large, small])
    many = [[number] for number in range(100)]
    for each in many:
        sol.get("keep")(each)
    sol.get("change")(-1)
    assert many[-1] == [99, "changed"]
    sol.get("change")(0)
    assert many[0] == [0]  # more than 64 are held: the oldest is no longer linked
    sol.get("let_go")()


@pytest.mark.parametrize("how", ["place", "number", "opened"])
def test_a_container_that_is_not_shared_is_the_end(how: str) -> None:
    with solution(SOURCE) as made:
        mine: list[Any] = []
        made.get("keep")(mine)
        with pytest.raises(SolutionEnded, match=r"not (shared|under way)"):
            made.get("break_off")(how)
        assert mine == []
