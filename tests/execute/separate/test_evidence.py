"""Which names are classes of values is read off the test's text."""

from __future__ import annotations

import ast

import pytest

from scalebox.execute.separate.evidence import value_classes


@pytest.mark.parametrize(
    ("test", "names"),
    [
        ("assert Diff(1, 2) == [1]", set()),
        ("assert Find_Max([1]).count(1) == 1", set()),
        ("x = Extract([[1]])\nx.sort()\nassert x == [1]", set()),
        ("assert Solution().twoSum([1], 2) == [0]", {"Solution"}),
        ("v = Vector(1, 2)\nassert v.x == 1\nassert v == (1, 2)", {"Vector"}),
        ("assert isinstance(f(1), Vector)", {"Vector"}),
        ("assert isinstance(f(1), (Vector, int))", {"Vector", "int"}),
        ("from solution import Vector as V\nassert V(1, 2).norm() == 2", {"Vector"}),
        ("import solution\nassert solution.Vector(1).norm() == 1", {"Vector"}),
        (
            "class T:\n def setUp(self):\n  self.v = Vector(1)\n def test(self):\n  self.v.norm()",
            {"Vector"},
        ),
        ("f.cache_clear()\nassert f.__name__ == 'f'", set()),
        ("Diff.cache_clear()\nassert Diff.__doc__", set()),
        ("r = parse('1')\nassert r.year == 1", set()),
        ("assert isinstance(f(1), vector)", {"vector"}),
        ("assert Color.RED == Color(1)", {"Color"}),
        ("a, b = Vector(1), Vector(2)\nassert b.x == 2", {"Vector"}),
        ("a, *b = Vector(1), 2\nassert b.x == 2", set()),
        ("v: object = Vector(1)\nassert v.x == 2", {"Vector"}),
        ("with Timer(1) as t:\n assert t.running", {"Timer"}),
        ("def make(): return Vector(1)\ndef test(make): assert make.x == 1", {"Vector"}),
        ("def v():\n yield Vector(1)\ndef test(v): assert v.x == 1", {"Vector"}),
        ("self.assertIsInstance(f(1), Vector)", {"Vector"}),
        ("assert type(f(1)) is vector", {"vector"}),
        ("assert f(1).__class__ == Vector", {"Vector"}),
        ("v = Vector(1, 2)\nassert v * 2 == Vector(2, 4)", {"Vector"}),
        ("v = Vector(1, 2)\nassert Vector(2, 4) == 1 + (2 * v)", {"Vector"}),
        ("v = Vector(1, 2)\nself.assertEqual(-v, Vector(-1, -2))", {"Vector"}),
        ("d = Diff([1], [2])\nassert d == Diff([2], [1])\nassert Diff(1, 2) == d + [1]", set()),
        ("x = 1\nassert Add(1, 2) == x + 2\nassert Add(1, 2) == expected", set()),
    ],
)
def test_evidence(test: str, names: set[str]) -> None:
    assert value_classes(ast.parse(test)) == names
