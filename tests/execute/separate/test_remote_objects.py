"""The tests' view of a solution's classes and objects, and its view of the tests' objects."""

from __future__ import annotations

import collections
import copy
import dataclasses
import io
import sys
import types
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

# --- classes and objects --------------------------------------------------------------------------


def test_classes_and_instances(sol: Any) -> None:
    before = sol.Animal.count
    dog = sol.Dog("Rex")
    assert sol.Animal.count == before + 1
    assert type(dog) is sol.Dog
    assert type(dog).__name__ == "Dog"
    assert dog.__class__ is sol.Dog
    assert isinstance(dog, sol.Animal)
    assert not isinstance(dog, sol.Vector)
    assert issubclass(sol.Dog, sol.Animal)
    assert sol.Animal.__doc__ == "An animal."
    assert dog.describe() == "Rex says wuff"
    assert sol.Animal.describe(dog) == "Rex says wuff"
    assert sol.Dog.speak(dog) == "wuff"
    assert str(dog) == "Dog Rex"
    assert "Dog object at" in repr(dog)
    assert dog.me() is dog
    assert sol.Dog.make("x").name == "x"
    assert isinstance(sol.Dog.make("x"), sol.Dog)
    assert sol.Animal.plus(1, 2) == dog.plus(1, 2) == 3


def test_attributes(sol: Any) -> None:
    dog = sol.Dog("Rex", legs=3)
    assert dog.legs == 3
    dog.legs = 5
    assert dog._legs == 5
    with pytest.raises(ValueError, match="negative legs"):
        dog.legs = -1
    assert dog.__dict__ == vars(dog) == {"name": "Rex", "_legs": 5, "tags": {}}
    dog.owner = "Ann"
    assert dog.owner == "Ann"
    del dog.owner
    assert not hasattr(dog, "owner")
    assert getattr(dog, "owner", 0) == 0
    with pytest.raises(AttributeError, match="owner"):
        dog.owner  # noqa: B018
    assert "speak" in dir(dog)
    sol.Animal.kingdom = "animals"
    assert dog.kingdom == "animals"
    dog.speak = mock.MagicMock(return_value="mocked")
    assert dog.describe() == "Rex says mocked"
    dog.speak.assert_called_once_with()
    del dog.speak
    assert dog.describe() == "Rex says wuff"


def test_patched_classes(sol: Any) -> None:
    with mock.patch.object(sol.Dog, "speak", return_value="patched"):
        assert sol.Dog("Rex").describe() == "Rex says patched"
    assert sol.Dog("Rex").describe() == "Rex says wuff"


def test_operators(sol: Any) -> None:
    v, w = sol.Vector(1, 2), sol.Vector(3, 4)
    assert v + w == sol.Vector(4, 6)
    assert v != w
    assert v < w
    assert v * 2 == 2 * v == (2, 4)
    assert v == (1, 2)
    assert not v == (1, 3)  # noqa: SIM201 - `==` itself
    assert -v == sol.Vector(-1, -2)
    assert len(v) == 2
    assert bool(v)
    assert not sol.Vector(0, 1)
    assert float(w) == 3.0
    assert v[1] == 2
    assert v[:] == (1, 2)
    assert list(v) == [1, 2]
    assert 2 in v
    assert 5 not in v
    assert v() == 1
    assert v(z=3) == 4
    assert repr(v) == "Vector(1, 2)"
    assert f"{v:03}" == "<001>"
    assert len({v, sol.Vector(1, 2), w}) == 2
    assert sorted([w, v]) == [v, w]
    assert max(v, w) is w
    v += w
    assert v == (4, 6)
    x, y = v
    assert (x, y) == (4, 6)
    with pytest.raises(TypeError):
        abs(v)
    with pytest.raises(IndexError):
        v[2]
    assert copy.copy(v) == v
    assert copy.deepcopy([v])[0] is not v


def test_items_and_contexts(sol: Any) -> None:
    bag = sol.Bag()
    bag["a"] = [1]
    bag["a"].append(2)
    assert bag["a"] == [1, 2]
    assert list(bag) == ["a"]
    assert "a" in bag
    with bag as inside:
        assert inside is bag
        raise KeyError("swallowed")
    assert bag["out"] is KeyError
    del bag["a"]
    with pytest.raises(KeyError):
        bag["a"]
    with sol.opened() as value:
        assert value == "inside"


def test_a_failed_assertion_of_the_tests_is_not_swallowed(sol: Any) -> None:
    with pytest.raises(AssertionError, match="mine"), sol.Bag():
        raise AssertionError("mine")


def test_dataclasses(sol: Any) -> None:
    p = sol.Point(1, 2)
    assert p == sol.Point(1, 2)
    assert p != sol.Point(1, 3)
    assert p < sol.Point(2)
    assert p.dist() == 3
    assert repr(p) == "Point(x=1, y=2)"
    assert sol.same([p, p]) == [p, p]
    assert p != (1, 2)
    assert dataclasses.asdict(p) == {"x": 1, "y": 2}
    assert [field.name for field in dataclasses.fields(sol.Point)] == ["x", "y"]
    assert dataclasses.replace(p, x=5) == sol.Point(5, 2)
    with pytest.raises(TypeError):
        hash(p)
    with pytest.raises(TypeError):
        p < (1, 2)  # noqa: B015


def test_named_tuples_are_tuples(sol: Any) -> None:
    p: Any = sol.Pair(1)
    assert p == (1, "r")
    assert type(p) is sol.Pair
    assert issubclass(sol.Pair, tuple)
    assert (p.left, p.right) == (1, "r")
    assert p.total() == 2
    assert p._replace(left=3).total() == 6
    assert p._asdict() == {"left": 1, "right": "r"}
    assert repr(p) == "Pair(left=1, right='r')"
    assert sol.same(p) == p
    assert type(sol.same([p])[0]) is sol.Pair
    assert sol.kind(p) == "Pair"
    assert {p: 1}[(1, "r")] == 1


def test_enumerations(sol: Any) -> None:
    assert sol.Color.RED is sol.Color.RED
    assert sol.same(sol.Color.RED) == sol.Color.RED
    assert sol.Color.RED != sol.Color.BLUE
    assert (sol.Color.RED.name, sol.Color.RED.value) == ("RED", 1)
    assert sol.Color(2) is sol.Color.BLUE
    assert sol.Color["RED"] is sol.Color.RED
    assert [c.name for c in sol.Color] == ["RED", "BLUE"]
    assert len(sol.Color) == 2
    assert isinstance(sol.Color.RED, sol.Color)
    assert sol.Color.RED != 1
    assert {sol.Color.RED: 1}[sol.Color.RED] == 1


def test_classes_derived_from_plain_types_are_objects_worth_their_content(sol: Any) -> None:
    stack = sol.Stack([1, 2])
    assert stack.top() == 2
    stack.append(3)
    assert list(stack) == [1, 2, 3]
    assert len(stack) == 3
    assert stack[0] == 1
    assert stack == [1, 2, 3]
    assert stack != [1, 2]
    assert stack == sol.Stack([1, 2, 3])


def test_the_tests_cannot_derive_from_classes_of_the_solution(sol: Any) -> None:
    for base in (sol.Animal, sol.Oops, sol.Pair):
        with pytest.raises(TypeError, match="two processes"):
            type("Mine", (base,), {})


def test_proxies_live_as_long_as_they_are_used(sol: Any) -> None:
    peer = sol._scalebox._peer
    sol.same(1)
    nodes = [sol.Node(i) for i in range(50)]
    held = len(peer.proxies._by_handle)
    del nodes
    sol.same(1)
    assert len(peer.proxies._by_handle) <= held - 50
    assert not peer.proxies.released


# --- iteration ------------------------------------------------------------------------------------


def test_generators(sol: Any) -> None:
    assert list(sol.count(3)) == [0, 1, 2]
    assert sum(sol.count(4)) == 6
    g = sol.endless()
    assert [next(g), next(g)] == [0, 1]
    assert iter(g) is g
    g.close()
    with pytest.raises(StopIteration):
        next(g)
    e = sol.echo()
    assert next(e) is None
    assert e.send(5) == 5
    assert e.throw(KeyError("k")) == "caught 'k'"
    assert type(g).__name__ == "generator"
    assert list(sol.pairs()) == [(1, "a"), (2, "b")]
    assert sol.keys() == {1}
    assert isinstance(g, collections.abc.Iterator)


def test_what_tests_hand_over_is_iterated_lazily(sol: Any) -> None:
    taken = []

    def numbers() -> Iterator[int]:
        for i in range(100):
            taken.append(i)
            yield i

    g = numbers()
    assert sol.take(g, 3) == [0, 1, 2]
    assert taken == [0, 1, 2]
    assert next(g) == 3
    assert sol.consume(iter([1, 2])) == 3
    assert sol.consume(map(int, "12")) == 3
    assert sol.same(g) is g
    file = io.StringIO("a\nb\n")
    assert sol.read_all(file) == (["a\n", "b\n"], 4)


# --- objects of the tests -------------------------------------------------------------------------


class Item:
    kind = "item"

    def __init__(self, value: Any, next: Any = None) -> None:
        self.value = value
        self.next = next
        self._hidden = "s"

    def double(self) -> Any:
        return self.value * 2

    @property
    def half(self) -> Any:
        return self.value / 2

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < other.value)

    def __bool__(self) -> bool:
        return True


@dataclasses.dataclass
class Record:
    x: int


def test_objects_of_the_tests(sol: Any) -> None:
    items = Item(1, Item(2))
    assert sol.chain(items) == [1, 2]
    assert sol.link(items) is items
    assert type(items.next) is sol.Node
    assert items.next.value == 2
    assert sol.chain(items) == [1, 2]
    assert sol.peek(items, "half") == 0.5
    assert sol.peek(items, "kind") == "item"
    assert sol.call(sol.peek(items, "double")) == 2
    sol.poke(items, "value", [1])
    assert items.value == [1]
    a, b = Item(1), Item(2)
    assert sol.ordered([b, a]) == [a, b]
    assert sol.peek(Record(5), "x") == 5
    for name in ("_hidden", "__globals__", "__wrapped__", "missing"):
        with pytest.raises(AttributeError):
            sol.peek(items, name)
    assert sol.peek(types.SimpleNamespace(a=1), "a") == 1


def test_mocks(sol: Any) -> None:
    service = mock.MagicMock()
    service.fetch.return_value = {"a": 1}
    assert sol.call(sol.peek(service, "fetch"), 3) == {"a": 1}
    service.fetch.assert_called_once_with(3)
    with pytest.raises(AttributeError):
        sol.peek(service, "return_value")
    with pytest.raises(AttributeError):
        sol.peek(service, "reset_mock")


def test_opaque_objects_only_come_back(sol: Any) -> None:
    value = object()
    assert sol.same([value])[0] is value
    assert sol.same(sys) is sys
    with pytest.raises(AttributeError):
        sol.peek(sys, "modules")
